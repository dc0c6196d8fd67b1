import { count } from '../../model/text.ts'
import { colored, formatTable, type TableColumn } from '../../output/table.ts'
import { sanitize } from '../../output/terminal.ts'
import { columnMetrics, deltaText, valueText } from '../headline.ts'
import type { RankHistory, TrackedTarget } from '../history/rank-history.ts'
import { top } from '../metrics/distribution.ts'
import type { TextLook } from '../report.ts'
import type { Segment } from '../segments.ts'
import { linesOf, type Summary } from '../summary.ts'

/** Tags that the terminal shows; all of them are in Markdown, XLSX and HTML. */
const most = 15

/** The tags with the most keywords, for the first own target; empty if no keyword has a tag. */
export function tagsText(
  segments: readonly Segment[],
  { targets }: Pick<RankHistory, 'targets'>,
  { parts }: Summary,
  { width, color }: TextLook,
): string {
  const own = targets.findIndex((target) => target.own)
  if (own === -1 || segments.every(({ tag }) => tag === null)) return ''
  const lines = segments.flatMap(({ tag, targets: all }) => {
    const figures = all.find(([place]) => place === own)?.[1] ?? []
    const target = targets[own] as TrackedTarget
    // The figures of the headline: other engines and kinds have theirs in the other formats.
    const [line] = linesOf({ targets: [{ target, parts: figures }] }, parts.slice(0, 1))
    return line === undefined ? [] : [{ tag, ...line }]
  })
  const shown = lines.toSorted((a, b) => b.coverage.expected - a.coverage.expected).slice(0, most)
  const metrics = columnMetrics(shown)
  const columns: readonly TableColumn[] = [
    { title: 'tag', shrinks: true },
    { title: 'keywords', align: 'right' },
    ...metrics.map(({ label, shortLabel, denominator }) => ({
      title: shortLabel ?? label,
      align: 'right' as const,
      ...(denominator === null ? { dropped: true as const } : {}),
    })),
    { title: 'top 10', align: 'right', dropped: true },
  ]
  const rows = shown.map(({ tag, coverage, figures, distribution }) => [
    tag === null ? '(none)' : sanitize(tag),
    String(coverage.expected),
    ...metrics.map((metric) => {
      const figure = figures[metric.name]
      return `${valueText(figure.value, metric)} ${deltaText(metric, figure)}`.trim()
    }),
    String(top(distribution, 10)),
  ])
  const table = formatTable(columns, rows, width)
  const left = lines.length - shown.length
  const whose = [
    ...(targets.filter((target) => target.own).length > 1
      ? [sanitize((targets[own] as TrackedTarget).label)]
      : []),
    ...(parts.length > 1 ? [parts[0]?.engine ?? ''] : []),
  ].join(', ')
  const more = left > 0 ? `And ${count(left, 'more tag')}: --format md or --format xlsx has them all.\n` : ''
  return `\nBy tag${whose === '' ? '' : ` for ${whose}`}:\n${color ? colored(table) : table}${more}`
}
