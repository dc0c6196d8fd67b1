import { fitColumns, harmless } from '../terminal.ts'
import { textWidth } from '../text-width.ts'
import { count } from '../words.ts'
import type { ChangedResult, DiffDocument, DiffResult, DiffSide } from './diff-document.ts'
import { colored } from './rank-table.ts'
import { type Column, formatTable } from './table.ts'
import { listed } from './why.ts'
import { wrap } from './wrap.ts'

export interface DiffLook {
  /** Columns of the terminal. */
  readonly width: number
  readonly color: boolean
}

/** What became of a query's results, for a person. */
export function diffText(one: DiffDocument, { width, color }: DiffLook): string {
  const params = Object.entries(one.params).map(([name, value]) => `${name}=${value}`)
  const lines = [[`"${one.query}"`, one.operation, ...params].join('  '), ...about(one)]
  const head = lines.flatMap((line) => wrap(plain(line), width)).join('\n')
  const rows = tableRows(one)
  const table = rows.length === 0 ? '' : diffTable(rows, width)
  return [
    `${head}\n`,
    ...(table === '' ? [] : ['\n', color ? colored(table) : table]),
    ...rewritten(one, width),
  ].join('')
}

// Runs of spaces from outside would look like columns.
function plain(text: string): string {
  return harmless(text).trim()
}

function about(one: DiffDocument): readonly string[] {
  const { job, from, to } = one
  if (to === null) return [`${job}: no results are stored yet.`]
  if (from === null)
    return [`${job}: ${dayOf(to)} has nothing to compare with.`, ...[to].flatMap((side) => missed(side))]
  return [
    `${job}: ${dayOf(to)} compared with ${dayOf(from)}, ${count(one.compared_depth ?? 0, 'result')} deep.`,
    ...[from, to].flatMap((side) => missed(side)),
    counted(one),
    ...deeper(from, to),
    ...deeper(to, from),
  ]
}

function dayOf({ date, run_id: run }: DiffSide): string {
  return `${date} (run ${run})`
}

function missed({ date, missed: pages, unbroken_depth: depth }: DiffSide): readonly string[] {
  if (pages.length === 0) return []
  return [`${date}: ${listed(pages)}; looked at without a gap: ${count(depth, 'result')}.`]
}

function deeper(side: DiffSide, { date }: DiffSide): readonly string[] {
  if (side.not_compared === 0) return []
  return [
    `Not compared: ${count(side.not_compared, 'result')} of ${side.date}, deeper than was looked at without a gap on ${date}.`,
  ]
}

function counted(one: DiffDocument): string {
  const { entered, left, moved, changed, same } = one
  if (entered.length + left.length + moved.length + changed.length === 0)
    return same === 0
      ? 'Nothing changed: there are no results on either day.'
      : `Nothing changed: ${count(same, 'result stands', 'results stand')} where ${same === 1 ? 'it' : 'they'} stood, with the same title and snippet.`
  const parts = [
    `${entered.length} entered`,
    `${left.length} left`,
    `${moved.length} moved`,
    `${changed.length} changed title or snippet`,
    `${same} the same`,
  ]
  return `${parts.join(', ')}. Others than before in the top 10: ${percent(one.turnover_top10)}.`
}

/** A share as `30%`; nothing where it is not known. */
export function percent(share: number | null): string {
  return share === null ? '?' : `${Math.round(share * 100)}%`
}

/** A result, where it stood and where it stands. */
interface TableRow {
  readonly result: DiffResult
  readonly before: string
  readonly after: string
  readonly change: string
}

/** Who came, who went, then who moved. */
function tableRows({ from, to, entered, left, moved }: DiffDocument): readonly TableRow[] {
  const before = (rank: number): string => `${isEstimated(rank, from) ? '~' : ''}${rank}`
  const after = (rank: number): string => `${isEstimated(rank, to) ? '~' : ''}${rank}`
  return [
    ...entered.map((result) => ({ result, before: '-', after: after(result.rank), change: 'entered' })),
    ...left.map((result) => ({ result, before: before(result.rank), after: '-', change: 'left' })),
    ...moved.map((result) => ({
      result,
      before: before(result.previous_rank),
      after: after(result.rank),
      change: result.change > 0 ? `▲ ${result.change}` : `▼ ${-result.change}`,
    })),
  ]
}

/** Below a gap a page counts with its documented size. */
function isEstimated(rank: number, side: DiffSide | null): boolean {
  return side !== null && rank > side.unbroken_depth
}

function diffTable(rows: readonly TableRow[], width: number): string {
  const widestTitle = Math.max(16, Math.floor(width * 0.35))
  const columns: readonly (Column & { readonly cell: (row: TableRow) => string })[] = [
    { title: 'before', align: 'right', cell: ({ before }) => before },
    { title: 'after', align: 'right', cell: ({ after }) => after },
    { title: 'change', align: 'right', cell: ({ change }) => change },
    ...(rows.some(({ result }) => result.targets.length > 0)
      ? [{ title: 'target', cell: ({ result }: TableRow) => cut(owners(result), widestTitle) }]
      : []),
    {
      title: 'title',
      dropped: true,
      cell: ({ result }) => cut(plain(result.title ?? ''), widestTitle),
    },
    { title: 'link', shrinks: true, cell: ({ result }) => plain(result.link ?? '') },
  ]
  return formatTable(
    columns,
    rows.map((row) => columns.map(({ cell }) => cell(row))),
    width,
  )
}

function owners({ targets }: DiffResult): string {
  return plain(targets.map(({ target, own }) => `${target} (${own ? 'yours' : 'competitor'})`).join(', '))
}

function cut(text: string, width: number): string {
  return textWidth(text) > width ? fitColumns(text, width) : text
}

/** Titles and snippets as they were and are. */
function rewritten({ changed }: DiffDocument, width: number): readonly string[] {
  if (changed.length === 0) return []
  const lines = changed.flatMap((result) => [
    ...wrap(plain(`${result.rank}  ${result.link ?? result.title ?? 'no link'}  ${owners(result)}`), width),
    ...texts(result).flatMap(([name, text]) =>
      wrap(`${name} ${text === null ? '(none)' : plain(text)}`, width, '   '),
    ),
  ])
  return ['\nTitles and snippets that changed, by rank:\n', ...lines.map((line) => `${line}\n`)]
}

function texts(result: ChangedResult): readonly (readonly [string, string | null])[] {
  const { title, snippet, previous_title: oldTitle, previous_snippet: oldSnippet } = result
  return [
    ...(title === oldTitle
      ? []
      : ([
          ['title before:', oldTitle],
          ['title now:   ', title],
        ] as const)),
    ...(snippet === oldSnippet
      ? []
      : ([
          ['snippet before:', oldSnippet],
          ['snippet now:   ', snippet],
        ] as const)),
  ]
}
