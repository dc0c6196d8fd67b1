import type { ResultKind } from '../model/result.ts'
import { dayMs } from '../model/time.ts'
import { ranksOn, valueOn } from './history/keyword-status.ts'
import {
  type DayCell,
  type Keyword,
  type RankHistory,
  type RankSeries,
  unknown,
} from './history/rank-history.ts'
import { type Figure, figure, type MetricOptions, type Sample, sumFigure } from './metrics/figure.ts'
import { type HeadlineName, headlineMetrics } from './metrics/index.ts'
import { buckets, distribution } from './metrics/positions.ts'

/** The figures of a target on one day. */
export interface DailyFigures {
  readonly day: string
  readonly coverage: Figure['coverage']
  readonly figures: Readonly<Record<HeadlineName, Figure>>
  readonly distribution: ReturnType<typeof distribution>
  /** Keywords that were asked on this day or before, and those that were observed on the day itself. */
  readonly asked: number
  readonly checked: number
  /**
   * Whether less than half of the asked keywords were observed: a run that failed or was stopped. Charts leave such a day out.
   */
  readonly isPartial: boolean
}

/** What makes days such that they can be held against each other, as the compared day is against the last one. */
interface AlikeDays {
  /** The day that most keywords are compared with, and the one that was asked for. */
  readonly day: string
  readonly asked: string
  /** Days that an observation may lie from the day that it counts for. */
  readonly tolerance: number
}

/**
 * The figures of one target day by day, each from all that was observed on that day: days may differ in keywords and depth.
 * On the last day all keywords are expected, on other days those that were asked.
 *
 * The page needs them after every change of a filter, for thousands of keywords. Figures are sums, and equal days add the
 * same to them. So equal days are counted, each kind of day is measured once, and the kinds are remembered by series.
 *
 * @param target place in the targets of the history
 * @param from place of the first day that is wanted
 * @param alike for days that can be held against each other: a keyword that was not observed on a day counts as on the nearest one
 *   within the tolerance, and one that is not known on the last day counts on none
 */
export function daily(
  history: RankHistory,
  target: number,
  measure: MetricOptions,
  from = 0,
  alike: AlikeDays | null = null,
): readonly DailyFigures[] {
  const { days, keywords } = history
  const last = days.length - 1
  const dayKinds = dayKindsOf(measure)
  const firstKind = alike === null ? from : Math.max(0, from - 2 * alike.tolerance)
  const compared = alike === null ? last : days.findIndex((day) => day >= alike.day)
  const countsAs = alike === null ? (_: readonly DayCell[], day: number) => day : alikeDays(days, alike)
  const tallies: DayTally[] = []
  const byKind: (DayTally | undefined)[] = []
  const added = new Uint32Array(days.length)
  const checked = new Uint32Array(days.length)
  for (const series of seriesOf(history, target, alike !== null)) {
    const { cells } = series
    const { kind, volume } = keywords[series.keyword] as Keyword
    const kindsOfDays = dayKinds.ofSeries(series, kind, firstKind)
    const first = cells.findIndex((cell) => cell != null)
    const begin = first === -1 ? last : first
    added[begin] = (added[begin] ?? 0) + 1
    for (let day = Math.max(from, Math.min(begin, compared)); day <= last; day++) {
      if (isKnownCell(cells[day])) checked[day] = (checked[day] ?? 0) + 1
      const at = countsAs(cells, day)
      if (cells[at] == null && at !== last) continue
      const dayKind = kindsOfDays[at] as number
      let tally = byKind[dayKind]
      if (tally === undefined) {
        tally = emptyTally(dayKinds.all[dayKind] as DayKind, days.length)
        byKind[dayKind] = tally
        tallies.push(tally)
      }
      if (volume === null) tally.withoutVolume[day] = (tally.withoutVolume[day] ?? 0) + 1
      else {
        tally.withVolume[day] = (tally.withVolume[day] ?? 0) + 1
        tally.searches[day] = (tally.searches[day] ?? 0) + volume
      }
    }
  }
  let asked = added.subarray(0, from).reduce((sum, one) => sum + one, 0)
  return days.slice(from).map((day, index) => {
    const place = from + index
    asked += added[place] ?? 0
    return dayOf({ day, place }, { asked, checked: checked[place] ?? 0 }, tallies)
  })
}

function isKnownCell(cell: DayCell | undefined): boolean {
  return cell != null && cell !== 0
}

/** The series of a target; of days that are alike those that are known on the last day, unless that day is incomplete. */
function seriesOf({ series, days }: RankHistory, target: number, areAlike: boolean): readonly RankSeries[] {
  const all = series.filter((one) => one.target === target)
  if (!areAlike) return all
  const known = all.filter(({ cells }) => isKnownCell(cells[days.length - 1]))
  return known.length * 2 < all.length ? all : known
}

/**
 * For each day of a series the place of the day that it counts as: the nearest known one but the last, of two equally near ones the
 * earlier. The compared day counts as the comparison of the keyword has it.
 */
function alikeDays(days: readonly string[], { day: compared, asked, tolerance }: AlikeDays) {
  const times = days.map((day) => Date.parse(day) / dayMs)
  const last = days.length - 1
  const wantedTimes = days.map((day, place) =>
    day === compared ? Date.parse(asked) / dayMs : (times[place] as number),
  )
  return (cells: readonly DayCell[], day: number): number => {
    const wanted = wantedTimes[day] as number
    if (day === last || (isKnownCell(cells[day]) && wanted === times[day])) return day
    let [nearest, least] = [day, Number.POSITIVE_INFINITY]
    for (
      let other = Math.max(0, day - 2 * tolerance);
      other < last && other <= day + 2 * tolerance;
      other++
    ) {
      const far = Math.abs((times[other] as number) - wanted)
      if (far > tolerance || far >= least || !isKnownCell(cells[other])) continue
      nearest = other
      least = far
    }
    return nearest
  }
}

/** A kind of day: what each day of the kind adds to the figures. */
type DayKind = ReturnType<typeof measured>

/** How many keywords have a day of this kind, by day. */
type DayTally = ReturnType<typeof emptyTally>

function emptyTally(kind: DayKind, days: number) {
  return {
    kind,
    withVolume: new Float64Array(days),
    withoutVolume: new Float64Array(days),
    /** The sum of their volumes. */
    searches: new Float64Array(days),
  }
}

const termNames = ['numerator', 'denominator', 'uncounted'] as const

/** The terms of all headline figures, one after the other. */
function termsOf(seen: Sample, measure: MetricOptions): readonly number[] {
  return headlineMetrics.flatMap(({ compute }) => {
    const figure = compute([seen], measure)
    return termNames.map((term) => figure[term] ?? 0)
  })
}

const knownKinds = new WeakMap<MetricOptions, ReturnType<typeof kindsOfDays>>()

/** Remembered by measure. */
function dayKindsOf(measure: MetricOptions) {
  const known = knownKinds.get(measure) ?? kindsOfDays(measure)
  knownKinds.set(measure, known)
  return known
}

/** The kinds of days by one measure. */
function kindsOfDays(measure: MetricOptions) {
  const all: DayKind[] = []
  const ofDepths = new Map<string, Map<number | string, number>>()
  const remembered = new WeakMap<
    RankSeries,
    { readonly kind: ResultKind; readonly from: number; readonly places: Uint32Array }
  >()

  /** The known days of series in which absence counts with the same depth. */
  const equalDaysOf = (kind: ResultKind, absentDepth: number | undefined) => {
    const key = `${kind} ${absentDepth}`
    const those = ofDepths.get(key) ?? new Map<number | string, number>()
    ofDepths.set(key, those)
    return those
  }

  const find = (series: RankSeries, kind: ResultKind, from: number): Uint32Array => {
    const { absentDepths, cells } = series
    let next = 0
    let equalDays = equalDaysOf(kind, undefined)
    const places = new Uint32Array(cells.length)
    for (let day = from; day < cells.length; day++) {
      for (
        let change = absentDepths[next];
        change !== undefined && change[0] <= day;
        change = absentDepths[++next]
      )
        equalDays = equalDaysOf(kind, change[1])
      const key = keyOf(series, day)
      let place = equalDays.get(key)
      if (place === undefined) {
        const value = valueOn(series, day) ?? unknown
        place = all.push(measured({ kind, value, ranks: ranksOn(series, day) }, measure)) - 1
        equalDays.set(key, place)
      }
      places[day] = place
    }
    return places
  }

  return {
    all,
    /** The kind of each day of a series from a day on, as its place in `all`. */
    ofSeries(series: RankSeries, kind: ResultKind, from: number): Uint32Array {
      const known = remembered.get(series)
      if (known?.kind === kind && known.from <= from) return known.places
      const places = find(series, kind, from)
      remembered.set(series, { kind, from, places })
      return places
    },
  }
}

function measured(sample: Omit<Sample, 'volume'>, measure: MetricOptions) {
  const of = (volume: number | null) => termsOf({ ...sample, volume }, measure)
  const [fixed, single] = [of(0), of(1)]
  const counts = distribution([sample.value])
  return {
    bucket: buckets.find((bucket) => counts[bucket] === 1) ?? ('unknown' as const),
    isObserved: sample.value.state !== 'unknown',
    isRanked: sample.value.state === 'ranked',
    /** Added to the terms of the figures: without a volume, with a volume, and for each search of the volume. */
    plain: of(null),
    fixed,
    bySearch: single.map((term, place) => term - (fixed[place] ?? 0)),
  }
}

/** Days with the same key are equal if absence counts with the same depth. The cell alone is enough for most days. */
function keyOf({ cells, seen, places }: RankSeries, day: number): number | string {
  const cell = cells[day] ?? 0
  const several = places[day]
  if (several !== undefined) return `${cell} at ${several.map(([rank]) => rank).join()}`
  return seen[day] === undefined ? cell : `${cell} of ${seen[day]}`
}

/** The figures of a day, of the sums over all its keywords. */
function dayOf(
  { day, place }: { readonly day: string; readonly place: number },
  { asked, checked }: Pick<DailyFigures, 'asked' | 'checked'>,
  tallies: readonly DayTally[],
): DailyFigures {
  const counts = { ...distribution([]) }
  const coverage = { ranked: 0, observed: 0, expected: 0 }
  const terms = headlineMetrics.flatMap(() => termNames.map(() => 0))
  for (const { kind, withVolume, withoutVolume, searches } of tallies) {
    const [known, without] = [withVolume[place] ?? 0, withoutVolume[place] ?? 0]
    const number = known + without
    if (number === 0) continue
    const searched = searches[place] ?? 0
    const { bucket, isObserved, isRanked, plain, fixed, bySearch } = kind
    counts[bucket] += number
    coverage.expected += number
    if (isObserved) coverage.observed += number
    if (isRanked) coverage.ranked += number
    for (let term = 0; term < terms.length; term++)
      terms[term] =
        (terms[term] ?? 0) +
        without * (plain[term] ?? 0) +
        known * (fixed[term] ?? 0) +
        searched * (bySearch[term] ?? 0)
  }
  const named = headlineMetrics.map((metric, index) => {
    const [numerator = 0, denominator = 0, uncounted = 0] = terms.slice(index * termNames.length)
    const isSum = metric.denominator === null
    return [
      metric.name,
      isSum ? sumFigure(numerator, coverage, uncounted) : figure(numerator, denominator, coverage, uncounted),
    ] as const
  })
  return {
    day,
    coverage,
    figures: Object.fromEntries(named) as Record<HeadlineName, Figure>,
    distribution: counts,
    asked,
    checked,
    isPartial: checked * 2 < asked,
  }
}

/** The same figures of what was imported, of the keywords that the history has series of. */
export function importedDaily(
  history: RankHistory,
  target: number,
  measure: MetricOptions,
): readonly DailyFigures[] {
  const { imported } = history
  if (imported === undefined) return []
  const asked = new Set(history.series.map(({ keyword }) => keyword))
  const series = imported.lines
    .filter((line) => line.target === target && asked.has(line.keyword))
    .map((line) => ({ ...line, seen: {}, absentDepths: [], links: [], places: {} }))
  return daily({ ...history, days: imported.days, series }, target, measure)
}
