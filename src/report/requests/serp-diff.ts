import { UsageError } from '../../model/errors.ts'
import type { Target } from '../../model/job.ts'
import { textInLowerCase } from '../../model/text.ts'
import { addDays, inOrderOfRuns } from '../../model/time.ts'
import { sanitize } from '../../output/terminal.ts'
import type { ImportedSearch } from '../../store/sqlite/imports/reads.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { SerpDate, SerpQuery } from '../../store/sqlite/rankings/serps.ts'
import {
  comparedDays,
  type DiffDocument,
  deepestSnapshot,
  diffDocument,
  importedSnapshot,
  snapshotOf,
} from '../diff/serp-diff.ts'
import { noDataMessage } from '../explain/explain.ts'
import type { ComparisonDay } from '../history/movement.ts'

export type MakeDiff<Query extends SerpQuery = SerpQuery> = (query: Query) => DiffDocument

interface DiffRequest {
  readonly job: string
  readonly date: string | undefined
  readonly depth: number | undefined
  readonly targets: readonly Target[]
  readonly compare: ComparisonDay | null
}

export function comparer(store: Store, { job, date, depth, targets, compare }: DiffRequest): MakeDiff {
  const until = date === undefined ? {} : { until: addDays(date, 1) }
  return (query) => {
    const { queryId } = query
    const days = comparedDays(inOrder(store.serpDates({ job, ...until }, queryId)), compare)
    const read = (dates: readonly SerpDate[] | null) =>
      deepestSnapshot((dates ?? []).map(({ run }) => snapshotOf(store.storedSerp(run, queryId))))
    const [from, to] = [read(days.from), read(days.to)]
    const ofQuery = to?.run == null ? [] : store.queryTargets(to.run, queryId)
    return diffDocument(query, { from, to }, { job, depth, targets: [...targets, ...ofQuery] })
  }
}

/** What was imported of a query, as a query of the operation `imported`. */
export interface ImportedSerpQuery extends SerpQuery {
  readonly search: ImportedSearch
}

/** What was imported with whole result pages for a job, of all texts or of one, whatever its case. */
export function importedSearchesOf(
  store: Pick<Store, 'importedSearches'>,
  job: string,
  text: string | undefined,
): readonly ImportedSearch[] {
  const all = store.importedSearches(job)
  return text === undefined
    ? all
    : all.filter((search) => textInLowerCase(search.text) === textInLowerCase(text))
}

/** The queries of which whole result pages were imported for a job, or for any; throws a sentence where none is meant. */
export function importedQueries(
  store: Store,
  { job, text, fits }: { readonly job: string; readonly text: string | undefined; readonly fits: Fits },
): readonly ImportedSerpQuery[] {
  const all = importedSearchesOf(store, job, text).map((search): ImportedSerpQuery => {
    const { gl, hl, location, device, engine } = search
    const params = Object.entries({ gl, hl, location, device, engine }).flatMap(([name, value]) =>
      value === null ? [] : [[name, value] as const],
    )
    return {
      queryId: search.ids[0] as number,
      operation: 'imported',
      text: search.text,
      params: Object.fromEntries(params),
      search,
    }
  })
  if (all.length > 0) return chosenOf(all, { job, text, fits })
  throw new UsageError(
    `No whole result pages${text === undefined ? '' : ` of '${sanitize(text)}'`} were imported for the job ${job}. What was imported: rankline import list`,
  )
}

/** The newest day of these queries until a day; null where there is none. */
export function newestImportedDay(
  store: Store,
  queries: readonly ImportedSerpQuery[],
  date: string | undefined,
): string | null {
  const days = queries.flatMap(({ search }) => importedDays(store, search, date).at(-1)?.date ?? [])
  return days.sort().at(-1) ?? null
}

function importedDays(store: Store, search: ImportedSearch, date: string | undefined) {
  return store
    .importedPages(search)
    .map((page) => ({ ...page, date: addDays('1970-01-01', page.day) }))
    .filter((page) => date === undefined || page.date <= date)
}

/** Compares days of what was imported with each other. */
export function importedComparer(
  store: Store,
  { job, date, depth, targets, compare }: DiffRequest,
): MakeDiff<ImportedSerpQuery> {
  return (query): DiffDocument => {
    const days = comparedDays(importedDays(store, query.search, date), compare)
    const read = (pages: typeof days.to) => {
      const [page] = pages ?? []
      return page === undefined
        ? null
        : importedSnapshot(page.date, { source: page.source, links: store.importedLinks(page) })
    }
    return diffDocument(query, { from: read(days.from), to: read(days.to) }, { job, depth, targets })
  }
}

/** Day by day, and run by run of a day. */
function inOrder(dates: readonly SerpDate[]): readonly SerpDate[] {
  const newestFirst = dates.toSorted((a, b) => b.run - a.run)
  return inOrderOfRuns(newestFirst).toSorted((a, b) =>
    a.date === b.date ? a.run - b.run : a.date < b.date ? -1 : 1,
  )
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
  return chosenOf(asked, { job, text, fits })
}

/** Those of these queries that are meant; throws a sentence where there are none. */
function chosenOf<Query extends SerpQuery>(
  asked: readonly Query[],
  { job, text, fits }: { readonly job: string; readonly text: string | undefined; readonly fits: Fits },
): readonly Query[] {
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
