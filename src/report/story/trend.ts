import { type Floors, isNews, usualChange } from '../findings/spread.ts'

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
