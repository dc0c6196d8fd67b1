import { UsageError } from '../../model/errors.ts'
import type { Target } from '../../model/target.ts'
import { addDays } from '../../model/time.ts'
import { inOrderOfRuns } from '../../model/trusted-time.ts'
import { sanitize } from '../../output/terminal.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { SerpDate, SerpQuery } from '../../store/sqlite/rankings/serps.ts'
import {
  comparedDays,
  type DiffDocument,
  deepestSnapshot,
  diffDocument,
  snapshotOf,
} from '../diff/serp-diff.ts'
import { byChange, diffSummary } from '../diff/text.ts'
import type { ComparisonDay } from '../history/movement.ts'
import { noDataMessage } from './explain.ts'

export type MakeDiff = (query: SerpQuery) => DiffDocument

export function comparer(
  store: Store,
  {
    job,
    date,
    depth,
    targets,
    compare,
  }: {
    readonly job: string
    readonly date: string | undefined
    readonly depth: number | undefined
    readonly targets: readonly Target[]
    readonly compare: ComparisonDay | null
  },
): MakeDiff {
  const until = date === undefined ? {} : { until: addDays(date, 1) }
  return (query) => {
    const { queryId } = query
    const days = comparedDays(inOrder(store.serpDates({ job, ...until }, queryId)), compare)
    const read = (dates: readonly SerpDate[] | null) =>
      deepestSnapshot((dates ?? []).map(({ run }) => snapshotOf(store.storedSerp(run, queryId))))
    const [from, to] = [read(days.from), read(days.to)]
    const ofQuery = to === null ? [] : store.queryTargets(to.run, queryId)
    return diffDocument(query, { from, to }, { job, depth, targets: [...targets, ...ofQuery] })
  }
}

/** Day by day, and run by run of a day. */
function inOrder(dates: readonly SerpDate[]): readonly SerpDate[] {
  const newestFirst = dates.toSorted((a, b) => b.run - a.run)
  return inOrderOfRuns(newestFirst).toSorted((a, b) =>
    a.date === b.date ? a.run - b.run : a.date < b.date ? -1 : 1,
  )
}

/** What changed most first. */
export function ordered(queries: readonly SerpQuery[], makeDiff: MakeDiff) {
  return queries
    .map((query) => ({ query, summary: diffSummary(makeDiff(query)) }))
    .sort((a, b) => byChange(a.summary, b.summary))
}

export type Fits = (query: SerpQuery) => boolean

/** The queries that are meant; throws a sentence where there are none. */
export async function askedQueries(
  store: Store,
  { job, date, text, fits }: { job: string; date: string | undefined; text: string | undefined; fits: Fits },
): Promise<readonly SerpQuery[]> {
  const until = date === undefined ? {} : { until: addDays(date, 1) }
  const asked = store.serpQueries({ job, text: text ?? null, ...until })
  if (asked.length === 0 && text !== undefined)
    throw new UsageError(await noDataMessage(store, { job, text, date }))
  const meant = asked.filter(fits)
  if (meant.length > 0 || asked.length === 0) return meant
  const which = text === undefined ? 'nothing such, but' : `'${sanitize(text)}' otherwise`
  throw new UsageError(`The job ${job} asks for ${which}: ${waysOf(asked)}`)
}

/** The operations and params that were asked with. */
function waysOf(asked: readonly SerpQuery[]): string {
  const ways = asked.map(({ operation, params }) =>
    [operation, ...Object.entries(params).map(([name, value]) => `${name}=${value}`)].join(' '),
  )
  return sanitize([...new Set(ways)].join(', '))
}
