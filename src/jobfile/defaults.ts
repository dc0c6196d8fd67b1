import { billableOperations } from '../catalog/index.ts'
import type { ParamValue } from '../catalog/operation.ts'
import type { SettingsData } from '../model/settings/job-settings.ts'
import { closestMatch } from '../model/text.ts'
import { type InvalidValue, quoted, type ReadResult } from '../model/values.ts'
import type { SchemaResult } from './issues.ts'
import { depthAndPages, paramNames, paramValue } from './params.ts'
import { type Path, partAt, type Report, type Source, type Tree } from './source.ts'
import { inFile, readTargets, siteKey } from './targets.ts'

/** What the jobs of a folder need not say: `defaults:` of `rankline.yaml`. */
export interface JobDefaults {
  readonly data: SettingsData
  /** Where each part stands. */
  readonly at: Source['at']
}

/** Of a folder whose jobs share nothing. */
export const noDefaults: JobDefaults = {
  data: {},
  at: () => ({ where: 'rankline.yaml', line: null, column: null }),
}

/** `defaults:` of a file, with the places of its parts. */
export function defaultsIn(source: Source, data: SettingsData): JobDefaults {
  return { data, at: (path, part) => source.at(['defaults', ...path], part) }
}

/** A job file with what it takes over from its folder. */
export interface JobWithDefaults {
  readonly result: SchemaResult<SettingsData>
  /** Whether a setting, or one key of a map, comes from the folder. */
  readonly isDefault: (path: Path) => boolean
}

/**
 * What a job file says, and for the rest what its folder says: whole values replace each other, maps are joined by key. A default
 * that contradicts what the job or a flag says is left out.
 *
 * @param tree the job file as it was written; undefined for a CSV
 */
export function withDefaults(
  { data: defaults }: JobDefaults,
  job: SchemaResult<SettingsData>,
  tree: Tree | undefined,
  flags: SettingsData,
): JobWithDefaults {
  const own = { ...job.data, ...flags, params: { ...job.data.params, ...flags.params } }
  const data: Record<string, unknown> = { ...job.data }
  const taken = new Set<string>()
  for (const [key, value] of Object.entries(compatible(defaults, own))) {
    const part = data[key]
    if (value === undefined || job.failed.has(key)) continue
    if (part !== undefined && !(isRecord(value) && isRecord(part))) continue
    data[key] = isRecord(value) ? { ...value, ...givenIn(part) } : value
    taken.add(key)
  }
  return {
    result: { data, failed: job.failed },
    isDefault: ([key, name]) =>
      taken.has(String(key)) &&
      partAt(tree ?? null, name === undefined ? [key as PropertyKey] : [key as PropertyKey, name]) ===
        undefined,
  }
}

/** The keys of a map that a file gives: some readers make null of those that it does not. */
function givenIn(part: unknown): Readonly<Record<string, unknown>> {
  return isRecord(part) ? Object.fromEntries(Object.entries(part).filter(([, value]) => value != null)) : {}
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The defaults without those that a job contradicts. */
function compatible(defaults: SettingsData, own: SettingsData): SettingsData {
  const { depth, pages, params, matrix, targets, competitors, ...rest } = defaults
  const counted = own.depth !== undefined || own.pages !== undefined
  const asked = Object.keys({ ...own.params, ...own.matrix })
  return {
    ...rest,
    ...(counted ? {} : { depth, pages }),
    params: withoutRivals(params, asked),
    matrix: withoutRivals(matrix, asked),
    targets: withoutSites(targets, own.competitors),
    competitors: withoutSites(competitors, own.targets),
  }
}

/** Parameters that the job neither sets itself nor excludes by others, as `uule` does `location`. */
function withoutRivals<T>(
  params: Readonly<Record<string, T>> | undefined,
  asked: readonly string[],
): Readonly<Record<string, T>> | undefined {
  if (params === undefined) return undefined
  const groups = billableOperations.flatMap(({ exclusive = [] }) => exclusive)
  const excluded = (name: string): boolean =>
    asked.includes(name) ||
    groups.some((group) => group.includes(name) && group.some((other) => asked.includes(other)))
  return Object.fromEntries(Object.entries(params).filter(([name]) => !excluded(name)))
}

type Targets = SettingsData['targets']

function withoutSites(targets: Targets, others: Targets): Targets {
  const sites = new Set(others?.map(siteOf))
  return targets?.filter((target) => !sites.has(siteOf(target)))
}

function siteOf(target: NonNullable<Targets>[number]): string {
  return siteKey(typeof target === 'string' ? target : target.site)
}

/** Reports what is wrong with defaults whatever a job says; what depends on its operations is reported with the job. */
export function checkDefaults({ data, at }: JobDefaults, report: Report): void {
  if (data.depth !== undefined && data.pages !== undefined)
    report({ ...at(['pages'], 'key'), ...depthAndPages })
  for (const key of ['params', 'matrix'] as const)
    for (const [name, texts] of Object.entries(data[key] ?? {})) {
      if (!paramNames.has(name)) report({ ...at([key, name], 'key'), ...unknownEverywhere(name) })
      else
        for (const [index, text] of [texts].flat().entries()) {
          const mistake = mistakeEverywhere(name, text)
          const place = Array.isArray(texts) ? [key, name, index] : [key, name]
          if (mistake !== null) report({ ...at(place), ...mistake })
        }
    }
  const list = (key: 'targets' | 'competitors') => ({
    written: data[key] ?? [],
    own: key === 'targets',
    at: (index: number) => at([key, index]),
    hints: inFile,
  })
  readTargets([list('targets'), list('competitors')], undefined, report)
}

/** What is wrong with a parameter that no operation has. */
export function unknownEverywhere(name: string): InvalidValue {
  const near = closestMatch(name, [...paramNames])
  return {
    message: `no operation has a parameter ${quoted(name)}`,
    fix: near === null ? 'list them with: rankline operations' : `write '${near}'`,
  }
}

/** What is wrong with the text of a parameter for every operation that has it; null where one takes it. */
export function mistakeEverywhere(name: string, text: string): InvalidValue | null {
  const read = readings(name, text)
  const mistakes = read.flatMap((one) => ('value' in one ? [] : [one]))
  return mistakes.length < read.length ? null : (mistakes[0] ?? null)
}

/** The value of a parameter for the first operation that takes its text; undefined where none does. */
export function valueAnywhere(name: string, text: string): ParamValue | undefined {
  return readings(name, text).flatMap((one) => ('value' in one ? [one.value] : []))[0]
}

function readings(name: string, text: string): readonly ReadResult<ParamValue>[] {
  return billableOperations.flatMap(({ params }) =>
    params[name] === undefined ? [] : [paramValue(params[name], name, text)],
  )
}
