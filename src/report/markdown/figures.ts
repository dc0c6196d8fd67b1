import { count } from '../../words.ts'
import { definitionOf } from '../definitions.ts'
import { deltaText, valueText } from '../figure-text.ts'
import { type Headline, headlineNames, type Measure } from '../headline.ts'
import { buckets } from '../metrics/distribution.ts'
import { metrics } from '../metrics/index.ts'
import { movementNames } from '../metrics/movements.ts'
import type { RankHistory, TrackedTarget } from '../rank-history.ts'
import type { Segment } from '../segments.ts'
import type { Summary, TargetSummary } from '../summary.ts'
import { mdText } from './escape.ts'
import { type MdColumn, mdTable } from './table.ts'

/** The name of a target; competitors are told from own ones. */
export function targetName({ label, own }: Pick<TrackedTarget, 'label' | 'own'>): string {
  return own ? `**${mdText(label)}**` : mdText(label)
}

const targetColumn: MdColumn<TargetSummary> = { title: 'target', cell: ({ target }) => targetName(target) }

/** The headline figures, each with its change. */
function headlineColumns<T extends { readonly figures: Headline }>(): readonly MdColumn<T>[] {
  return headlineNames.map((name) => ({
    title: metrics[name].label,
    align: 'right',
    cell: ({ figures }) =>
      `${valueText(figures[name].value, metrics[name])} ${deltaText(name, figures[name])}`.trim(),
  }))
}

/** The headline figures of every target, and of how much they speak. */
export function headlineSection({ targets, curve }: Summary, measure: Measure): readonly string[] {
  const columns: readonly MdColumn<TargetSummary>[] = [
    targetColumn,
    ...(['ranked', 'observed', 'expected'] as const).map((part) => ({
      title: part === 'expected' ? 'asked' : part,
      align: 'right' as const,
      cell: ({ figures }: TargetSummary) => String(figures.visibility.coverage[part]),
    })),
    ...headlineColumns<TargetSummary>(),
  ]
  const by = headlineNames.map((name) => {
    const { label, denominator } = definitionOf(name, measure)
    return `${label}: by ${denominator}`
  })
  return [
    '## Figures',
    mdTable(columns, targets),
    [
      ...bothDays(targets),
      `${by.join('; ')}.`,
      ...without(targets),
      `CTR: ${mdText(curve.name)}, ${mdText(curve.version)}. **Bold**: own.`,
    ].join(' '),
  ]
}

function bothDays(targets: readonly TargetSummary[]): readonly string[] {
  const both = targets[0]?.figures.visibility.cohort?.now.coverage.observed ?? 0
  return both === 0 ? [] : [`▲ ▼: of ${count(both, 'keyword')} known on both days.`]
}

function without(targets: readonly TargetSummary[]): readonly string[] {
  const none = targets[0]?.figures.share_of_voice.uncounted ?? 0
  return none === 0 ? [] : [`Without volume: ${count(none, 'keyword')}.`]
}

/** The same per tag, of own targets; nothing where there are no tags. */
export function tagSection(segments: readonly Segment[], { targets }: RankHistory): readonly string[] {
  if (segments.every(({ tag }) => tag === null)) return []
  const lines = segments.flatMap(({ tag, keywords, targets: all }) =>
    all.flatMap(([place, figures]) => {
      const target = targets[place]
      return target?.own === true ? [{ tag, keywords, target, figures }] : []
    }),
  )
  const columns: readonly MdColumn<(typeof lines)[number]>[] = [
    { title: 'tag', cell: ({ tag }) => (tag === null ? '*none*' : mdText(tag)) },
    { title: 'target', cell: ({ target }) => targetName(target) },
    { title: 'keywords', align: 'right', cell: ({ keywords }) => String(keywords) },
    ...headlineColumns<(typeof lines)[number]>(),
  ]
  return lines.length === 0 ? [] : ['## By tag', mdTable(columns, lines)]
}

/** Keywords by rank, and by how they moved: both add up to all. */
export function countsSection({ targets }: Summary): readonly string[] {
  const ranks = buckets.map((bucket) => ({
    title: bucket,
    align: 'right' as const,
    cell: ({ distribution }: TargetSummary) => String(distribution[bucket]),
  }))
  const moves = movementNames.map((name) => ({
    title: name,
    align: 'right' as const,
    cell: ({ movements }: TargetSummary) => String(movements[name]),
  }))
  return [
    '## Distribution of ranks',
    mdTable([targetColumn, ...ranks], targets),
    '## Movements',
    mdTable([targetColumn, ...moves], targets),
  ]
}
