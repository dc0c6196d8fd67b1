import { pageAddress } from '../../../model/url.ts'
import type { KeywordStatus } from '../../../report/history/keyword-status.ts'
import { pagesIn, rankingLinks } from '../../../report/metrics/pages.ts'
import { chartFrame, round, timeAxis } from '../chart/frame.ts'
import { html, linkTo, note, svg, twoLines } from '../dom.ts'
import { say } from '../text.ts'
import type { View } from '../view.ts'
import { historyGutter } from './history-chart.ts'

/** The letters of pages; further pages share the last one. */
const letters = 'ABCDEFGH'

/** The pages of the target that ranked, with their days; the target page is marked. */
export function urlHistory(view: View, status: KeywordStatus): HTMLElement {
  const { series, current } = status
  const { days, links } = view.history
  const intended = intendedPage(view, status)
  const pageOf = pagesIn([series], links)
  const ranking = rankingLinks(series).map((link) => (link === null ? null : (pageOf.get(link) as number)))
  const last = days.length - 1
  const pages = [...new Set(ranking.filter((link) => link !== null))].map((link) => {
    const on = ranking.flatMap((one, day) => (one === link ? [day] : []))
    return { link, on, text: links[link] as string }
  })
  pages.sort((a, b) => b.on.length - a.on.length)
  if (pages.length === 0) return html('div', 'empty', say.keyword.noPage, intention(intended, []))
  const several = pages.length > 1
  const now = ranking[last]
  const items = pages.map(({ text, on, link }, place) => {
    const marks = [
      say.keyword.onDays(on.length, span(days, on)),
      ...(isIntended(text, intended) ? [say.keyword.isTarget] : []),
      ...(link === now && current.state === 'ranked' ? [say.keyword.ranksNow] : []),
    ]
    const letter = several && html('span', `letter url-${letterIndex(place)}`, letterOf(place))
    return html('li', '', letter, twoLines(linkTo(text), marks.join(' · ')))
  })
  const also = (series.places[last] ?? []).filter(([, link]) => pageOf.get(link) !== now)
  const further = also.flatMap(([rank, link], index) => [
    `${index === 0 ? '' : ', '}${say.keyword.rank(rank)}`,
    linkTo(links[link] as string),
  ])
  const texts = pages.map(({ text }) => text)
  return html(
    'div',
    'urls',
    several
      ? strip(
          days,
          ranking,
          pages.map(({ link }) => link),
        )
      : null,
    html('ul', 'url-list', ...items),
    also.length === 0 ? null : note(say.keyword.further(say.mediumDay(days[last] as string)), ...further),
    intention(intended, texts),
  )
}

/** The target page of a keyword, which is one of the client's: no competitor should rank with it. */
export function intendedPage({ target }: View, { keyword }: KeywordStatus): string | null {
  return target.own ? keyword.url : null
}

function span(days: readonly string[], on: readonly number[]): string {
  const [first, last] = [days[on[0] ?? 0] as string, days[on.at(-1) ?? 0] as string]
  return first === last
    ? say.keyword.on(say.mediumDay(first))
    : say.keyword.span(say.shortDay(first), say.mediumDay(last))
}

function isIntended(link: string, url: string | null): boolean {
  return url !== null && pageAddress(link) === pageAddress(url)
}

function intention(url: string | null, ranked: readonly string[]): HTMLElement | null {
  if (url === null || ranked.some((link) => isIntended(link, url))) return null
  return note(say.keyword.targetNotRanked, linkTo(url))
}

function letterIndex(place: number): number {
  return Math.min(place, letters.length - 1)
}

function letterOf(place: number): string {
  return letters[letterIndex(place)] as string
}

/** A strip over the days, with the letter of the page that ranked. */
function strip(
  days: readonly string[],
  ranking: readonly (number | null)[],
  order: readonly number[],
): HTMLElement {
  const pieces = runsOf(ranking)
  return chartFrame({
    label: say.keyword.whichPage,
    days,
    height: 24,
    draw: (width) => {
      const axis = timeAxis(days, { left: historyGutter, right: width - 10 })
      const half = days.length < 2 ? 20 : (axis.right - axis.left) / (days.length - 1) / 2
      const marks = pieces.flatMap(({ link, from, to }) => {
        const place = order.indexOf(link)
        const [left, right] = [axis.x(from) - half, axis.x(to) + half]
        const box = svg('rect', {
          class: `url-band url-${letterIndex(place)}`,
          x: round(left + 0.5),
          y: 3,
          width: round(Math.max(1, right - left - 1)),
          height: 18,
          rx: 3,
        })
        const middle = { x: round((left + right) / 2), y: 16, 'text-anchor': 'middle' }
        const name = svg('text', { class: 'url-name', ...middle }, letterOf(place))
        return right - left > 14 ? [box, name] : [box]
      })
      return { axis, marks, bottom: 24 }
    },
    tip: (day) => {
      const link = ranking[day] ?? null
      const value = link === null ? say.keyword.none : letterOf(order.indexOf(link))
      return [{ label: say.keyword.page, value }]
    },
  })
}

function runsOf(ranking: readonly (number | null)[]) {
  const runs: { link: number; from: number; to: number }[] = []
  ranking.forEach((link, day) => {
    if (link === null) return
    const open = runs.at(-1)
    if (open?.link === link && open.to === day - 1) open.to = day
    else runs.push({ link, from: day, to: day })
  })
  return runs
}
