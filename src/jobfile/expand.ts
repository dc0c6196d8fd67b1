import type { BillableOperation, ParamValue, Style } from '../catalog/operation.ts'
import { remembered } from '../model/memo.ts'
import type { JobQuery } from '../model/query.ts'
import type { InvalidValue } from '../model/values.ts'
import {
  type Combined,
  combine,
  type Params,
  paramOf,
  paramValue,
  type SharedParams,
  unknownParam,
} from './params.ts'
import type { FilePosition, Report } from './source.ts'

/** One query as it was written: all but its params is checked. */
export interface RowToExpand extends Omit<JobQuery, 'operation' | 'params'> {
  readonly operations: readonly BillableOperation[]
  /** Params that the query sets itself, as text. */
  readonly own: readonly (readonly [name: string, text: string])[]
  /** Where one of these params stands. */
  readonly at: (name: string, part?: 'key' | 'value') => FilePosition
}

/** Makes the queries of a row: one per operation and combination of the matrix; none after a mistake. */
export type Expand = (row: RowToExpand, report: Report) => readonly JobQuery[]

/** Rows of one job share what the job sets, so that a row costs little. */
export function queryExpander(job: SharedParams): Expand {
  const combined = new Map<string, Combined>()
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
    const { operations, own: _, at, ...query } = row
    for (const operation of operations) {
      const own = ownParams(row, operation, job.style, complain)
      const { combinations, order, conflict } = combineOnce(operation, Object.keys(own))
      if (conflict !== null && Object.hasOwn(own, conflict.name)) complain(conflict.name, conflict)
      if (wrong.size > 0) continue
      for (const params of combinations)
        queries.push({ ...query, operation: operation.name, params: merge(params, own, order) })
    }
    return wrong.size === 0 ? queries : []
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
