import { billableOperation } from '../../catalog/index.ts'
import { conditionOf, refuseUnknownNames } from '../../model/condition.ts'
import { UsageError } from '../../model/errors.ts'
import type { Target } from '../../model/job.ts'
import { isInMarket, marketDistance } from '../../model/query.ts'
import type { Row } from '../../model/result.ts'
import type { Run } from '../../model/run.ts'
import { isDay } from '../../model/settings.ts'
import { closestMatch, groupedBy, textInLowerCase } from '../../model/text.ts'
import { addDays, daysBetween, inOrderOfRuns } from '../../model/time.ts'
import { quoted } from '../../model/values.ts'
import { sanitize } from '../../output/terminal.ts'
import type { ImportedSeries } from '../../store/sqlite/imports/reads.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { type BuiltHistory, buildHistory, compact } from '../history/build-history.ts'
import { filterHistory, type HistoryFilter } from '../history/filter-history.ts'
import { type ReportPeriod, type RequestedPeriod, reportPeriod } from '../history/period.ts'
import type { DayCell, ImportedHistory, RankHistory } from '../history/rank-history.ts'
import type { MetricOptions } from '../metrics/figure.ts'
import type { RankedJob } from '../report.ts'
import { rankRows } from '../rows.ts'
import { asQuery } from './presentation.ts'

/** The ranks of a job as of a day: what its newest run until then asks for, and how that moved. */
export async function rankedJob(
  store: Store,
  job: string,
  {
    date,
    periodRequest = null,
    targets,
    filter = {},
    absent = 'depth',
    imported = false,
  }: {
    readonly date?: string | undefined
    /** The period; null for the last day against the nearest day before. */
    readonly periodRequest?: PeriodRequest | null
    /** Those that the file of the job names now. */
    readonly targets?: readonly Target[] | undefined
    readonly filter?: ReportFilter
    /** What absent counts as, in ranks as in averages. */
    readonly absent?: MetricOptions['absent']
    /** Whether what was imported is shown: reading it takes its time. */
    readonly imported?: boolean
  },
): Promise<RankedJob> {
  const started = await runsUntil(store, job, date)
  const period = periodRequest === null ? null : chosenPeriod(job, started, periodRequest)
  const runs = period === null ? started : started.filter((one) => one.date <= period.until)
  const [newest] = runs
  if (newest === undefined)
    return {
      report: () => ({ rows: [], statuses: [], leftOut: { queries: 0, targets: 0 } }),
      built: null,
      period: null,
      compare: null,
      runs,
    }
  const kindOf = (operation: string) => billableOperation(operation).kind
  const reported = reportedTargets(targets, newest, runs.length < started.length ? newest.date : date)
  const lookedAtOnly = absent === 'looked at'
  const partialRuns = store.partialRuns(job)
  const volumes = store.addedVolumes()
  // Loaded only where there are clicks: it knows public suffixes.
  const clicks = store.hasClicks() ? await import('./measured-clicks.ts') : null
  const sites = store.importedSearches(job).length > 0 ? await import('./imported-sites.ts') : null
  const withClicks = (one: BuiltHistory): BuiltHistory =>
    clicks === null ? one : { ...one, history: clicks.withCountedClicks(store, one.history, period) }
  const measured = withAddedVolumes(
    buildHistory({ job, runs, partialRuns, targets: reported, store, kindOf, lookedAtOnly }),
    volumes,
  )
  const filtered = filterReport(withClicks(measured), filter)
  // By the places that keywords and targets have from here on.
  const built = imported ? withImported(filtered, reported, store, sites) : filtered
  const { removedTargets } = built
  const suspicion = store.suspicionOf(newest.id)
  const history: RankHistory =
    suspicion === null
      ? built.history
      : { ...built.history, suspect: { ...suspicion, day: newest.date, audience: 'team' } }
  const compare = period?.compare ?? null
  const day = () => ({
    asked: rowsWithVolumes(store.askedBy(newest.id, reported), volumes),
    observed: observedDays(store, runs, partialRuns),
  })
  return {
    report: () => ({
      ...rankRows(history, day(), compare),
      leftOut: { queries: history.removed.length, targets: removedTargets },
    }),
    built: { ...built, history },
    period,
    compare,
    runs,
  }
}

type AddedVolumes = ReturnType<Store['addedVolumes']>

/** Older volumes are named as old. */
const freshVolumeDays = 90

/** With the volumes that were added from files, for keywords whose job names none. */
function withAddedVolumes(built: BuiltHistory, volumes: AddedVolumes): BuiltHistory {
  const { history } = built
  const last = history.days.at(-1)
  const keywords = history.keywords.map((keyword) => {
    const added = keyword.volume === null ? volumes.added(keyword.query, keyword.params) : null
    if (added === null) return keyword
    const date = addDays('1970-01-01', added.day)
    const isOld = last !== undefined && daysBetween(date, last) > freshVolumeDays
    const withVolume = { ...keyword, volume: added.volume }
    return isOld ? { ...withVolume, oldVolume: { source: added.source, date } } : withVolume
  })
  return { ...built, history: { ...history, keywords } }
}

/**
 * With the ranks that another tool had before the first day.
 *
 * @param targets those of the whole job: an own site is never named as one of others
 */
function withImported(
  built: BuiltHistory,
  targets: readonly Target[],
  store: Store,
  sites: typeof import('./imported-sites.ts') | null,
): BuiltHistory {
  const { history } = built
  const [first] = history.days
  if (first === undefined) return built
  const texts = history.keywords.map(({ query }) => query)
  const imported = importedHistory(
    history,
    store.importedSeries(history.job, { before: first, texts }),
    store.importedPoints,
  )
  if (imported === null) return built
  const pages = sites === null ? {} : { pages: sites.importedSites(store, { ...history, targets }) }
  return { ...built, history: { ...history, imported: { ...imported, ...pages } } }
}

function* rowsWithVolumes(rows: Iterable<Row>, { volumeOf }: AddedVolumes): Generator<Row> {
  for (const row of rows)
    yield row.volume !== null
      ? row
      : { ...row, volume: volumeOf(null, String(row.query), JSON.parse(String(row.params))) }
}

/** What a report is asked for, and how far from the compared day an observation may lie; undefined is as usual. */
export interface PeriodRequest extends RequestedPeriod {
  readonly tolerance?: number | undefined
}

/** The period over the days of these runs. Throws a sentence where none of them is in it, or its end has nothing before it. */
function chosenPeriod(
  job: string,
  runs: readonly Run[],
  { tolerance, ...requested }: PeriodRequest,
): ReportPeriod | null {
  const days = [...new Set(runs.map(({ date }) => date))].sort()
  const period = reportPeriod(days, requested, tolerance)
  if (period === null) return null
  const { from, until, compare } = period
  const last = days.findLast((day) => day <= until)
  if (last === undefined || last < from)
    throw new UsageError(
      `The job ${job} has no run from ${from} to ${until}; its runs are from ${days[0]} to ${days.at(-1)}. Choose another period with --period, or in report: of the job file`,
    )
  const day =
    requested.compare !== null && isDay(requested.compare) ? requested.compare : (compare?.day ?? null)
  if (day === null || day < last) return period
  throw new UsageError(
    `A report of ${last} cannot be compared with ${day}; write an earlier day for --compare, or in report: of the job file`,
  )
}

/** What was observed on each day, the newest first, until one on which the whole job was asked. */
function* observedDays(
  store: Store,
  runs: readonly Run[],
  partial: ReadonlySet<number>,
): Generator<Iterable<Row>> {
  for (const day of new Set(runs.map(({ date }) => date))) {
    const ofDay = runs.filter(({ date }) => date === day)
    yield observedOn(store, ofDay, day)
    if (ofDay.some(({ id }) => !partial.has(id))) return
  }
}

function* observedOn(store: Store, runs: readonly Run[], day: string): Generator<Row> {
  for (const { id } of runs.toReversed())
    for (const row of store.rows('rankings', { run: id })) yield { ...row, date: day }
}

/** Why there is nothing to be said of a job. */
export function notYetRun(job: string, date: string | undefined): string {
  return date === undefined
    ? `The job ${job} has not run yet. Start it with: rankline run <job file>`
    : `No run of the job ${job} had started by ${date}. List them with: rankline runs --job ${job}`
}

/** The newest run that had started by a day, or at all; null where there was none. */
export async function newestRun(store: Store, job: string, date: string | undefined): Promise<Run | null> {
  return (await runsUntil(store, job, date))[0] ?? null
}

/** Runs that had started by a day, or all; the newest first. */
async function runsUntil(store: Store, job: string, date: string | undefined): Promise<readonly Run[]> {
  const runs = await store.runs({ job })
  // All are put in order first: a run of a later day shows which clock was wrong.
  return inOrderOfRuns(runs).filter((one) => date === undefined || one.date <= date)
}

/**
 * The targets of the whole job that are reported: those that its file names now; those of the run where a day was asked
 * for, where the job was named without its file, or where the file names none, for options may have named them.
 */
export function reportedTargets(
  file: readonly Target[] | undefined,
  { settings }: Pick<Run, 'settings'>,
  date: string | undefined,
): readonly Target[] {
  return date === undefined && file !== undefined && file.length > 0 ? file : settings.targets
}

/** Of which keywords and targets a report is to be; each list is "any of these". */
export interface ReportFilter {
  readonly tags?: readonly string[] | undefined
  /** Labels of targets. */
  readonly targets?: readonly string[] | undefined
  /** Conditions, all of which must be true. */
  readonly where?: readonly string[] | undefined
}

/**
 * A history of what is wanted and nothing else. Throws a sentence where no keyword has such a tag, or no target such a name.
 *
 * Queries that the job no longer asks are left out: their tags are not known.
 */
export function filterReport(
  built: BuiltHistory,
  { tags = [], targets = [], where = [] }: ReportFilter,
): BuiltHistory {
  if (tags.length === 0 && targets.length === 0 && where.length === 0) return built
  const { history } = built
  const filter = { tags, targets, ...conditionsOf(history, where) }
  refuseUnknown('--tag', tags, tagsOf(history), `No keyword of ${history.job} has the tag`)
  refuseUnknown(
    '--target',
    targets,
    history.targets.map(({ label }) => label),
    `${history.job} tracks no target`,
  )
  const filtered = filterHistory(history, filter)
  if (filtered.series.length === 0 && history.series.length > 0 && where.length > 0)
    throw new UsageError(
      `No keyword of ${history.job} is left by ${where.map((one) => `--where ${quoted(one)}`).join(' ')}. Change the condition`,
    )
  return compact({ ...built, history: filtered, removedTargets: 0 })
}

/** Of which keywords the conditions are true; throws a sentence where one is wrong or names what no keyword has. */
function conditionsOf({ keywords }: RankHistory, where: readonly string[]): Pick<HistoryFilter, 'isWanted'> {
  if (where.length === 0) return {}
  const conditions = where.map((one) => conditionOf('--where', one, 'store'))
  const wanted = new Set(
    keywords.filter((keyword) => conditions.map((one) => one.isMet(asQuery(keyword))).every((is) => is)),
  )
  refuseUnknownNames('--where', conditions)
  return { isWanted: (keyword) => wanted.has(keyword) }
}

function tagsOf({ keywords }: RankHistory): readonly string[] {
  return [...new Set(keywords.flatMap(({ tags }) => tags))].sort()
}

/** Names that a sentence lists at most. */
const listed = 10

function refuseUnknown(
  option: string,
  wanted: readonly string[],
  known: readonly string[],
  nothing: string,
): void {
  const unknown = wanted.find((one) => !known.includes(one))
  if (unknown === undefined) return
  const near = closestMatch(unknown, known) ?? known.find((one) => one.includes(unknown)) ?? null
  const names = known.slice(0, listed).map(sanitize).join(', ')
  const hint =
    near !== null
      ? `Did you mean ${option} '${sanitize(near)}'?`
      : known.length === 0
        ? `Leave ${option} out`
        : `Write one of ${names}${known.length > listed ? ', …' : ''}`
  throw new UsageError(`${nothing} '${sanitize(unknown)}'. ${hint}`)
}

/** Points of a line at most. */
const mostPoints = 300

/** A series, and the days of it that are drawn. */
interface DrawnSeries {
  readonly series: ImportedSeries
  readonly from: number
  readonly until: number
}

/**
 * The imported ranks of the keywords and targets of a history, from before its first day, in one line each, however many files they came
 * from. Long spans have a point for some days each.
 */
export function importedHistory(
  { keywords, targets }: Pick<RankHistory, 'keywords' | 'targets'>,
  all: readonly ImportedSeries[],
  pointsOf: Store['importedPoints'],
): ImportedHistory | null {
  const byText = groupedBy(all, ({ query }) => textInLowerCase(query))
  const chosen = keywords.flatMap((keyword, place) => {
    if (keyword.kind !== 'organic') return []
    const fitting = (byText.get(textInLowerCase(keyword.query)) ?? []).filter(
      (one) => isInMarket(one, keyword.params) && isOfEngine(one.engine, keyword.operation),
    )
    return targets.flatMap((target, index) => {
      const drawn = drawnOf(fitting.filter((one) => isTargetOf(target, one)))
      return drawn.length === 0 ? [] : [{ keyword: place, target: index, drawn }]
    })
  })
  const drawn = chosen.flatMap((one) => one.drawn)
  if (drawn.length === 0) return null
  const start = drawn.reduce((least, { from }) => Math.min(least, from), Number.POSITIVE_INFINITY)
  const last = drawn.reduce((most, { until }) => Math.max(most, until), 0)
  const step = Math.ceil((last - start + 1) / mostPoints)
  const points = Math.floor((last - start) / step) + 1
  return {
    sources: [...new Set(drawn.map(({ series }) => series.source))].sort(),
    countsAll: drawn.some(({ series }) => series.ruler === 'all'),
    days: Array.from({ length: points }, (_, point) => addDays('1970-01-01', start + point * step)),
    lines: chosen.map(({ keyword, target, drawn: own }) => {
      const cells: DayCell[] = Array(points).fill(null)
      const days = new Int32Array(points)
      // The last day of a point stays; of one day that which was imported first.
      for (const { series, from, until } of own)
        for (const { point, day, rank, depth } of pointsOf(series.id, { from, until, start, step }))
          if (day > (days[point] as number)) {
            days[point] = day
            cells[point] = rank ?? -1 - (depth ?? 0)
          }
      return { keyword, target, cells }
    }),
  }
}

/**
 * What is drawn of series that were followed in one way or in several: what is nearest to a measured rank (organic ranks first, not on mobile,
 * in its own market), with the days of all imports that followed it so. Other ways that count alike on the same devices go on with it before its
 * first day and after its last one.
 */
function drawnOf(all: readonly ImportedSeries[]): readonly DrawnSeries[] {
  const ways = groupedBy(all, ({ ruler, device, gl, hl, location }) =>
    JSON.stringify([ruler, device, gl, hl, location]),
  )
  const [nearest = [], ...others] = [...ways.values()].toSorted((a, b) => distance(a) - distance(b))
  const drawn = nearest.map((series): DrawnSeries => ({ series, from: series.first, until: series.last }))
  let [first, last] = spanOf(nearest)
  for (const other of others) {
    if (!countsAlike(nearest[0], other[0])) continue
    const [from, until] = spanOf(other)
    for (const series of other) {
      if (series.first < first)
        drawn.push({ series, from: series.first, until: Math.min(series.last, first - 1) })
      if (series.last > last)
        drawn.push({ series, from: Math.max(series.first, last + 1), until: series.last })
    }
    first = Math.min(first, from)
    last = Math.max(last, until)
  }
  return drawn
}

/** The first and the last day of several series. */
function spanOf(all: readonly ImportedSeries[]): [number, number] {
  return [Math.min(...all.map(({ first }) => first)), Math.max(...all.map(({ last }) => last))]
}

function countsAlike(one: ImportedSeries | undefined, other: ImportedSeries | undefined): boolean {
  return one?.ruler === other?.ruler && (one?.device === 'mobile') === (other?.device === 'mobile')
}

function isTargetOf({ site }: Target, { target }: ImportedSeries): boolean {
  return (
    site
      .toLowerCase()
      .replace(/^(?:https?:\/\/)?(?:www\.)?/, '')
      .replace(/\/$/, '') === target
  )
}

function distance([one]: readonly ImportedSeries[]): number {
  if (one === undefined) return Number.POSITIVE_INFINITY
  return (one.ruler === 'organic' ? 0 : 4) + marketDistance(one)
}

/** Engines that rank trackers name beside the usual one, also by company or host. Short words count only as a whole. */
const otherEngines =
  /(?<![a-z])(?:bing|yahoo|yandex|baidu|duckduckgo|naver|seznam|ecosia|youtube|amazon|app store|(?:brave|ask|aol|apple)(?![a-z]))/i

/** Whether what was imported can be of the engine of an operation: `alpha` is the usual one. A file that names none is of any. */
function isOfEngine(engine: string | null, operation: string): boolean {
  return engine === null || otherEngines.test(engine) !== operation.startsWith('alpha.')
}
