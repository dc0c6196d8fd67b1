import { daysBetween } from '../../model/time.ts'
import { type DailyFigures, daily } from '../daily.ts'
import { headlineFigure, isKnownOnBothDays } from '../headline.ts'
import { hasClicks, historyOfParts, partsOf } from '../history/filter-history.ts'
import { alignDepths, type KeywordStatus, keywordStatuses } from '../history/keyword-status.ts'
import type { ComparisonDay } from '../history/movement.ts'
import type { RankHistory, TrackedTarget } from '../history/rank-history.ts'
import { type Coverage, coverageOf, type MetricOptions } from '../metrics/figure.ts'
import { statusesByTarget } from '../summary.ts'
import type { LeadMetric, Span } from './finding.ts'
import { firstNeeded, usualChange } from './spread.ts'

/** What findings are made of: one part of a history, seen from one of its targets. */
export interface FindingFacts {
  /** Up to the last day of the report; its keywords are of one part. */
  readonly history: RankHistory
  /** Place of the target in the history. */
  readonly target: number
  readonly compare: ComparisonDay | null
  readonly measure: MetricOptions
  readonly metric: LeadMetric
  /** The statuses of each target that is tracked, by its place. */
  readonly statuses: ReadonlyMap<number, readonly KeywordStatus[]>
  /** Those of the target. */
  readonly own: readonly KeywordStatus[]
  /** The compared day of most keywords of the target; null if none is compared. */
  readonly span: Span | null
  /** Place of the first day of daily figures: they are of the days since the compared one, and of the last weeks at least. */
  readonly firstDay: number
  /** The figures of a target day by day. */
  readonly daily: (target: number) => readonly DailyFigures[]
}

/** The facts of the first part of a history. */
export function factsOf(
  history: RankHistory,
  {
    target,
    compare,
    measure,
    ...known
  }: {
    readonly target: number
    readonly compare: ComparisonDay | null
    readonly measure: MetricOptions
    /** The statuses of every target, where they are known already. */
    readonly statuses?: readonly KeywordStatus[]
  },
): FindingFacts {
  const parts = partsOf(history, measure.kind)
  const [part] = parts
  const ofPart = part === undefined || parts.length === 1 ? history : historyOfParts(history, [part])
  const statuses = statusesByTarget(known.statuses ?? keywordStatuses(ofPart, compare))
  const own = statuses.get(target) ?? []
  const span = spanOf(own, ofPart.days)
  // Those since the compared day, and enough to know what is usual.
  const since = span === null ? ofPart.days.length : ofPart.days.indexOf(span.day)
  const firstDay = firstNeeded(ofPart.days.length, since)
  const found = new Map<number, readonly DailyFigures[]>()
  return {
    history: ofPart,
    target,
    compare,
    measure,
    metric: part === undefined || hasClicks(part.kind) ? 'visibility' : 'cited',
    statuses,
    own,
    span,
    firstDay,
    daily: (one) => {
      const days = found.get(one) ?? daily(ofPart, one, measure, firstDay)
      found.set(one, days)
      return days
    },
  }
}

export function targetOf({
  history,
  target,
}: Pick<FindingFacts, 'history' | 'target'>): TrackedTarget | undefined {
  return history.targets[target]
}

/** The day that most of these keywords are compared with; of equally many the later one. */
export function spanOf(statuses: readonly KeywordStatus[], days: readonly string[]): Span | null {
  const counts = new Map<number, number>()
  for (const status of statuses)
    if (isKnownOnBothDays(status)) counts.set(status.baseline.day, (counts.get(status.baseline.day) ?? 0) + 1)
  const [most] = [...counts].sort(([a, some], [b, others]) => others - some || b - a)
  const [day, last] = [days[most?.[0] ?? -1], days.at(-1)]
  return day === undefined || last === undefined ? null : { day, days: daysBetween(day, last) }
}

/** The share that a report is about, on the last day and over the keywords that can be compared. */
export interface LeadFigure {
  readonly value: number | null
  /** Keywords that were checked on both days. */
  readonly common: number
  /** Of these keywords; null if there are none. */
  readonly now: number | null
  readonly before: number | null
  readonly delta: number | null
}

/** Of a share; below this the digits that are shown say nothing. */
export const leastShown = 0.0005

/**
 * Whether a change leads to the figure that readers see: the change is of keywords that were checked on both days, the figure of all,
 * and the two may not fit each other.
 */
export function isReached({ value, now, delta }: LeadFigure): boolean {
  if (value === null || now === null || delta === null) return false
  const before = value - delta
  return before > -leastShown && before < 1 + leastShown && Math.abs(value - now) <= Math.abs(delta) / 2
}

export function leadOf(
  statuses: readonly KeywordStatus[],
  facts: Pick<FindingFacts, 'metric' | 'measure'>,
): LeadFigure {
  const known = leads.get(statuses) ?? measureLead(statuses, facts)
  leads.set(statuses, known)
  return known
}

/** Several rules ask for the same, which takes long for thousands of keywords. Facts have lists of their own. */
const leads = new WeakMap<readonly KeywordStatus[], LeadFigure>()

function measureLead(
  statuses: readonly KeywordStatus[],
  { metric, measure }: Pick<FindingFacts, 'metric' | 'measure'>,
): LeadFigure {
  const pairs = statuses.filter(isKnownOnBothDays)
  if (metric === 'visibility') {
    const { value, cohort } = headlineFigure('visibility', statuses, measure)
    const [now, before] = [cohort?.now.value ?? null, cohort?.before.value ?? null]
    return { value, common: pairs.length, now, before, delta: cohort?.delta ?? null }
  }
  const aligned = pairs.map(({ current, baseline }) => alignDepths(current, baseline.value))
  const [now, before] = [0, 1].map((day) =>
    shareOf(aligned.map((pair) => pair[day]?.state === 'ranked')),
  ) as [number | null, number | null]
  const checked = statuses.filter(({ current }) => current.state !== 'unknown')
  return {
    value: shareOf(checked.map(({ current }) => current.state === 'ranked')),
    common: pairs.length,
    now,
    before,
    delta: now === null || before === null ? null : now - before,
  }
}

function shareOf(all: readonly boolean[]): number | null {
  return all.length === 0 ? null : all.filter(Boolean).length / all.length
}

/** The same share on one day. */
export function leadOn({ coverage, figures }: DailyFigures, metric: LeadMetric): number | null {
  if (metric === 'visibility') return figures.visibility.value
  return coverage.observed === 0 ? null : coverage.ranked / coverage.observed
}

/** The usual daily change of what is measured each day. Days on which less than half was checked are left out. */
export function usualOf(
  days: readonly DailyFigures[],
  value: (day: DailyFigures) => number | null,
): number | null {
  return usualChange(days.map((day) => (day.isPartial ? null : value(day))))
}

/** How many of these keywords were checked on the last day, and how many of them rank. */
export function checkedOf(statuses: readonly KeywordStatus[]): Coverage {
  return coverageOf(statuses.map(({ current }) => ({ value: current })))
}
