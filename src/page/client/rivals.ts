import type { DailyFigures } from '../../report/daily.ts'
import { once } from '../../report/data.ts'
import { headline } from '../../report/headline.ts'
import type { KeywordStatus } from '../../report/history/keyword-status.ts'
import { shownMetrics } from '../../report/metrics/index.ts'
import { serpPairs } from '../../report/metrics/serps.ts'
import { discoverCompetitors, headToHead, isGaining } from '../../report/metrics/shares.ts'
import { isSwing } from '../../report/story/facts.ts'
import { statusesByTarget } from '../../report/summary.ts'
import { trendLine } from './chart/line-chart.ts'
import { breakable, type Child, empty, html, noValue, section } from './dom.ts'
import { chosenFigure, firstDrawn, lineValues, type TrendFigure } from './main-chart.ts'
import { type SimpleColumn, simpleTable } from './table/grid.ts'
import { deltaMark, metricText, metricTooltip, say, withTooltip } from './text.ts'
import { dailyOf, type View } from './view.ts'

/** Months with a column, and sites in the list of those that gain, at most. */
const [mostMonths, mostGaining] = [6, 6]
/** Days of a month that has an average: that of fewer would be taken for the month's. */
const leastDays = 7

/** A target with its figures day by day, from the first month with a column on. */
interface RivalSite {
  readonly target: number
  readonly statuses: readonly KeywordStatus[]
  readonly days: readonly DailyFigures[]
  /** Against the chosen target; null for itself, and for other sites of the client. */
  readonly rivalry: ReturnType<typeof headToHead> | null
}

/**
 * The figure of the main chart for every target: now, its change, and the average of each month; beside it sites that gain and are not
 * tracked. Drawn in steps: each takes a while where there are many keywords.
 *
 * @param figure the one that the main chart shows
 */
export function rivals(view: View, place: HTMLElement, figure: () => string) {
  const { history, filters } = view
  const [first, body] = [firstDay(history.days), html('div')]
  const sites: RivalSite[] = []
  const byTarget = once(() => statusesByTarget(view.allTargets()))
  const tracked = [...new Set(history.series.map(({ target }) => target))].sort((a, b) => a - b)
  const chosenFirst = [filters.target, ...tracked.filter((target) => target !== filters.target)]
  return {
    /** Shows the figure that the main chart shows now. */
    show: draw,
    steps:
      history.series.length === 0
        ? []
        : [
            () => void byTarget(),
            ...chosenFirst.map((target) => () => {
              const statuses = byTarget().get(target) ?? []
              const isRival = target !== filters.target && history.targets[target]?.own !== true
              const rivalry = !isRival ? null : headToHead(statuses, byTarget().get(filters.target) ?? [])
              sites.push({ target, statuses, days: dailyOf(view, target, first), rivalry })
            }),
            () => {
              draw()
              const others = gaining(view)
              // The figures of a site alone are those of the cards.
              if (sites.length < 2 && others === null) return
              const head = { id: 'competitors', title: say.overview.blocks.rivals }
              place.replaceWith(section(head, html('div', 'pair', body, others)))
            },
          ],
  }

  function draw(): void {
    const chosen = chosenFigure(sites[0]?.days ?? [], figure())
    if (chosen === undefined) body.replaceChildren(empty(say.charts.nothingChecked))
    else
      body.replaceChildren(
        html('h3', '', say.charts.figures[chosen.name]),
        simpleTable(say.competitors.figuresLabel, sites, columnsOf(view, sites, chosen, first)),
      )
  }
}

/** The place of the first day of the first month that has a column. */
function firstDay(days: readonly string[]): number {
  const months = [...new Set(days.map(monthOf))].slice(-mostMonths)
  const first = days.findIndex((day) => monthOf(day) === months[0])
  return Math.max(0, first)
}

function monthOf(day: string): string {
  return day.slice(0, 7)
}

function columnsOf(
  view: View,
  sites: readonly RivalSite[],
  figure: TrendFigure,
  first: number,
): readonly SimpleColumn<RivalSite>[] {
  const words = say.competitors
  const { history, data, filters, span } = view
  const { targets } = history
  const own = targets[filters.target]
  const days = history.days.slice(first)
  const valuesOf = ({ days: all }: RivalSite) => lineValues(all, figure)
  const months = [...new Set(days.map(monthOf))]
    .map((month) => ({ month, isOf: (_: unknown, day: number) => monthOf(days[day] as string) === month }))
    .filter(({ isOf }) => days.filter(isOf).length >= leastDays)
    .map(({ month, isOf }) =>
      figures<RivalSite>(
        say.month(`${month}-01`),
        (site) => textOf(averageOf(valuesOf(site).filter(isOf))),
        ' month',
      ),
    )
  const compared = span === null ? -1 : days.indexOf(span.day)
  const isMine = (target: number) => target === filters.target || targets[target]?.own
  return [
    {
      title: words.site,
      cell: ({ target }: RivalSite) =>
        html(
          'span',
          isMine(target) ? 'site-name mine' : 'site-name',
          breakable(targets[target]?.label ?? ''),
        ),
    },
    ...months,
    compared !== -1 &&
      figures<RivalSite>(
        say.shortDay(days[compared] as string),
        (site) => textOf(valuesOf(site)[compared] ?? null),
        ' wide',
      ),
    figures<RivalSite>(words.now, (site) =>
      html('span', 'with-delta', textOf(valuesOf(site).at(-1) ?? null), changeOf(site)),
    ),
    history.days.length > 1 && {
      title: say.keywords.trend,
      class: 'spark-cell',
      cell: (site: RivalSite) =>
        trendLine(
          valuesOf(site).slice(Math.max(0, firstDrawn(view) - first)),
          shownMetrics[figure.metric].better === 'lower',
        ),
    },
    sites.some(({ rivalry }) => rivalry !== null && rivalry.won + rivalry.lost > 0) &&
      figures<RivalSite>(
        own?.own ? words.beatsYou : words.beats(own?.label ?? ''),
        ({ rivalry }) => {
          if (rivalry === null) return noValue(words.itself)
          const { won, lost, tied, neither, undecided } = rivalry
          const title = words.beatsNote(tied, neither, undecided)
          return html('span', { title }, say.overview.ofChecked(won, won + lost))
        },
        ' wide',
      ),
  ].filter((one) => one !== false)

  function textOf(value: number | null): string {
    return value === null ? '–' : figure.text(value)
  }

  /** Since the compared day, of the keywords that were checked on both. */
  function changeOf({ statuses, days: all }: RivalSite): HTMLElement | null {
    const { name } = figure
    if (name !== 'visibility' && name !== 'clicks' && name !== 'average_position') return null
    const found = headline(statuses, data.measure)[name]
    return deltaMark(name, found.cohort?.delta ?? null, isSwing(name, found, all, span?.day ?? null))
  }
}

/** A column of numbers. */
function figures<Row>(title: string, cell: (row: Row) => Child, more = ''): SimpleColumn<Row> {
  return { title, class: `figure${more}`, cell }
}

function averageOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one, 0) / known.length
}

/** Sites that gain among the first ten results and are not tracked; nothing where no day can be compared. */
function gaining({ history, data, compare }: View): HTMLElement | null {
  const words = say.competitors
  const pairs = serpPairs(history, data.serps, compare).filter(({ compared }) => compared !== null)
  const { sites } = discoverCompetitors(pairs, { history, curve: data.measure.curve })
  const found = sites.filter((one) => one.targets.length === 0 && isGaining(one)).slice(0, mostGaining)
  if (found.length === 0) return null
  return html(
    'div',
    '',
    html('h3', '', withTooltip(words.gaining, metricTooltip('site_share'))),
    simpleTable(words.gaining, found, [
      {
        title: words.site,
        cell: ({ site }) => html('span', 'site-name', breakable(data.sites[site] ?? '')),
      },
      figures(words.before, ({ share, change }) =>
        metricText('site_share', share === null ? null : share - (change ?? 0)),
      ),
      figures(words.now, ({ share }) => metricText('site_share', share)),
      figures(words.inTopTen, ({ appearances }) => say.number(appearances)),
    ]),
  )
}
