import type { Row } from '../../model/result.ts'
import { cellsOf } from '../../output/formats/format.ts'
import { rowFormats } from '../../output/formats/index.ts'
import type { CellKind } from '../../output/xlsx.ts'
import type { ReportFormat } from '../report.ts'
import type { RankedRows } from '../rows.ts'

/** The orders of rows; `query` is the default. */
export const rowOrders = ['query', 'rank', 'change', 'volume'] as const

export type RowOrder = (typeof rowOrders)[number]

/**
 * The rows in another order. `rank`: the best first, then absent rows, unknown ones last. `change`: entered rows first, then
 * from the greatest gain to the greatest loss, then rows that left, incomparable ones last. `volume`: the highest first, rows
 * without a volume last. Equal rows keep their order.
 */
export function sortRows<T extends RankedRows>(report: T, order: RowOrder): T {
  if (order === 'query') return report
  const keys = report.rows.map(keyOf[order])
  const places = [...keys.keys()].sort((a, b) => (keys[a] as number) - (keys[b] as number) || a - b)
  return {
    ...report,
    rows: places.map((place) => report.rows[place]),
    statuses: places.map((place) => report.statuses[place]),
  }
}

/** Greater than every rank, change and volume. */
const far = Number.MAX_SAFE_INTEGER

/** The row with the lowest key comes first. */
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

/**
 * Columns with their types in workbooks: those of the `rankings` view, then those that a report adds. Columns of later versions
 * are at the end.
 */
export const columnKinds = {
  job: 'text',
  query: 'text',
  target: 'text',
  operation: 'text',
  gl: 'text',
  hl: 'text',
  location: 'text',
  tags: 'text',
  date: 'date',
  observed_at: 'datetime',
  state: 'text',
  rank: 'number',
  exactness: 'text',
  depth: 'number',
  url: 'text',
  title: 'text',
  run_id: 'number',
  previous_date: 'date',
  previous_state: 'text',
  previous_rank: 'number',
  change: 'number',
  movement: 'text',
  best_rank: 'number',
  best_date: 'date',
  suspect: 'number',
} as const satisfies Record<string, CellKind>

export const reportColumns: readonly string[] = Object.keys(columnKinds)

export const csvFormat: ReportFormat = { ...rowsFormat('csv'), raw: true }
export const jsonFormat = rowsFormat('json')
export const jsonLinesFormat = rowsFormat('jsonl')

/** The rows of a report, for programs. */
function rowsFormat(name: 'csv' | 'json' | 'jsonl'): ReportFormat {
  return {
    chunks: ({ ranked, raw }) => {
      const { rows } = ranked.report()
      return chunks(rows, raw)
    },
    sorted: true,
    dayBefore: true,
  }

  async function* chunks(rows: Iterable<Row>, raw: boolean): AsyncGenerator<string> {
    const write = await rowFormats[name].load()
    const columns = reportColumns.map((column) => ({ name: column }))
    yield* write(cellsOf(rows, columns), { columns, raw })
  }
}
