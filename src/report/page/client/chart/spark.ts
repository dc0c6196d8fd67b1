import { s } from '../dom.ts'
import { pathOf } from './line-chart.ts'
import { round } from './time-axis.ts'

const [width, height, edge] = [96, 24, 3]

/** A line as small as a word: ranks over days, the better the higher, with a dot on the last one. */
export function spark(ranks: readonly (number | null)[]): SVGElement {
  const known = ranks.filter((rank) => rank !== null)
  const svg = s('svg', {
    class: 'spark',
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    'aria-hidden': 'true',
  })
  if (known.length === 0) return svg
  const [best, worst] = [Math.min(...known), Math.max(...known)]
  // A rank more or less is no cliff: five ranks at least fill the height.
  const spread = Math.max(5, worst - best)
  const middle = (best + worst) / 2
  const y = (rank: number): number => height / 2 + ((rank - middle) / spread) * (height - 2 * edge)
  const x = (day: number): number =>
    ranks.length < 2 ? width - edge : edge + (day / (ranks.length - 1)) * (width - 2 * edge)
  const last = ranks.findLastIndex((rank) => rank !== null)
  svg.append(
    s('path', { d: pathOf(ranks, x, y) }),
    s('circle', { cx: round(x(last)), cy: round(y(ranks[last] as number)), r: 2 }),
  )
  return svg
}

/** The course of a figure, as wide as its card; the lower the better where it is inverted. */
export function trendLine(
  values: readonly (number | null)[],
  { inverted }: { readonly inverted: boolean },
): SVGElement {
  const [wide, high] = [200, 32]
  const known = values.filter((value) => value !== null)
  const svg = s('svg', {
    class: 'trend-line',
    viewBox: `0 0 ${wide} ${high}`,
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  })
  if (known.length < 2) return svg
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const y = (value: number): number => {
    if (least === most) return high / 2
    const height = ((value - least) / (most - least)) * (high - 2 * edge)
    return inverted ? edge + height : high - edge - height
  }
  const x = (day: number): number => (day / (values.length - 1)) * wide
  svg.append(s('path', { d: pathOf(values, x, y) }))
  return svg
}
