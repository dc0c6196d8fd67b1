import { expect, test } from 'vitest'
import { planCommand } from '../../src/cli/commands/collect/plan.ts'
import { jobFileJsonSchema } from '../../src/jobfile/json-schema.ts'
import {
  fieldsOf,
  isScalar,
  jobSettings,
  type Setting,
  type SettingTable,
  settingsWithOption,
} from '../../src/model/job.ts'

interface SchemaPart {
  readonly description?: string
  readonly properties?: Readonly<Record<string, SchemaPart>>
}

type Row = readonly [key: string, setting: Setting, path: readonly string[]]

function rowsOf(table: SettingTable, above: readonly string[]): readonly Row[] {
  return Object.entries<Setting>(table).flatMap(([key, setting]) => {
    const path = [...above, key]
    const { value } = setting
    const below = typeof value === 'string' || isScalar(value) ? [] : rowsOf(value, path)
    return [[path.join('.'), setting, path] as const, ...below]
  })
}

test.each(rowsOf(jobSettings, []))(
  'the setting %s stands in the JSON Schema, among the flags and among the defaults as it is declared',
  (_, { value, help, default: usual, field, option }, path) => {
    const part = path.reduce<SchemaPart | undefined>(
      (schema, key) => schema?.properties?.[key],
      jobFileJsonSchema() as SchemaPart,
    )
    expect(part?.description).toBe(usual === undefined ? help : `${help}; ${usual} if not given`)
    for (const [name, one] of Object.entries(option ?? {})) {
      const list = typeof value !== 'string' && isScalar(value) ? value.json.enum : undefined
      const spec = list === undefined ? one : { ...one, values: list }
      expect(planCommand.flags).toHaveProperty([name], spec)
      expect(settingsWithOption).toContainEqual({ path, name, option: spec })
    }
    if (field === undefined || path.length > 1 || typeof value === 'string' || !isScalar(value)) return
    const read = usual === undefined ? { value: null } : value.read(usual)
    expect(read).toEqual({ value: fieldsOf(jobSettings, {})[field as keyof object] })
  },
)
