import { count } from '../../model/text.ts'
import { colored, tableOf, wrap } from '../../output/table.ts'
import { fitColumns, sanitize, sanitizeLine, textWidth } from '../../output/terminal.ts'
import { between, paramTexts, requestLine } from '../cells.ts'
import { listed } from '../explain/explain.ts'
import type { ComparisonDay } from '../history/movement.ts'
import type { TextLayout } from '../report.ts'
import type { DiffDocument, DiffResult, DiffSide } from './serp-diff.ts'

/** What changed in the results of a query, for a person. */
export function diffText(one: DiffDocument, { width, color }: TextLayout): string {
  const lines = [requestLine(one), ...about(one)]
  const head = lines.flatMap((line) => wrap(sanitizeLine(line), width)).join('\n')
  const rows = tableRows(one)
  const table = rows.length === 0 ? '' : resultTable(rows, width)
  return [
    `${head}\n`,
    ...(table === '' ? [] : ['\n', color ? colored(table) : table]),
    ...rewritten(one, width),
  ].join('')
}

function about(one: DiffDocument): readonly string[] {
  const { job, from, to } = one
  if (to === null) return [`${job}: no results are stored yet.`]
  if (from === null) return [`${job}: ${dayOf(to)} has nothing to compare with.`, ...missed(to)]
  return [
    `${job}: ${dayOf(to)} compared with ${dayOf(from)}, ${count(one.compared_depth ?? 0, 'result')} deep.`,
    ...(to.source === undefined ? [] : [seam]),
    ...missed(from),
    ...missed(to),
    counted(one),
    ...deeper(from, to),
    ...deeper(to, from),
  ]
}

/** Said of what was imported. */
const seam = 'Imported result pages: they are compared with each other alone, never with measured ones.'

function dayOf({ date, run_id: run, source }: DiffSide): string {
  return `${date} (${source === undefined ? `run ${run}` : `imported, ${source}`})`
}

function missed({ date, missed: pages, unbroken_depth: depth }: DiffSide): readonly string[] {
  if (pages.length === 0) return []
  return [`${date}: ${listed(pages)}; checked without a gap: ${count(depth, 'result')}.`]
}

function deeper(side: DiffSide, { date }: DiffSide): readonly string[] {
  if (side.not_compared === 0) return []
  return [
    `Not compared: ${count(side.not_compared, 'result')} of ${side.date}, deeper than was checked without a gap on ${date}.`,
  ]
}

function counted(one: DiffDocument): string {
  const { entered, left, moved, changed, same, from, to } = one
  // What was imported has links alone.
  const hasTexts = to?.source === undefined
  if (entered.length + left.length + moved.length + changed.length === 0) {
    if (same > 0)
      return `Nothing changed: ${count(same, 'result stands', 'results stand')} where ${same === 1 ? 'it' : 'they'} stood${hasTexts ? ', with the same title and snippet' : ''}.`
    const hasGaps = [from, to].some((side) => side !== null && side.missed.length > 0)
    return hasGaps ? 'Nothing can be compared.' : 'Nothing changed: there are no results on either day.'
  }
  const parts = [
    `${entered.length} entered`,
    `${left.length} left`,
    `${moved.length} moved`,
    ...(hasTexts ? [`${changed.length} changed title or snippet`] : []),
    `${same} the same`,
  ]
  return `${parts.join(', ')}. Turnover of the top 10: ${percent(one.turnover_top10)}.`
}

/** A share as `30%`; `?` if it is not known. */
export function percent(share: number | null): string {
  return share === null ? '?' : `${Math.round(share * 100)}%`
}

/** A result with its rank on both days. */
type TableRow = ReturnType<typeof tableRows>[number]

/** Results that entered, then those that left, then those that moved. */
function tableRows({ from, to, entered, left, moved }: DiffDocument) {
  return [
    ...entered.map((result) => ({ result, before: '-', after: rankOn(to, result.rank), change: 'entered' })),
    ...left.map((result) => ({ result, before: rankOn(from, result.rank), after: '-', change: 'left' })),
    ...moved.map((result) => ({
      result,
      before: rankOn(from, result.previous_rank),
      after: rankOn(to, result.rank),
      change: result.change > 0 ? `▲ ${result.change}` : `▼ ${-result.change}`,
    })),
  ]
}

/** Ranks below a gap are estimates: the missing page counts with its documented size. */
function rankOn(side: DiffSide | null, rank: number): string {
  return `${side !== null && rank > side.unbroken_depth ? '~' : ''}${rank}`
}

function resultTable(rows: readonly TableRow[], width: number): string {
  const widestTitle = Math.max(16, Math.floor(width * 0.35))
  return tableOf(
    rows,
    [
      { title: 'before', align: 'right', cell: ({ before }) => before },
      { title: 'after', align: 'right', cell: ({ after }) => after },
      { title: 'change', align: 'right', cell: ({ change }) => change },
      {
        title: 'target',
        when: rows.some(({ result }) => result.targets.length > 0),
        cell: ({ result }) => cut(owners(result), widestTitle),
      },
      {
        title: 'title',
        dropped: true,
        when: rows.some(({ result }) => result.title !== null),
        cell: ({ result }) => cut(sanitizeLine(result.title ?? ''), widestTitle),
      },
      { title: 'link', shrinks: true, cell: ({ result }) => sanitizeLine(result.link ?? '') },
    ],
    width,
  ).table
}

function owners({ targets }: DiffResult): string {
  return sanitizeLine(
    targets.map(({ target, own }) => `${target} (${own ? 'yours' : 'competitor'})`).join(', '),
  )
}

function cut(text: string, width: number): string {
  return textWidth(text) > width ? fitColumns(text, width) : text
}

/** Titles and snippets before and now. */
function rewritten({ changed }: DiffDocument, width: number): readonly string[] {
  if (changed.length === 0) return []
  const lines = changed.flatMap((result) => [
    ...wrap(
      sanitizeLine(`${result.rank}  ${result.link ?? result.title ?? 'no link'}  ${owners(result)}`),
      width,
    ),
    ...texts(result).flatMap(([name, text]) =>
      wrap(`${name} ${text === null ? '(none)' : sanitizeLine(text)}`, width, '   '),
    ),
  ])
  return ['\nTitles and snippets that changed, by rank:\n', ...lines.map((line) => `${line}\n`)]
}

/** The texts that changed, each with its name. */
function texts({ title, previous_title, snippet, previous_snippet }: DiffDocument['changed'][number]) {
  const all = [
    ['title', previous_title, title],
    ['snippet', previous_snippet, snippet],
  ] as const
  return all.flatMap(([name, before, now]) =>
    before === now
      ? []
      : ([
          [`${name} before:`, before],
          [`${name} now:   `, now],
        ] as const),
  )
}

type DiffSummary = ReturnType<typeof diffSummary>

/** How much the results of a query changed, in numbers. */
export function diffSummary(one: DiffDocument) {
  const { query, operation, params, compared_depth, turnover_top10, from, to } = one
  return {
    query,
    operation,
    params,
    compared_depth,
    turnover_top10,
    from: from?.date ?? null,
    to: to?.date ?? null,
    entered: one.entered.length,
    left: one.left.length,
    moved: one.moved.length,
    changed: one.changed.length,
    /** Whether pages were not checked on either day. */
    hasGaps: [from, to].some((side) => side !== null && side.missed.length > 0),
    source: to?.source ?? null,
  }
}

/** The greatest change first: by turnover, then by results that entered or left, then by those that moved, then by texts. */
export function byChange(a: DiffSummary, b: DiffSummary): number {
  const weights = ({ turnover_top10, entered, left, moved, changed }: DiffSummary): readonly number[] => [
    turnover_top10 ?? -1,
    entered + left,
    moved,
    changed,
  ]
  const [one, other] = [weights(a), weights(b)]
  return one.map((weight, index) => (other[index] ?? 0) - weight).find((difference) => difference !== 0) ?? 0
}

/** One line per query for a terminal. Lines below say what was compared. */
export function diffTable(
  all: readonly DiffSummary[],
  { width, color, compare }: TextLayout & { readonly compare: ComparisonDay | null },
): string {
  const several = (cell: (one: DiffSummary) => unknown): boolean => new Set(all.map(cell)).size > 1
  const number = (title: string, cell: (one: DiffSummary) => number | null) => ({
    title,
    align: 'right' as const,
    cell: (one: DiffSummary) => (one.from === null ? '' : String(cell(one) ?? '')),
  })
  const { table, shown } = tableOf(
    all,
    [
      { title: 'query', shrinks: true, cell: ({ query }) => sanitize(query) },
      { title: 'operation', when: several(({ operation }) => operation), cell: ({ operation }) => operation },
      { title: 'params', when: several(paramsOf), cell: paramsOf },
      number('entered', ({ entered }) => entered),
      number('left', ({ left }) => left),
      number('moved', ({ moved }) => moved),
      number('changed', ({ changed }) => changed),
      {
        title: 'turnover',
        align: 'right',
        cell: (one) => (one.from === null ? '' : percent(one.turnover_top10)),
      },
      { ...number('depth', ({ compared_depth }) => compared_depth), dropped: true },
      { title: 'day', when: several(({ to }) => to), cell: ({ to }) => to ?? '' },
      { title: 'since', dropped: true, when: several(({ from }) => from), cell: ({ from }) => from ?? '' },
    ],
    width,
  )
  const lines = footer(all, compare, shown.includes('depth')).flatMap((line) => wrap(line, width))
  return `${color ? colored(table) : table}\n${lines.join('\n')}\n`
}

function paramsOf({ params }: DiffSummary): string {
  return sanitize(paramTexts(params).join(' '))
}

function footer(
  all: readonly DiffSummary[],
  compare: ComparisonDay | null,
  hasDepth: boolean,
): readonly string[] {
  const days = (side: 'from' | 'to') => [...new Set(all.flatMap((one) => one[side] ?? []))].sort()
  const alone = all.filter(({ from, to }) => from === null && to !== null).length
  const unseen = all.filter(({ to }) => to === null).length
  const gaps = all.filter(({ hasGaps }) => hasGaps).length
  const before = days('from')
  const isNothingCompared = compare !== null && before.length === 0
  const queries = (n: number, one: string, more: string): string =>
    `${count(n, 'query', 'queries')} ${n === 1 ? one : more}`
  return [
    `${count(all.length, 'query', 'queries')}, ${days('to').join(', ')}. turnover: share of the first ten that differs from before.${hasDepth ? ' depth: as far down as both days were checked.' : ''}`,
    ...(all.some(({ source }) => source !== null) ? [seam] : []),
    ...(before.length > 0
      ? [`Compared with what was observed ${between(before)}${askedText(compare)}.`]
      : []),
    ...(isNothingCompared ? [`Nothing to compare with${askedText(compare)}.`] : []),
    ...(alone > 0 && !isNothingCompared ? [`${queries(alone, 'has', 'have')} nothing to compare with.`] : []),
    ...(unseen > 0 ? [`${queries(unseen, 'has', 'have')} no results yet.`] : []),
    ...(gaps > 0 ? [`${queries(gaps, 'lacks', 'lack')} pages on one of the days; --query says which.`] : []),
  ]
}

/** The day that the user asked to compare with, to follow a sentence; empty where none was asked for. */
function askedText(compare: ComparisonDay | null): string {
  return compare === null ? '' : ` (asked for: ${compare.day}, ±${count(compare.tolerance, 'day')})`
}
