import type { BillableOperation } from '../catalog/operation.ts'
import type { ParamValue, Style } from '../catalog/param.ts'
import type { JobQuery } from '../model/job.ts'
import { type Combined, combine, type JobWide, type Params } from './combine.ts'
import { misfit, paramOf, paramValue } from './params.ts'
import type { Mistake, Place, Report } from './problem.ts'

/** One query as it was written: all but its params is checked. */
export interface Row extends Omit<JobQuery, 'operation' | 'params'> {
  readonly operations: readonly BillableOperation[]
  /** Params that the query sets itself, as text. */
  readonly own: readonly (readonly [name: string, text: string])[]
  /** Where one of these params stands. */
  readonly at: (name: string, part?: 'key' | 'value') => Place
}

/** Makes the queries of a row: one per operation and combination of the matrix; none after a mistake. */
export type Expand = (row: Row, report: Report) => readonly JobQuery[]

/** Rows of one job share what the job sets, so that a row costs little. */
export function makeExpand(job: JobWide): Expand {
  const combined = new Map<string, Combined>()
  const misfits = new Map<string, Mistake | null>()
  const combineOnce = (operation: BillableOperation, own: readonly string[]) =>
    once(combined, `${operation.name} ${own.join(' ')}`, () => combine(job, operation, own))
  const misfitOnce = (name: string, operations: readonly BillableOperation[]) =>
    once(misfits, [name, ...operations.map((operation) => operation.name)].join(' '), () =>
      misfit(name, operations, job.style),
    )

  return (row, report) => {
    const told = new Set<string>()
    const tell: Tell = (name, { what, instead }, part) => {
      if (!told.has(name)) report({ ...row.at(name, part), what, instead })
      told.add(name)
    }
    // Without an operation nothing can be said about params.
    if (row.operations.length === 0) return []
    for (const [name] of row.own) {
      const mistake = misfitOnce(name, row.operations)
      if (mistake !== null) tell(name, mistake, 'key')
    }
    const queries: JobQuery[] = []
    for (const operation of row.operations) {
      const own = ownParams(row, operation, job.style, tell)
      const { combinations, order, conflict } = combineOnce(operation, Object.keys(own))
      if (conflict !== null && Object.hasOwn(own, conflict.name)) tell(conflict.name, conflict)
      if (told.size > 0) continue
      for (const params of combinations) queries.push(query(row, operation.name, merge(params, own, order)))
    }
    return told.size === 0 ? queries : []
  }
}

type Tell = (name: string, mistake: Mistake, part?: 'key') => void

function ownParams(row: Row, operation: BillableOperation, style: Style, tell: Tell): Params {
  const own: Record<string, ParamValue> = {}
  for (const [name, text] of row.own) {
    const param = paramOf(operation, name, style)
    if (param === undefined) continue
    const read = paramValue(param, name, text)
    if ('value' in read) own[name] = read.value
    else tell(name, read)
  }
  return own
}

function once<V>(known: Map<string, V>, key: string, make: () => V): V {
  let value = known.get(key)
  if (value === undefined) {
    value = make()
    known.set(key, value)
  }
  return value
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

function query(row: Row, operation: string, params: Params): JobQuery {
  const { text, depth, pages, tags, priority, volume, url, labels, targets, source } = row
  return {
    operation,
    text,
    params,
    depth,
    pages,
    tags,
    priority,
    volume,
    url,
    labels,
    targets,
    source,
  }
}
