import { styleText } from 'node:util'
import { harmless } from '../terminal.ts'
import { count } from '../words.ts'
import type { AskedDay } from './baseline.ts'
import type { Standing } from './cohort.ts'
import { changeText, rowLocale, shortUrl } from './rank-cells.ts'
import { type RankReport, type Row, rankCell, suspectLines } from './rank-rows.ts'
import { type Column, formatTable } from './table.ts'
import { trend, trendLegend } from './trend.ts'
import { wrap } from './wrap.ts'

export interface TableLook {
  /** Columns of the terminal. */
  readonly width: number
  readonly color: boolean
  /** The day that was asked to be compared with, or null. */
  readonly compare?: AskedDay | null
}

/** Days that a trend shows, where there is room. */
const trendDays = 30

interface Written extends Column {
  readonly cell: (row: Row, place: number) => string
}

/** The rank table for a terminal, with lines under it that say what was counted and compared. */
export function rankTable(report: RankReport, { width, color, compare = null }: TableLook): string {
  const { rows } = report
  if (rows.length === 0) return ''
  const columns = columnsOf(report)
  const table = formatTable(
    columns,
    rows.map((row, place) => columns.map(({ cell }) => cell(row, place))),
    width,
  )
  const lines = footer(report, compare).flatMap((line) => wrap(line, width))
  return `${color ? colored(table) : table}\n${lines.join('\n')}\n`
}

/** In the order in which they stand; what stands last gives way first where the terminal is narrow. */
function columnsOf({ rows, standings }: RankReport): readonly Written[] {
  const several = (cell: (row: Row) => unknown): boolean => new Set(rows.map(cell)).size > 1
  return [
    { title: 'query', shrinks: true, least: 24, cell: ({ query }) => harmless(String(query)) },
    ...(several(({ operation }) => operation) ? [operation] : []),
    {
      title: 'locale',
      shrinks: true,
      ...(several(rowLocale) ? {} : { dropped: true }),
      cell: (row) => harmless(rowLocale(row)),
    },
    { title: 'target', shrinks: true, least: 18, cell: ({ target }) => harmless(String(target)) },
    { title: 'rank', align: 'right', cell: (row, place) => rankCell(row, standings[place] as Standing) },
    { title: 'change', align: 'right', cell: changeText },
    ...(baselines(rows).length > 1 ? [since] : []),
    ...(hasTrend(standings) ? [trendOf(standings)] : []),
    { title: 'best', align: 'right', dropped: true, cell: (row) => String(row.best_rank ?? '') },
    { title: 'best on', dropped: true, cell: (row) => String(row.best_date ?? '') },
    { title: 'page', shrinks: true, least: 20, dropped: true, cell: (row) => harmless(shortUrl(row.url)) },
  ]
}

const operation: Written = {
  title: 'operation',
  shrinks: true,
  cell: (row) => String(row.operation),
}

const since: Written = { title: 'since', dropped: true, cell: (row) => String(row.previous_date ?? '') }

/** One day is no trend. */
function hasTrend(standings: RankReport['standings']): boolean {
  return (standings[0]?.series.cells.length ?? 0) > 1
}

function trendOf(standings: RankReport['standings']): Written {
  return {
    title: 'trend',
    shrinks: true,
    keepsEnd: true,
    least: 12,
    dropped: true,
    cell: (_, place) => trend(standings[place]?.series.cells ?? [], trendDays),
  }
}

/** The days that rows are compared with. */
function baselines(rows: readonly Row[]): readonly string[] {
  const dates = rows.flatMap(({ previous_date: date }) => (date == null ? [] : [String(date)]))
  return [...new Set(dates)].sort()
}

/** The table with a bold head, gains green and losses red. */
export function colored(table: string): string {
  return table
    .replace(/^.*$/m, (head) => styleText('bold', head, { validateStream: false }))
    .replace(/▲ \d+/g, (up) => styleText('green', up, { validateStream: false }))
    .replace(/▼ \d+/g, (down) => styleText('red', down, { validateStream: false }))
}

function footer({ rows, standings, leftOut }: RankReport, compare: AskedDay | null): readonly string[] {
  const number = (state: string): number => rows.filter((row) => row.state === state).length
  const parts = ['ranked', 'absent', 'unknown'].map((state) => `${number(state)} ${state}`)
  const days = between([...new Set(rows.map(({ date }) => String(date)))].sort())
  return [
    `${count(rows.length, 'observation')} ${days}: ${parts.join(', ')}. >n: not among the first n results. ~: estimated. ?: not known.`,
    ...suspectLines(rows),
    ...comparison(baselines(rows), compare),
    ...(hasTrend(standings) ? [trendLegend] : []),
    ...omission(leftOut),
  ]
}

function between(dates: readonly string[]): string {
  return dates.length === 1 ? `on ${dates[0]}` : `between ${dates[0]} and ${dates.at(-1)}`
}

/** Says which days were compared with. */
export function comparison(dates: readonly string[], compare: AskedDay | null): readonly string[] {
  const asked =
    compare === null ? '' : ` (asked for: ${compare.day}, give or take ${count(compare.tolerance, 'day')})`
  if (dates.length === 0) return compare === null ? [] : [`Nothing to compare with${asked}.`]
  return [`Compared with what was observed ${between(dates)}${asked}.`]
}

function omission({ queries, targets }: RankReport['leftOut']): readonly string[] {
  const parts = [
    ...(queries > 0 ? [count(queries, 'query', 'queries')] : []),
    ...(targets > 0 ? [count(targets, 'target')] : []),
  ]
  return parts.length === 0 ? [] : [`Left out: ${parts.join(' and ')} that the job no longer asks for.`]
}
