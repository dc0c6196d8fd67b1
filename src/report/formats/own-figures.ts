import { type DailyFigures, daily } from '../daily.ts'
import { type TopRankCount, topRanksOf } from '../digest.ts'
import { firstNeeded } from '../findings/spread.ts'
import { keywordStatuses } from '../history/keyword-status.ts'
import { historyOfParts, type Part, partsOf } from '../history/parts.ts'
import type { TrackedTarget } from '../history/rank-history.ts'
import { builtHistory, type ReportSource } from '../report.ts'
import { type Summary, summarise, type TargetSummary } from '../summary.ts'

/** What short reports tell: the figures of the first own target, for the headline kind of results of one engine. */
export interface OwnFigures {
  /** The summary of that kind and engine, for what concerns competitors. */
  readonly summary: Summary
  readonly own: TargetSummary
  readonly topThree: TopRankCount
  readonly topTen: TopRankCount
  /** First and last day, YYYY-MM-DD. */
  readonly from: string
  readonly until: string
  /** The last of the days that keywords are compared with; null where there is none. */
  readonly compared: string | null
  /** What the job asks for, by kind and engine: the part that is told of, then the others. */
  readonly parts: readonly Part[]
  /** Visibility of each day of the period. */
  readonly trend: readonly TrendDay[]
  /** The days that say how much the figures of a target usually swing. */
  readonly daysOf: (target: TrackedTarget) => readonly DailyFigures[]
}

export interface TrendDay {
  readonly day: string
  /** From 0 to 1; null for a day that is not complete. */
  readonly value: number | null
}

/**
 * Null where nothing is ranked.
 * @param movers winners and losers at most
 */
export function ownFigures(source: ReportSource, movers = 0): OwnFigures | null {
  const { measure, ranked } = source
  const { period } = ranked
  const built = builtHistory(source).history
  // Counts of several engines beside a figure of one would say another thing than it.
  const parts = partsOf(built, measure.kind)
  const history = historyOfParts(built, parts.slice(0, 1))
  const summary = summarise(history, { ...measure, compare: ranked.compare, movers })
  const own = summary.targets.find(({ target }) => target.own) ?? summary.targets[0]
  if (own === undefined || summary.date === null) return null
  const statuses = keywordStatuses(history, ranked.compare).filter(
    ({ series }) => history.targets[series.target] === own.target,
  )
  const from = period?.from ?? summary.date
  const place = history.targets.indexOf(own.target)
  const first = firstNeeded(history.days.length)
  const daysOf = (target: TrackedTarget) => daily(history, history.targets.indexOf(target), measure, first)
  const trend = daily(history, place, measure)
    .filter(({ day }) => day >= from)
    .map((day) => ({ day: day.day, value: visibilityOf(day) }))
  return {
    summary,
    own,
    trend,
    parts,
    daysOf,
    topThree: topRanksOf(statuses, 3),
    topTen: topRanksOf(statuses, 10),
    from,
    until: summary.date,
    compared: summary.compared.at(-1) ?? null,
  }
}

function visibilityOf({ figures, isPartial }: DailyFigures): number | null {
  return isPartial ? null : figures.visibility.value
}
