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

export const reportColumns: readonly string[] = Object.keys(columnKinds)

export const csvFormat: ReportFormat = { ...rowsFormat('csv'), csv: true }
export const jsonFormat = rowsFormat('json')
export const jsonLinesFormat = rowsFormat('jsonl')

/** The rows of a report, for programs. */
function rowsFormat(name: 'csv' | 'json' | 'jsonl'): ReportFormat {
  return {
    chunks: ({ ranked, csv, measure }) => {
      const { history } = ranked
      const plain = withSuspectDay(ranked.report(), history.suspect?.day)
      const report = withClicks(plain, history, measure.curve)
      const more = history.countedClicks === undefined ? [] : Object.keys(clickKinds)
      return chunks(
        name === 'csv' ? rowsOf(report) : valuesOf(report),
        [...more, ...labelNames(report).map(labelColumn)],
        csv,
      )
    },
    sorted: true,
    dayBefore: true,
  }

  async function* chunks(
    rows: Iterable<Row>,
    more: readonly string[],
    csv: CsvStyle,
  ): AsyncGenerator<string> {
    const write = await rowFormats[name].load()
    const columns = [...reportColumns, ...more].map((column) => ({
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

/** Clicks that are estimated, and beside them what Search Console counted of own targets; only where clicks were added. */
export const clickKinds = {
  estimated_clicks: 'decimal',
  counted_clicks: 'number',
  counted_impressions: 'number',
  counted_position: 'decimal',
  counted_from: 'date',
  counted_until: 'date',
} as const satisfies Record<string, CellKind>

export function withClicks<T extends RankedRows>(
  report: T,
  { countedClicks: days, targets }: RankHistory,
  curve: CtrCurve,
): T {
  if (days === undefined) return report
  const rows = report.rows.map((row, place): Row => {
    const status = report.statuses[place] as KeywordStatus
    const counted = countedOf(status, targets)
    return {
      ...row,
      estimated_clicks: rounded(clicksOf(status.keyword, status.current, curve)),
      counted_clicks: counted?.clicks ?? null,
      counted_impressions: counted?.impressions ?? null,
      counted_position: rounded(counted?.position ?? null),
      counted_from: counted === undefined ? null : days.from,
      counted_until: counted === undefined ? null : days.until,
    }
  })
  return { ...report, rows }
}

function countedOf({ keyword, series }: KeywordStatus, targets: RankHistory['targets']) {
  return targets[series.target]?.own === true ? keyword.counted : undefined
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 100) / 100
}

/** The same columns for people. */
export function clickColumns(history: RankHistory, curve: CtrCurve, say: Pick<Words, 'figure'>) {
  if (history.countedClicks === undefined) return []
  const text = (value: number | null): string => (value === null ? '' : say.figure(value, 'clicks a month'))
  const counted = (status: KeywordStatus) => countedOf(status, history.targets)
  return [
    {
      name: 'estimatedClicks',
      text: ({ keyword, current }: KeywordStatus) => text(clicksOf(keyword, current, curve)),
    },
    { name: 'countedClicks', text: (status: KeywordStatus) => text(counted(status)?.clicks ?? null) },
    {
      name: 'countedImpressions',
      text: (status: KeywordStatus) => text(counted(status)?.impressions ?? null),
    },
  ] as const
}

/** Names of the labels of the queries in a report. */
export function labelNames({ statuses }: RankedRows): readonly string[] {
  return [...new Set(statuses.flatMap(({ keyword }) => Object.keys(keyword.labels)))].sort()
}

/** The column of a label, as in exports. */
export const labelColumn = (name: string): string => `label_${name}`

/** The rows of a report with the labels of their queries. */
export function* rowsOf({ rows, statuses }: RankedRows): Generator<Row> {
  for (const [place, row] of rows.entries()) {
    const labels = Object.entries(statuses[place]?.keyword.labels ?? {})
    yield { ...row, ...Object.fromEntries(labels.map(([name, label]) => [labelColumn(name), label])) }
  }
}

/** Columns that are no text and no number in JSON. */
const values: ReadonlySet<string> = new Set(['tags', 'suspect', 'params'])

/** The same with the JSON text of those. */
function* valuesOf(report: RankedRows): Generator<Row> {
  let place = 0
  for (const row of rowsOf(report)) {
    const tags = JSON.stringify(report.statuses[place++]?.keyword.tags ?? [])
    yield { ...row, tags, suspect: String(row.suspect === 1) }
  }
}
