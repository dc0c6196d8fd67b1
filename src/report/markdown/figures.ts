import { count } from '../../words.ts'
import { definitionOf } from '../definitions.ts'
import { deltaText, valueText } from '../figure-text.ts'
import { type Headline, headlineNames, type Measure } from '../headline.ts'
import { buckets } from '../metrics/distribution.ts'
import { metrics } from '../metrics/index.ts'
import { movementNames } from '../metrics/movements.ts'
import { hasClicks, kindWords, type Part } from '../parts.ts'
import type { RankHistory, TrackedTarget } from '../rank-history.ts'
import type { Segment } from '../segments.ts'
import { linesOf, type PartOfTarget, type Summary, type TargetSummary } from '../summary.ts'
import { mdText } from './escape.ts'
import { type MdColumn, mdTable } from './table.ts'

/** The name of a target; competitors are told from own ones. */
export function targetName({ label, own }: Pick<TrackedTarget, 'label' | 'own'>): string {
  return own ? `**${mdText(label)}**` : mdText(label)
}

/** Which target, and what else tells lines apart. */
function nameColumns(parts: readonly Part[]): readonly MdColumn<PartOfTarget>[] {
  const several = (of: (part: Part) => string) => new Set(parts.map(of)).size > 1
  return [
    { title: 'target', cell: ({ target }) => targetName(target) },
    ...(several(({ kind }) => kind)
      ? [{ title: 'results', cell: ({ kind }: PartOfTarget) => kindWords[kind] }]
      : []),
    ...(several(({ engine }) => engine)
      ? [{ title: 'engine', cell: ({ engine }: PartOfTarget) => engine }]
      : []),
  ]
}

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
export function headlineSection(summary: Summary, measure: Measure): readonly string[] {
  const { targets, curve, parts, otherParts } = summary
  const of = (some: readonly Part[]) => mdTable(figureColumns(some), linesOf(summary, some))
  const by = headlineNames.map((name) => {
    const { label, denominator } = definitionOf(name, measure)
    return `${label}: by ${denominator}`
  })
  return [
    '## Figures',
    of(parts),
    [
      ...bothDays(targets),
      `${by.join('; ')}.`,
      ...(parts.every(({ kind }) => hasClicks(kind)) ? without(targets) : []),
      `CTR: ${mdText(curve.name)}, ${mdText(curve.version)}. **Bold**: own.`,
    ].join(' '),
    ...(otherParts.length === 0 ? [] : ['## Figures of other kinds of results', of(otherParts)]),
  ]
}

function figureColumns(parts: readonly Part[]): readonly MdColumn<PartOfTarget>[] {
  return [
    ...nameColumns(parts),
    ...(['ranked', 'observed', 'expected'] as const).map((part) => ({
      title: part === 'expected' ? 'asked' : part,
      align: 'right' as const,
      cell: ({ figures }: PartOfTarget) => String(figures.visibility.coverage[part]),
    })),
    ...headlineColumns<PartOfTarget>(),
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

/** The same per tag, of own targets and the headline kind of results; nothing where there are no tags. */
export function tagSection(
  segments: readonly Segment[],
  { targets }: RankHistory,
  { parts }: Summary,
): readonly string[] {
  if (segments.every(({ tag }) => tag === null)) return []
  const lines = segments.flatMap(({ tag, keywords, targets: all }) =>
    all.flatMap(([place, told]) => {
      const target = targets[place] as TrackedTarget
      if (!target.own) return []
      return linesOf({ targets: [{ target, parts: told }] }, parts).map((line) => ({
        ...line,
        tag,
        keywords,
      }))
    }),
  )
  const columns: readonly MdColumn<(typeof lines)[number]>[] = [
    { title: 'tag', cell: ({ tag }) => (tag === null ? '*none*' : mdText(tag)) },
    ...nameColumns(parts),
    { title: 'keywords', align: 'right', cell: ({ keywords }) => String(keywords) },
    ...headlineColumns<(typeof lines)[number]>(),
  ]
  return lines.length === 0 ? [] : ['## By tag', mdTable(columns, lines)]
}

/** Keywords by rank, and by how they moved: both add up to all. */
export function countsSection(summary: Summary): readonly string[] {
  const { parts } = summary
  const lines = linesOf(summary, parts)
  const ranks = buckets.map((bucket) => ({
    title: bucket,
    align: 'right' as const,
    cell: ({ distribution }: PartOfTarget) => String(distribution[bucket]),
  }))
  const moves = movementNames.map((name) => ({
    title: name,
    align: 'right' as const,
    cell: ({ movements }: PartOfTarget) => String(movements[name]),
  }))
  return [
    '## Distribution of ranks',
    mdTable([...nameColumns(parts), ...ranks], lines),
    '## Movements',
    mdTable([...nameColumns(parts), ...moves], lines),
  ]
}
