import type { MetricDefinition } from '../metrics/figure.ts'

/** Changes from one checked day to the next that the usual change is taken from. */
const mostChanges = 28
/** With fewer changes, nothing is known of what is usual. */
const leastChanges = 5
/**
 * A change has to be this multiple of the usual daily change. Of figures that only swing around their mean, one in twenty changes is as large:
 * the median change of one day is 0.95 standard deviations, a change between two days is within 2.77 of them 19 times of 20.
 */
const factor = 3

/**
 * The place of the first day that figures are needed of, to know what is usual.
 *
 * @param wanted place of a day that is needed anyway
 */
export function firstNeeded(days: number, wanted = days): number {
  return Math.max(0, Math.min(wanted, days - 1 - mostChanges))
}

/** How small a change is that is steady, whatever is usual. */
interface Floors {
  /** What the shown digits cannot show. */
  readonly shown: number
  /** What is no news as long as nothing is known of what is usual. */
  readonly unknown: number
}

/** Of shares 0.1 points are shown, of average positions 0.1 ranks; of clicks, for each of the keywords, one in all. */
export function floorsOf(unit: MetricDefinition['unit'], value: number, keywords: number): Floors {
  if (unit === 'clicks a month') return { shown: 1 / keywords, unknown: value / keywords / 10 }
  return unit === 'rank' ? { shown: 0.1, unknown: 0.5 } : { shown: 0.001, unknown: 0.01 }
}

/**
 * The usual change of a figure from one checked day to the next: the median size of the last changes. The median, because a day on which
 * really something happened, or a steady decline, must not hide itself by making everything seem usual.
 *
 * @param values the figure on each day, null where it is not known
 * @returns null if there are too few changes
 */
function usualChange(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).slice(-mostChanges - 1)
  const changes = known.slice(1).map((value, place) => Math.abs(value - (known[place] as number)))
  return changes.length < leastChanges ? null : median(changes)
}

/** Whether a change is more than the figure usually swings. */
function isNews(delta: number, usual: number | null, floors: Floors): boolean {
  const size = Math.abs(delta)
  if (usual === null) return size >= floors.unknown
  return size >= floors.shown && size > factor * usual
}

/** Observations at each end of a period that decide what happened in it; fewer than two ends are compared by their last days. */
const atEnds = 3
/** A median of three swings about two thirds as much as a single day. */
const ofMedian = 2 / 3

/** From this part of a difference on it is all of it, as digits are shown. */
const leastAll = 0.95

/** A figure on a day. */
interface LevelOfDay {
  readonly day: string
  readonly level: number | null
}

/**
 * How a figure went since the compared day: the median of the last three observations against that of the first three says whether it rose,
 * fell or stayed, where there are six or more. What lies between is told where it is more than the figure usually swings; and so is a last day
 * that is not like the days before it.
 */
export function trendOf<Day extends LevelOfDay>(
  all: readonly Day[],
  { since, delta, floors }: { readonly since: string; readonly delta: number; readonly floors: Floors },
) {
  const days = all.filter(
    (one): one is Day & { readonly level: number } => one.day >= since && one.level !== null,
  )
  const levels = days.map(({ level }) => level)
  const isLong = levels.length >= 2 * atEnds
  const usual = usualChange(all.map(({ level }) => level))
  const isMore = (change: number): boolean => isNews(change, usual, floors)
  const isMoreInMedian = (change: number): boolean =>
    isNews(change, isLong && usual !== null ? usual * ofMedian : usual, floors)
  const [start, end] = [levels.slice(0, atEnds), levels.slice(-atEnds)].map(median) as [number, number]
  const change = isLong ? end - start : delta
  const isMoved =
    isMoreInMedian(change) && Math.sign(change) === Math.sign(delta) && Math.abs(delta) >= floors.shown
  const turn = isLong ? turnOf(days, { start, end }) : null
  const isTold = turn !== null && isMoreInMedian(turn.size) && (!isMoved || turn.size * 4 >= Math.abs(change))
  /** How much of the difference came about on the last day alone, if that is half or more, and more than it usually swings; else null. */
  const last = !isLong || isMoved ? null : onLast()
  return {
    isMoved,
    /** Whether it neither rose nor fell, nor do the two ends or the last two days differ by more than it usually swings. */
    isSwing: !isMoved && !isMore(delta) && last === null,
    /** Whether the two ends differ by more than it usually swings. */
    isNews: isMore(delta),
    last,
    turn: isTold ? turn : null,
    /** The days with the least and the most; null where there are none between the two ends. */
    range: levels.length < 3 ? null : { low: farthest(days, -1), high: farthest(days, 1) },
  }

  function onLast() {
    const [dayBefore = 0, last = 0] = levels.slice(-2)
    const step = last - dayBefore
    const isNextDay = all.slice(-2).every(({ level }) => level !== null)
    const isHalf = delta !== 0 && ((last - end) * 2) / delta >= 1
    if (!isNextDay || !isHalf || !(isMore(delta) || isMore(step))) return null
    return step / delta >= leastAll ? ('all' as const) : ('most' as const)
  }
}

/** The first of the days with the most, or with the least. */
function farthest<Day extends LevelOfDay & { readonly level: number }>(days: readonly Day[], sign: 1 | -1) {
  return days.toSorted((a, b) => sign * (b.level - a.level))[0] as Day
}

/** How far a figure was above or below both ends, without days that stand alone; and the day that was farthest in the same way. */
function turnOf<Day extends LevelOfDay & { readonly level: number }>(
  days: readonly Day[],
  { start, end }: { readonly start: number; readonly end: number },
) {
  let most: { readonly size: number; readonly way: 'up' | 'down' } | null = null
  for (let place = 1; place < days.length - 1; place++) {
    const near = days.slice(place - 1, place + 2)
    const level = median(near.map((one) => one.level))
    const above = level - Math.max(start, end)
    const below = Math.min(start, end) - level
    const size = Math.max(above, below)
    if (size > (most?.size ?? 0)) most = { size, way: above > below ? 'up' : 'down' }
  }
  return most === null ? null : { ...most, on: farthest(days.slice(1, -1), most.way === 'up' ? 1 : -1) }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const [low, high] = [sorted[sorted.length - 1 - middle], sorted[middle]]
  return ((low ?? 0) + (high ?? 0)) / 2
}
