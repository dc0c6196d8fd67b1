import { billableOperation } from '../../catalog/index.ts'
import { queryConditions } from '../../model/condition.ts'
import { UsageError } from '../../model/errors.ts'
import type { Target } from '../../model/job.ts'
import type { Row } from '../../model/result.ts'
import type { Run } from '../../model/run.ts'
import { isDay } from '../../model/settings.ts'
import { closestMatch } from '../../model/text.ts'
import { daysBetween, dayText, inOrderOfRuns } from '../../model/time.ts'
import { quoted } from '../../model/values.ts'
import { sanitize } from '../../output/terminal.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { type BuiltHistory, buildHistory, compact } from '../history/build-history.ts'
import { filterHistory, type HistoryFilter } from '../history/filter-history.ts'
import { type ReportPeriod, type RequestedPeriod, reportPeriod } from '../history/period.ts'
import type { RankHistory } from '../history/rank-history.ts'
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
    absent,
    imported = false,
  }: {
    readonly date?: string | undefined
    /** The period; null for the last day against the nearest day before. */
    readonly periodRequest?: Parameters<typeof chosenPeriod>[2] | null
    /** Those that the file of the job names now. */
    readonly targets?: readonly Target[] | undefined
    readonly filter?: Parameters<typeof filterReport>[1]
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
      history: { job, days: [], keywords: [], targets: [], series: [], links: [], removed: [] },
      queryIds: [],
      period: null,
      compare: null,
      runs,
    }
  const kindOf = (operation: string) => billableOperation(operation).kind
  const reported = reportedTargets(targets, newest, runs.length < started.length ? newest.date : date)
  const lookedAtOnly = absent === 'looked at'
  const partialRuns = store.partialRuns(job)
  const built = buildHistory({ job, runs, partialRuns, targets: reported, store, kindOf, lookedAtOnly })
  const withVolumes = withAddedVolumes(built.history, store.addedVolumes())
  // Loaded only where there are clicks: it knows public suffixes.
  const clicks = store.hasClicks() ? await import('./measured-clicks.ts') : null
  const whole = clicks === null ? withVolumes : clicks.withCountedClicks(store, withVolumes, period)
  const { history: own, queryIds, removedTargets } = filterReport({ ...built, history: whole }, filter)
  // By the places that keywords and targets have from here on.
  const before = imported ? await importedBefore(store, own, reported) : null
  const suspicion = store.suspicionOf(newest.id)
  const history: RankHistory = {
    ...own,
    ...(before === null ? {} : { imported: before }),
    ...(suspicion === null ? {} : { suspect: { ...suspicion, day: newest.date, audience: 'team' } }),
  }
  const compare = period?.compare ?? null
  return {
    report: () => ({
      ...rankRows(
        history,
        { asked: store.askedBy(newest.id, reported), observed: observedDays(store, runs, partialRuns) },
        compare,
      ),
      leftOut: { queries: history.removed.length, targets: removedTargets },
    }),
    history,
    queryIds,
    period,
    compare,
    runs,
  }
}

/** Older volumes are named as old. */
const freshVolumeDays = 90

/** With the volumes that were added from files, for keywords whose job names none. */
function withAddedVolumes(history: RankHistory, { added }: ReturnType<Store['addedVolumes']>): RankHistory {
  const last = history.days.at(-1) as string
  const keywords = history.keywords.map((keyword) => {
    const found = keyword.volume === null ? added(keyword.query, keyword.params) : null
    if (found === null) return keyword
    const { volume, source, day } = found
    const date = dayText(day)
    const isOld = daysBetween(date, last) > freshVolumeDays
    return isOld ? { ...keyword, volume, oldVolume: { source, date } } : { ...keyword, volume }
  })
  return { ...history, keywords }
}

/**
 * The ranks that another tool had before the first day; null where it had none.
 *
 * @param targets those of the whole job: an own site is never named as one of others
 */
async function importedBefore(store: Store, history: RankHistory, targets: readonly Target[]) {
  const texts = history.keywords.map(({ query }) => query)
  const series = store.importedSeries(history.job, { before: history.days[0] as string, texts })
  if (series.length === 0) return null
  // Loaded only where there is something: it knows public suffixes.
  const { importedHistory, importedSites } = await import('./imported.ts')
  const imported = importedHistory(history, series, store.importedPoints)
  if (imported === null || store.importedSearches(history.job).length === 0) return imported
  return { ...imported, pages: importedSites(store, { ...history, targets }) }
}

/** The period over the days of these runs. Throws a sentence where none of them is in it, or its end has nothing before it. */
function chosenPeriod(
  job: string,
  runs: readonly Run[],
  {
    tolerance,
    ...requested
  }: RequestedPeriod & {
    /** How many days from the compared one an observation may lie; undefined is as usual. */
    readonly tolerance?: number | undefined
  },
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

/**
 * A history of what is wanted and nothing else. Throws a sentence where no keyword has such a tag, or no target such a name.
 *
 * Queries that the job no longer asks are left out: their tags are not known.
 */
export function filterReport(
  built: BuiltHistory,
  {
    tags = [],
    targets = [],
    where = [],
  }: {
    /** Keywords with any of these. */
    readonly tags?: readonly string[] | undefined
    /** Labels of targets: any of these. */
    readonly targets?: readonly string[] | undefined
    /** Conditions, all of which must be true. */
    readonly where?: readonly string[] | undefined
  },
): BuiltHistory {
  if (tags.length === 0 && targets.length === 0 && where.length === 0) return built
  const { history } = built
  const filter = { tags, targets, ...conditionsOf(history, where) }
  const known = [...new Set(history.keywords.flatMap((keyword) => keyword.tags))].sort()
  refuseUnknown('--tag', tags, known, `No keyword of ${history.job} has the tag`)
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
  const conditions = where.map((one) => queryConditions.of('--where', one, 'store'))
  const wanted = new Set(
    keywords.filter((keyword) => conditions.map((one) => one.isMet(asQuery(keyword))).every((is) => is)),
  )
  queryConditions.refuseUnknown('--where', conditions)
  return { isWanted: (keyword) => wanted.has(keyword) }
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
