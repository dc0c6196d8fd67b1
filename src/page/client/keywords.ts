import { paramsApart, pathOf } from '../../report/cells.ts'
import { type Filters, localeOf } from '../../report/choice.ts'
import type { PageData } from '../../report/data.ts'
import { type KeywordStatus, valueOn } from '../../report/history/keyword-status.ts'
import { groupOf, type MovementGroup, movementGroups } from '../../report/history/movement.ts'
import type { DayValue, Keyword, RankSeries } from '../../report/history/rank-history.ts'
import type { CtrCurve } from '../../report/metrics/figure.ts'
import type { ShownMetric } from '../../report/metrics/index.ts'
import { byWorthOfMovement } from '../../report/metrics/movements.ts'
import { rankingLink } from '../../report/metrics/pages.ts'
import { clicksOf } from '../../report/metrics/positions.ts'
import { isSwing } from '../../report/story/facts.ts'
import { firstNeeded } from '../../report/story/trend.ts'
import { type Scorecard, type SegmentBy, scorecards } from '../../report/summary.ts'
import { trendLine } from './chart/line-chart.ts'
import { type Child, html, noValue, twoLines } from './dom.ts'
import { firstDrawn, switchOf } from './main-chart.ts'
import { type GridColumn, grid, type PaperChoice, type SortOrder } from './table/grid.ts'
import { deltaMark, metricText, movementLabel, rankMark, say, shortStatusChange, tagName } from './text.ts'
import { countedView, dailyOf, hasCompared, ofFirstPart, type View } from './view.ts'

export type OpenKeyword = (status: KeywordStatus, all: readonly KeywordStatus[]) => void

/** Every keyword of the chosen target, or in its place the groups of keywords. */
export function keywordTable(
  view: View,
  more: {
    readonly open: OpenKeyword
    readonly choose: (change: Partial<Filters>) => void
    readonly order: SortOrder
    readonly onOrder: (order: SortOrder) => void
  },
) {
  const { choose } = more
  const columns = columnsOf(view)
  const table = grid<KeywordStatus>({
    label: say.keywords.label,
    columns,
    empty: say.ranks.noMatch,
    choice: mostChanged(view.data.measure.curve),
    ...more,
  })
  const body = html('div', '', table.element)
  const listed = movementField(view, (movement) => choose({ movement }))
  const ways = groupings(view.data)
  const options = ways.map((by) => [by, say.scorecards.by[by]] as const)
  const kinds = html(
    'div',
    'kinds',
    switchOf(say.keywords.show, 'rows', [['', say.keywords.label] as const, ...options], '', (chosen) => {
      const by = ways.find((way) => way === chosen)
      body.replaceChildren(by === undefined ? table.element : groupTable(view, by, choose))
    }),
    listed,
  )
  return {
    element: html('div', '', kinds, body),
    show: ({ listed: rows, filters: { movement } }: View): void => {
      if (listed !== null) listed.value = movement
      table.show(rows)
    },
  }
}

/** The choice of those that moved in one way, with how many these are; null where nothing is compared. */
function movementField(view: View, choose: (movement: string) => void): HTMLSelectElement | null {
  if (!hasCompared(view)) return null
  const counts = new Map<MovementGroup, number>()
  for (const { change } of ofFirstPart(view.statuses, view.parts)) {
    const name = groupOf(change)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const field = html(
    'select',
    { 'aria-label': say.filters.listed, on: { change: () => choose(field.value) } },
    html('option', { value: '' }, say.filters.allKeywords),
    ...movementGroups.flatMap((value) =>
      counts.has(value) || value === view.filters.movement
        ? [html('option', { value }, `${say.number(counts.get(value) ?? 0)} ${movementLabel(value)}`)]
        : [],
    ),
  )
  return field
}

/** A query with its tags, its locale, what else tells it from others with the same query, and its operation if that is shown. */
function keywordCell(
  keyword: Keyword,
  { withOperation, apart }: { withOperation: boolean; apart: (keyword: Keyword) => readonly string[] },
): HTMLElement {
  const { query, operation, tags } = keyword
  const about = [localeOf(keyword), withOperation ? operation : '', ...apart(keyword)].filter(
    (part) => part !== '',
  )
  const chips = tags.flatMap((tag) => [html('span', { class: 'tag', dir: 'auto' }, tag), ' '])
  return twoLines(html('bdi', { title: query }, query), html('span', 'tags', ...chips, about.join(' · ')))
}

/** Ranks first, then absent keywords by the checked depth. */
function rankOrder({ current }: KeywordStatus): number | null {
  const { state, rank, depth } = current
  return state === 'absent' ? 1e6 + (depth ?? 0) : rank
}

type KeywordColumn = GridColumn<KeywordStatus>

function columnsOf(view: View): readonly KeywordColumn[] {
  const { history, statuses } = view
  const words = say.keywords
  const { days, keywords } = history
  const columns: readonly KeywordColumn[] = [
    keywordColumn(keywords),
    {
      key: 'rank',
      title: words.rank,
      class: 'figure',
      value: rankOrder,
      cell: ({ current }) => rankMark(current),
    },
    {
      key: 'change',
      title: words.change,
      class: 'figure changed',
      descends: true,
      value: changeOrder,
      cell: shortStatusChange,
    },
    {
      key: 'trend',
      title: words.trend,
      class: 'trend',
      cell: ({ series }) =>
        trendLine(
          series.cells
            .slice(firstDrawn(view), view.shown.end)
            .map((cell) => (cell !== null && cell > 0 ? Math.trunc(cell) : null)),
          true,
        ),
    },
    ...rivalColumns(view),
    ...amountColumns(view),
    pageColumn(view),
  ]
  const empty = [
    ...(days.length < 2 ? ofSeveralDays : hasCompared(view) ? [] : ofTwoDays),
    ...(statuses.some(({ series }) => hasRanked(series)) ? [] : ofRanks),
  ]
  return columns.filter(({ key }) => !empty.includes(key))
}

/** Columns in which nothing can stand without a compared day, and on the first day of a job. */
const ofTwoDays = ['change']
const ofSeveralDays = [...ofTwoDays, 'trend']
/** Columns in which nothing can stand if no keyword ever ranked. */
const ofRanks = [...ofSeveralDays, 'clicks', 'page']

function hasRanked({ cells }: Pick<RankSeries, 'cells'>): boolean {
  return cells.some((cell) => cell !== null && cell > 0)
}

function keywordColumn(keywords: readonly Keyword[]): KeywordColumn {
  const words = say.keywords
  const operations = new Set(keywords.map(({ operation }) => operation))
  const shown = { withOperation: operations.size > 1, apart: paramsApart(keywords) }
  return {
    key: 'keyword',
    title: words.keyword,
    class: 'keyword',
    value: ({ keyword }) => keyword.query,
    cell: ({ keyword }) => keywordCell(keyword, shown),
  }
}

/** Rivals with a column at most: the dialog of a keyword has all. */
const mostRivals = 4

/** The rank of each other target, in the order of the targets. Read of the rows in sight, because statuses of all take a while. */
function rivalColumns({ history, filters }: View): readonly KeywordColumn[] {
  const byTarget = new Map<number, Map<number, RankSeries>>()
  for (const series of history.series) {
    if (series.target === filters.target) continue
    const known = byTarget.get(series.target) ?? new Map<number, RankSeries>()
    byTarget.set(series.target, known.set(series.keyword, series))
  }
  return [...byTarget]
    .sort(([a], [b]) => a - b)
    .slice(0, mostRivals)
    .map(([target, ofKeywords]): KeywordColumn => {
      const rankOf = ({ series }: KeywordStatus): DayValue | null => {
        const theirs = ofKeywords.get(series.keyword)
        return theirs === undefined ? null : valueOn(theirs, history.days.length - 1)
      }
      return {
        key: `rival_${target}`,
        title: history.targets[target]?.label ?? '',
        class: 'figure rival wide',
        value: (status) => rankOf(status)?.rank ?? null,
        cell: (status) => {
          const value = rankOf(status)
          if (value === null) return noValue(say.charts.notChecked)
          const isAhead = (value.rank ?? 1e6) < (status.current.rank ?? 1e6)
          return html('span', isAhead ? 'ahead' : '', rankMark(value))
        },
      }
    })
}

/** A number of searches or clicks of each keyword, and why one has none. */
function amountColumn(
  key: string,
  title: string,
  why: string,
  value: (status: KeywordStatus) => number | null,
  text = (amount: number) => say.figure(amount, 'clicks a month'),
): KeywordColumn {
  const cell = (status: KeywordStatus) => {
    const amount = value(status)
    return amount === null ? noValue(why) : text(amount)
  }
  return { key, title, class: 'figure wide', descends: true, value, cell }
}

/** The volume, the clicks a month by the curve of the report, and beside them those that Search Console counted. */
function amountColumns({ history, data: { measure } }: View): readonly KeywordColumn[] {
  const { volume, noVolume, clicks, noClicks, counted, notCounted } = say.keywords
  const hasVolume = history.keywords.some((one) => one.volume !== null)
  return [
    hasVolume && amountColumn('volume', volume, noVolume, ({ keyword }) => keyword.volume, say.number),
    hasVolume &&
      amountColumn('clicks', clicks, noClicks, ({ keyword, current }) =>
        clicksOf(keyword, current, measure.curve),
      ),
    history.countedClicks !== undefined &&
      amountColumn('counted', counted, notCounted, ({ keyword }) => keyword.counted?.clicks ?? null),
  ].filter((one) => one !== false)
}

function pageColumn({ history: { days, links } }: View): KeywordColumn {
  const words = say.keywords
  const linkOf = ({ series }: KeywordStatus): string | null => {
    const link = rankingLink(series, days.length - 1)
    return link === null ? null : (links[link] as string)
  }
  return {
    key: 'page',
    title: words.page,
    class: 'page wide',
    value: linkOf,
    cell: (status) => {
      const link = linkOf(status)
      return link === null
        ? noValue(status.current.state === 'absent' ? words.noPage : say.ranks.notKnown)
        : html('bdi', { title: link, dir: 'ltr' }, pathOf(link))
    },
  }
}

/** The greatest gain first. A keyword that entered gained more than any that improved, one that left lost more than any other. */
function changeOrder({ change: { movement, change } }: KeywordStatus): number | null {
  if (movement === 'entered') return 1e6
  if (movement === 'left') return -1e6
  return movement === 'same' ? 0 : change
}

/** Of many keywords those whose clicks changed most are printed, then those with the most searches. */
function mostChanged(curve: CtrCurve): PaperChoice<KeywordStatus> {
  return (all, most) => {
    const { ordered, moved } = byWorthOfMovement(all, curve)
    const hasVolume = ordered.some(({ keyword }) => keyword.volume !== null)
    return {
      chosen: ordered.slice(0, most),
      lead: say.tables.mostChanged(most, all.length, { moved: Math.min(most, moved), hasVolume }),
    }
  }
}

/** What keywords can be grouped by: of what all of them have in common there are no groups. */
function groupings({ history: { keywords } }: PageData): readonly SegmentBy[] {
  const tags = new Set(keywords.flatMap((one) => (one.tags.length === 0 ? [''] : one.tags)))
  const locales = new Set(keywords.map(localeOf))
  return [...(tags.size > 1 ? (['tag'] as const) : []), ...(locales.size > 1 ? (['locale'] as const) : [])]
}

/** The figures of each group of keywords. A row chooses its group. */
function groupTable(whole: View, by: SegmentBy, choose: (change: Partial<Filters>) => void): HTMLElement {
  const view = countedView(whole)
  const table = grid<Scorecard>({
    label: say.scorecards.by[by],
    columns: groupColumns(view, by),
    order: { by: 'keywords', descending: true },
    empty: say.ranks.noMatch,
    open: ({ name }) => choose(by === 'tag' ? { tags: [name ?? ''] } : { locale: name ?? '' }),
  })
  table.show(scorecards(view.statuses, by, view.data.measure))
  return table.element
}

function groupColumns(view: View, by: SegmentBy): readonly GridColumn<Scorecard>[] {
  const words = say.scorecards
  const { keywords, days } = view.history
  const nameOf = ({ name }: Scorecard): string =>
    name ?? (by === 'tag' ? tagName('') : say.scorecards.noLocale)
  /** Figures of fewer than half of the keywords are none of the group, as for days in charts. */
  const known = (of: (card: Scorecard) => number | null) => (card: Scorecard) =>
    card.coverage.observed > 0 && card.coverage.observed * 2 >= card.coverage.expected ? of(card) : null
  const column = (
    key: string,
    title: string,
    value: (card: Scorecard) => number | null,
    cell: (value: number | null, card: Scorecard) => Child,
    more = '',
  ): GridColumn<Scorecard> => ({
    key,
    title,
    class: `figure${more}`,
    descends: true,
    value,
    cell: (card) => cell(value(card), card),
  })
  const figure = (name: ShownMetric) => (value: number | null) => metricText(name, value)
  /** Daily figures are of the days that are drawn, and enough to know what is usual. */
  const first = firstNeeded(view.history.days.length, firstDrawn(view))
  const daysOf = (card: Scorecard) => {
    const history = { ...view.history, series: card.statuses.map(({ series }) => series) }
    return dailyOf(view, view.filters.target, first, history)
  }
  const columns: readonly GridColumn<Scorecard>[] = [
    {
      key: 'name',
      title: words.group[by],
      class: 'keyword',
      value: nameOf,
      cell: (card) => {
        const { observed, expected } = card.coverage
        const about = observed === expected ? '' : words.unchecked(expected - observed)
        return twoLines(html('bdi', { title: nameOf(card) }, nameOf(card)), about)
      },
    },
    column('keywords', words.keywords, ({ coverage }) => coverage.expected, figure('distribution')),
    column(
      'visibility',
      say.overview.labels.visibility,
      known(({ figures }) => figures.visibility.value),
      figure('visibility'),
    ),
    column(
      'change',
      say.keywords.change,
      known(({ figures }) => figures.visibility.cohort?.delta ?? null),
      (delta, card) => {
        const since = view.span?.day ?? null
        return deltaMark(
          'visibility',
          delta,
          isSwing('visibility', card.figures.visibility, daysOf(card), since),
        )
      },
    ),
    {
      key: 'trend',
      title: say.keywords.trend,
      class: 'trend',
      cell: (card) =>
        trendLine(
          daysOf(card)
            .slice(firstDrawn(view) - first)
            .map(({ isPartial, figures }) => (isPartial ? null : figures.visibility.value)),
        ),
    },
    column(
      'top-ten',
      say.overview.labels.top_ten,
      known(({ topTen }) => topTen),
      figure('top_ranks'),
      ' wide',
    ),
    column(
      'clicks',
      words.clicks,
      known(({ figures }) => figures.clicks.value),
      figure('clicks'),
      ' wide',
    ),
  ]
  const empty = [
    ...(days.length < 2 ? ofSeveralDays : []),
    ...(keywords.some(({ volume }) => volume !== null) ? [] : ['clicks']),
  ]
  return columns.filter(({ key }) => !empty.includes(key))
}
