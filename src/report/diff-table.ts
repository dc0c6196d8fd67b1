import { harmless } from '../terminal.ts'
import { count } from '../words.ts'
import type { AskedDay } from './baseline.ts'
import type { DiffDocument } from './diff-document.ts'
import { type DiffLook, percent } from './diff-text.ts'
import { colored, comparison } from './rank-table.ts'
import { type Column, formatTable } from './table.ts'

/** How much the results of a query changed, in numbers. */
export interface DiffSummary
  extends Pick<DiffDocument, 'query' | 'operation' | 'params' | 'compared_depth' | 'turnover_top10'> {
  readonly from: string | null
  readonly to: string | null
  readonly entered: number
  readonly left: number
  readonly moved: number
  readonly changed: number
  /** Whether pages were not looked at on either day. */
  readonly hasGaps: boolean
}

export function diffSummary(one: DiffDocument): DiffSummary {
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
    hasGaps: [from, to].some((side) => side !== null && side.missed.length > 0),
  }
}

/** What changed most comes first: by the top 10, then by who came and went, then by who moved, then by texts. */
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

/** One line per query for a terminal, with lines under it that say what was compared. */
export function diffTable(
  all: readonly DiffSummary[],
  { width, color, compare }: DiffLook & { readonly compare: AskedDay | null },
): string {
  const several = (cell: (one: DiffSummary) => unknown): boolean => new Set(all.map(cell)).size > 1
  const number = (title: string, cell: (one: DiffSummary) => number | null) => ({
    title,
    align: 'right' as const,
    cell: (one: DiffSummary) => (one.from === null ? '' : String(cell(one) ?? '')),
  })
  const columns: readonly (Column & { readonly cell: (one: DiffSummary) => string })[] = [
    { title: 'query', shrinks: true, cell: ({ query }) => harmless(query) },
    ...(several(({ operation }) => operation)
      ? [{ title: 'operation', cell: ({ operation }: DiffSummary) => operation }]
      : []),
    ...(several(paramsOf) ? [{ title: 'params', cell: paramsOf }] : []),
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
    ...(several(({ to }) => to) ? [{ title: 'day', cell: ({ to }: DiffSummary) => to ?? '' }] : []),
    ...(several(({ from }) => from)
      ? [{ title: 'since', dropped: true as const, cell: ({ from }: DiffSummary) => from ?? '' }]
      : []),
  ]
  const table = formatTable(
    columns,
    all.map((one) => columns.map(({ cell }) => cell(one))),
    width,
  )
  return `${color ? colored(table) : table}\n${footer(all, compare).join('\n')}\n`
}

function paramsOf({ params }: DiffSummary): string {
  return harmless(
    Object.entries(params)
      .map(([name, value]) => `${name}=${value}`)
      .join(' '),
  )
}

function footer(all: readonly DiffSummary[], compare: AskedDay | null): readonly string[] {
  const days = (side: 'from' | 'to') => [...new Set(all.flatMap((one) => one[side] ?? []))].sort()
  const alone = all.filter(({ from, to }) => from === null && to !== null).length
  const unseen = all.filter(({ to }) => to === null).length
  const gaps = all.filter(({ hasGaps }) => hasGaps).length
  const said = compare !== null && days('from').length === 0
  const queries = (n: number, one: string, more: string): string =>
    `${count(n, 'query', 'queries')} ${n === 1 ? one : more}`
  return [
    `${count(all.length, 'query', 'queries')}, ${days('to').join(', ')}. turnover: share of the first ten that are others than before. depth: as far down as both days looked.`,
    ...comparison(days('from'), compare),
    ...(alone > 0 && !said ? [`${queries(alone, 'has', 'have')} nothing to compare with.`] : []),
    ...(unseen > 0 ? [`${queries(unseen, 'has', 'have')} no results yet.`] : []),
    ...(gaps > 0 ? [`${queries(gaps, 'lacks', 'lack')} pages on one of the days; --query says which.`] : []),
  ]
}
