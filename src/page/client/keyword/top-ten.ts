import { readable } from '../../../report/cells.ts'
import type { PageData, PageSerp, SerpResult } from '../../../report/data.ts'
import type { KeywordStatus } from '../../../report/history/keyword-status.ts'
import { type ComparedObservation, compare } from '../../../report/history/movement.ts'
import { pagesOf } from '../../../report/metrics/pages.ts'
import { firstResults, serpPairs } from '../../../report/metrics/serps.ts'
import { empty, html, linkTo, note, srOnly } from '../dom.ts'
import { movementMark, say } from '../text.ts'
import type { View } from '../view.ts'

/**
 * The first ten results of the last day beside those of an earlier one, with marks for results that entered, left or moved. The reader
 * chooses the earlier day among those whose results the report has.
 */
export function firstTen(view: View, { series, baseline }: KeywordStatus): HTMLElement {
  const words = say.serps
  const { history, compare, data } = view
  const last = history.days.length - 1
  const own = data.serps
    .filter(({ keyword, depth }) => keyword === series.keyword && depth > 0)
    .toSorted((a, b) => b.day - a.day)
  const current = own.find(({ day }) => day === last)
  if (current === undefined) return empty(whyNoResults(view, own))
  const earlier = own.filter(({ day }) => day < last)
  const dayOf = (day: number): string => say.mediumDay(history.days[day] as string)
  const [now, before] = [html('section'), html('section')]
  const usual = serpPairs(history, own, compare)[0]?.compared ?? null
  show(usual)
  const isMissing = baseline !== null && baseline.day !== usual?.day
  return html(
    'div',
    '',
    isMissing ? note(words.notIncluded(dayOf(baseline.day)), ' ', daysIncluded(view, earlier)) : null,
    html('div', 'serps', now, before),
  )

  function show(compared: PageSerp | null): void {
    const serp = current as PageSerp
    const pages = pagesIn(data, compared === null ? [serp] : [serp, compared])
    now.replaceChildren(
      html('h4', '', dayOf(last)),
      ...list({ view, pages, serp, other: compared, isNow: true }),
    )
    const results = compared && list({ view, pages, serp: compared, other: serp, isNow: false })
    before.replaceChildren(
      ...(earlier.length === 0 ? [empty(words.noEarlier)] : [choice(compared), ...(results ?? [])]),
    )
  }

  function choice(compared: PageSerp | null): HTMLElement {
    const change = (): void => {
      show(earlier.find(({ day }) => String(day) === field.value) ?? null)
      before.querySelector('select')?.focus()
    }
    const field = html(
      'select',
      { 'aria-label': words.compareWith, on: { change } },
      compared === null && html('option', { value: '', selected: true }, '–'),
      ...earlier.map(({ day }) =>
        html('option', { value: day, selected: day === compared?.day }, dayOf(day)),
      ),
    )
    return html('h4', 'compared-day', html('span', '', words.compareWith), field)
  }
}

/** A report has the results of the last day and of those that it offers to compare with, not of every day. */
function whyNoResults(view: View, own: readonly PageSerp[]): string {
  const { history, data } = view
  const last = history.days.at(-1)
  if (last === undefined) return say.serps.noEarlier
  const isDayThere = data.serps.some(({ day }) => day === history.days.length - 1)
  return isDayThere
    ? say.serps.notChecked(say.longDay(last))
    : `${say.serps.notIncluded(say.longDay(last))} ${daysIncluded(view, own)}`.trim()
}

/** Names the days whose results there are. */
function daysIncluded({ history, data }: View, own: readonly PageSerp[]): string {
  const { included, moreDays } = say.serps
  const days = own.map(({ day }) => say.mediumDay(history.days[day] as string)).reverse()
  const more = data.presentation.audience === 'client' ? '' : moreDays
  return [days.length === 0 ? '' : included(say.list(days)), more].filter((part) => part !== '').join(' ')
}

function list({
  serp,
  other,
  view,
  pages,
  isNow,
}: {
  readonly serp: PageSerp
  readonly other: PageSerp | null
  readonly view: View
  readonly pages: ReadonlyMap<number, number>
  readonly isNow: boolean
}): readonly HTMLElement[] {
  const words = say.serps
  const results = html('ol', 'results', ...firstResults(serp).map(row))
  return serp.depth < 10 ? [results, note(words.brokenDepth(serp.depth))] : [results]

  function row(result: SerpResult): HTMLElement {
    const [rank, title, link, site, targets] = result
    const { texts, sites, links, history } = view.data
    const mine = targets.includes(view.filters.target)
    const owner = history.targets[mine ? view.filters.target : (targets[0] ?? -1)] ?? null
    const name = owner?.label ?? (site === null ? '' : (sites[site] as string))
    const href = link === null ? null : (links[link] as string)
    const heading = title === null ? words.noTitle : (texts[title] as string)
    const badge = mine ? words.target : owner?.own ? words.own : words.competitor
    const whose = [owner && html('span', 'badge', badge), owner && ' ', html('bdi', '', name)]
    const summary = () => html('summary', '', ...whose, srOnly(words.linkOf(rank)))
    const about =
      href === null
        ? html('span', 'about', ...whose)
        : html('details', 'about whole-link', summary(), linkTo(href, readable(href)))
    return html(
      'li',
      { class: mine ? 'result mine' : 'result', value: rank },
      html('span', 'result-rank', rank),
      html('span', 'two-lines', html('span', 'result-title', html('bdi', '', heading)), about),
      mark(rank, link),
    )
  }

  function mark(rank: number, link: number | null): HTMLElement | null {
    if (other === null || link === null) return null
    const there = placed(rankIn(other, pages.get(link), pages), other)
    const here: ComparedObservation = { state: 'ranked', rank, unbrokenDepth: serp.depth }
    if (isNow) return movementMark(compare(here, there), other.depth)
    // The earlier side marks only results that left.
    const change = compare(there, here)
    return change.movement === 'left' ? movementMark(change, other.depth) : null
  }
}

function rankIn(serp: PageSerp, page: number | undefined, pages: ReadonlyMap<number, number>): number | null {
  const found = firstResults(serp).find(([, , link]) => link !== null && pages.get(link) === page)
  return found?.[0] ?? null
}

function placed(rank: number | null, { depth }: PageSerp): ComparedObservation {
  return { state: rank === null ? 'absent' : 'ranked', rank, unbrokenDepth: depth }
}

/** The page of each link of these results. */
function pagesIn({ links }: PageData, serps: readonly PageSerp[]): ReadonlyMap<number, number> {
  const used = [...new Set(serps.flatMap(({ results }) => results.flatMap((result) => result[2] ?? [])))]
  const pages = pagesOf(used.map((link) => links[link] as string))
  return new Map(used.map((link, place) => [link, pages[place] as number]))
}
