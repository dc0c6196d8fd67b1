import type { BillableOperation } from '../catalog/operation.ts'
import type { ParamValue } from '../catalog/param.ts'
import { grouped } from '../words.ts'
import { combine, type JobWide } from './combine.ts'
import type { Parsed } from './issues.ts'
import { misfit, paramOf, paramValue } from './params.ts'
import type { Report } from './problem.ts'
import type { WrittenSettings } from './schema.ts'
import type { Path, Source } from './tree.ts'

/** File and flags, each read for itself. */
export interface Written {
  readonly file: Parsed<WrittenSettings>
  readonly flags: Parsed<WrittenSettings>
  /** Where a part stands: at the flag where a flag gives it. */
  readonly at: Source['at']
}

// Each query is expanded by the matrix at once; more combinations than this are a slip, not a wish.
const maxCombinations = 10_000

/** Style, params and matrix of a job, checked against the operations of the job and of its entries. */
export function readWide(
  written: Written,
  operations: readonly BillableOperation[],
  entryOperations: readonly BillableOperation[],
  report: Report,
): JobWide {
  const { file, flags } = written
  const style = flags.data.style ?? file.data.style ?? 'get'
  const all = [...new Set([...operations, ...entryOperations])]
  // What depends on a value that is wrong itself would be told wrongly.
  const wrong = ['operation', 'style'].some((key) => file.failed.has(key) || flags.failed.has(key))
  if (wrong) return { style, params: new Map(), matrix: new Map() }
  if (style === 'post' && !all.some((operation) => operation.styles.includes('post')))
    report({
      ...written.at(['style']),
      what: `${all.map(({ name }) => name).join(' and ')} cannot be called in the post style`,
      instead: "write 'style: get' or leave it out",
    })
  const checking: Checking = { written, all, style, report }
  const params = new Map<string, ParamValue>()
  for (const [name, text] of Object.entries({ ...file.data.params, ...flags.data.params })) {
    const value = fits(checking, ['params', name]) ? checked(checking, ['params', name], text) : undefined
    if (value !== undefined) params.set(name, value)
  }
  const matrix = readMatrix(checking)
  const wide: JobWide = { style, params, matrix }
  reportConflicts(wide, operations, written, report)
  return wide
}

interface Checking {
  readonly written: Written
  readonly all: readonly BillableOperation[]
  readonly style: 'get' | 'post'
  readonly report: Report
}

function fits({ written, all, style, report }: Checking, at: readonly [string, string]): boolean {
  const mistake = misfit(at[1], all, style)
  if (mistake !== null) report({ ...written.at(at, 'key'), ...mistake })
  return mistake === null
}

function checked(
  { written, all, style, report }: Checking,
  at: readonly [string, string, number?],
  text: string,
): ParamValue | undefined {
  let value: ParamValue | undefined
  for (const operation of all) {
    const param = paramOf(operation, at[1], style)
    if (param === undefined) continue
    const read = paramValue(param, at[1], text)
    if (!('value' in read)) {
      report({ ...written.at(at as Path), ...read })
      return undefined
    }
    value ??= read.value
  }
  return value
}

function readMatrix(checking: Checking): Map<string, readonly ParamValue[]> {
  const { written, report } = checking
  const { file, flags } = written
  const matrix = new Map<string, readonly ParamValue[]>()
  let combinations = 1
  for (const [name, texts] of Object.entries(file.data.matrix ?? {})) {
    // A value from the command line stands in for the list.
    if (hasOwn(flags.data.params, name) || !fits(checking, ['matrix', name])) continue
    const values = new Set<ParamValue>()
    for (const [index, text] of (typeof texts === 'string' ? [texts] : texts).entries()) {
      const value = checked(checking, ['matrix', name, index], text)
      if (value !== undefined) values.add(value)
    }
    if (values.size > 0) matrix.set(name, [...values])
    combinations *= Math.max(values.size, 1)
  }
  if (combinations <= maxCombinations) return matrix
  report({
    ...written.at(['matrix'], 'key'),
    what: `matrix makes ${grouped(combinations)} queries of each`,
    instead: `write fewer values: up to ${grouped(maxCombinations)} combinations`,
  })
  return new Map()
}

function reportConflicts(
  wide: JobWide,
  operations: readonly BillableOperation[],
  written: Written,
  report: Report,
): void {
  for (const operation of operations) {
    const { conflict } = combine(wide, operation, [])
    if (conflict === null) continue
    const { name, what, instead } = conflict
    report({ ...written.at([wide.params.has(name) ? 'params' : 'matrix', name]), what, instead })
  }
}

function hasOwn(record: object | undefined, name: string): boolean {
  return record !== undefined && Object.hasOwn(record, name)
}
