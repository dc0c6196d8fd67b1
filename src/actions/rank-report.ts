import { billableOperation } from '../catalog/index.ts'
import { UsageError } from '../errors.ts'
import type { Run } from '../model/run.ts'
import type { Target } from '../model/target.ts'
import type { AskedDay } from '../report/baseline.ts'
import { type BuiltHistory, buildHistory } from '../report/build-history.ts'
import { addDays, daysBetween, inOrderOfRuns } from '../report/days.ts'
import type { Measure } from '../report/headline.ts'
import { type RankReport, type Row, rankRows } from '../report/rank-rows.ts'
import type { Store } from '../store/store.ts'
import { span } from '../words.ts'
import { day } from './choices.ts'
import { type WantedOnly, wantedOf } from './report-filter.ts'

export interface CompareFlags {
  readonly date?: string
  readonly compare?: string
  readonly tolerance?: string
}

/** What is to be compared, as far as the flags say it: a day, or so many days before the report's own. */
export interface Comparison {
  readonly day: string | number
  readonly tolerance: number
}

const defaultTolerance = 3
/** A century: dates stay dates. */
const mostDays = 36_525

/** Reads the flags that say what to compare with; null where there are none. Throws a sentence where they are wrong. */
export function comparisonOf({ compare, tolerance }: CompareFlags): Comparison | null {
  const days = tolerance === undefined ? defaultTolerance : daysOf(tolerance)
  if (days === null)
    throw new UsageError(`--tolerance cannot be '${tolerance}'; write days such as 0d, 3d or 1w`)
  if (compare === undefined) {
    if (tolerance === undefined) return null
    throw new UsageError('--tolerance has no meaning without --compare')
  }
  const back = daysOf(compare)
  if (back !== null && back > 0) return { day: back, tolerance: days }
  try {
    return { day: day('--compare', compare) as string, tolerance: days }
  } catch (error) {
    throw new UsageError(
      `--compare cannot be '${compare}'; write a day such as 2026-01-31, or how long ago, such as 7d or 4w`,
      { cause: error },
    )
  }
}

function daysOf(text: string): number | null {
  const ms = span(text, 'dw')
  const days = ms === null ? Number.NaN : ms / 86_400_000
  return days <= mostDays ? days : null
}

export interface RankedJob {
  /** The rows of the report; they are read when they are asked for, and not every form has rows. */
  readonly report: () => RankReport
  /** What the report is made of; null where nothing has run yet. */
  readonly built: BuiltHistory | null
  readonly compare: AskedDay | null
  /** Runs that are reported, the newest first; it says what is asked. */
  readonly runs: readonly Run[]
}

/** The ranks of a job as of a day: what its newest run until then asks for, and how that moved. */
export async function rankedJob(
  store: Store,
  job: string,
  {
    date,
    comparison = null,
    targets,
    filter = {},
    absent = 'depth',
  }: {
    readonly date?: string | undefined
    readonly comparison?: Comparison | null
    /** Those that the file of the job names now. */
    readonly targets?: readonly Target[] | undefined
    readonly filter?: WantedOnly
    /** What absent counts as, in ranks as in averages. */
    readonly absent?: Measure['absent']
  },
): Promise<RankedJob> {
  const runs = await runsUntil(store, job, date)
  const [newest] = runs
  if (newest === undefined)
    return {
      report: () => ({ rows: [], standings: [], leftOut: { queries: 0, targets: 0 } }),
      built: null,
      compare: null,
      runs,
    }
  const kindOf = (operation: string) => billableOperation(operation).kind
  const reported = reportedTargets(targets, newest, date)
  const lookedAtOnly = absent === 'looked at'
  const built = wantedOf(buildHistory({ job, runs, targets: reported, store, kindOf, lookedAtOnly }), filter)
  const { history, removedTargets } = built
  const latest = history.days.at(-1) as string
  const compare = comparison === null ? null : askedDay(comparison, latest)
  const day = () => ({ asked: store.askedBy(newest.id, reported), observed: observedOn(store, runs, latest) })
  return {
    report: () => ({
      ...rankRows(history, day(), compare),
      leftOut: { queries: history.removed.length, targets: removedTargets },
    }),
    built,
    compare,
    runs,
  }
}

function* observedOn(store: Store, runs: readonly Run[], day: string): Generator<Row> {
  for (const { id, date } of runs.toReversed())
    if (date === day) for (const row of store.rows('rankings', { run: id })) yield { ...row, date: day }
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
  return inOrderOfRuns(runs.filter((one) => date === undefined || one.date <= date))
}

/**
 * The targets of the whole job that are reported: those that its file names now; those of the run where a day was asked
 * for, where the job was named without its file, or where the file names none, for flags may have named them.
 */
export function reportedTargets(
  file: readonly Target[] | undefined,
  { settings }: Pick<Run, 'settings'>,
  date: string | undefined,
): readonly Target[] {
  return date === undefined && file !== undefined && file.length > 0 ? file : settings.targets
}

/** The day that is to be compared with, as a day. */
export function askedDay({ day, tolerance }: Comparison, latest: string): AskedDay {
  if (typeof day === 'number') return { day: addDays(latest, -day), tolerance }
  if (daysBetween(day, latest) > 0) return { day, tolerance }
  throw new UsageError(`--compare cannot be '${day}'; write a day before ${latest}, the day that is reported`)
}
