import { styleText } from 'node:util'
import { harmless } from '../terminal.ts'
import type { Row } from './rank-rows.ts'
import { formatTable } from './table.ts'

export interface TableLook {
  /** Columns of the terminal. */
  readonly width: number
  readonly color: boolean
}

/** The rank table for a terminal, with a line under it that says what was counted. */
export function rankTable(rows: readonly Row[], { width, color }: TableLook): string {
  if (rows.length === 0) return ''
  const several = (column: string): boolean => new Set(rows.map((row) => row[column])).size > 1
  const columns = [
    { title: 'query', cell: (row: Row) => harmless(String(row.query)) },
    ...(several('operation') ? [{ title: 'operation', cell: (row: Row) => String(row.operation) }] : []),
    { title: 'locale', cell: locale },
    { title: 'target', cell: (row: Row) => harmless(String(row.target)) },
    { title: 'rank', align: 'right' as const, cell: rankCell },
    { title: 'change', align: 'right' as const, cell: changeCell },
    { title: 'best', align: 'right' as const, cell: (row: Row) => String(row.best_rank ?? '') },
    { title: 'best on', dropped: true as const, cell: (row: Row) => String(row.best_date ?? '') },
    { title: 'page', shrinks: true as const, dropped: true as const, cell: (row: Row) => shortUrl(row.url) },
  ]
  const table = formatTable(
    columns,
    rows.map((row) => columns.map(({ cell }) => cell(row))),
    width,
  )
  return `${color ? colored(table) : table}\n${footer(rows)}\n`
}

/** Where and in which language was asked, as short as it can be said; the second engine has names of its own. */
function locale({ gl, hl, location, params }: Row): string {
  const { cc, mkt } = JSON.parse(String(params ?? '{}')) as Record<string, unknown>
  const language = [hl, gl ?? cc].filter((part) => part != null).join('-')
  return harmless([mkt ?? language, location].filter((part) => part != null && part !== '').join(' '))
}

/** What was looked at and not found is no number; nor is what nobody knows. */
function rankCell({ state, rank, exactness, depth }: Row): string {
  const about = exactness === 'estimated' ? '~' : ''
  if (state === 'ranked') return `${about}${rank}`
  return state === 'absent' ? `${about}>${depth}` : '?'
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

function colored(table: string): string {
  return table
    .replace(/^.*$/m, (head) => styleText('bold', head, { validateStream: false }))
    .replace(/▲ \d+/g, (up) => styleText('green', up, { validateStream: false }))
    .replace(/▼ \d+/g, (down) => styleText('red', down, { validateStream: false }))
}

function footer(rows: readonly Row[]): string {
  const count = (state: string): number => rows.filter((row) => row.state === state).length
  const dates = [...new Set(rows.map(({ date }) => String(date)))].sort()
  const when = dates.length === 1 ? `on ${dates[0]}` : `between ${dates[0]} and ${dates.at(-1)}`
  const parts = [`${count('ranked')} ranked`, `${count('absent')} absent`, `${count('unknown')} unknown`]
  return `${rows.length} observations ${when}: ${parts.join(', ')}. >n: not among the n results looked at. ~: estimated. ?: not known.`
}
