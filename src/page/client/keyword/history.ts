import { pageAddress } from '../../../model/url.ts'
import { type KeywordStatus, valueOn } from '../../../report/history/keyword-status.ts'
import type { DayValue } from '../../../report/history/rank-history.ts'
import { pagesIn, rankingLinks } from '../../../report/metrics/pages.ts'
import { bestRank } from '../../../report/metrics/positions.ts'
import { notesAbout } from '../../../report/presentation/presentation.ts'
import { chartFrame, gridLine, type Plot, round, timeAxis } from '../chart/frame.ts'
import {
  type ChartLine,
  eventsWithin,
  lineChart,
  markerRow,
  notesList,
  scaleOfRanks,
} from '../chart/line-chart.ts'
import { figure, html, linkTo, note, svg, twoLines } from '../dom.ts'
import { importedLabel } from '../main-chart.ts'
import { rankText, say } from '../text.ts'
import type { View } from '../view.ts'

/** Height of each of the two rows below the plot. */
const lane = 18

/** Width of the labels left of the plot; the strip of pages below has the same. */
const historyGutter = 62

/** The ranks of a keyword day by day, with those of competitors. Days without a rank are marked below the plot. */
export function historyChart(
  view: View,
  status: KeywordStatus,
  rivals: readonly KeywordStatus[],
): HTMLElement {
  const { history, data } = view
  const { targets, imported } = history
  const shown = new Set(rivals.map(({ series }) => series.target))
  const before = (imported?.lines ?? []).filter(
    ({ keyword, target }) => keyword === status.series.keyword && shown.has(target),
  )
  const past = imported === undefined || before.length === 0 ? [] : imported.days
  const measured = history.days
  const days = [...past, ...measured]
  const { baseline } = status
  const compared = baseline === null ? null : (measured[baseline.day] ?? null)
  const events = eventsWithin(days, { notes: notesAbout(data.presentation, [status.keyword]), compared })
  const values = measured.map((_, day) => valueOn(status.series, day))
  const gap = (of: readonly string[]) => of.map(() => null)
  const lines = rivals.map(
    ({ series }): ChartLine => ({
      label: targets[series.target]?.label ?? '',
      target: series.target,
      values: [...gap(past), ...measured.map((_, day) => valueOn(series, day)?.rank ?? null)],
      main: series === status.series,
    }),
  )
  const importedLines = before.map(({ target, cells }): ChartLine => {
    const main = target === status.series.target
    const name = imported === undefined ? '' : importedLabel(imported)
    const ranks = cells.map((cell) => (cell !== null && cell > 0 ? cell : null))
    const label = main ? name : `${targets[target]?.label}, ${name}`
    return { label, target, values: [...ranks, ...gap(measured)], main, imported: true }
  })
  const all = [...lines, ...importedLines]
  const seriesOf = (line: ChartLine) => rivals.find(({ series }) => series.target === line.target)?.series
  const chart = lineChart({
    label: say.charts.history(view.target.label, status.keyword.query, measured.length),
    days,
    lines: all,
    events,
    scale: scaleOfRanks(all.flatMap((line) => line.values)),
    format: (value) => say.number(value),
    missing: (line, day) => {
      const series = seriesOf(line)
      const value = series === undefined ? null : valueOn(series, day - past.length)
      return value === null ? say.charts.notChecked : rankText(value)
    },
    height: 310,
    top: 26 + (events.notes.length === 0 ? 0 : markerRow),
    gutter: historyGutter,
    lanes: 2 * lane + 6,
    marks: (whole) => {
      const axis = { ...whole.axis, x: (day: number) => whole.axis.x(past.length + day) }
      const plot = { ...whole, axis }
      return [...bestMark(status, plot), ...estimatedMarks(values, plot), ...laneMarks(values, plot)]
    },
  })
  return figure(chart, html('p', 'key', say.charts.historyKey), notesList(events))
}

function bestMark({ series }: KeywordStatus, { axis, y }: Plot): readonly SVGElement[] {
  const best = bestRank(series.cells)
  if (best === null) return []
  const [cx, cy] = [round(axis.x(best.day)), round(y(best.rank))]
  const late = axis.right - cx < 60
  const place = { x: cx + (late ? -4 : 4), y: cy - 9, 'text-anchor': late ? 'end' : 'start' }
  return [svg('g', 'best', svg('circle', { cx, cy, r: 6 }), svg('text', place, say.charts.best(best.rank)))]
}

function estimatedMarks(values: readonly (DayValue | null)[], { axis, y }: Plot): readonly SVGElement[] {
  return values.flatMap((value, day) =>
    value === null || value.rank === null || value.exactness !== 'estimated'
      ? []
      : [svg('circle', { class: 'estimated', cx: round(axis.x(day)), cy: round(y(value.rank)), r: 3 })],
  )
}

/** One row for days on which the target was not found, one for unknown days. */
function laneMarks(values: readonly (DayValue | null)[], { axis, bottom }: Plot): readonly SVGElement[] {
  const rows = [
    { state: 'absent', name: say.charts.notFound, middle: bottom + 4 + lane / 2, mark: cross },
    { state: 'unknown', name: say.ranks.notKnown, middle: bottom + 4 + lane * 1.5, mark: questionMark },
  ] as const
  return rows.flatMap(({ state, name, middle, mark }) => {
    const on = values.flatMap((value, day) => (value?.state === state ? [day] : []))
    const marks = on.map((day) => mark(axis.x(day), middle))
    return on.length === 0 ? [] : [gridLine(axis, middle, name), ...marks]
  })
}

function cross(x: number, y: number): SVGElement {
  const [left, right] = [round(x - 2.5), round(x + 2.5)]
  const d = `M${left} ${y - 2.5}L${right} ${y + 2.5}M${left} ${y + 2.5}L${right} ${y - 2.5}`
  return svg('path', { class: 'absent-mark', d })
}

function questionMark(x: number, y: number): SVGElement {
  return svg('text', { class: 'unknown-mark', x: round(x), y: y + 4, 'text-anchor': 'middle' }, '?')
}

/** The letters of pages; further pages share the last one. */
const letters = 'ABC'

function letterIndex(place: number): number {
  return Math.min(place, letters.length - 1)
}

/** The pages of the target that ranked, with their days; the target page is marked. */
export function urlHistory(view: View, status: KeywordStatus): HTMLElement {
  const { series, current } = status
  const { days, links } = view.history
  const intended = intendedPage(view, status)
  const pageOf = pagesIn([series], links)
  const ranking = rankingLinks(series).map((link) => (link === null ? null : (pageOf.get(link) as number)))
  const last = days.length - 1
  const now = ranking[last]
  const dayText = (day = 0): string => say.mediumDay(days[day] as string)
  const pages = [...new Set(ranking.filter((link) => link !== null))]
    .map((link) => ({ link, on: ranking.flatMap((one, day) => (one === link ? [day] : [])) }))
    .sort((a, b) => b.on.length - a.on.length)
  const items = pages.map(({ on, link }, place) => {
    const text = links[link] as string
    const [from = 0, until] = [on[0], on.at(-1)]
    const span =
      from === until
        ? say.keyword.on(dayText(from))
        : say.period.range(say.shortDay(days[from] as string), dayText(until))
    const marks = [
      say.keyword.onDays(on.length, span),
      isIntended(text, intended) && say.keyword.isTarget,
      link === now && current.state === 'ranked' && say.keyword.ranksNow,
    ]
    const index = letterIndex(place)
    const letter = pages.length > 1 && html('span', `letter url-${index}`, letters[index])
    return html('li', '', letter, twoLines(linkTo(text), marks.filter(Boolean).join(' · ')))
  })
  const also = (series.places[last] ?? []).filter(([, link]) => pageOf.get(link) !== now)
  const further = also.flatMap(([rank, link], index) => [
    `${index === 0 ? '' : ', '}${say.keyword.rank(rank)}`,
    linkTo(links[link] as string),
  ])
  const isThere = intended === null || pages.some(({ link }) => isIntended(links[link] as string, intended))
  const missing = isThere ? null : note(say.keyword.targetNotRanked, linkTo(intended))
  if (pages.length === 0) return html('div', 'empty', say.keyword.noPage, missing)
  const order = pages.map(({ link }) => link)
  return html(
    'div',
    'urls',
    pages.length > 1 && strip(days, ranking, order),
    html('ul', 'url-list', ...items),
    also.length > 0 && note(say.keyword.further(dayText(last)), ...further),
    missing,
  )
}

/** The target page of a keyword, which is one of the client's: no competitor should rank with it. */
export function intendedPage({ target }: View, { keyword }: KeywordStatus): string | null {
  return target.own ? keyword.url : null
}

function isIntended(link: string, url: string | null): boolean {
  return url !== null && pageAddress(link) === pageAddress(url)
}

/** A strip over the days, with the letter of the page that ranked. */
function strip(
  days: readonly string[],
  ranking: readonly (number | null)[],
  order: readonly number[],
): HTMLElement {
  const pieces: { link: number; from: number; to: number }[] = []
  for (const [day, link] of ranking.entries()) {
    const open = pieces.at(-1)
    if (link !== null && open?.link === link && open.to === day - 1) open.to = day
    else if (link !== null) pieces.push({ link, from: day, to: day })
  }
  const letterOf = (link: number): string => letters[letterIndex(order.indexOf(link))] as string
  return chartFrame({
    label: say.keyword.whichPage,
    days,
    height: 24,
    draw: (width) => {
      const axis = timeAxis(days, { left: historyGutter, right: width - 10 })
      const half = days.length < 2 ? 20 : (axis.right - axis.left) / (days.length - 1) / 2
      const marks = pieces.flatMap(({ link, from, to }) => {
        const [left, right] = [axis.x(from) - half, axis.x(to) + half]
        const box = svg('rect', {
          class: `url-band url-${letterIndex(order.indexOf(link))}`,
          x: round(left + 0.5),
          y: 3,
          width: round(Math.max(1, right - left - 1)),
          height: 18,
          rx: 3,
        })
        const middle = { x: round((left + right) / 2), y: 16, 'text-anchor': 'middle' }
        const name = svg('text', { class: 'url-name', ...middle }, letterOf(link))
        return right - left > 14 ? [box, name] : [box]
      })
      return { axis, marks, bottom: 24 }
    },
    tip: (day) => {
      const link = ranking[day] ?? null
      return [{ label: say.keywords.page, value: link === null ? say.keyword.none : letterOf(link) }]
    },
  })
}
