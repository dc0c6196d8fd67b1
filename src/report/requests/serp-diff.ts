import { UsageError } from '../../model/errors.ts'
import { textInLowerCase } from '../../model/text.ts'
import { addDays, dayText, inOrderOfRuns } from '../../model/time.ts'
import { sanitize } from '../../output/terminal.ts'
import type { ImportedSearch } from '../../store/sqlite/imports/reads.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { SerpDate, SerpQuery } from '../../store/sqlite/rankings/serps.ts'
import { paramTexts } from '../cells.ts'
import {
  type DiffDocument,
  deepestSnapshot,
  diffDocument,
  importedSnapshot,
  snapshotOf,
} from '../diff/serp-diff.ts'
import { noDataMessage } from '../explain/explain.ts'
import { baselineOrder } from '../history/keyword-status.ts'
import type { ComparisonDay } from '../history/movement.ts'

/** A query that was asked; or what was imported of one, as a query of the operation `imported`. */
interface ComparedQuery extends SerpQuery {
  readonly search?: ImportedSearch
}

interface Meant {
  readonly job: string
  /** The last day that counts; all by default. */
  readonly date: string | undefined
  /** Text of the queries that are meant; all by default. */
  readonly text: string | undefined
  /** Which of them. */
  readonly fits: (query: SerpQuery) => boolean
}

/** What can be compared of the results of a job: days on which queries were measured, or those on which they were imported. */
export function serpDiffs(store: Store, meant: Meant) {
  return {
    /** The queries that were asked; throws a sentence where none is meant. */
    asked: () => askedQueries(store, meant),
    /** The queries of which whole result pages were imported for the job, or for any; throws a sentence where none is meant. */
    imported: () => importedQueries(store, meant),
    hasImported: () => importedSearchesOf(store, meant).length > 0,
    /** The newest day of imported queries; null where there is none. */
    newestImported: (queries: readonly ComparedQuery[]): string | null =>
      queries
        .flatMap(({ search }) => (search === undefined ? [] : importedDays(store, search, meant.date)))
        .map(({ date }) => date)
        .sort()
        .at(-1) ?? null,
    /** Makes what changed for each query when it is called. */
    of: (queries: readonly ComparedQuery[], how: Comparison) =>
      queries.map((query) => () => compared(store, query, meant, how)),
  }
}

type Comparison = Omit<Parameters<typeof diffDocument>[2], 'job'> & {
  readonly compare: ComparisonDay | null
}

/** Compares days on which a query was measured, or those on which it was imported, with each other. */
function compared(
  store: Store,
  query: ComparedQuery,
  { job, date }: Meant,
  { depth, targets, compare }: Comparison,
): DiffDocument {
  const days = comparedDays(looksAt(store, query, { job, date }), compare)
  const read = (some: typeof days.to) => deepestSnapshot((some ?? []).map((look) => look.read()))
  const [from, to] = [read(days.from), read(days.to)]
  const ofQuery = to?.run == null ? [] : store.queryTargets(to.run, query.queryId)
  return diffDocument(query, { from, to }, { job, depth, targets: [...targets, ...ofQuery] })
}

/**
 * The latest day with results, and an earlier one: the nearest before it, or the nearest to the day that the user asked for. Each
 * is the runs of the day, or null.
 */
export function comparedDays<Look extends Pick<SerpDate, 'date'>>(
  looks: readonly Look[],
  asked: ComparisonDay | null,
) {
  const days = [...new Set(looks.map(({ date }) => date))]
  const of = (place: number | undefined) => {
    const day = days[place ?? -1]
    return day === undefined ? null : looks.filter(({ date }) => date === day)
  }
  return { from: of(baselineOrder(days, asked)[0]), to: of(days.length - 1) }
}

/** The days of a query until one, and how its results are read; a day once for each of its runs. */
function looksAt(
  store: Store,
  { queryId, search }: ComparedQuery,
  { job, date }: Pick<Meant, 'job' | 'date'>,
) {
  if (search === undefined)
    return inOrder(store.serpDates({ job, ...untilDay(date) }, queryId)).map(({ run, date }) => ({
      date,
      read: () => snapshotOf(store.storedSerp(run, queryId)),
    }))
  return importedDays(store, search, date).map((page) => ({
    date: page.date,
    read: () => importedSnapshot(page.date, { source: page.source, links: store.importedLinks(page) }),
  }))
}

function untilDay(date: string | undefined) {
  return date === undefined ? {} : { until: addDays(date, 1) }
}

/** What was imported with whole result pages for a job, of all texts or of one, whatever its case. */
function importedSearchesOf(store: Store, { job, text }: Meant): readonly ImportedSearch[] {
  const wanted = text === undefined ? null : textInLowerCase(text)
  return store.importedSearches(job).filter(({ text }) => wanted === null || textInLowerCase(text) === wanted)
}

function importedQueries(store: Store, meant: Meant): readonly ComparedQuery[] {
  const { job, text } = meant
  const all = importedSearchesOf(store, meant).map((search): ComparedQuery => {
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
  if (all.length > 0) return chosenOf(all, meant)
  throw new UsageError(
    `No whole result pages${text === undefined ? '' : ` of '${sanitize(text)}'`} were imported for the job ${job}. What was imported: rankline import list`,
  )
}

/** Its result pages until a day; of one day that which was imported first. */
function importedDays(store: Store, search: ImportedSearch, date: string | undefined) {
  return store
    .importedPages(search)
    .filter(({ day }, place, all) => day !== all[place - 1]?.day)
    .map((page) => ({ ...page, date: dayText(page.day) }))
    .filter((page) => date === undefined || page.date <= date)
}

/** Day by day, and run by run of a day. */
function inOrder(dates: readonly SerpDate[]): readonly SerpDate[] {
  const newestFirst = dates.toSorted((a, b) => b.run - a.run)
  return inOrderOfRuns(newestFirst).toSorted((a, b) =>
    a.date === b.date ? a.run - b.run : a.date < b.date ? -1 : 1,
  )
}

async function askedQueries(store: Store, meant: Meant): Promise<readonly ComparedQuery[]> {
  const { job, date, text } = meant
  const asked = store.serpQueries({ job, text: text ?? null, ...untilDay(date) })
  if (asked.length === 0 && text !== undefined)
    throw new UsageError(await noDataMessage(store, { job, text, date }))
  return chosenOf(asked, meant)
}

/** Those of these queries that are meant; throws a sentence where there are none. */
function chosenOf(asked: readonly ComparedQuery[], { job, text, fits }: Meant): readonly ComparedQuery[] {
  const meant = asked.filter(fits)
  if (meant.length > 0 || asked.length === 0) return meant
  const which = text === undefined ? 'nothing such, but' : `'${sanitize(text)}' otherwise`
  // The operations and params that were asked with.
  const ways = new Set(asked.map(({ operation, params }) => [operation, ...paramTexts(params)].join(' ')))
  throw new UsageError(`The job ${job} asks for ${which}: ${sanitize([...ways].join(', '))}`)
}
