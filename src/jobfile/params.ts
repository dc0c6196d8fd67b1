import { billableOperation, billableOperations } from '../catalog/index.ts'
import {
  type BillableOperation,
  checkParam,
  type Param,
  type ParamValue,
  type Style,
} from '../catalog/operation.ts'
import type { JobQuery } from '../model/query.ts'
import { closestMatch, normalParam, remembered } from '../model/text.ts'
import { badCharacters, type InvalidValue, quoted, type ReadResult } from '../model/values.ts'
import type { FilePosition, Report } from './source.ts'

/** The mistake of asking for depth and pages at once. */
const depthAndPages: InvalidValue = {
  message: 'depth and pages cannot both be set',
  fix: 'keep one of them',
}

/** The parameters of all operations that a job can ask for. */
const paramNames: ReadonlySet<string> = new Set(
  billableOperations.flatMap(({ params }) => Object.keys(params)),
)

/** The style in which an operation is called when the job asks for `wanted`. */
function styleOf(operation: BillableOperation, wanted: Style): Style {
  return operation.styles.includes(wanted) ? wanted : (operation.styles[0] ?? 'get')
}

/** The parameter of that name, where the operation has it in the style of the job. */
function paramOf(operation: BillableOperation, name: string, wanted: Style): Param | undefined {
  const param = Object.hasOwn(operation.params, name) ? operation.params[name] : undefined
  return param?.styles?.includes(styleOf(operation, wanted)) === false ? undefined : param
}

const notParams: Readonly<Record<string, string>> = {
  query: "write the text under 'queries:'",
  page: "use 'depth:' or 'pages:'",
  async: "use 'async: always' among the settings",
}

/** Why none of the operations takes a parameter; null where one does. */
function unknownParam(
  name: string,
  operations: readonly BillableOperation[],
  style: Style,
): InvalidValue | null {
  if (operations.some((operation) => paramOf(operation, name, style) !== undefined)) return null
  const hint = Object.hasOwn(notParams, name) ? notParams[name] : undefined
  if (hint !== undefined) return { message: `${quoted(name)} is not a parameter to set`, fix: hint }
  const other: Style = style === 'get' ? 'post' : 'get'
  const otherStyle = operations.find(
    (operation) => operation.styles.includes(other) && paramOf(operation, name, other) !== undefined,
  )
  if (otherStyle !== undefined)
    return {
      message: `${otherStyle.name} has '${name}' in the ${other} style only`,
      fix: `write 'style: ${other}', or leave '${name}' out`,
    }
  const names = operations.flatMap((operation) =>
    Object.keys(operation.params).filter((param) => paramOf(operation, param, style) !== undefined),
  )
  const near = closestMatch(name, names)
  const list = operations.map((operation) => operation.name)
  const message = `${list.join(' and ')} ${list.length === 1 ? 'has' : 'have'} no parameter ${quoted(name)}`
  if (near !== null) return { message, fix: `write '${near}'` }
  if (names.length === 0) return { message, fix: 'leave it out' }
  return { message, fix: `write one of ${[...new Set(names)].join(', ')}` }
}

/** Checks the text of a parameter and reads it into its one spelling; the message of a mistake begins with the name. */
function paramValue(param: Param, name: string, text: string): ReadResult<ParamValue> {
  const written = normalParam(name, text)
  const read = badCharacters(text, false) ?? checkParam(param, written)
  const fix = 'value' in read ? param.unknownCode?.(written) : null
  if (fix) return { message: `${name} cannot be ${quoted(text)}`, fix }
  return 'value' in read ? read : { message: `${name} ${read.message}`, fix: read.fix }
}

/** Whether a job that names no operation can ask with a parameter of that text. */
function isTaken(name: string, text: string): boolean {
  const param = paramOf(billableOperation('alpha.search'), name, 'get')
  return param !== undefined && 'value' in paramValue(param, name, text)
}

type Params = Readonly<Record<string, ParamValue>>

/** What holds for every query of a job. */
export interface JobParams {
  readonly style: Style
  readonly params: ReadonlyMap<string, ParamValue>
  readonly matrix: ReadonlyMap<string, readonly ParamValue[]>
}

/**
 * Params and matrix of the job for an operation, where a query sets `own` itself: its own value stands in for a list.
 *
 * @param job what holds for every query of it; the values were checked
 */
function combine(
  job: JobParams,
  operation: BillableOperation,
  own: readonly string[],
): {
  /** One map of params per combination of the matrix; at least one. */
  readonly combinations: readonly Params[]
  /** All names, with the query's own, in alphabetical order. */
  readonly order: readonly string[]
  /** Why these names cannot go together, and the name at which that is reported. */
  readonly conflict: (InvalidValue & { readonly name: string }) | null
} {
  const has = (name: string) => paramOf(operation, name, job.style) !== undefined && !own.includes(name)
  const fixed = [...job.params].filter(([name]) => has(name) && !job.matrix.has(name))
  const varied = [...job.matrix].filter(([name]) => has(name))
  const order = [...fixed.map(([name]) => name), ...varied.map(([name]) => name), ...own].sort()
  let combinations: [string, ParamValue][][] = [fixed]
  for (const [name, list] of varied)
    combinations = combinations.flatMap((start) =>
      list.map((value): [string, ParamValue][] => [...start, [name, value]]),
    )
  return {
    combinations: combinations.map((entries) => Object.freeze(Object.fromEntries(sorted(entries)))),
    order,
    conflict: conflict(operation, order, own),
  }
}

function sorted(entries: readonly [string, ParamValue][]): [string, ParamValue][] {
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function conflict(operation: BillableOperation, names: readonly string[], own: readonly string[]) {
  for (const group of operation.exclusive ?? []) {
    const set = names.filter((name) => group.includes(name))
    if (set.length < 2) continue
    // Reported at the query only where its own params take part: a conflict of the job is reported once, at the job.
    const name = own.length === 0 ? set[0] : set.find((candidate) => own.includes(candidate))
    const message = `${set.join(' and ')} cannot be used together in ${operation.name}`
    if (name !== undefined) return { name, message, fix: 'keep one of them' }
  }
  return null
}

/** One query as it was written: all but its params is checked. */
export interface RowToExpand extends Omit<JobQuery, 'operation' | 'params'> {
  readonly operations: readonly BillableOperation[]
  /** Params that the query sets itself, as text. */
  readonly own: readonly (readonly [name: string, text: string])[]
  /** Where one of these params stands. */
  readonly at: (name: string, part?: 'key' | 'value') => FilePosition
}

/**
 * Makes the queries of a row: one per operation and combination of the matrix; none after a mistake. Rows of one job share what the job
 * sets, so that a row costs little.
 */
export function queryExpander(job: JobParams): (row: RowToExpand, report: Report) => readonly JobQuery[] {
  const combined = new Map<string, ReturnType<typeof combine>>()
  const unknown = new Map<string, { readonly mistake: InvalidValue | null }>()
  const combineOnce = (operation: BillableOperation, own: readonly string[]) =>
    remembered(combined, `${operation.name} ${own.join(' ')}`, () => combine(job, operation, own))
  const unknownParamOnce = (name: string, operations: readonly BillableOperation[]) =>
    remembered(unknown, [name, ...operations.map((operation) => operation.name)].join(' '), () => ({
      mistake: unknownParam(name, operations, job.style),
    }))

  return (row, report) => {
    const wrong = new Set<string>()
    const complain: Complain = (name, { message, fix }, part) => {
      if (!wrong.has(name)) report({ ...row.at(name, part), message, fix })
      wrong.add(name)
    }
    // Without an operation nothing can be said about params.
    if (row.operations.length === 0) return []
    for (const [name] of row.own) {
      const { mistake } = unknownParamOnce(name, row.operations)
      if (mistake !== null) complain(name, mistake, 'key')
    }
    const queries: JobQuery[] = []
    for (const operation of row.operations) {
      const own = ownParams(row, operation, job.style, complain)
      const { combinations, order, conflict } = combineOnce(operation, Object.keys(own))
      if (conflict !== null && Object.hasOwn(own, conflict.name)) complain(conflict.name, conflict)
      if (wrong.size > 0) continue
      for (const params of combinations) queries.push(queryOf(row, operation.name, merge(params, own, order)))
    }
    return wrong.size === 0 ? queries : []
  }
}

/** One literal: what is spread takes several times as long. */
function queryOf(row: RowToExpand, operation: string, params: Params): JobQuery {
  return {
    operation,
    text: row.text,
    params,
    depth: row.depth,
    pages: row.pages,
    tags: row.tags,
    priority: row.priority,
    volume: row.volume,
    url: row.url,
    every: row.every,
    labels: row.labels,
    targets: row.targets,
    marksLeftOut: row.marksLeftOut,
    source: row.source,
  }
}

type Complain = (name: string, mistake: InvalidValue, part?: 'key') => void

function ownParams(row: RowToExpand, operation: BillableOperation, style: Style, complain: Complain): Params {
  const own: Record<string, ParamValue> = {}
  for (const [name, text] of row.own) {
    const param = paramOf(operation, name, style)
    if (param === undefined) continue
    const read = paramValue(param, name, text)
    if ('value' in read) own[name] = read.value
    else complain(name, read)
  }
  return own
}

function merge(job: Params, own: Params, order: readonly string[]): Params {
  if (order.length === Object.keys(job).length) return job
  const params: Record<string, ParamValue> = {}
  for (const name of order) {
    const value = own[name] ?? job[name]
    if (value !== undefined) params[name] = value
  }
  return params
}

/** How parameters of queries are read. */
export const paramReaders = {
  names: paramNames,
  of: paramOf,
  value: paramValue,
  isTaken,
  unknown: unknownParam,
  combine,
  depthAndPages,
}
