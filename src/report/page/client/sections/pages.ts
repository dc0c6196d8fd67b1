import type { Standing } from '../../../cohort.ts'
import { type Cannibalised, cannibalisation } from '../../../metrics/cannibalisation.ts'
import {
  countLanding,
  type LandingPage,
  type LandingState,
  landingPages,
  landingStates,
} from '../../../metrics/landing-page.ts'
import type { Keyword, TrackedTarget } from '../../../rank-history.ts'
import { h } from '../dom.ts'
import { count, number, pathOf, shortLink } from '../format.ts'
import { tellingApart } from '../keyword/keyword-text.ts'
import { linkTo } from '../link.ts'
import { explained, meaningOf } from '../metric-text.ts'
import { rankMark } from '../movement-text.ts'
import { simpleTable } from '../table/simple-table.ts'
import type { Column } from '../table/sorting.ts'
import type { View } from '../view.ts'
import type { OpenKeyword } from './keywords.ts'
import { noValue } from './no-value.ts'
import { empty, nothingFits, panel, section } from './section.ts'

/** Rows of each list at most. */
const most = 12

const stateWords: Readonly<Record<LandingState, string>> = {
  right: 'the intended page ranks',
  'wrong page': 'another page ranks',
  'not ranked': 'none ranks',
  'none intended': 'no page is intended',
  unknown: 'not known',
}

/** Which pages of the target rank, whether they are the intended ones, and which get in each other's way. */
export function pages(view: View, open: OpenKeyword): HTMLElement {
  return section(
    {
      id: 'pages',
      title: 'Pages',
      lead: h('span', {}, 'Which pages of ', h('bdi', {}, view.target.label), ' rank.'),
    },
    h(
      'div',
      { class: 'halves' },
      panel(explained('Landing pages', meaningOf('landing_page')), landing(view, open)),
      panel(explained('Cannibalisation', meaningOf('cannibalisation')), competing(view, open)),
    ),
    panel('Pages with the most keywords', ranking(view)),
  )
}

function landing({ standings, history }: View, open: OpenKeyword): HTMLElement {
  const apart = tellingApart(history.keywords)
  const all = landingPages(standings, history)
  if (all.length === 0) return empty(nothingFits)
  const counts = countLanding(all)
  if (counts['none intended'] === all.length) {
    const named = history.keywords.some(({ url }) => url !== null)
    return empty(
      named
        ? 'For no keyword in sight does the job name the page that should rank.'
        : 'The job names no page that should rank for a keyword.',
    )
  }
  const wrong = all.filter(({ state }) => state === 'wrong page')
  const columns: readonly Column<LandingPage>[] = [
    {
      key: 'keyword',
      title: 'Another page ranks for',
      cell: ({ standing }) =>
        opener(standing, apart, () =>
          open(
            standing,
            wrong.map((one) => one.standing),
          ),
        ),
    },
    {
      key: 'page',
      title: 'Page',
      class: 'address',
      cell: ({ link }) => (link === null ? noValue('no link') : linkTo(link, pathOf(link))),
    },
    { key: 'rank', title: 'Rank', class: 'figure', cell: ({ standing }) => rankMark(standing.current) },
  ]
  return h(
    'div',
    {},
    h(
      'ul',
      { class: 'tally' },
      ...landingStates
        .filter((state) => counts[state] > 0)
        .map((state) => h('li', {}, h('b', {}, number(counts[state])), ` ${stateWords[state]}`)),
    ),
    wrong.length === 0
      ? null
      : simpleTable('Keywords for which another page ranks', columns, wrong.slice(0, most)),
    more(wrong.length),
  )
}

function competing({ history, standings, choice }: View, open: OpenKeyword): HTMLElement {
  if (standings.length === 0) return empty(nothingFits)
  const bySeries = new Map(standings.map((one) => [one.series.keyword, one]))
  const found = cannibalisation(history).filter(({ target }) => target === choice.target)
  if (found.length === 0) return empty('No keyword has pages that compete.')
  const apart = tellingApart(history.keywords)
  const order = found.flatMap(({ keyword }) => bySeries.get(keyword) ?? [])
  const columns: readonly Column<Cannibalised>[] = [
    {
      key: 'keyword',
      title: 'Keyword',
      cell: ({ keyword }) => {
        const standing = bySeries.get(keyword)
        return standing === undefined ? '' : opener(standing, apart, () => open(standing, order))
      },
    },
    { key: 'pages', title: 'Pages', class: 'figure', cell: (one) => number(one.pages.length) },
    { key: 'flips', title: 'Flips', class: 'figure', cell: ({ flips }) => number(flips) },
    {
      key: 'together',
      title: 'Days together',
      class: 'figure',
      cell: ({ together }) => number(together.length),
    },
  ]
  return h(
    'div',
    {},
    h(
      'p',
      { class: 'tally' },
      h('b', {}, number(found.length)),
      ` of ${count(standings.length, 'keyword')} with pages that compete`,
    ),
    simpleTable('Keywords with pages that compete', columns, found.slice(0, most)),
    more(found.length),
  )
}

interface Ranking {
  readonly link: string
  readonly standings: readonly Standing[]
}

function ranking({ standings, history, target }: View): HTMLElement {
  if (standings.length === 0) return empty(nothingFits)
  const byLink = new Map<string, Standing[]>()
  for (const { link, standing } of landingPages(standings, history))
    if (link !== null) byLink.set(link, [...(byLink.get(link) ?? []), standing])
  const all = [...byLink].map(([link, those]): Ranking => ({ link, standings: those }))
  if (all.length === 0) return empty('No page ranks.')
  const best = ({ standings: those }: Ranking): number =>
    Math.min(...those.map(({ current }) => current.rank ?? Number.POSITIVE_INFINITY))
  const searches = ({ standings: those }: Ranking): number =>
    those.reduce((sum, { keyword }) => sum + (keyword.volume ?? 0), 0)
  all.sort(
    (a, b) => b.standings.length - a.standings.length || searches(b) - searches(a) || best(a) - best(b),
  )
  const columns: readonly Column<Ranking>[] = [
    { key: 'page', title: 'Page', class: 'address', cell: ({ link }) => linkTo(link, onSite(link, target)) },
    { key: 'keywords', title: 'Keywords', class: 'figure', cell: (one) => number(one.standings.length) },
    { key: 'best', title: 'Best rank', class: 'figure', cell: (one) => number(best(one)) },
    {
      key: 'volume',
      title: 'Volume',
      class: 'figure',
      cell: (one) => (searches(one) === 0 ? noValue('no volume given') : number(searches(one))),
    },
  ]
  return h(
    'div',
    {},
    simpleTable('Pages with the most keywords', columns, all.slice(0, most)),
    more(all.length),
  )
}

function opener({ keyword }: Standing, apart: (keyword: Keyword) => string, click: () => void): HTMLElement {
  const about = apart(keyword)
  return h(
    'button',
    { type: 'button', class: 'opener', 'aria-haspopup': 'dialog', on: { click } },
    h('bdi', {}, keyword.query),
    about === '' ? null : h('span', { class: 'about' }, about),
  )
}

function more(all: number): HTMLElement | null {
  return all > most ? h('p', { class: 'note' }, `The first ${most} of ${number(all)}.`) : null
}

/** The path alone where the host is the target's own, as in most rows. */
function onSite(link: string, { site }: TrackedTarget): string {
  return shortLink(link).startsWith(`${site.replace(/^www\.|\/.*$/g, '')}/`) ? pathOf(link) : shortLink(link)
}
