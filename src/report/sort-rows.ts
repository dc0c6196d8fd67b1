import type { RankedRows, Row } from './rank-rows.ts'

/** What rows can be sorted by; without one of these they are in the order of their queries. */
export const rowOrders = ['query', 'rank', 'change', 'volume'] as const

export type RowOrder = (typeof rowOrders)[number]

/**
 * The rows in another order. `rank`: the best first, then what is absent, last what is unknown. `change`: from the greatest
 * gain to the greatest loss, what entered first, what left after all losses, last what cannot be compared. `volume`: the
 * highest first, those without one last. Rows that are equal in that keep their order.
 */
export function sortRows<T extends RankedRows>(report: T, order: RowOrder): T {
  if (order === 'query') return report
  const keys = report.rows.map(keyOf[order])
  const places = [...keys.keys()].sort((a, b) => (keys[a] as number) - (keys[b] as number) || a - b)
  return {
    ...report,
    rows: places.map((place) => report.rows[place]),
    standings: places.map((place) => report.standings[place]),
  }
}

/** Beyond every rank, change and volume. */
const far = Number.MAX_SAFE_INTEGER

/** What comes first has the lowest. */
const keyOf: Readonly<Record<Exclude<RowOrder, 'query'>, (row: Row) => number>> = {
  rank: ({ state, rank }) => (state === 'ranked' ? Number(rank) : state === 'absent' ? far - 1 : far),
  change: ({ movement, change }) => {
    if (movement === 'entered') return -far
    if (movement === 'left') return far - 1
    if (movement === 'unknown') return far
    return -Number(change ?? 0)
  },
  volume: ({ volume }) => (volume == null ? far : -Number(volume)),
}
