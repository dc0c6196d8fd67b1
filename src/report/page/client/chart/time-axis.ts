import { s } from '../dom.ts'
import { month, shortDay } from '../format.ts'

/** Where days lie between the left and the right edge of a chart. */
export interface TimeAxis {
  readonly left: number
  readonly right: number
  x(day: number): number
  /** The day nearest to a place. */
  nearest(x: number): number
}

const dayMs = 86_400_000

/** Days lie as far apart as they are in time: a week without a run is a week wide. */
export function timeAxis(
  days: readonly string[],
  { left, right }: { readonly left: number; readonly right: number },
): TimeAxis {
  const times = days.map((day) => Date.parse(day))
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  const scale = last === first ? 0 : (right - left) / (last - first)
  const x = (day: number): number =>
    scale === 0 ? (left + right) / 2 : left + ((times[day] ?? first) - first) * scale
  return {
    left,
    right,
    x,
    nearest: (at) => {
      let best = 0
      for (let day = 1; day < days.length; day++)
        if (Math.abs(x(day) - at) < Math.abs(x(best) - at)) best = day
      return best
    },
  }
}

/** Room that the name of a day takes. */
const labelWidth = 76

/** Names of days under a chart, as many as have room. */
export function timeLabels(days: readonly string[], axis: TimeAxis, y: number): SVGElement {
  const group = s('g', { class: 'axis' })
  for (const { at, text } of ticks(days, Math.max(1, Math.floor((axis.right - axis.left) / labelWidth)))) {
    const x = place(days, axis, at)
    const anchor =
      x - axis.left < labelWidth / 3 ? 'start' : axis.right - x < labelWidth / 3 ? 'end' : 'middle'
    group.append(s('text', { x: round(x), y, 'text-anchor': anchor }, text))
  }
  return group
}

interface Tick {
  readonly at: string
  readonly text: string
}

function place(days: readonly string[], axis: TimeAxis, at: string): number {
  const [first, last] = [Date.parse(days[0] ?? at), Date.parse(days.at(-1) ?? at)]
  if (first === last) return axis.x(0)
  return axis.left + ((Date.parse(at) - first) / (last - first)) * (axis.right - axis.left)
}

/** Every so many days counted back from the last one, or the first of every so many months. */
function ticks(days: readonly string[], most: number): readonly Tick[] {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  const span = Math.round((Date.parse(last) - Date.parse(first)) / dayMs)
  const step = [1, 2, 7, 14, 28].find((one) => span / one + 1 <= most)
  if (step !== undefined)
    return Array.from({ length: Math.floor(span / step) + 1 }, (_, index) => {
      const at = new Date(Date.parse(last) - index * step * dayMs).toISOString().slice(0, 10)
      return { at, text: shortDay(at) }
    })
  const months = span / 30.4
  const by = [1, 2, 3, 6, 12].find((one) => months / one + 1 <= most) ?? 24
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

/** Coordinates of a chart: a tenth of a pixel is more than is seen. */
export function round(at: number): number {
  return Math.round(at * 10) / 10
}
