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
export interface Floors {
  /** What the shown digits cannot show. */
  readonly shown: number
  /** What is no news as long as nothing is known of what is usual. */
  readonly unknown: number
}

/** Of shares: 0.1 points are shown. */
export const shareFloors: Floors = { shown: 0.001, unknown: 0.01 }
/** Of average positions: 0.1 ranks are shown. */
export const rankFloors: Floors = { shown: 0.1, unknown: 0.5 }
/** The least change of clicks that is told, per keyword: one click in all is shown. */
export function clicksFloors(clicks: number, keywords: number): Floors {
  return { shown: 1 / keywords, unknown: clicks / keywords / 10 }
}

/**
 * The usual change of a figure from one checked day to the next: the median size of the last changes. The median, because a day on which
 * really something happened, or a steady decline, must not hide itself by making everything seem usual.
 *
 * @param values the figure on each day, null where it is not known
 * @returns null if there are too few changes
 */
export function usualChange(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).slice(-mostChanges - 1)
  const changes = known.slice(1).map((value, place) => Math.abs(value - (known[place] as number)))
  return changes.length < leastChanges ? null : median(changes)
}

/** Whether a change is more than the figure usually swings. */
export function isNews(delta: number, usual: number | null, floors: Floors): boolean {
  const size = Math.abs(delta)
  if (usual === null) return size >= floors.unknown
  return size >= floors.shown && size > factor * usual
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const [low, high] = [sorted[sorted.length - 1 - middle], sorted[middle]]
  return ((low ?? 0) + (high ?? 0)) / 2
}
