import { billableOperation } from '../catalog/index.ts'
import { UsageError } from '../errors.ts'
import type { Run } from '../model/run.ts'
import type { AskedDay } from '../report/baseline.ts'
import { type BuiltHistory, buildHistory } from '../report/build-history.ts'
import { addDays, daysBetween } from '../report/days.ts'
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
  readonly report: RankReport
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
    filter = {},
  }: {
    readonly date?: string | undefined
    readonly comparison?: Comparison | null
    readonly filter?: WantedOnly
  },
): Promise<RankedJob> {
  const runs = (await store.runs({ job })).filter((one) => date === undefined || one.date <= date)
  const [newest] = runs
  if (newest === undefined)
    return {
      report: { rows: [], standings: [], leftOut: { queries: 0, targets: 0 } },
      built: null,
      compare: null,
      runs,
    }
  const kindOf = (operation: string) => billableOperation(operation).kind
  const built = wantedOf(buildHistory({ job, runs, store, kindOf }), filter)
  const { history, removedTargets } = built
  const latest = history.days.at(-1) as string
  const compare = comparison === null ? null : askedDay(comparison, latest)
  const day = { asked: store.askedBy(newest.id), observed: observedOn(store, runs, latest) }
  return {
    report: {
      ...rankRows(history, day, compare),
      leftOut: { queries: history.removed.length, targets: removedTargets },
    },
    built,
    compare,
    runs,
  }
}

function* observedOn(store: Store, runs: readonly Run[], day: string): Generator<Row> {
  for (const { id, date } of runs.toReversed()) if (date === day) yield* store.rows('rankings', { run: id })
}

function askedDay({ day, tolerance }: Comparison, latest: string): AskedDay {
  if (typeof day === 'number') return { day: addDays(latest, -day), tolerance }
  if (daysBetween(day, latest) > 0) return { day, tolerance }
  throw new UsageError(`--compare cannot be '${day}'; write a day before ${latest}, the day that is reported`)
}
