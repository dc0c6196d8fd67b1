import { mediumDay, month, shortDay } from '../format.ts'

/** A text below a chart; its middle is at this place. */
export interface DayLabel {
  readonly x: number
  readonly text: string
}

/** The part of a time axis that labels need. */
interface Axis {
  readonly left: number
  readonly right: number
  xOf(date: string): number
}

const dayMs = 86_400_000
/** Pixels between two labels, usually and at least. */
const [gap, leastGap] = [24, 8]
/** Pixels of a letter, about. */
const letter = 6

/**
 * The first and the last day, and between them as many as fit, at equal steps.
 *
 * @param width of the whole drawing, which has room left and right of the axis
 * @param marked a day that has its name wherever there is room for it
 */
export function dayLabels(
  days: readonly string[],
  axis: Axis,
  width: number,
  marked: string | null = null,
): readonly DayLabel[] {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  const text = first.slice(0, 4) === last.slice(0, 4) ? shortDay : mediumDay
  const labelOf = (at: string, name: string): DayLabel => {
    const half = widthOf(name) / 2
    return { x: Math.min(width - half, Math.max(half, axis.xOf(at))), text: name }
  }
  const ends = [first, last].map((at) => labelOf(at, text(at)))
  if (first === last) return ends.slice(0, 1)
  const [start, end] = ends as [DayLabel, DayLabel]
  const room = axis.right - axis.left
  const step = widthOf(end.text) + gap
  const most = { days: room / (step + axis.right - end.x), months: room / step }
  const named =
    marked === null || marked <= first || marked >= last ? [] : [labelOf(marked, shortDay(marked))]
  const kept = [start, end, ...named.filter((one) => isApart(one, start) && isApart(one, end))]
  const others = between(first, last, most)
    .map(({ at, text: name }) => labelOf(at, name))
    .filter((one) => isApart(one, start, gap) && kept.every((other) => isApart(one, other)))
  return [...kept, ...others].sort((one, other) => one.x - other.x)
}

function isApart(one: DayLabel, other: DayLabel, by = leastGap): boolean {
  return Math.abs(one.x - other.x) >= (widthOf(one.text) + widthOf(other.text)) / 2 + by
}

function widthOf(text: string): number {
  return text.length * letter
}

/** Days at equal steps back from the last one, or the first days of every few months. */
function between(
  first: string,
  last: string,
  most: { readonly days: number; readonly months: number },
): readonly { at: string; text: string }[] {
  const span = Math.round((Date.parse(last) - Date.parse(first)) / dayMs)
  const step = [1, 2, 7, 14, 28].find((one) => span / one <= most.days)
  if (step !== undefined)
    return Array.from({ length: Math.floor(span / step) }, (_, index) => {
      const at = new Date(Date.parse(last) - (index + 1) * step * dayMs).toISOString().slice(0, 10)
      return { at, text: shortDay(at) }
    }).toReversed()
  const months = span / 30.4
  const by = [1, 2, 3, 6, 12].find((one) => months / one <= most.months) ?? 24
  return firstsOfMonths(first, last)
    .filter((at) => (Number(at.slice(5, 7)) - 1) % by === 0)
    .map((at) => ({ at, text: month(at) }))
}

function firstsOfMonths(first: string, last: string): readonly string[] {
  const firsts: string[] = []
  const at = new Date(`${first.slice(0, 7)}-01`)
  for (; at.toISOString().slice(0, 10) <= last; at.setUTCMonth(at.getUTCMonth() + 1))
    if (at.toISOString().slice(0, 10) >= first) firsts.push(at.toISOString().slice(0, 10))
  return firsts
}
