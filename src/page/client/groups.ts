import { daily } from '../../report/daily.ts'
import type { PageData } from '../../report/data.ts'
import { isSwing } from '../../report/findings/swing.ts'
import { type Scorecard, type SegmentBy, scorecards } from '../../report/segments.ts'
import { trendLine } from './chart/line-chart.ts'
import { html, twoLines } from './dom.ts'
import type { Filters } from './filters.ts'
import { firstKnown } from './main-chart.ts'
import { grid } from './table/grid.ts'
import type { GridColumn } from './table/simple-table.ts'
import { deltaMark, localeOf, metricText, say, tagName, usualMark } from './text.ts'
import { countedView, type View } from './view.ts'

/** What keywords can be grouped by: of what all of them have in common there are no groups. */
export function groupings({ history: { keywords } }: PageData): readonly SegmentBy[] {
  const tags = new Set(keywords.flatMap((one) => (one.tags.length === 0 ? [''] : one.tags)))
  const locales = new Set(keywords.map(localeOf))
  return [...(tags.size > 1 ? (['tag'] as const) : []), ...(locales.size > 1 ? (['locale'] as const) : [])]
}

/** The figures of each group of keywords. A row chooses its group. */
export function groupTable(
  whole: View,
  by: SegmentBy,
  choose: (change: Partial<Filters>) => void,
): HTMLElement {
  const view = countedView(whole)
  const table = grid<Scorecard>({
    label: say.scorecards.by[by],
    columns: columnsOf(view, by),
    order: { by: 'keywords', descending: true },
    empty: say.ranks.noMatch,
    open: ({ name }) => choose(by === 'tag' ? { tags: [name ?? ''] } : { locale: name ?? '' }),
  })
  table.show(scorecards(view.statuses, by, view.data.measure))
  return table.element
}

function columnsOf(view: View, by: SegmentBy): readonly GridColumn<Scorecard>[] {
  const words = say.scorecards
  const { keywords, days } = view.history
  const hasVolume = keywords.some(({ volume }) => volume !== null)
  const column = (
    key: string,
    title: string,
    value: (card: Scorecard) => number | null,
    cell: GridColumn<Scorecard>['cell'],
    more = '',
  ): GridColumn<Scorecard> => ({ key, title, class: `figure${more}`, descends: true, value, cell })
  /** Figures of fewer than half of the keywords are none of the group, as for days in charts. */
  const known = <T>(card: Scorecard, value: T): T | null =>
    card.coverage.observed > 0 && card.coverage.observed * 2 >= card.coverage.expected ? value : null
  const delta = (card: Scorecard) => known(card, card.figures.visibility.cohort?.delta ?? null)
  const daysOf = (card: Scorecard) => {
    const history = { ...view.history, series: card.statuses.map(({ series }) => series) }
    return daily(history, view.filters.target, view.data.measure, firstKnown(view))
  }
  const nameOf = ({ name }: Scorecard): string =>
    name ?? (by === 'tag' ? tagName('') : say.scorecards.noLocale)
  return [
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
    column(
      'keywords',
      words.keywords,
      ({ coverage }) => coverage.expected,
      ({ coverage }) => say.number(coverage.expected),
    ),
    column(
      'visibility',
      words.visibility,
      (card) => known(card, card.figures.visibility.value),
      (card) => metricText('visibility', known(card, card.figures.visibility.value)),
    ),
    ...(days.length < 2
      ? []
      : [
          column('change', words.change, delta, (card) => {
            const change = deltaMark('visibility', delta(card))
            return isSwing('visibility', card.figures.visibility, daysOf(card)) ? usualMark(change) : change
          }),
          {
            key: 'trend',
            title: words.trend,
            class: 'trend',
            cell: (card: Scorecard) =>
              trendLine(
                daysOf(card)
                  .slice(view.shown.start - firstKnown(view))
                  .map(({ isPartial, figures }) => (isPartial ? null : figures.visibility.value)),
              ),
          },
        ]),
    column(
      'top-ten',
      words.topTen,
      (card) => known(card, card.topTen),
      (card) => metricText('top_ranks', known(card, card.topTen)),
      ' wide',
    ),
    ...(hasVolume
      ? [
          column(
            'clicks',
            words.clicks,
            (card) => known(card, card.figures.clicks.value),
            (card) => metricText('clicks', known(card, card.figures.clicks.value)),
            ' wide',
          ),
        ]
      : []),
  ]
}
