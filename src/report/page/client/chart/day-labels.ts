import { mediumDay, month, shortDay } from '../format.ts'

/** A text below a chart. */
export interface DayLabel {
  readonly x: number
  readonly text: string
  readonly anchor: 'start' | 'middle' | 'end'
}

/** The part of a time axis that labels need. */
interface Axis {
  readonly left: number
  readonly right: number
  xOf(date: string): number
}

const dayMs = 86_400_000
/** Pixels between two labels. */
const gap = 24
/** Pixels of a letter, about. */
const letter = 6

/**
 * The first and the last day, and between them as many as fit.
 *
 * @param width of the whole drawing, which has room left and right of the axis
 */
export function dayLabels(days: readonly string[], axis: Axis, width: number): readonly DayLabel[] {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  const text = first.slice(0, 4) === last.slice(0, 4) ? shortDay : mediumDay
  if (first === last) return [{ x: axis.xOf(first), text: text(first), anchor: 'middle' }]
  const half = widthOf(text(last)) / 2
  // A label that has no room around its day ends at the edge of the drawing.
  const ends: readonly [DayLabel, DayLabel] = [
    { x: axis.left, text: text(first), anchor: axis.left < half ? 'start' : 'middle' },
    width - axis.right < half
      ? { x: width, text: text(last), anchor: 'end' }
      : { x: axis.right, text: text(last), anchor: 'middle' },
  ]
  const from = axis.left + half * (ends[0].anchor === 'start' ? 2 : 1) + gap
  const to = Math.min(axis.right, width - half) - half - gap
  const all = between(first, last, (axis.right - axis.left) / (2 * half + gap)).map(
    ({ at, text: name }): DayLabel => ({ x: axis.xOf(at), text: name, anchor: 'middle' }),
  )
  const fitting = all.filter(
    ({ x, text: name }) => x - widthOf(name) / 2 >= from && x + widthOf(name) / 2 <= to,
  )
  return [ends[0], ...fitting, ends[1]]
}

function widthOf(text: string): number {
  return text.length * letter
}

/** Days at equal steps back from the last one, or the first days of every few months. */
function between(first: string, last: string, most: number): readonly { at: string; text: string }[] {
  const span = Math.round((Date.parse(last) - Date.parse(first)) / dayMs)
  const step = [1, 2, 7, 14, 28].find((one) => span / one <= most)
  if (step !== undefined)
    return Array.from({ length: Math.floor(span / step) }, (_, index) => {
      const at = new Date(Date.parse(last) - (index + 1) * step * dayMs).toISOString().slice(0, 10)
      return { at, text: shortDay(at) }
    }).toReversed()
  const months = span / 30.4
  const by = [1, 2, 3, 6, 12].find((one) => months / one <= most) ?? 24
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
