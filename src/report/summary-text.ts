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
import { hasClicks, kindWords } from './parts.ts'
import { linesOf, type PartOfTarget, type Summary } from './summary.ts'
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
  const lines = linesOf(summary, summary.parts)
  const engines = summary.parts.length > 1
  const cells = headlineNames.map((name) => figureCells(name, lines))
  const columns: readonly Column[] = [
    { title: 'target', shrinks: true },
    ...(engines ? [{ title: 'engine' }] : []),
    { title: 'ranked', align: 'right' },
    ...headlineNames.map((name) => ({ title: metrics[name].label, align: 'right' as const })),
  ]
  const rows = lines.map((one, index) => [
    harmless(one.target.label),
    ...(engines ? [one.engine] : []),
    rankedCell(one),
    ...cells.map((column) => column[index] ?? ''),
  ])
  const table = formatTable(columns, rows, width)
  const own = lines.filter(({ target }) => target.own)
  const named = ({ target, engine }: PartOfTarget): string =>
    own.length < 2 ? '' : ` of ${harmless(target.label)}${engines ? `, ${engine}` : ''}`
  const below = [...own.flatMap((one) => counts(one, named(one))), denominators(summary), notes(summary)]
  return `${color ? colored(table) : table}${below.flatMap((line) => wrap(line, width)).join('\n')}\n`
}

/** Of the observed keywords; what is unknown stands beside. */
function rankedCell({ figures }: PartOfTarget): string {
  const { ranked, observed, expected } = figures.visibility.coverage
  return `${ranked} of ${observed}${expected > observed ? `, ${expected - observed} ?` : ''}`
}

/** The values of a column below each other, their changes behind. */
function figureCells(name: HeadlineName, lines: readonly PartOfTarget[]): readonly string[] {
  const texts = lines.map(({ figures }) => ({
    value: valueText(figures[name].value, metrics[name]),
    delta: deltaText(name, figures[name]),
  }))
  const widest = Math.max(...texts.map(({ delta }) => textWidth(delta)))
  return texts.map(({ value, delta }) =>
    widest === 0 ? value : `${value} ${delta}${' '.repeat(widest - textWidth(delta))}`,
  )
}

function counts({ distribution, movements }: PartOfTarget, whose: string): readonly [string, string] {
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

function notes({ compared, added, removed, curve, targets, parts, otherParts }: Summary): string {
  const beside = [...new Set(otherParts.map(({ kind }) => kind))]
  const own = targets.find(({ target }) => target.own) ?? targets[0]
  const both = own?.figures.visibility.cohort?.now.coverage.observed ?? 0
  const without = parts.every(({ kind }) => hasClicks(kind))
    ? (own?.figures.share_of_voice.uncounted ?? 0)
    : 0
  return [
    ...(both === 0
      ? []
      : [`▲ ▼: against ${between(compared)}, of ${count(both, 'keyword')} known on both days.`]),
    ...(added + removed === 0 ? [] : [`${count(added, 'keyword')} added, ${removed} removed.`]),
    ...(without === 0 ? [] : [`Without volume: ${count(without, 'keyword')}.`]),
    ...(beside.length === 0
      ? []
      : [
          `Figures of ${kindWords[parts[0]?.kind ?? 'organic']}; of ${beside.map((kind) => kindWords[kind]).join(', ')} with --kind ${beside.join(' or ')}.`,
        ]),
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
