import { styleText } from 'node:util'
import { harmless } from '../terminal.ts'
import { count } from '../words.ts'
import type { AskedDay } from './baseline.ts'
import type { RankReport, Row } from './rank-rows.ts'
import { formatTable } from './table.ts'

export interface TableLook {
  /** Columns of the terminal. */
  readonly width: number
  readonly color: boolean
  /** The day that was asked to be compared with, or null. */
  readonly compare?: AskedDay | null
}

/** The rank table for a terminal, with lines under it that say what was counted and compared. */
export function rankTable(report: RankReport, { width, color, compare = null }: TableLook): string {
  const { rows } = report
  if (rows.length === 0) return ''
  const several = (column: string): boolean => new Set(rows.map((row) => row[column])).size > 1
  const columns = [
    { title: 'query', cell: (row: Row) => harmless(String(row.query)) },
    ...(several('operation') ? [{ title: 'operation', cell: (row: Row) => String(row.operation) }] : []),
    { title: 'locale', cell: locale },
    { title: 'target', cell: (row: Row) => harmless(String(row.target)) },
    { title: 'rank', align: 'right' as const, cell: rankCell },
    { title: 'change', align: 'right' as const, cell: changeCell },
    ...(baselines(rows).length > 1 ? [since] : []),
    { title: 'best', align: 'right' as const, cell: (row: Row) => String(row.best_rank ?? '') },
    { title: 'best on', dropped: true as const, cell: (row: Row) => String(row.best_date ?? '') },
    { title: 'page', shrinks: true as const, dropped: true as const, cell: (row: Row) => shortUrl(row.url) },
  ]
  const table = formatTable(
    columns,
    rows.map((row) => columns.map(({ cell }) => cell(row))),
    width,
  )
  return `${color ? colored(table) : table}\n${footer(report, compare).join('\n')}\n`
}

const since = { title: 'since', dropped: true as const, cell: (row: Row) => String(row.previous_date ?? '') }

/** The days that rows are compared with. */
function baselines(rows: readonly Row[]): readonly string[] {
  const dates = rows.flatMap(({ previous_date: date }) => (date == null ? [] : [String(date)]))
  return [...new Set(dates)].sort()
}

/** Where and in which language was asked, as short as it can be said; the second engine has names of its own. */
function locale({ gl, hl, location, params }: Row): string {
  const { cc, mkt } = JSON.parse(String(params ?? '{}')) as Record<string, unknown>
  const language = [hl, gl ?? cc].filter((part) => part != null).join('-')
  return harmless([mkt ?? language, location].filter((part) => part != null && part !== '').join(' '))
}

/** What was looked at and not found is no number; nor is what nobody knows. */
function rankCell({ state, rank, exactness, unbroken_depth: seen }: Row): string {
  const about = exactness === 'estimated' ? '~' : ''
  if (state === 'ranked') return `${about}${rank}`
  return state === 'absent' ? `${about}>${seen}` : '?'
}

function changeCell({ movement, change, state }: Row): string {
  if (movement === 'improved') return `▲ ${change}`
  if (movement === 'declined') return `▼ ${-Number(change)}`
  if (movement === 'same') return '='
  if (movement === 'unknown') return '?'
  // A first look that found nothing is no news.
  return movement === 'new' && state !== 'ranked' ? '' : String(movement)
}

function shortUrl(url: Row[string] | undefined): string {
  return url === null || url === undefined ? '' : harmless(String(url).replace(/^https?:\/\/(www\.)?/, ''))
}

/** The table with a bold head, gains green and losses red. */
export function colored(table: string): string {
  return table
    .replace(/^.*$/m, (head) => styleText('bold', head, { validateStream: false }))
    .replace(/▲ \d+/g, (up) => styleText('green', up, { validateStream: false }))
    .replace(/▼ \d+/g, (down) => styleText('red', down, { validateStream: false }))
}

function footer({ rows, leftOut }: RankReport, compare: AskedDay | null): readonly string[] {
  const number = (state: string): number => rows.filter((row) => row.state === state).length
  const parts = ['ranked', 'absent', 'unknown'].map((state) => `${number(state)} ${state}`)
  const days = between([...new Set(rows.map(({ date }) => String(date)))].sort())
  return [
    `${count(rows.length, 'observation')} ${days}: ${parts.join(', ')}. >n: not among the first n results. ~: estimated. ?: not known.`,
    ...comparison(baselines(rows), compare),
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
