import type { DayCell } from './day-cell.ts'

/** Deepest rank of each height. The same for all rows, so that they can be compared, and small moves stay small. */
const heights = [
  [1, '█'],
  [3, '▇'],
  [6, '▆'],
  [10, '▅'],
  [20, '▄'],
  [30, '▃'],
  [50, '▂'],
  [Number.POSITIVE_INFINITY, '▁'],
] as const

/** What the signs of a trend mean. */
export const trendLegend =
  'trend: the last days with a run, from █ rank 1, ▇ to 3, ▆ to 6, ▅ to 10, ▄ to 20, ▃ to 30, ▂ to 50, to ▁ deeper; ·: absent, ?: not known, blank: not asked.'

/**
 * The days of a series as one sign each, the higher the better.
 *
 * @param most days at most, the latest ones
 */
export function trend(cells: readonly DayCell[], most: number): string {
  return cells
    .map((cell, day) => (cell === null && day === cells.length - 1 ? '?' : sign(cell)))
    .slice(-most)
    .join('')
}

function sign(cell: DayCell): string {
  if (cell === null) return ' '
  if (cell === 0) return '?'
  if (cell < 0) return '·'
  const rank = Math.trunc(cell)
  return heights.find(([deepest]) => rank <= deepest)?.[1] ?? ''
}
