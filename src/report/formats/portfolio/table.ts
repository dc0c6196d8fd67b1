import { formatTable } from '../../../output/table.ts'
import { sanitize } from '../../../output/terminal.ts'
import type { TextLook } from '../../report.ts'
import { type Words, wordsOf } from '../../words/words.ts'
import type { PortfolioFigure, PortfolioRow } from './row.ts'
import { sparkSigns } from './spark.ts'

const columns = [
  { title: 'client', shrinks: true, least: 12 },
  { title: 'state' },
  { title: 'visibility', align: 'right' },
  { title: '', align: 'left' },
  { title: 'average', align: 'right' },
  { title: '', align: 'left' },
  { title: 'top 10', align: 'right' },
  { title: '', align: 'left' },
  { title: 'clicks', align: 'right', dropped: true },
  { title: '', align: 'left', dropped: true },
  { title: 'trend', dropped: true },
  { title: 'last good run', dropped: true },
  { title: 'spent this month', align: 'right', dropped: true },
] as const

/** The rows for the terminal, in English. */
export function portfolioTable(rows: readonly PortfolioRow[], { width }: Pick<TextLook, 'width'>): string {
  const say = wordsOf('en')
  const names = rows.map(({ name }) => name)
  const isShared = (name: string): boolean => names.indexOf(name) !== names.lastIndexOf(name)
  return formatTable(
    columns,
    rows.map((row) => [
      sanitize(isShared(row.name) ? `${row.name} (${row.job})` : row.name),
      ...cells(row, say),
    ]),
    width,
  )
}

function cells(row: PortfolioRow, say: Words): readonly string[] {
  const { ranks, level, lastGood, spentThisMonth } = row
  const none = ['-', '']
  return [
    level ?? 'retired',
    ...(ranks === null
      ? none
      : figure(ranks.visibility, (value) => say.percent(value), { points: 100, say })),
    ...(ranks === null
      ? none
      : figure(ranks.averagePosition, (value) => say.decimal(value), { lower: true, say })),
    ...(ranks === null
      ? none
      : figure(ranks.topTen, (value) => say.portfolio.ofChecked(value, ranks.checked), { digits: 0, say })),
    ...(ranks === null
      ? none
      : figure(ranks.clicks, (value) => say.number(Math.round(value)), { digits: 0, say })),
    ranks === null ? '' : sparkSigns(ranks.trend.map(({ value }) => value)),
    lastGood === null ? say.portfolio.never : new Date(lastGood).toISOString().slice(0, 16).replace('T', ' '),
    say.number(spentThisMonth),
  ]
}

interface FigureWords {
  readonly say: Words
  /** Factor from share to points. */
  readonly points?: number
  readonly digits?: number
  /** Whether a lower value is better. */
  readonly lower?: true
}

function figure(
  { value, change }: PortfolioFigure,
  text: (value: number) => string,
  { say, points = 1, digits = 1, lower }: FigureWords,
): readonly [value: string, change: string] {
  if (value === null) return ['-', '']
  if (change === null) return [text(value), '']
  const size = say.decimal(Math.abs(change) * points, digits)
  if (Number((Math.abs(change) * points).toFixed(digits)) === 0) return [text(value), say.portfolio.same]
  const isBetter = lower === true ? change < 0 : change > 0
  return [text(value), isBetter ? say.portfolio.up(size) : say.portfolio.down(size)]
}
