import { daily } from '../../../report/daily.ts'
import type { PageData } from '../../../report/data.ts'
import { isSwing } from '../../../report/findings/swing.ts'
import { partKey, partLabel, partOf } from '../../../report/history/filter-history.ts'
import type { MetricName } from '../../../report/metrics/index.ts'
import { type Scorecard, scorecards, scores } from '../../../report/segments.ts'
import { trendLine } from '../chart/sparkline.ts'
import { firstKnown } from '../chart/trend.ts'
import { drawInSteps, html, twoLines } from '../dom.ts'
import { type Filters, noFilters } from '../filters.ts'
import { longDay, number } from '../format.ts'
import { say } from '../language.ts'
import { type GridView, grid } from '../table/grid.ts'
import type { GridColumn } from '../table/simple-table.ts'
import { deltaMark, localeOf, metricText, tagName, usualMark } from '../text.ts'
import { countedView, type View, viewOf } from '../view.ts'
import { noMatch, section } from './section.ts'

export interface Scorecards {
  readonly element: HTMLElement
  /** @param compared the compared days, in words */
  show(view: View, compared: string): void
}

/** Whether keywords differ in their tags, their locale or their engine. */
export function hasScorecards(data: PageData): boolean {
  return data.history.targets.length > 0 && facets.some(({ count }) => count(data) > 1)
}

/** The figures of each tag, each locale and each engine; nothing of what all keywords have in common. */
export function scorecardSection(
  data: PageData,
  choose: (change: Partial<Filters>) => void,
): Scorecards | null {
  const tables = facets.flatMap((facet) => (facet.count(data) < 2 ? [] : [facetTable(facet, data, choose)]))
  if (tables.length === 0) return null
  const days = new Text()
  const lead = html('span', '', days, html('span', 'only-screen', ` ${say.scorecards.hint}`))
  return {
    element: section(
      { id: 'breakdown', title: say.header.sections.breakdown, lead },
      ...tables.flatMap(({ title, table }) => [html('h3', 'between', title), table.element]),
    ),
    show: (view, compared) => {
      const last = view.history.days.at(-1)
      days.data = last === undefined ? '' : say.scorecards.lead(longDay(last), compared)
      for (const { show } of tables) show(view)
    },
  }
}

/** What groups are made by, and which filter their rows set. */
interface Facet {
  readonly by: 'tag' | 'locale' | 'engine'
  readonly filter: 'tags' | 'locale' | 'part'
  /** How many groups the whole job has. */
  readonly count: (data: PageData) => number
  /** @param view with the keywords of all groups */
  readonly cards: (view: View) => readonly Card[]
}

/** A group with the value that selects it. */
interface Card extends Omit<Scorecard, 'name'> {
  readonly key: string
  readonly name: string
  /** The history that its trend is of. */
  readonly view: View
}

const facets: readonly Facet[] = [
  {
    by: 'tag',
    filter: 'tags',
    count: ({ history: { keywords } }) =>
      new Set(keywords.flatMap(({ tags }) => (tags.length === 0 ? [''] : tags))).size,
    cards: (view) => segmentCards(view, 'tag'),
  },
  {
    by: 'locale',
    filter: 'locale',
    count: ({ history }) => new Set(history.keywords.map(localeOf)).size,
    cards: (view) => segmentCards(view, 'locale'),
  },
  {
    by: 'engine',
    filter: 'part',
    count: ({ history }) => new Set(history.keywords.map(partOf).map(partKey)).size,
    cards: (view) =>
      view.parts.map((part) => {
        const key = partKey(part)
        const own = view.statuses.filter(({ keyword }) => partKey(partOf(keyword)) === key)
        return { key, name: partLabel(part, say), view, ...scores(own, view.data.measure) }
      }),
  },
]

function segmentCards(view: View, by: 'tag' | 'locale'): readonly Card[] {
  const counted = countedView(view)
  return scorecards(counted.statuses, by, view.data.measure).map(({ name, ...card }) => ({
    key: name ?? '',
    name: name ?? (by === 'tag' ? tagName('') : say.scorecards.noLocale),
    view: counted,
    ...card,
  }))
}

interface FacetTable {
  readonly title: string
  readonly table: GridView<Card>
  show(view: View): void
}

function facetTable(
  { by, filter, cards }: Facet,
  data: PageData,
  choose: (change: Partial<Filters>) => void,
): FacetTable {
  let chosen: readonly string[] = []
  const title = say.scorecards.by[by]
  const table = grid<Card>({
    label: title,
    columns: columnsOf(by, data),
    order: { by: 'keywords', descending: true },
    empty: noMatch(),
    open: ({ key }) => choose(pressed(key)),
    isPressed: ({ key }) => chosen.includes(key),
  })
  return {
    title,
    table,
    show: (view) => {
      const { tags, [filter]: one } = view.filters
      chosen = filter === 'tags' ? tags : [one as string].filter((key) => key !== '')
      // The rows of the other groups stay, with their figures.
      const all = chosen.length === 0 ? view : viewOf(data, { ...view.filters, [filter]: noFilters[filter] })
      table.show(cards(all))
    },
  }

  /** Several tags can be chosen, but one locale and one engine. */
  function pressed(key: string): Partial<Filters> {
    const isChosen = chosen.includes(key)
    if (filter !== 'tags') return { [filter]: isChosen ? '' : key }
    return { tags: isChosen ? chosen.filter((one) => one !== key) : [...chosen, key] }
  }
}

function columnsOf(by: Facet['by'], { history }: PageData): readonly GridColumn<Card>[] {
  const words = say.scorecards
  const hasVolume = history.keywords.some(({ volume }) => volume !== null)
  const delta = (card: Card): number | null =>
    isKnown(card) ? (card.figures.visibility.cohort?.delta ?? null) : null
  const byVolume = [
    figureColumn('share_of_voice', words.shareOfVoice, ' wide long'),
    figureColumn('clicks', words.clicks, ' wide mid long'),
  ] as const
  const overDays: readonly GridColumn<Card>[] = [
    {
      key: 'change',
      title: words.change,
      class: 'figure change-column',
      descends: true,
      value: delta,
      cell: (card) => changeCell(card, deltaMark('visibility', delta(card))),
    },
    { key: 'trend', title: words.trend, class: 'trend', cell: trendCell },
  ]
  return [
    {
      key: 'name',
      title: words.group[by],
      class: 'group-name',
      value: ({ name }) => name,
      cell: nameCell,
    },
    {
      key: 'keywords',
      title: words.keywords,
      class: 'figure wide',
      descends: true,
      value: ({ coverage }) => coverage.expected,
      cell: ({ coverage }) => number(coverage.expected),
    },
    figureColumn('visibility', words.visibility, ''),
    ...(history.days.length < 2 ? [] : overDays),
    ...(hasVolume ? [byVolume[0]] : []),
    figureColumn('average_position', words.average, ' wide'),
    {
      key: 'top-ten',
      title: words.topTen,
      class: 'figure wide mid',
      descends: true,
      value: topTenOf,
      cell: (card) => metricText('top_ranks', topTenOf(card)),
    },
    ...(hasVolume ? [byVolume[1]] : []),
  ]
}

/** Keywords in the top 10. */
function topTenOf(card: Card): number | null {
  return isKnown(card) ? card.topTen : null
}

/** Whether half of the keywords could be checked at least: as for days in charts, figures of fewer are none of the group. */
function isKnown({ coverage: { observed, expected } }: Card): boolean {
  return observed > 0 && observed * 2 >= expected
}

/** The name; on a narrow screen with the number of keywords, which has no column there. */
function nameCell({ key, name, coverage: { expected, observed } }: Card): HTMLElement {
  const { scorecards: words, counts } = say
  return twoLines(
    html('bdi', { class: key === '' ? 'none' : null, title: name }, name),
    html(
      'span',
      '',
      html('span', 'narrow-only', counts.keywords(expected)),
      observed === expected ? null : html('span', 'unchecked', words.unchecked(expected - observed)),
    ),
  )
}

type ScoreName = 'visibility' | 'share_of_voice' | 'average_position' | 'clicks'

function figureColumn(name: ScoreName & MetricName, title: string, more: string): GridColumn<Card> {
  const value = (card: Card): number | null => (isKnown(card) ? card.figures[name].value : null)
  return {
    key: name,
    title,
    class: `figure${more}`,
    descends: name !== 'average_position',
    value,
    cell: (card) => metricText(name, value(card)),
  }
}

interface Drawn {
  readonly values: readonly (number | null)[]
  /** Whether visibility changed by no more than it usually swings. */
  readonly isUsual: boolean
}

const trends = new WeakMap<Card, Drawn>()
const changes = new WeakMap<Card, HTMLElement>()
const waiting = new Map<Card, HTMLElement>()
const later = drawInSteps()

/** The change of visibility. What is usual is known when the days are. */
function changeCell(card: Card, change: HTMLElement | null): HTMLElement | string {
  if (change === null) return '–'
  changes.set(card, change)
  if (trends.get(card)?.isUsual) usualMark(change)
  return change
}

/** The visibility day by day. It is drawn when the browser is idle, for the rows in sight only. */
function trendCell(card: Card): HTMLElement {
  const box = html('span', 'trend-box')
  const known = trends.get(card)
  if (known !== undefined) box.append(trendLine(known.values, false))
  else {
    waiting.set(card, box)
    later.do(
      [...waiting].map(
        ([one, place]) =>
          () =>
            drawTrend(one, place),
      ),
    )
  }
  return box
}

function drawTrend(card: Card, box: HTMLElement): void {
  waiting.delete(card)
  if (!box.isConnected) return
  const { view, statuses } = card
  const history = { ...view.history, series: statuses.map(({ series }) => series) }
  const first = firstKnown(view)
  const days = daily(history, view.filters.target, view.data.measure, first)
  const values = days
    .slice(view.shown.start - first)
    .map(({ isPartial, figures }) => (isPartial ? null : figures.visibility.value))
  const isUsual = isSwing('visibility', card.figures.visibility, days)
  if (isUsual) usualMark(changes.get(card) ?? null)
  trends.set(card, { values, isUsual })
  box.append(trendLine(values, false))
}
