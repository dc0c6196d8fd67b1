import { UsageError } from '../../model/errors.ts'
import type { Target } from '../../model/job.ts'
import { textInLowerCase } from '../../model/text.ts'
import { addDays, dayText, inOrderOfRuns } from '../../model/time.ts'
import { pageAddress } from '../../model/url.ts'
import { sanitize } from '../../output/terminal.ts'
import { matcherOf } from '../../rank/match.ts'
import type { ImportedSearch } from '../../store/sqlite/imports/reads.ts'
import type { Store } from '../../store/sqlite/open.ts'
import type { ResultRecord, SerpDate, SerpQuery, SerpRecord } from '../../store/sqlite/rankings/serps.ts'
import { paramTexts } from '../cells.ts'
import { missingPages, noDataMessage, type PageStatus, pageStatuses } from '../explain/explain.ts'
import { baselineOrder } from '../history/keyword-status.ts'
import type { ComparisonDay } from '../history/movement.ts'
import { turnoverDepth, turnoverOfPages } from '../metrics/serps.ts'

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

/** One result of a snapshot. */
export interface SnapshotResult {
  /** 1 + the distinct results before it. */
  readonly rank: number
  /** Equal for equal results: made of the link if there is one, else of the title. */
  readonly key: string | number
  readonly title: string | null
  readonly link: string | null
  readonly snippet: string | null
}

/** The results of a query in one run. */
export interface ComparedSerp {
  readonly results: readonly SnapshotResult[]
  /** Distinct results that were checked without a gap, from the first one on. */
  readonly unbrokenDepth: number
  /** Whether there were no more results: then every rank is known. */
  readonly resultsEnded: boolean
}

/** The same result on both days. */
type ResultPair = Readonly<Record<'before' | 'after', SnapshotResult>>

/** The differences of two snapshots, by rank. */
export type SerpDiff = ReturnType<typeof diffSerps>

/**
 * Compares two snapshots of one query. A result `entered` or `left` only within the depth that both checked without a gap. Two
 * known ranks are always compared: a rank does not depend on the depth. A result that a snapshot has several times counts
 * once, with its best rank.
 *
 * @param depth leaves out results with a worse rank on both sides
 */
export function diffSerps(from: ComparedSerp, to: ComparedSerp, depth = Number.POSITIVE_INFINITY) {
  const [before, after] = [byKey(from), byKey(to)]
  const bothSaw = commonDepth(from, to)
  const comparedDepth = Math.min(bothSaw, depth)
  const [left, entered] = [without(before, after), without(after, before)]
  const pairs = [...after.values()].flatMap((result): ResultPair[] => {
    const old = before.get(result.key)
    return old !== undefined && Math.min(old.rank, result.rank) <= depth
      ? [{ before: old, after: result }]
      : []
  })
  const isCompared = ({ rank }: SnapshotResult): boolean => rank <= comparedDepth
  const isDeeper = ({ rank }: SnapshotResult): boolean => rank > comparedDepth && rank <= depth
  return {
    /** Both were checked down to here without a gap. */
    comparedDepth,
    entered: entered.filter(isCompared),
    left: left.filter(isCompared),
    /** On both sides, with another rank. */
    moved: pairs.filter(hasMoved),
    /** On both sides, with another title or snippet, moved or not. */
    changed: pairs.filter(hasChanged),
    /** On both sides with the same rank, title and snippet. */
    same: pairs.filter((pair) => !hasMoved(pair) && !hasChanged(pair)).length,
    /** On one side only, and deeper than the other was checked without a gap: they are not compared. */
    notCompared: { from: left.filter(isDeeper).length, to: entered.filter(isDeeper).length },
    /**
     * The share of the first ten that differs, from 0 to 1: 1 - common / the longer of both lists. If less than ten were checked
     * on both sides, of as many. Results without a link do not count. Null if there are no pages to compare.
     */
    turnover: turnoverOf(before, after, Math.min(turnoverDepth, bothSaw)),
  }
}

type ByKey = ReadonlyMap<SnapshotResult['key'], SnapshotResult>

/** Each result once, the best rank first. */
function byKey({ results }: ComparedSerp): ByKey {
  const found = new Map<SnapshotResult['key'], SnapshotResult>()
  for (const result of [...results].sort((a, b) => a.rank - b.rank))
    if (!found.has(result.key)) found.set(result.key, result)
  return found
}

function commonDepth(from: ComparedSerp, to: ComparedSerp): number {
  if (from.resultsEnded && to.resultsEnded) return Math.max(from.unbrokenDepth, to.unbrokenDepth)
  return Math.min(
    ...[from, to].map((one) => (one.resultsEnded ? Number.POSITIVE_INFINITY : one.unbrokenDepth)),
  )
}

function without(these: ByKey, those: ByKey): readonly SnapshotResult[] {
  return [...these.values()].filter(({ key }) => !those.has(key))
}

function hasMoved({ before, after }: ResultPair): boolean {
  return before.rank !== after.rank
}

function hasChanged({ before, after }: ResultPair): boolean {
  return before.title !== after.title || before.snippet !== after.snippet
}

function turnoverOf(before: ByKey, after: ByKey, depth: number): number | null {
  const first = (all: ByKey) =>
    new Set([...all.values()].flatMap(({ rank, link, key }) => (link !== null && rank <= depth ? [key] : [])))
  return turnoverOfPages(first(after), first(before)).value
}

/** The results of a query in one run, or of one day of another tool, ready for comparing. */
interface SerpSnapshot extends ComparedSerp {
  /** Null where it was imported. */
  readonly run: number | null
  readonly date: string
  /** Whose it is where it was imported: the format of its file; else null. */
  readonly source: string | null
  /** When its last page came, ISO 8601 in UTC. */
  readonly fetchedAt: string | null
  /** Distinct results that were checked. */
  readonly depth: number
  /** Pages that were checked without a gap; infinite if the results ended there. */
  readonly unbrokenPages: number
  /** What became of the pages that were not checked. */
  readonly missed: readonly string[]
}

/** The stored results of a query in one run, as a snapshot. */
export function snapshotOf(record: SerpRecord): SerpSnapshot {
  const pages = pageStatuses(record)
  const gap = pages.findIndex(({ state }) => state !== 'done')
  const whole = gap < 0 ? pages : pages.slice(0, gap)
  const resultsEnded =
    record.end?.kind === 'ended' && pages.slice(whole.length).every(({ state }) => state === 'skipped')
  const results = keyed(resultsOf(pages))
  const fetched = pages.flatMap(({ fetchedAt }) => fetchedAt ?? [])
  return {
    run: record.run,
    date: record.date,
    source: null,
    results,
    fetchedAt: fetched.sort().at(-1) ?? null,
    depth: new Set(results.map(({ rank }) => rank)).size,
    // Without a gap the last rank is the number of results.
    unbrokenDepth: Math.max(0, ...resultsOf(whole).map(({ rank }) => rank)),
    unbrokenPages: resultsEnded ? Number.POSITIVE_INFINITY : whole.length,
    resultsEnded,
    missed: missingPages(record, pages),
  }
}

/** A result page of another tool: its links in the order of their ranks. How far down the tool looked is not known. */
function importedSnapshot(
  date: string,
  { source, links }: { readonly source: string; readonly links: readonly string[] },
): SerpSnapshot {
  const results = links.map((link, index) => ({
    rank: index + 1,
    key: pageAddress(link),
    title: null,
    link,
    snippet: null,
  }))
  const depth = results.length
  return {
    run: null,
    date,
    source,
    results,
    fetchedAt: null,
    depth,
    unbrokenDepth: depth,
    unbrokenPages: 1,
    resultsEnded: false,
    missed: [],
  }
}

function resultsOf(pages: readonly PageStatus[]): readonly ResultRecord[] {
  return pages.flatMap(({ results }) => results)
}

/** Links of one page are the same result. A result without a link is known by its title and the number of that title before it. */
function keyed(results: readonly ResultRecord[]): readonly SnapshotResult[] {
  const times = new Map<string, number>()
  return results.map(({ rank, title, link, snippet }) => {
    if (link !== null) return { rank, title, link, snippet, key: pageAddress(link) }
    const text = title ?? ''
    const time = times.get(text) ?? 0
    times.set(text, time + 1)
    return { rank, title, link, snippet, key: `${time} ${text}` }
  })
}

/** Of several runs of a day the one with the most pages checked without a gap; of equal ones the last. */
export function deepestSnapshot(snapshots: readonly SerpSnapshot[]): SerpSnapshot | null {
  return snapshots.reduce<SerpSnapshot | null>(
    (kept, one) => (kept === null || one.unbrokenPages >= kept.unbrokenPages ? one : kept),
    null,
  )
}

/** What changed in the results of a query, for programs. Names do not change between versions. */
export type DiffDocument = ReturnType<typeof diffDocument>

export type DiffSide = ReturnType<typeof sideOf>
export type DiffResult = ReturnType<ReturnType<typeof diffResultOf>>
export function diffDocument(
  { text, operation, params }: Pick<SerpQuery, 'text' | 'operation' | 'params'>,
  { from, to }: Readonly<Record<'from' | 'to', SerpSnapshot | null>>,
  {
    job,
    depth,
    targets,
  }: {
    readonly job: string
    /** Only results with this rank or better on either day. */
    readonly depth?: number | undefined
    /** The targets whose results are marked. */
    readonly targets: readonly Target[]
  },
) {
  const diff = from === null || to === null ? null : diffSerps(from, to, depth)
  const { entered = [], left = [], moved = [], changed = [] } = diff ?? {}
  const resultOf = diffResultOf(targets)
  return {
    job,
    query: text,
    operation,
    params,
    /** The earlier day; null where there is nothing to compare with. */
    from: from === null ? null : sideOf(from, diff?.notCompared.from ?? 0),
    /** The later day; null where no results are stored at all. */
    to: to === null ? null : sideOf(to, diff?.notCompared.to ?? 0),
    /** Both days were checked down to here without a gap; null where only one was. */
    compared_depth: diff?.comparedDepth ?? null,
    entered: entered.map(resultOf),
    left: left.map(resultOf),
    moved: moved.map(({ before, after }) => ({
      ...resultOf(after),
      previous_rank: before.rank,
      /** Ranks gained, negative when lost. */
      change: before.rank - after.rank,
    })),
    changed: changed.map(({ before, after }) => ({
      ...resultOf(after),
      previous_rank: before.rank,
      previous_title: before.title,
      previous_snippet: before.snippet,
    })),
    same: diff?.same ?? 0,
    /** Share of the first ten that differs from before, from 0 to 1. */
    turnover_top10: diff?.turnover ?? null,
  }
}

function sideOf(snapshot: SerpSnapshot, notCompared: number) {
  return {
    run_id: snapshot.run,
    date: snapshot.date,
    fetched_at: snapshot.fetchedAt,
    /** Distinct results that were checked. */
    depth: snapshot.depth,
    /** Those without a gap from the first one on. */
    unbroken_depth: snapshot.unbrokenDepth,
    results_ended: snapshot.resultsEnded,
    /** Results that the other day does not have, deeper than it was checked without a gap. */
    not_compared: notCompared,
    /** What became of the pages that were not checked. */
    missed: snapshot.missed,
    /** Whose result page it is; of imported ones only. */
    ...(snapshot.source === null ? {} : { source: snapshot.source }),
  }
}

function diffResultOf(targets: readonly Target[]) {
  const matchers = targets.map((target) => ({ target, matches: matcherOf(target) }))
  return ({ rank, title, link, snippet }: SnapshotResult) => ({
    rank,
    title,
    link,
    snippet,
    /** The targets that it belongs to. */
    targets: matchers
      .filter(({ matches }) => link !== null && matches(link))
      .map(({ target: { label, own } }) => ({ target: label, own })),
  })
}
