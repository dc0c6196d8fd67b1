import { alignDepths, type KeywordStatus, ranksOn } from './history/keyword-status.ts'
import { wasWithinDepth } from './history/movement.ts'
import type { DayValue } from './history/rank-history.ts'
import type { Figure, HeadlineMetric, MetricDefinition, MetricOptions, Sample } from './metrics/figure.ts'
import { type HeadlineName, headlineMetrics } from './metrics/index.ts'
import { formats } from './words/en/figures.ts'

/** A figure of the last day, with the same figure of the compared days. */
export type ComparedFigure = ReturnType<typeof headlineFigure>

export type Headline = Readonly<Record<HeadlineName, ComparedFigure>>

/** The headline figures of one target. */
export function headline(statuses: readonly KeywordStatus[], options: MetricOptions): Headline {
  return byHeadline(figuresOf(statuses, options))
}

export function byHeadline<T>(
  of: (metric: HeadlineMetric<HeadlineName>) => T,
): Readonly<Record<HeadlineName, T>> {
  return Object.fromEntries(headlineMetrics.map((metric) => [metric.name, of(metric)])) as Record<
    HeadlineName,
    T
  >
}

/** One of the figures, which takes less time than all. */
export function headlineFigure(
  name: HeadlineName,
  statuses: readonly KeywordStatus[],
  options: MetricOptions,
) {
  return figuresOf(statuses, options)(headlineMetrics.find((one) => one.name === name) as HeadlineMetric)
}

/** Several figures are of the same keywords, of which there may be thousands. */
const samples = new WeakMap<readonly KeywordStatus[], ReturnType<typeof samplesOf>>()

function samplesOf(statuses: readonly KeywordStatus[]) {
  const pairs = { now: [] as Sample[], before: [] as Sample[] }
  for (const status of statuses) if (isKnownOnBothDays(status)) addPair(pairs, status)
  const all = statuses.map(({ series, current, keyword: { kind, volume } }): Sample => {
    return { kind, value: current, ranks: ranksOn(series, series.cells.length - 1), volume }
  })
  return { all, ...pairs }
}

function figuresOf(statuses: readonly KeywordStatus[], options: MetricOptions) {
  const known = samples.get(statuses) ?? samplesOf(statuses)
  samples.set(statuses, known)
  const { all, now, before } = known
  return ({ compute, isComparable }: HeadlineMetric) => {
    const pairs = isComparable === undefined ? { now, before } : comparable()
    return {
      ...compute(all, options),
      /** The metric over the keywords that were observed on both days, down to the depth that both checked; null for none. */
      cohort:
        pairs.now.length === 0 ? null : cohortOf(compute(pairs.now, options), compute(pairs.before, options)),
    }

    function comparable() {
      const isKept = now.map((one, place) => isComparable?.(one, before[place] as Sample, options))
      const kept = (samples: readonly Sample[]) => samples.filter((_, place) => isKept[place])
      return { now: kept(now), before: kept(before) }
    }
  }
}

/** Whether a keyword was observed on the last day and on the compared one. */
export function isKnownOnBothDays<Status extends Pick<KeywordStatus, 'current' | 'baseline'>>(
  status: Status,
): status is Status & { readonly baseline: NonNullable<Status['baseline']> } {
  const { current, baseline } = status
  return baseline !== null && current.state !== 'unknown' && baseline.value.state !== 'unknown'
}

/** Adds both days of a keyword that was observed on both. */
function addPair(
  pairs: Record<'now' | 'before', Sample[]>,
  { series, current, baseline, keyword: { kind, volume } }: CommonStatus,
): void {
  const [now, before] = alignDepths(current, baseline.value)
  const add = (samples: Sample[], value: DayValue, other: DayValue, day: number) => {
    const ranks = ranksOn(series, day)
    const isSeenWhole = ranks.every((rank) => isSeen(rank, value, other))
    const seen = isSeenWhole ? ranks : ranks.filter((rank) => isSeen(rank, value, other))
    samples.push({ kind, value, ranks: seen, volume })
  }
  add(pairs.now, now, before, series.cells.length - 1)
  add(pairs.before, before, now, baseline.day)
}

type CommonStatus = KeywordStatus & { readonly baseline: NonNullable<KeywordStatus['baseline']> }

/** Whether a rank counts in the comparison: the other day has a rank too, or was checked deep enough to see this one. */
function isSeen(rank: number, { state }: DayValue, other: DayValue): boolean {
  return state === 'ranked' && (other.state === 'ranked' || wasWithinDepth(rank, other))
}

function cohortOf(now: Figure, before: Figure) {
  /** Now minus before; null if one of them has no value. */
  const delta = now.value === null || before.value === null ? null : now.value - before.value
  return { now, before, delta }
}

/**
 * The headline metrics that are columns of a table for people. A ratio without a value says what is missing; a sum without one
 * would say it again, so it is left out, and so is what only web results have where there are none.
 */
export function columnMetrics(lines: readonly { readonly figures: Headline }[]) {
  const hasNoWeb = lines.every(
    ({ figures: { visibility } }) => visibility.value === null && visibility.uncounted > 0,
  )
  return headlineMetrics.filter(
    ({ name, denominator, byClicks }) =>
      lines.some(({ figures }) => figures[name].value !== null) ||
      (denominator !== null && !(byClicks && hasNoWeb)),
  )
}

/** A value for people, in English. */
export function valueText(value: number | null, { unit }: Pick<MetricDefinition, 'unit'>): string {
  return formats.figure(value, unit)
}

/**
 * How much better or worse a figure is than before: `▲ 1.3`, `▼ 0.4` or `=`, shares in percentage points. Empty if nothing
 * can be compared.
 */
export function deltaText(
  { unit, better }: MetricDefinition,
  { cohort }: ComparedFigure,
  say: Pick<typeof formats, 'changeOf'> = formats,
): string {
  return cohort === null || cohort.delta === null
    ? ''
    : say.changeOf(cohort.delta, unit, { better, isShort: true }).text
}
