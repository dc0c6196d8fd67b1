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

/** A figure on a day. */
interface LevelOfDay {
  readonly day: string
  readonly level: number | null
}

/**
 * How a figure went since the compared day: the median of the last three observations against that of the first three says whether it rose,
 * fell or stayed, where there are six or more. What lies between is told where it is more than the figure usually swings; and so is an end that
 * is not like the days beside it.
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
  /** The last day or the first one is the reason why the two ends differ and the days beside them do not. */
  const odd = !isLong || isMoved || !isMore(delta) ? null : oddEnd(levels, { start, end })
  const turn = isLong ? turnOf(days, { start, end }) : null
  const isTold = turn !== null && isMoreInMedian(turn.size) && (!isMoved || turn.size * 4 >= Math.abs(change))
  return { isMoved, odd, turn: isTold ? turn : null }
}

function oddEnd(levels: readonly number[], { start, end }: { readonly start: number; readonly end: number }) {
  const [first, last] = [Math.abs((levels[0] ?? 0) - start), Math.abs((levels.at(-1) ?? 0) - end)]
  return last >= first ? ('last' as const) : ('first' as const)
}

/** The day on which a figure was farthest above or below both ends; single days do not count. */
function turnOf<Day extends LevelOfDay & { readonly level: number }>(
  days: readonly Day[],
  { start, end }: { readonly start: number; readonly end: number },
) {
  let most: { readonly size: number; readonly way: 'up' | 'down'; readonly on: Day } | null = null
  for (let place = 1; place < days.length - 1; place++) {
    const near = days.slice(place - 1, place + 2).toSorted((a, b) => a.level - b.level)
    const on = near[1] as Day
    const above = on.level - Math.max(start, end)
    const below = Math.min(start, end) - on.level
    const size = Math.max(above, below)
    if (size > (most?.size ?? 0)) most = { size, way: above > below ? 'up' : 'down', on }
  }
  return most
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const [low, high] = [sorted[sorted.length - 1 - middle], sorted[middle]]
  return ((low ?? 0) + (high ?? 0)) / 2
}
