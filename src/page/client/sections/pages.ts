import { pageAddress } from '../../../model/url.ts'
import { placesOf } from '../../../report/cells.ts'
import { filterHistory } from '../../../report/history/filter-history.ts'
import type { KeywordStatus } from '../../../report/history/keyword-status.ts'
import type { Keyword, RankHistory, TrackedTarget } from '../../../report/history/rank-history.ts'
import {
  countLanding,
  type LandingPage,
  landingPages,
  landingStates,
  urlSwaps,
} from '../../../report/metrics/pages.ts'
import { button, type Child, html, linkTo } from '../dom.ts'
import { number, pathOf, shortLink } from '../format.ts'
import { say } from '../language.ts'
import { figures, type SimpleColumn, simpleTable } from '../table/simple-table.ts'
import { localeOf, metricTooltip, rankMark, withTooltip } from '../text.ts'
import type { View } from '../view.ts'
import { hasRanked, type OpenKeyword } from './keywords.ts'
import { empty, halves, noMatch, note, noValue, panel, section } from './section.ts'

/** Rows of each list at most. */
const most = 12

/** The pages of the target that rank: which are intended, and which rank in turn. In steps. */
export function pages(view: View, open: OpenKeyword, place: HTMLElement): readonly (() => void)[] {
  const words = say.pages
  const nothing = whyNothing(view)
  if (nothing !== null)
    return [() => place.append(section({ id: 'pages', title: words.title }, empty(nothing)))]
  const [before, after] = words.lead
  const wrong = panel(withTooltip(words.target, metricTooltip('landing_page')))
  const inTurn = panel(withTooltip(words.rival, metricTooltip('cannibalisation')))
  const most = panel(words.most)
  const lead = html('span', '', before, html('bdi', '', view.target.label), after)
  const { keywords } = view.history
  const { audience } = view.data.presentation
  const isNamed = keywords.some(({ url }) => url !== null)
  // Target pages are the client's. Clients have no job file to name them in.
  const isTold = view.target.own && (isNamed || audience === 'team')
  const first = !isTold ? [inTurn] : isNamed ? [halves(wrong, inTurn)] : [wrong, inTurn]
  const element = section({ id: 'pages', title: words.title, lead }, ...first, most)
  let found: readonly LandingPage[] = []
  return [
    () => {
      found = landingPages(view.statuses, view.history)
      if (isTold) wrong.append(landing(view, found, open))
      place.append(element)
    },
    () => inTurn.append(competing(view, open)),
    () => most.append(ranking(view, found)),
  ]
}

/** Why there is nothing to say of any page in the period; null if there is something. */
function whyNothing(view: View): string | null {
  if (view.statuses.length === 0) return noMatch()
  const { series } = shownOf(view)
  if (!series.some(hasRanked)) return say.pages.noneRanks
  return series.some(({ links }) => links.some(([, link]) => link !== null)) ? null : say.pages.notKnown
}

/** The days of the period, of the target only. */
function shownOf({ history, filters, shown }: View): RankHistory {
  const own = history.series.filter(({ target }) => target === filters.target)
  return filterHistory({ ...history, series: own }, { from: history.days[shown.start] ?? '' })
}

function landing({ history }: View, all: readonly LandingPage[], open: OpenKeyword): HTMLElement {
  const words = say.pages
  const distinguish = placesOf(history.keywords)
  const counts = countLanding(all)
  if (counts['none intended'] === all.length) {
    const named = history.keywords.some(({ url }) => url !== null)
    if (named) return empty(words.noTargetPageHere)
    return empty(words.noTargetPage, html('span', 'only-screen', ` ${words.nameTargetPage}`))
  }
  const wrong = all.filter(({ state }) => state === 'wrong page')
  const wrongStatuses = wrong.map(({ status }) => status)
  const states = landingStates.filter((state) => counts[state] > 0)
  return html(
    'div',
    '',
    html(
      'ul',
      'tally',
      ...states.map((state) => tally('li', counts[state], words.states[state](counts[state]))),
    ),
    firstRows(words.wrongLabel, wrong, [
      {
        title: words.wrong,
        cell: ({ status }) => opener(status, distinguish, () => open(status, wrongStatuses)),
      },
      {
        title: words.page,
        class: 'address',
        cell: ({ link }) => (link === null ? noValue(words.noLink) : linkTo(link, pathOf(link))),
      },
      figures(words.rank, ({ status }) => rankMark(status.current)),
    ]),
  )
}

function competing(view: View, open: OpenKeyword): HTMLElement {
  const { history, statuses } = view
  const words = say.pages
  const byKeyword = new Map(statuses.map((one) => [one.series.keyword, one]))
  const found = urlSwaps(shownOf(view))
  if (found.length === 0) return empty(words.noRival)
  const distinguish = placesOf(history.keywords)
  const order = found.flatMap(({ keyword }) => byKeyword.get(keyword) ?? [])
  return html(
    'div',
    '',
    tally('p', found.length, words.rivalCount(statuses.length)),
    firstRows(words.rivalLabel, found, [
      {
        title: words.keyword,
        cell: ({ keyword }) => {
          const status = byKeyword.get(keyword)
          return status === undefined ? '' : opener(status, distinguish, () => open(status, order))
        },
      },
      figures(words.pages, (one) => number(one.pages.length)),
      figures(words.swaps, ({ swaps }) => number(swaps), ' wide'),
      figures(words.together, ({ together }) => number(together.length)),
    ]),
  )
}

function ranking({ statuses, target }: View, found: readonly LandingPage[]): HTMLElement {
  const words = say.pages
  const byPage = new Map<string, { readonly link: string; readonly ranked: KeywordStatus[] }>()
  for (const { link, status } of found) {
    if (link === null) continue
    const page = pageAddress(link)
    const known = byPage.get(page)
    if (known === undefined) byPage.set(page, { link, ranked: [status] })
    else known.ranked.push(status)
  }
  const all = [...byPage.values()].map(({ link, ranked }) => ({
    link,
    keywords: ranked.length,
    best: Math.min(...ranked.map(({ current }) => current.rank ?? Number.POSITIVE_INFINITY)),
    volume: searches(ranked.map(({ keyword }) => keyword)),
  }))
  if (all.length === 0)
    return empty(
      statuses.some(({ current }) => current.state === 'ranked') ? words.notKnown : words.noneRanks,
    )
  all.sort((a, b) => b.keywords - a.keywords || b.volume - a.volume || a.best - b.best)
  return html(
    'div',
    '',
    firstRows(words.most, all, [
      { title: words.page, class: 'address', cell: ({ link }) => linkTo(link, onSite(link, target)) },
      figures(words.keywords, ({ keywords }) => number(keywords)),
      figures(words.best, ({ best }) => number(best), ' wide'),
      figures(words.volume, ({ volume }) => (volume === 0 ? noValue(words.noVolume) : number(volume))),
    ]),
  )
}

/** The searches for these keywords a month. Those that are asked of several engines, or for several kinds of results, count once. */
export function searches(keywords: readonly Keyword[]): number {
  const volumes = new Map(keywords.map((one) => [`${one.query}\n${localeOf(one)}`, one.volume ?? 0]))
  return [...volumes.values()].reduce((sum, volume) => sum + volume, 0)
}

/** A table of the first rows of a list, with a note where there are more; nothing for an empty list. */
function firstRows<Row>(label: string, all: readonly Row[], columns: readonly SimpleColumn<Row>[]): Child {
  if (all.length === 0) return null
  return html(
    'div',
    '',
    simpleTable(label, all.slice(0, most), columns),
    all.length > most ? note(say.pages.firstOf(most, all.length)) : null,
  )
}

function tally(tag: 'li' | 'p', counted: number, text: string): HTMLElement {
  return html(tag, tag === 'p' ? 'tally' : '', html('b', '', number(counted)), text)
}

function opener(
  { keyword }: KeywordStatus,
  distinguish: (keyword: Keyword) => string,
  click: () => void,
): HTMLElement {
  const about = distinguish(keyword)
  return button(
    'opener',
    click,
    { 'aria-haspopup': 'dialog' },
    html('bdi', '', keyword.query),
    about === '' ? null : html('span', 'about', about),
  )
}

/** The path only if the link is on the site of the target, as most are. */
function onSite(link: string, { site }: TrackedTarget): string {
  return shortLink(link).startsWith(`${site.replace(/^www\.|\/.*$/g, '')}/`) ? pathOf(link) : shortLink(link)
}
