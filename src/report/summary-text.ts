import { styleText } from 'node:util'
import { harmless } from '../terminal.ts'
import { textWidth } from '../text-width.ts'
import { count } from '../words.ts'
import { absentWords, definitionOf } from './definitions.ts'
import { deltaText, valueText } from './figure-text.ts'
import { type HeadlineName, headlineNames } from './headline.ts'
import { buckets } from './metrics/distribution.ts'
import { metrics } from './metrics/index.ts'
import { movementNames } from './metrics/movements.ts'
import type { Summary, TargetSummary } from './summary.ts'
import { type Column, formatTable } from './table.ts'
import { wrap } from './wrap.ts'

export interface SummaryLook {
  /** Columns of the terminal. */
  readonly width: number
  readonly color: boolean
}

/** A few lines that say where the targets of a job stand, for above its rank table; empty where it has none. */
export function summaryText(summary: Summary, { width, color }: SummaryLook): string {
  const { targets } = summary
  if (targets.length === 0) return ''
  const cells = headlineNames.map((name) => figureCells(name, targets))
  const columns: readonly Column[] = [
    { title: 'target', shrinks: true },
    { title: 'ranked', align: 'right' },
    ...headlineNames.map((name) => ({ title: metrics[name].label, align: 'right' as const })),
  ]
  const rows = targets.map((one, index) => [
    harmless(one.target.label),
    rankedCell(one),
    ...cells.map((column) => column[index] ?? ''),
  ])
  const table = formatTable(columns, rows, width)
  const own = targets.filter(({ target }) => target.own)
  const lines = [...own.flatMap((one) => counts(one, own.length > 1)), denominators(summary), notes(summary)]
  return `${color ? colored(table) : table}${lines.flatMap((line) => wrap(line, width)).join('\n')}\n`
}

/** Of the observed keywords; what is unknown stands beside. */
function rankedCell({ figures }: TargetSummary): string {
  const { ranked, observed, expected } = figures.visibility.coverage
  return `${ranked} of ${observed}${expected > observed ? `, ${expected - observed} ?` : ''}`
}

/** The values of a column below each other, their changes behind. */
function figureCells(name: HeadlineName, targets: readonly TargetSummary[]): readonly string[] {
  const texts = targets.map(({ figures }) => ({
    value: valueText(figures[name].value, metrics[name]),
    delta: deltaText(name, figures[name]),
  }))
  const widest = Math.max(...texts.map(({ delta }) => textWidth(delta)))
  return texts.map(({ value, delta }) =>
    widest === 0 ? value : `${value} ${delta}${' '.repeat(widest - textWidth(delta))}`,
  )
}

function counts(
  { target, distribution, movements }: TargetSummary,
  named: boolean,
): readonly [string, string] {
  const whose = named ? ` of ${harmless(target.label)}` : ''
  const ranks = buckets.flatMap((bucket) => {
    const word = bucket === 'absent' || bucket === 'unknown' ? bucket : `at ${bucket}`
    return distribution[bucket] === 0 ? [] : [`${distribution[bucket]} ${word}`]
  })
  const moves = movementNames.flatMap((name) => (movements[name] === 0 ? [] : [`${movements[name]} ${name}`]))
  return [`Ranks${whose}: ${ranks.join(', ')}.`, `Movements${whose}: ${moves.join(', ')}.`]
}

function denominators({ absent }: Summary): string {
  const words = headlineNames.map((name) => {
    const { label, denominator } = definitionOf(name, { absent })
    const told = name === 'average_position' && absent !== 'depth' ? `, ${absentWords(absent)}` : ''
    return `${label}: by ${denominator}${told}`
  })
  return `${words.join('; ')}.`
}

function notes({ compared, added, removed, curve, targets }: Summary): string {
  const own = targets.find(({ target }) => target.own) ?? targets[0]
  const both = own?.figures.visibility.cohort?.now.coverage.observed ?? 0
  const without = own?.figures.share_of_voice.uncounted ?? 0
  return [
    ...(both === 0
      ? []
      : [`▲ ▼: against ${between(compared)}, of ${count(both, 'keyword')} known on both days.`]),
    ...(added + removed === 0 ? [] : [`${count(added, 'keyword')} added, ${removed} removed.`]),
    ...(without === 0 ? [] : [`Without volume: ${count(without, 'keyword')}.`]),
    `CTR: ${harmless(curve.name)}, ${harmless(curve.version)}.`,
  ].join(' ')
}

function between(days: readonly string[]): string {
  return days.length < 2 ? (days[0] ?? '') : `${days[0]} to ${days.at(-1)}`
}

function colored(table: string): string {
  return table
    .replace(/^.*$/m, (head) => styleText('bold', head, { validateStream: false }))
    .replace(/▲ [\d.]+/g, (up) => styleText('green', up, { validateStream: false }))
    .replace(/▼ [\d.]+/g, (down) => styleText('red', down, { validateStream: false }))
}
