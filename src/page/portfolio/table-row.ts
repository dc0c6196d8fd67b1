import { html, type Markup } from '../../output/markup.ts'
import {
  type PortfolioFigure,
  type PortfolioProblem,
  type PortfolioRanks,
  type PortfolioRow,
  sparkPoints,
  sparkSize,
} from '../../report/formats/portfolio.ts'
import type { Words } from '../../report/words/words.ts'

/** One client as a row: on narrow screens a card, whose cells carry the titles of their columns. */
export function rowOf(row: PortfolioRow, say: Words): Markup {
  const { ranks, level, lastGood, spentThisMonth } = row
  const { columns, never } = say.portfolio
  return html`<tr role="row" class="${level ?? 'retired'}">
${clientCell(row, say)}
${figureCells(ranks, say)}
<td role="cell" data-label="${columns.lastGood}" data-value="${lastGood === null ? '' : new Date(lastGood).toISOString()}">${lastGood === null ? never : instant(lastGood, say)}</td>
<td role="cell" class="number" data-label="${columns.spent}" data-value="${spentThisMonth}">${say.number(spentThisMonth)}</td>
</tr>
`
}

function clientCell({ name, job, level, problems, ranks, file }: PortfolioRow, say: Words): Markup {
  const { levels, keywords } = say.portfolio
  const title = file === null ? html`${name}` : html`<a href="./${encodeURIComponent(file)}">${name}</a>`
  const badge = level === 'ok' ? null : html` <span class="badge">${levels[level ?? 'retired']}</span>`
  const about = [
    ...(name === job ? [] : [job]),
    ...(ranks === null || ranks.site === name ? [] : [ranks.site]),
    ...(ranks === null ? [] : [keywords(ranks.keywords)]),
  ]
  const under = about.length === 0 ? null : html`<span class="about-client">${about.join(' · ')}</span>`
  return html`<th role="rowheader" scope="row" data-value="${name}"><span class="name">${title}${badge}</span>${under}${problemList(problems, say)}</th>`
}

const notChecked: PortfolioFigure = { value: null, change: null }

function figureCells(ranks: PortfolioRanks | null, say: Words): Markup {
  const { columns, noRanks, none, points, ofChecked } = say.portfolio
  // As many cells as the table has columns: rows are sorted by them.
  if (ranks === null)
    return html`<td role="cell" class="no-ranks">${noRanks}</td>${Array.from({ length: 5 }, () => html`<td role="cell"></td>`)}`
  const { visibility, averagePosition, topTen, clicks, compared, checked } = ranks
  const cells = [
    figureCell(columns.visibility, visibility, {
      say,
      text: (value) => say.percent(value),
      factor: 100,
      unit: points,
    }),
    figureCell(columns.averagePosition, averagePosition, {
      say,
      text: (value) => say.decimal(value),
      isLowerBetter: true,
    }),
    figureCell(columns.topTen, checked === 0 ? notChecked : topTen, {
      say,
      text: (value) => ofChecked(value, checked),
      digits: 0,
    }),
    figureCell(columns.clicks, clicks, { say, text: (value) => say.number(Math.round(value)), digits: 0 }),
  ]
  return html`${cells}
<td role="cell" data-label="${columns.trend}">${spark(ranks, say)}</td>
<td role="cell" data-label="${columns.compared}" class="day" data-value="${compared ?? ''}">${compared === null ? none : say.mediumDay(compared)}</td>`
}

function instant(at: number, say: Words): Markup {
  const { day, time } = instantParts(at, say)
  return html`<span class="day">${day}</span><span class="about-client">${time}</span>`
}

interface FigureCell {
  readonly say: Words
  readonly text: (value: number) => string
  /** From a share to points. */
  readonly factor?: number
  readonly digits?: number
  /** How a change is written. */
  readonly unit?: (value: number) => string
  readonly isLowerBetter?: boolean
}

function figureCell(label: string, { value, change }: PortfolioFigure, written: FigureCell): Markup {
  const content =
    value === null
      ? html`–`
      : html`<span class="value">${written.text(value)}</span>${change === null ? null : changed(change, written)}`
  return html`<td role="cell" class="number" data-label="${label}" data-value="${value ?? ''}">${content}</td>
`
}

function changed(
  change: number,
  { say, factor = 1, digits = 1, unit, isLowerBetter = false }: FigureCell,
): Markup {
  const { better, worse, unchanged, up, down } = say.portfolio
  const size = Math.abs(change) * factor
  if (Number(size.toFixed(digits)) === 0) return html`<span class="change">${unchanged}</span>`
  const number = unit === undefined ? say.decimal(size, digits) : unit(size)
  const isBetter = change > 0 !== isLowerBetter
  // An average position that falls is better: an arrow alone would say nothing.
  const text = isLowerBetter ? (isBetter ? better(number) : worse(number)) : number
  return html`<span class="change ${isBetter ? 'up' : 'down'}">${isBetter ? up(text) : down(text)}</span>`
}

function spark({ trend }: PortfolioRanks, say: Words): Markup | null {
  const known = trend.flatMap(({ value }) => value ?? [])
  const [first, last] = [known[0], known.at(-1)]
  if (first === undefined || last === undefined || known.length < 2) return null
  const { width, height } = sparkSize
  const lines = sparkPoints(trend.map(({ value }) => value)).map(([point, ...more]) => {
    const [x = 0, y = 0] = point ?? []
    if (more.length === 0) return html`<circle cx="${x}" cy="${y}" r="1.5"/>`
    return html`<polyline points="${[[x, y], ...more].map((one) => one.join(',')).join(' ')}"/>`
  })
  return html`<svg class="spark" role="img" aria-label="${say.portfolio.trendText(first, last)}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${lines}</svg>`
}

/** An instant as a day and a minute, in UTC: the page is read in several time zones. */
export function instantParts(at: number, say: Words): { readonly day: string; readonly time: string } {
  const text = new Date(at).toISOString()
  return { day: say.mediumDay(text.slice(0, 10)), time: `${text.slice(11, 16)} UTC` }
}

/** Problems in their own words, which are English. */
export function problemList(problems: readonly PortfolioProblem[], say: Words): Markup | null {
  if (problems.length === 0) return null
  const items = problems.map(
    ({ level, kind, text }) =>
      html`<li class="${level}"><strong>${say.portfolio.kinds[kind] ?? kind}</strong> <span lang="en">${text}</span></li>`,
  )
  return html`<ul class="problems">${items}</ul>`
}
