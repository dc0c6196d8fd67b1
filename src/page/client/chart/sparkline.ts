import { svg } from '../dom.ts'
import { round } from './frame.ts'
import { pathOf } from './line-chart.ts'

const edge = 3

/** A small line of ranks over days, the best rank at the top, with a dot on the last rank. */
export function spark(ranks: readonly (number | null)[]): SVGElement {
  const [width, height] = [96, 24]
  const size = { width, height, viewBox: `0 0 ${width} ${height}` }
  const line = svg('svg', { class: 'spark', ...size, 'aria-hidden': 'true' })
  const known = ranks.filter((rank) => rank !== null)
  if (known.length === 0) return line
  const [best, worst] = [Math.min(...known), Math.max(...known)]
  // The height is at least five ranks, so that a change of one rank looks small.
  const spread = Math.max(5, worst - best)
  const middle = (best + worst) / 2
  const y = (rank: number): number => height / 2 + ((rank - middle) / spread) * (height - 2 * edge)
  const x = (day: number): number =>
    ranks.length < 2 ? width - edge : edge + (day / (ranks.length - 1)) * (width - 2 * edge)
  const last = ranks.findLastIndex((rank) => rank !== null)
  line.append(
    svg('path', { d: pathOf(ranks, x, y) }),
    svg('circle', { cx: round(x(last)), cy: round(y(ranks[last] as number)), r: 2 }),
  )
  return line
}

/** Of the largest value; a smaller change fills less than the height. */
const leastSpread = 0.1

/** The trend of a figure, as wide as its card, with a dot on the last value; inverted if lower values are better. */
export function trendLine(values: readonly (number | null)[], inverted: boolean): SVGElement {
  const [width, height] = [200, 32]
  const stretch = { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none' }
  const line = svg('svg', { class: 'trend-line', ...stretch, 'aria-hidden': 'true' })
  const known = values.filter((value) => value !== null)
  if (known.length < 2) return line
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const spread = Math.max(most - least, Math.abs(most) * leastSpread) || 1
  const middle = (least + most) / 2
  const y = (value: number): number => {
    const rise = ((value - middle) / spread) * (height - 2 * edge)
    return height / 2 + (inverted ? rise : -rise)
  }
  const x = (day: number): number => (day / (values.length - 1)) * width
  const last = values.findLastIndex((value) => value !== null)
  // A line without length has round ends: a dot that does not stretch with the drawing.
  const dot = `M${round(x(last))} ${round(y(values[last] as number))}h0`
  line.append(svg('path', { d: pathOf(values, x, y) }), svg('path', { class: 'last', d: dot }))
  return line
}
