import type { BillableOperation } from '../catalog/operation.ts'
import type { ParamValue, Style } from '../catalog/param.ts'
import { paramOf } from './params.ts'
import type { Mistake } from './problem.ts'

export type Params = Readonly<Record<string, ParamValue>>

/** What holds for every query of a job; the values were checked. */
export interface JobWide {
  readonly style: Style
  readonly params: ReadonlyMap<string, ParamValue>
  readonly matrix: ReadonlyMap<string, readonly ParamValue[]>
}

/** What the job sets for one operation beside the params that a query sets itself. */
export interface Combined {
  /** One map of params per combination of the matrix; at least one. */
  readonly combinations: readonly Params[]
  /** All names, with the query's own, in alphabetical order. */
  readonly order: readonly string[]
  /** Why these names cannot go together, and the own name that brought it about. */
  readonly conflict: (Mistake & { readonly name: string }) | null
}

/** Params and matrix of the job for an operation, where a query sets `own` itself: its own value stands in for a list. */
export function combine(job: JobWide, operation: BillableOperation, own: readonly string[]): Combined {
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
    // Told at the query only where the query has a part in it: the job's own conflict is told once, at the job.
    const name = own.length === 0 ? set[0] : set.find((candidate) => own.includes(candidate))
    const what = `${set.join(' and ')} cannot go together for ${operation.name}`
    if (name !== undefined) return { name, what, instead: 'keep one of them' }
  }
  return null
}
