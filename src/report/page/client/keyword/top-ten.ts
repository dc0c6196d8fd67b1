import type { Standing } from '../../../cohort.ts'
import { pagesOf } from '../../../metrics/page-of.ts'
import { firstResults, serpPairs } from '../../../metrics/serps.ts'
import { compare, type Observed } from '../../../movement.ts'
import type { PageData, Serp, SerpResult } from '../../../page-data.ts'
import { h, unseen } from '../dom.ts'
import { longDay, mediumDay, readable } from '../format.ts'
import { linkTo } from '../link.ts'
import { changeMark } from '../movement-text.ts'
import { empty } from '../sections/section.ts'
import type { View } from '../view.ts'

/** The first ten results of the last day beside those of the compared one: what entered, what left, what moved. */
export function firstTen(view: View, { series, baseline }: Standing): HTMLElement {
  const { history, asked, data } = view
  const own = data.serps.filter(({ keyword }) => keyword === series.keyword)
  const pair = serpPairs(history, own, asked)[0]
  if (pair === undefined) return empty(whyNoResults(view))
  const { current, compared } = pair
  const pages = pagesIn(data, [current, ...(compared === null ? [] : [compared])])
  const dayOf = ({ day }: Serp): string => mediumDay(history.days[day] as string)
  return h(
    'div',
    { class: 'serps' },
    list({ heading: dayOf(current), serp: current, other: compared, view, pages, isNow: true }),
    compared === null
      ? empty(
          baseline === null
            ? 'There is no earlier day to compare with.'
            : notCarried(history.days[baseline.day] as string),
        )
      : list({ heading: dayOf(compared), serp: compared, other: current, view, pages, isNow: false }),
  )
}

/** A page has the results of the last day and of those that it offers to compare with; not of every day that can be chosen. */
function whyNoResults({ history, choice }: View): string {
  const last = history.days.at(-1) ?? ''
  return choice.to === '' ? `Nothing was looked at on ${longDay(last)}.` : notCarried(last)
}

function notCarried(day: string): string {
  return `This page does not carry the results of ${longDay(day)}: the report has those of more days with --serps, for instance --serps 30d.`
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
  return h(
    'section',
    {},
    h('h4', {}, heading, isNow ? '' : ' (compared)'),
    h('ol', { class: 'results' }, ...results.map((result) => row(result))),
    serp.depth < 10
      ? h('p', { class: 'note' }, `Only the first ${serp.depth} were looked at without a gap.`)
      : null,
  )

  function row(result: SerpResult): HTMLElement {
    const [rank, title, link, site, targets] = result
    const { texts, sites, links, history } = view.data
    const mine = targets.includes(view.choice.target)
    const owner = history.targets[mine ? view.choice.target : (targets[0] ?? -1)] ?? null
    const name = owner?.label ?? (site === null ? '' : (sites[site] as string))
    const href = link === null ? null : (links[link] as string)
    const heading = title === null ? 'No title was sent' : (texts[title] as string)
    const whose = [
      owner === null
        ? null
        : h('span', { class: 'badge' }, mine ? 'target' : owner.own ? 'own' : 'competitor'),
      h('bdi', {}, name),
    ]
    return h(
      'li',
      { class: `result${mine ? ' mine' : ''}${owner !== null && !mine ? ' tracked' : ''}`, value: rank },
      h('span', { class: 'result-rank' }, rank),
      h(
        'span',
        { class: 'two-lines' },
        h('span', { class: 'result-title' }, h('bdi', {}, heading)),
        href === null
          ? h('span', { class: 'about' }, ...whose)
          : h(
              'details',
              { class: 'about whole-link' },
              h('summary', {}, ...whose, unseen(`, link of result ${rank}`)),
              linkTo(href, readable(href)),
            ),
      ),
      mark(rank, link),
    )
  }

  function mark(rank: number, link: number | null): HTMLElement | null {
    if (other === null || link === null) return null
    const there = placed(rankIn(other, pages.get(link), pages), other)
    const here: Observed = { state: 'ranked', rank, unbrokenDepth: serp.depth }
    if (isNow) return changeMark(compare(here, there))
    // On the earlier side only what is gone is news.
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

/** Links of these results -> the page that each names. */
function pagesIn({ links }: PageData, serps: readonly Serp[]): ReadonlyMap<number, number> {
  const used = [...new Set(serps.flatMap(({ results }) => results.flatMap((result) => result[2] ?? [])))]
  const pages = pagesOf(used.map((link) => links[link] as string))
  return new Map(used.map((link, place) => [link, pages[place] as number]))
}
