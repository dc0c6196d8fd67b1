import type { Language } from '../../model/settings/presentation.ts'
import { html, type Markup } from '../../output/markup.ts'
import { inOrder, type PortfolioProblem, type PortfolioRow } from '../../report/formats/portfolio.ts'
import { type Words, wordsOf } from '../../report/words/words.ts'
import { documentStart, type PageAssets } from '../html.ts'
import { instantParts, problemList, rowOf } from './table-row.ts'

/** What the page shows: plain data of all jobs. */
export interface PortfolioPage {
  readonly rows: readonly PortfolioRow[]
  readonly language: Language
  /** When it was made, epoch ms. */
  readonly now: number
  /** What is wrong with more than one job. */
  readonly problems: readonly PortfolioProblem[]
  /** In credits; null where the balance is not known. */
  readonly balance: { readonly credits: number; readonly days: number | null } | null
  readonly spentThisMonth: number
}

/** One HTML file that opens offline, loads nothing, and is complete without its script. */
export function portfolioPage(data: PortfolioPage, assets: PageAssets): string {
  const say = wordsOf(data.language)
  const rows = inOrder(data.rows)
  const body = html`<header class="page-header">
<h1>${say.portfolio.title}</h1>
<p class="days">${standing(rows, say)}</p>
<p class="account">${account(data, say)}</p>
</header>
<main>
${problemSection(data, say)}<div class="surface">
<table role="table">
<caption class="sr-only">${say.portfolio.clients(rows.length)}</caption>
<thead role="rowgroup"><tr role="row">${headCells(say)}</tr></thead>
<tbody role="rowgroup">
${rows.map((row) => rowOf(row, say))}</tbody>
</table>
</div>
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

function account({ now, balance, spentThisMonth }: PortfolioPage, say: Words): string {
  const { day, time } = instantParts(now, say)
  return [
    say.portfolio.asOf(`${day}, ${time}`),
    say.portfolio.spent(spentThisMonth),
    ...(balance === null ? [] : [balanceText(balance, say)]),
  ].join(' · ')
}

/** A balance that would last longer lasts "for years": the spending of a few days says no more. */
const mostDays = 730

function balanceText({ credits, days }: NonNullable<PortfolioPage['balance']>, say: Words): string {
  const { balance, enoughFor, enoughForYears } = say.portfolio
  if (days === null) return balance(credits)
  return `${balance(credits)}, ${days > mostDays ? enoughForYears : enoughFor(days)}`
}

function problemSection({ problems }: PortfolioPage, say: Words): Markup | null {
  if (problems.length === 0) return null
  return html`<section class="surface whole" aria-labelledby="whole"><h2 id="whole">${say.portfolio.problems}</h2>${problemList(problems, say)}</section>
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
    head('visibility', 'descending'),
    head('averagePosition', 'ascending'),
    head('topTen', 'descending'),
    head('clicks', 'descending'),
    html`<th role="columnheader" scope="col">${columns.trend}</th>`,
    head('compared', 'descending', false),
    head('lastGood', 'ascending', false),
    head('spent', 'descending'),
  ]
}
