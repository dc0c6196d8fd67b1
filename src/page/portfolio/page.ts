import type { Language } from '../../model/settings.ts'
import { html, type Markup } from '../../output/markup.ts'
import {
  figureTexts,
  groupedProblems,
  inOrder,
  mostNamedClients,
  type PortfolioProblem,
  type PortfolioRanks,
  type PortfolioRow,
} from '../../report/formats/portfolio.ts'
import type { FigureChange } from '../../report/words/formats.ts'
import { type Words, wordsOf } from '../../report/words/words.ts'
import { documentStart, type PageAssets } from '../html.ts'

/** One HTML file that opens offline, loads nothing, and is complete without its script: plain data of all jobs. */
export function portfolioPage(
  data: {
    readonly rows: readonly PortfolioRow[]
    readonly language: Language
    /** When it was made, epoch ms. */
    readonly now: number
    /** What is wrong with more than one job. */
    readonly problems: readonly PortfolioProblem[]
    /** In credits; null where the balance is not known. */
    readonly balance: { readonly credits: number; readonly days: number | null } | null
    readonly spentThisMonth: number
  },
  assets: PageAssets,
): string {
  const say = wordsOf(data.language)
  const rows = inOrder(data.rows)
  const body = html`<header class="page-header">
<h1>${say.portfolio.title}</h1>
<p class="days">${standing(rows, say)}</p>
<input type="search" class="find" placeholder="${say.portfolio.find}" aria-label="${say.portfolio.find}" hidden>
<span class="sr-only found" role="status" data-text="${say.portfolio.found}"></span>
</header>
<main>
${problemSection(data.problems, rows, say)}<div class="surface">
<table role="table">
<caption class="sr-only">${say.portfolio.clients(rows.length)}</caption>
<thead role="rowgroup"><tr role="row">${headCells(say)}</tr></thead>
<tbody role="rowgroup">
${rows.map((row) => rowOf(row, say))}</tbody>
</table>
</div>
<p class="account">${account(data, say)}</p>
<p class="note">${say.portfolio.estimated}</p>
</main>
`
  const { script, style } = assets
  return `${documentStart({ language: say.language, title: say.portfolio.title, scripts: [script], style })}
</head>
<body>
${body.text}<script type="module">${script}</script>
</body>
</html>
`
}

/** How many clients there are, and how many have problems. */
function standing(rows: readonly PortfolioRow[], say: Words): string {
  const of = (level: PortfolioRow['level']): number => rows.filter((row) => row.level === level).length
  const [errors, warnings] = [of('error'), of('warning')]
  const { clients, withErrors, withWarnings, fine } = say.portfolio
  return [
    clients(rows.length),
    ...(errors > 0 ? [withErrors(errors)] : []),
    ...(warnings > 0 ? [withWarnings(warnings)] : []),
    ...(errors + warnings === 0 ? [fine] : []),
  ].join(' · ')
}

function account({ now, balance, spentThisMonth }: Parameters<typeof portfolioPage>[0], say: Words): string {
  const { day, time } = instantParts(now, say)
  return [
    say.portfolio.asOf(`${day}, ${time}`),
    say.portfolio.spent(spentThisMonth),
    ...(balance === null ? [] : [balanceText(balance, say)]),
  ].join(' · ')
}

/** A balance that would last longer lasts "for years": the spending of a few days says no more. */
const mostDays = 730

function balanceText({ credits, days }: { credits: number; days: number | null }, say: Words): string {
  const { balance, enoughFor, enoughForYears } = say.portfolio
  if (days === null) return balance(credits)
  return `${balance(credits)}, ${days > mostDays ? enoughForYears : enoughFor(days)}`
}

/** What is wrong, the same of several clients in one line, which opens to what is said of each. */
function problemSection(
  ofAll: readonly PortfolioProblem[],
  rows: readonly PortfolioRow[],
  say: Words,
): Markup | null {
  const groups = groupedProblems(rows)
  if (ofAll.length + groups.length === 0) return null
  const label = (kind: string): string => say.portfolio.kinds[kind] ?? kind
  // Problems are told in their own words, which are English.
  const alone = ({ level, kind, text }: PortfolioProblem, about: string | null): Markup =>
    html`<li class="${level}"><strong>${label(kind)}</strong> ${about}<span lang="en">${text}</span></li>`
  const lines = groups.map(({ level, kind, clients }) => {
    const [first] = clients
    if (first === undefined) return null
    if (clients.length === 1) return alone({ level, kind, text: first.text }, `${first.name}: `)
    const names = [...new Set(clients.map(({ name }) => name))]
    const more = names.length - mostNamedClients
    const listed = `${names.slice(0, mostNamedClients).join(', ')}${more > 0 ? ` +${say.number(more)}` : ''}`
    const each = clients.map(({ name, text }) => html`<li>${name}: <span lang="en">${text}</span></li>`)
    return html`<li class="${level}"><details><summary><strong>${label(kind)}</strong> ${say.portfolio.clients(names.length)}: ${listed}</summary><ul>${each}</ul></details></li>`
  })
  return html`<section class="surface" aria-label="${say.portfolio.problems}"><ul class="problems">${ofAll.map((one) => alone(one, null))}${lines}</ul></section>
`
}

function headCells(say: Words): readonly Markup[] {
  const { columns, sortBy } = say.portfolio
  type Order = 'ascending' | 'descending'
  const head = (name: keyof typeof columns, first: Order, isNumber = true): Markup => {
    const kind = isNumber ? html` class="number" data-number` : null
    return html`<th role="columnheader" scope="col" data-first="${first}" data-title="${sortBy(columns[name])}"${kind}>${columns[name]}</th>`
  }
  return [
    head('client', 'ascending', false),
    head('stake', 'descending'),
    head('clicks', 'descending'),
    head('visibility', 'descending'),
    head('topTen', 'descending'),
    html`<th role="columnheader" scope="col">${columns.trend}</th>`,
    head('lastGood', 'ascending', false),
    head('spent', 'descending'),
  ]
}

/** One client as a row: on narrow screens a card, whose cells carry the titles of their columns. */
function rowOf(row: PortfolioRow, say: Words): Markup {
  const { ranks, level, lastGood, spentThisMonth } = row
  const { columns, never, noRanks } = say.portfolio
  const { stake, clicks, visibility, topTen } = figureTexts(ranks, say)
  const cells =
    ranks === null
      ? // As many cells as the table has columns: rows are sorted by them.
        html`<td role="cell" class="no-ranks">${noRanks}</td>${Array.from({ length: 4 }, () => html`<td role="cell"></td>`)}`
      : html`${figureCell(columns.stake, ranks.stake, { value: stake, change: null })}
${figureCell(columns.clicks, ranks.clicks.value, clicks)}
${figureCell(columns.visibility, ranks.visibility.value, visibility)}
${figureCell(columns.topTen, ranks.checked === 0 ? null : ranks.topTen.value, topTen)}
<td role="cell" data-label="${columns.trend}" title="${ranks.compared === null ? '' : say.period.compared(say.longDay(ranks.compared))}">${spark(ranks, say)}</td>`
  const { day, time } = lastGood === null ? { day: never, time: '' } : instantParts(lastGood, say)
  return html`<tr role="row" class="${level ?? 'retired'}">
${clientCell(row, say)}
${cells}
<td role="cell" class="day" title="${time}" data-label="${columns.lastGood}" data-value="${lastGood === null ? '' : new Date(lastGood).toISOString()}">${day}</td>
<td role="cell" class="number" data-label="${columns.spent}" data-value="${spentThisMonth}">${say.number(spentThisMonth)}</td>
</tr>
`
}

function clientCell({ name, job, level, problems, ranks, file }: PortfolioRow, say: Words): Markup {
  const { levels, kinds, keywords } = say.portfolio
  const title = file === null ? html`${name}` : html`<a href="./${encodeURIComponent(file)}">${name}</a>`
  const [first] = problems
  const told = first === undefined ? levels[level ?? 'retired'] : (kinds[first.kind] ?? first.kind)
  const text = problems.map((one) => one.text).join(' ')
  const badge = level === 'ok' ? null : html` <span class="badge" title="${text}">${told}</span>`
  const about = [
    ...(name === job ? [] : [job]),
    ...(ranks === null || ranks.site === name ? [] : [ranks.site]),
    ...(ranks === null ? [] : [keywords(ranks.keywords)]),
  ].join(' · ')
  return html`<th role="rowheader" scope="row" data-value="${name}" data-find="${`${name} ${about}`.toLowerCase()}"><span class="name">${title}</span>${badge} <span class="about-client">${about}</span></th>`
}

function figureCell(
  label: string,
  sorted: number | null,
  { value, change }: { readonly value: string; readonly change: FigureChange | null },
): Markup {
  const changed = change === null ? null : html` <span class="change ${change.way}">${change.text}</span>`
  return html`<td role="cell" class="number" data-label="${label}" data-value="${sorted ?? ''}"><span class="value">${value}</span>${changed}</td>`
}

/** An instant as a day and a minute, in UTC: the page is read in several time zones. */
function instantParts(at: number, say: Words): { readonly day: string; readonly time: string } {
  const text = new Date(at).toISOString()
  return { day: say.mediumDay(text.slice(0, 10)), time: `${text.slice(11, 16)} UTC` }
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

export const sparkSize = { width: 120, height: 18 } as const
const edge = 2

/** Values as points of a line in a picture of {@link sparkSize}: one line for each stretch of known days. */
export function sparkPoints(
  values: readonly (number | null)[],
): readonly (readonly (readonly [x: number, y: number])[])[] {
  const known = values.filter((value) => value !== null)
  const [least, greatest] = [Math.min(...known), Math.max(...known)]
  const { width, height } = sparkSize
  const x = (day: number): number =>
    values.length < 2 ? width - edge : edge + (day / (values.length - 1)) * (width - 2 * edge)
  const y = (value: number): number =>
    greatest === least
      ? height / 2
      : height - edge - ((value - least) / (greatest - least)) * (height - 2 * edge)
  const lines: [number, number][][] = []
  let line: [number, number][] = []
  for (const [day, value] of values.entries()) {
    if (value === null) line = []
    else {
      if (line.length === 0) lines.push(line)
      line.push([round(x(day)), round(y(value))])
    }
  }
  return lines
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
