import type { RunQuality } from '../../model/run.ts'
import { grouped } from '../../words.ts'
import type { Outcome } from '../metrics/head-to-head.ts'
import type { Mover } from '../metrics/winners.ts'
import { localeText, valueRank } from '../rank-cells.ts'
import type { Keyword, RankHistory } from '../rank-history.ts'
import type { Summary } from '../summary.ts'
import { mdText } from './escape.ts'
import { targetName } from './figures.ts'
import { type MdColumn, mdTable } from './table.ts'

/** What tells keywords apart: the query, and the locale or the operation where there are several. */
export function keywordColumns<T>(
  { keywords, series }: RankHistory,
  keywordOf: (row: T) => Keyword,
): readonly MdColumn<T>[] {
  const asked = [...new Set(series.map(({ keyword }) => keyword))].map((place) => keywords[place] as Keyword)
  const several = (of: (keyword: Keyword) => string) => new Set(asked.map(of)).size > 1
  const operation = (keyword: Keyword) => keyword.operation
  const locale = (keyword: Keyword) => localeText(keyword.params)
  return [
    { title: 'query', cell: (row) => mdText(keywordOf(row).query) },
    ...(several(operation)
      ? [{ title: 'operation', cell: (row: T) => mdText(operation(keywordOf(row))) }]
      : []),
    ...(several(locale) ? [{ title: 'locale', cell: (row: T) => mdText(locale(keywordOf(row))) }] : []),
  ]
}

/** Who won and who lost most, of each own target. */
export function moversSection({ targets }: Summary, history: RankHistory): readonly string[] {
  const columns: readonly MdColumn<Mover>[] = [
    ...keywordColumns<Mover>(history, ({ standing }) => standing.keyword),
    {
      title: 'before',
      align: 'right',
      cell: ({ standing: { baseline } }) => (baseline === null ? '' : valueRank(baseline.value)),
    },
    { title: 'now', align: 'right', cell: ({ standing }) => valueRank(standing.current) },
    { title: 'gain, clicks a month', align: 'right', cell: gainText },
  ]
  const own = targets.filter(({ target }) => target.own)
  return own.flatMap(({ target, winners, losers }) => {
    const whose = own.length > 1 ? `, ${mdText(target.label)}` : ''
    return [
      ...(winners.length === 0 ? [] : [`## Winners${whose}`, mdTable(columns, winners)]),
      ...(losers.length === 0 ? [] : [`## Losers${whose}`, mdTable(columns, losers)]),
    ]
  })
}

/** Clicks a month; a dash where the volume is not known. */
function gainText({ gain }: Mover): string {
  if (gain === null) return '-'
  const size = Math.abs(gain)
  const number = size.toLocaleString('en-US', { maximumFractionDigits: size < 10 ? 1 : 0 })
  return number === '0' ? number : `${gain < 0 ? '-' : '+'}${number}`
}

/** How each own target does against every other one. */
export function rivalsSection({ targets }: Summary): readonly string[] {
  const pairs = targets
    .filter(({ target }) => target.own)
    .flatMap(({ target, against }) => against.map((rivalry) => ({ target, rivalry })))
  if (pairs.length === 0) return []
  const counts = (['won', 'lost', 'tied', 'neither', 'undecided'] as const).map((name: Outcome) => ({
    title: name,
    align: 'right' as const,
    cell: ({ rivalry }: (typeof pairs)[number]) => String(rivalry[name]),
  }))
  return [
    '## Head to head',
    mdTable(
      [
        { title: 'target', cell: ({ target }) => targetName(target) },
        { title: 'against', cell: ({ rivalry }) => targetName(rivalry.other) },
        ...counts,
      ],
      pairs,
    ),
  ]
}

/** How the last runs went, and what they cost. */
export function runsSection(runs: readonly RunQuality[]): readonly string[] {
  if (runs.length === 0) return []
  const number = (title: string, of: (run: RunQuality) => number): MdColumn<RunQuality> => ({
    title,
    align: 'right',
    cell: (run) => grouped(of(run)),
  })
  const last = runs.slice(-mostRuns)
  return [
    `## ${last.length === 1 ? 'Run' : 'Last runs'}`,
    mdTable(
      [
        number('run', ({ run }) => run),
        { title: 'day', cell: ({ date }) => date },
        { title: 'ended', cell: ({ finishReason }) => (finishReason ?? 'not yet').replaceAll('_', ' ') },
        number('tasks', ({ tasks }) => tasks.planned),
        number('done', ({ tasks }) => tasks.done),
        number('failed', ({ tasks }) => tasks.failed),
        number('credits', ({ spent }) => spent),
        number('maybe more', ({ ambiguous }) => ambiguous),
        ...(last.some(({ mismatched }) => mismatched)
          ? [number('answered otherwise', ({ mismatched = 0 }) => mismatched)]
          : []),
      ],
      last,
    ),
  ]
}

const mostRuns = 10
