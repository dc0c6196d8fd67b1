import type { Row } from '../../model/result.ts'
import { type CsvStyle, cellsOf } from '../../output/formats/format.ts'
import { rowFormats } from '../../output/formats/index.ts'
import type { CellKind } from '../../output/xlsx.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import type { RankHistory } from '../history/rank-history.ts'
import type { CtrCurve } from '../metrics/figure.ts'
import { clicksOf } from '../metrics/positions.ts'
import type { ReportFormat } from '../report.ts'
import type { RankedRows } from '../rows.ts'
import type { Words } from '../words/words.ts'

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
  volume: 'number',
  intended_url: 'text',
  params: 'text',
} as const satisfies Record<string, CellKind>

export const csvFormat: ReportFormat = { ...rowsFormat('csv'), csv: true }
export const jsonFormat = rowsFormat('json')
export const jsonLinesFormat = rowsFormat('jsonl')

/** The rows of a report, for programs. */
function rowsFormat(name: 'csv' | 'json' | 'jsonl'): ReportFormat {
  return {
    chunks: ({ ranked, csv, measure }) => {
      const { history } = ranked
      const report = withSuspectDay(ranked.report(), history.suspect?.day)
      const { columns, rows } = wholeRows(report, history, measure.curve)
      const names = columns.map(([column]) => column)
      return chunks(name === 'csv' ? rows : valuesOf(rows, report.statuses), names, csv)
    },
    sorted: true,
    dayBefore: true,
  }

  async function* chunks(
    rows: Iterable<Row>,
    names: readonly string[],
    csv: CsvStyle,
  ): AsyncGenerator<string> {
    const write = await rowFormats[name].load()
    const columns = names.map((column) => ({
      name: column,
      type: values.has(column) ? ('json' as const) : ('text' as const),
    }))
    yield* write(cellsOf(rows, columns), { columns, csv })
  }
}

/** The rows of a day whose run is suspect as a whole are marked: a file of rows has no sentence above them. */
function withSuspectDay<T extends RankedRows>(report: T, day: string | undefined): T {
  if (day === undefined) return report
  return { ...report, rows: report.rows.map((row) => (row.date === day ? { ...row, suspect: 1 } : row)) }
}

/** The rows of a report with their clicks and the labels of their queries, and all columns with their types in workbooks. */
export function wholeRows(report: RankedRows, history: RankHistory, curve: CtrCurve) {
  const clicks = clickFields(history, curve)
  const labels = [...new Set(report.statuses.flatMap(({ keyword }) => Object.keys(keyword.labels)))].sort()
  const columns = [
    ...Object.entries(columnKinds),
    ...clicks.map(([name, kind]) => [name, kind] as const),
    ...labels.map((name) => [labelColumn(name), 'text'] as const),
  ]
  return { columns, rows: rowsOf(withClicks(report, clicks)) }
}

type ClickColumn = readonly [
  name: string,
  kind: 'decimal' | 'number' | 'date',
  of: (status: KeywordStatus) => number | string | null,
  /** The name of its column for people; left out where only programs read it. */
  shown?: 'estimatedClicks' | 'countedClicks' | 'countedImpressions',
]

/** Clicks that are estimated, and beside them what Search Console counted of own targets; only where clicks were added. */
function clickFields(history: RankHistory, curve: CtrCurve): readonly ClickColumn[] {
  const { countedClicks, targets } = history
  if (countedClicks === undefined) return []
  const { from, until } = countedClicks
  const estimated = ({ keyword, current }: KeywordStatus) => clicksOf(keyword, current, curve)
  const counted = ({ keyword, series }: KeywordStatus) =>
    targets[series.target]?.own === true ? keyword.counted : undefined
  return [
    ['estimated_clicks', 'decimal', estimated, 'estimatedClicks'],
    ['counted_clicks', 'number', (status) => counted(status)?.clicks ?? null, 'countedClicks'],
    ['counted_impressions', 'number', (status) => counted(status)?.impressions ?? null, 'countedImpressions'],
    ['counted_position', 'decimal', (status) => counted(status)?.position ?? null],
    ['counted_from', 'date', (status) => (counted(status) === undefined ? null : from)],
    ['counted_until', 'date', (status) => (counted(status) === undefined ? null : until)],
  ]
}

function withClicks(report: RankedRows, fields: readonly ClickColumn[]): RankedRows {
  if (fields.length === 0) return report
  const rounded = (value: number | string | null) =>
    typeof value === 'number' ? Math.round(value * 100) / 100 : value
  const rows = report.rows.map((row, place): Row => {
    const status = report.statuses[place] as KeywordStatus
    return { ...row, ...Object.fromEntries(fields.map(([name, , of]) => [name, rounded(of(status))])) }
  })
  return { ...report, rows }
}

/** The columns of clicks that people read, as text. */
export function clickColumns(history: RankHistory, curve: CtrCurve, say: Pick<Words, 'figure'>) {
  return clickFields(history, curve).flatMap(([, , of, name]) => {
    const text = (status: KeywordStatus): string => {
      const value = of(status)
      return typeof value === 'number' ? say.figure(value, 'clicks a month') : ''
    }
    return name === undefined ? [] : [{ name, text }]
  })
}

/** The column of a label, as in exports. */
const labelColumn = (name: string): string => `label_${name}`

/** The rows of a report with the labels of their queries. */
function* rowsOf({ rows, statuses }: RankedRows): Generator<Row> {
  for (const [place, row] of rows.entries()) {
    const labels = Object.entries(statuses[place]?.keyword.labels ?? {})
    yield { ...row, ...Object.fromEntries(labels.map(([name, label]) => [labelColumn(name), label])) }
  }
}

/** Columns that are no text and no number in JSON. */
const values: ReadonlySet<string> = new Set(['tags', 'suspect', 'params'])

/** The same with the JSON text of those. */
function* valuesOf(rows: Iterable<Row>, statuses: RankedRows['statuses']): Generator<Row> {
  let place = 0
  for (const row of rows) {
    const tags = JSON.stringify(statuses[place++]?.keyword.tags ?? [])
    yield { ...row, tags, suspect: String(row.suspect === 1) }
  }
}
