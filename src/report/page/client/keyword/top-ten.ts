import type { KeywordStatus } from '../../../history/keyword-status.ts'
import { compare, type Observed } from '../../../history/movement.ts'
import { firstResults, pagesOf, serpPairs } from '../../../metrics/serps.ts'
import type { PageData, Serp, SerpResult } from '../../data.ts'
import { html, linkTo, srOnly } from '../dom.ts'
import { longDay, mediumDay, readable } from '../format.ts'
import { empty, note } from '../sections/section.ts'
import { changeMark } from '../text.ts'
import type { View } from '../view.ts'

/** The first ten results of the last and of the compared day, with marks for results that entered, left or moved. */
export function firstTen(view: View, { series, baseline }: KeywordStatus): HTMLElement {
  const { history, asked, data } = view
  const own = data.serps.filter(({ keyword }) => keyword === series.keyword)
  const pair = serpPairs(history, own, asked)[0]
  if (pair === undefined) return empty(whyNoResults(view))
  const { current, compared } = pair
  const pages = pagesIn(data, [current, ...(compared === null ? [] : [compared])])
  const dayOf = ({ day }: Pick<Serp, 'day'>): string => mediumDay(history.days[day] as string)
  const sides = { view, pages }
  const now = list({ ...sides, heading: dayOf(current), serp: current, other: compared, isNow: true })
  const before =
    compared === null
      ? empty(baseline === null ? 'There is no earlier day to compare with.' : notIncluded(dayOf(baseline)))
      : list({
          ...sides,
          heading: `${dayOf(compared)} (compared)`,
          serp: compared,
          other: current,
          isNow: false,
        })
  return html('div', 'serps', now, before)
}

/** A report has the results of the last day and of the offered days, not of every day. */
function whyNoResults({ history, filters }: View): string {
  const last = history.days.at(-1) ?? ''
  return filters.to === '' ? `Nothing was checked on ${longDay(last)}.` : notIncluded(mediumDay(last))
}

function notIncluded(day: string): string {
  return `This report does not include the results of ${day}. Write it with --serps for more days, for instance --serps 30d.`
}

interface Side {
  readonly heading: string
  readonly serp: Serp
  readonly other: Serp | null
  readonly view: View
  readonly pages: ReadonlyMap<number, number>
  readonly isNow: boolean
}

function list({ heading, serp, other, view, pages, isNow }: Side): HTMLElement {
  const results = firstResults(serp)
  const broken = serp.depth < 10 && note(`Only the first ${serp.depth} were checked without a gap.`)
  return html('section', '', html('h4', '', heading), html('ol', 'results', ...results.map(row)), broken)

  function row(result: SerpResult): HTMLElement {
    const [rank, title, link, site, targets] = result
    const { texts, sites, links, history } = view.data
    const mine = targets.includes(view.filters.target)
    const owner = history.targets[mine ? view.filters.target : (targets[0] ?? -1)] ?? null
    const name = owner?.label ?? (site === null ? '' : (sites[site] as string))
    const href = link === null ? null : (links[link] as string)
    const heading = title === null ? 'No title' : (texts[title] as string)
    const badge = mine ? 'target' : owner?.own ? 'own' : 'competitor'
    const whose = [owner === null ? null : html('span', 'badge', badge), html('bdi', '', name)]
    const about =
      href === null
        ? html('span', 'about', ...whose)
        : html(
            'details',
            'about whole-link',
            html('summary', '', ...whose, srOnly(`, link of result ${rank}`)),
            linkTo(href, readable(href)),
          )
    return html(
      'li',
      { class: `result${mine ? ' mine' : ''}${owner !== null && !mine ? ' tracked' : ''}`, value: rank },
      html('span', 'result-rank', rank),
      html('span', 'two-lines', html('span', 'result-title', html('bdi', '', heading)), about),
      mark(rank, link),
    )
  }

  function mark(rank: number, link: number | null): HTMLElement | null {
    if (other === null || link === null) return null
    const there = placed(rankIn(other, pages.get(link), pages), other)
    const here: Observed = { state: 'ranked', rank, unbrokenDepth: serp.depth }
    if (isNow) return changeMark(compare(here, there))
    // The earlier side marks only results that left.
    const change = compare(there, here)
    return change.movement === 'left' ? changeMark(change) : null
  }
}

function rankIn(serp: Serp, page: number | undefined, pages: ReadonlyMap<number, number>): number | null {
  const found = firstResults(serp).find(([, , link]) => link !== null && pages.get(link) === page)
  return found?.[0] ?? null
}

function placed(rank: number | null, { depth }: Serp): Observed {
  return { state: rank === null ? 'absent' : 'ranked', rank, unbrokenDepth: depth }
}

/** The page of each link of these results. */
function pagesIn({ links }: PageData, serps: readonly Serp[]): ReadonlyMap<number, number> {
  const used = [...new Set(serps.flatMap(({ results }) => results.flatMap((result) => result[2] ?? [])))]
  const pages = pagesOf(used.map((link) => links[link] as string))
  return new Map(used.map((link, place) => [link, pages[place] as number]))
}
