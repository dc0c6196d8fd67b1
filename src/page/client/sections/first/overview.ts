import { placesOf } from '../../../../report/cells.ts'
import { type DailyFigures, daily } from '../../../../report/daily.ts'
import { once } from '../../../../report/data.ts'
import { type FindingFacts, factsOf } from '../../../../report/findings/facts.ts'
import { findings, linkOf } from '../../../../report/findings/find.ts'
import type { Finding, FindingLink } from '../../../../report/findings/finding.ts'
import type { NextAction } from '../../../../report/findings/next-actions/action.ts'
import { nextActions } from '../../../../report/findings/next-actions/find.ts'
import { nothingToDo } from '../../../../report/findings/next-actions/nothing.ts'
import { nothingText, reasonsOf, untoldClicks } from '../../../../report/findings/next-actions/say.ts'
import { sentenceOf } from '../../../../report/findings/say.ts'
import { shareFloors } from '../../../../report/findings/spread.ts'
import { isSwing, isUsual, levelOn } from '../../../../report/findings/swing.ts'
import { headline, isKnownOnBothDays } from '../../../../report/headline.ts'
import { partKey, partLabel, partOf } from '../../../../report/history/filter-history.ts'
import { alignDepths } from '../../../../report/history/keyword-status.ts'
import { type Coverage, coverageOf, type MetricOptions } from '../../../../report/metrics/figure.ts'
import { type MetricName, metrics, pageMetrics } from '../../../../report/metrics/index.ts'
import { type Distribution, distribution, top } from '../../../../report/metrics/positions.ts'
import { trendLine } from '../../chart/sparkline.ts'
import { type FigureChoice, firstDrawn, firstKnown, type TrendDrawing, trend } from '../../chart/trend.ts'
import type { SectionId } from '../../controls/address.ts'
import { button, html, linkTo, twoLines } from '../../dom.ts'
import type { Filters } from '../../filters.ts'
import { number, pathOf } from '../../format.ts'
import { sectionLink } from '../../header.ts'
import { say } from '../../language.ts'
import { figures, type SimpleColumn, simpleTable } from '../../table/simple-table.ts'
import { type TakenColumn, tableTools } from '../../table/take-away.ts'
import {
  deltaMark,
  isolated,
  metricLabel,
  metricText,
  metricTooltip,
  usualMark,
  withTooltip,
} from '../../text.ts'
import { hasCompared, type View } from '../../view.ts'
import { type OpenKeyword, takenKeyword } from '../keywords.ts'
import { empty, noMatch, noValue, panel, section } from '../section.ts'
import { type Moves, moved, movers } from './movers.ts'

/**
 * The first screen: what happened in sentences, figures, what to do next, their history, and movements. The caller presses the button of
 * the chosen movement.
 *
 * @param all the view with the keywords of every kind
 * @param view those that are counted
 * @param standIns what is shown of many keywords until the sentences and what to do next are found; null to find them at once
 */
export function overview(
  all: View,
  view: View,
  opening: Opening,
  standIns: StandIns | null,
): Moves & Omit<TrendDrawing, 'element'> {
  const head = { id: 'overview', title: say.header.sections.overview, lead: leadOf(view) }
  if (view.statuses.length === 0)
    return { element: section(head, empty(noMatch())), press: () => {}, steps: [], showFigure: () => {} }
  const { history, data, filters } = view
  const drawn = firstDrawn(view)
  const first = firstKnown(view)
  const known = daily(history, filters.target, data.measure, first)
  const days = known.slice(drawn - first)
  const moves = moved(view, opening.choose)
  const chart = trend(view, days, opening.chart)
  const facts = once(() =>
    factsOf(history, {
      target: filters.target,
      compare: view.compare,
      measure: data.measure,
      statuses: view.allTargets(),
    }),
  )
  const isLater = standIns !== null && history.series.length > manySeries
  const [sentences, actions] = isLater ? standIns : [html('div'), html('div')]
  const found = [
    () => sentences.replaceWith(headlineList(view, facts(), opening)),
    () => actions.replaceWith(nextActionsPanel(all, facts(), opening.open) ?? ''),
  ]
  const element = section(
    head,
    sentences,
    cards(view, days, known),
    actions,
    chart.element,
    // Of a later day it would be wrong that its keywords are checked for the first time.
    history.days.length < 2 || hasCompared(view) ? moves.element : null,
    hasCompared(view) ? movers(view, opening.open) : null,
  )
  if (!isLater) for (const find of found) find()
  const steps = [...(isLater ? found : []), ...chart.steps]
  return { element, press: moves.press, steps, showFigure: chart.showFigure }
}

/** What is in the place of the sentences, and of what to do next. */
export type StandIns = readonly [sentences: Element, actions: Element]

/** What stands in for them: what the file has of them, if that is of the same keywords. */
export function standInsIn(root: Element | null): StandIns {
  const written = (selector: string): Element => root?.querySelector(selector) ?? html('div')
  return [written('.headline'), written('.cards + .panel')]
}

/** With more series, of all targets, sentences and next actions are found after the figures are on the screen. */
const manySeries = 2_000

/** Names the part that the figures are of if the job has several parts. */
function leadOf({ parts: [counted, ...others], history: { keywords } }: View): string {
  if (counted === undefined || new Set(keywords.map(partOf).map(partKey)).size < 2) return ''
  const label = partLabel(counted, say)
  return others.length === 0
    ? `${say.filters.figuresOf} ${label}.`
    : say.overview.figuresOf(
        label,
        others.map((one) => partLabel(one, say)),
      )
}

/** @param known the days that are drawn, and those before them that say what is usual */
function cards(
  { statuses, data }: View,
  days: readonly DailyFigures[],
  known: readonly DailyFigures[],
): HTMLElement {
  const figures = headline(statuses, data.measure)
  const shown = pageMetrics.filter(({ name, needs }) => needs === undefined || figures[name].value !== null)
  const now = distribution(statuses.map(({ current }) => current))
  // Checked on both days, down to the same depth.
  const both = statuses
    .filter(isKnownOnBothDays)
    .map(({ current, baseline }) => alignDepths(current, baseline.value))
  const bothNow = distribution(both.map(([now]) => now))
  const bothBefore = distribution(both.map(([, before]) => before))
  const coverage = coverageOf(statuses.map(({ current }) => ({ value: current })))
  const checked = say.overview.checked(coverage.observed, coverage.expected)
  const { measure } = data
  const counted = (label: string, name: MetricName, countIn: (counts: Distribution) => number) => {
    const delta = both.length === 0 ? null : countIn(bothNow) - countIn(bothBefore)
    // Shares, so that a day with less checked keywords is not a loss.
    const shareOn = ({ distribution, coverage: { observed } }: DailyFigures) =>
      observed === 0 ? null : countIn(distribution) / observed
    return figureCard({
      name,
      label,
      measure,
      value: countIn(now),
      delta,
      isUsual: isUsual(delta === null ? null : delta / both.length, known, shareOn, shareFloors),
      better: 'higher',
      trend: trendOf(days, shareOn),
      about: share(countIn(now), coverage),
    })
  }
  return html(
    'div',
    'cards',
    ...shown.map(({ name }) => {
      const { value, cohort, uncounted } = figures[name]
      const delta = cohort?.delta ?? null
      return figureCard({
        name,
        value,
        measure,
        delta,
        isUsual: isSwing(name, figures[name], known),
        trend: trendOf(days, (day) => levelOn(day, name)),
        about: uncounted === 0 ? checked : `${checked}, ${say.overview.notCounted(uncounted)}`,
      })
    }),
    ...([3, 10] as const).map((rank) =>
      counted(say.overview.top(rank), 'top_ranks', (counts) => top(counts, rank)),
    ),
    counted(say.overview.ranked, 'distribution', (counts) => top(counts, 100) + counts['>100']),
  )
}

/** The values of a line. A day on which most searches failed is a gap in the line. */
function trendOf(
  days: readonly DailyFigures[],
  value: (day: DailyFigures) => number | null,
): readonly (number | null)[] {
  return days.map((day) => (day.isPartial ? null : value(day)))
}

function share(part: number, { observed }: Coverage): string {
  return observed === 0 ? say.overview.nothingChecked : say.overview.shareChecked(part / observed, observed)
}

export interface FigureCard {
  readonly name: MetricName
  /** The label, if the figure is only a part of the metric. */
  readonly label?: string
  readonly value: number | null
  /** The change since the compared day, of keywords that were checked on both; null if there are none. */
  readonly delta: number | null
  /** Whether the change is no more than the figure usually swings. */
  readonly isUsual?: boolean
  readonly trend: readonly (number | null)[]
  readonly about: string
  readonly better?: 'higher'
  readonly measure: MetricOptions
}

/** One figure with its name, change, trend and coverage. */
export function figureCard(card: FigureCard): HTMLElement {
  const { name, label = metricLabel(name), value, delta, isUsual, trend, about, better, measure } = card
  const change = deltaMark(name, delta, better)
  return html(
    'div',
    'card',
    html('h3', '', withTooltip(label, metricTooltip(name, measure))),
    html('p', 'value', metricText(name, value), isUsual ? usualMark(change) : change),
    trendLine(trend, metrics[name].better === 'lower'),
    html('p', 'about', about),
  )
}

/** What a sentence or a row can open. */
interface Opening {
  readonly open: OpenKeyword
  /** Sets filters and goes to a section, in one step of the browser's history. */
  readonly choose: (change: Partial<Filters>, section?: SectionId) => void
  readonly goToSection: (section: SectionId) => void
  readonly chart: FigureChoice
}

/** The sentences above the figures; each opens what it speaks of. */
function headlineList(view: View, facts: FindingFacts, { open, choose, goToSection }: Opening): HTMLElement {
  const items = findings(facts).map((finding) => html('li', kindOf(finding), opening(finding)))
  return html('ul', { class: 'headline', 'aria-label': say.overview.inShort }, ...items)

  function opening(finding: Finding): HTMLElement {
    const link = linkOf(finding)
    const text = sentenceOf(finding, say, isolated)
    if (link.to === 'section') return sectionLink(link.section, text, () => goToSection(link.section))
    return button('', () => follow(link), link.to === 'keyword' ? { 'aria-haspopup': 'dialog' } : {}, text)
  }

  function follow(link: FindingLink): void {
    if (link.to === 'tag') choose({ tags: [link.tag] })
    if (link.to === 'keyword') {
      const status = view.statuses.find(({ series }) => series.keyword === link.keyword)
      if (status !== undefined) open(status, view.statuses)
    }
    if (link.to === 'group') choose({ movement: link.group }, 'keywords')
  }
}

/** The first sentence is the largest; what figures do not include is the smallest. */
function kindOf({ kind }: Finding): string {
  const isLimit = ['not checked', 'added', 'partial days', 'other day'].includes(kind)
  return isLimit ? 'limit' : ''
}

/**
 * What to do next, the most clicks at stake first; null for a target that is not one's own.
 *
 * @param all the view with keywords of every kind: AI answers are of another part than the figures
 */
function nextActionsPanel(all: View, facts: FindingFacts, open: OpenKeyword): HTMLElement | null {
  if (!all.target.own) return null
  const words = say.nextActions
  const statuses = all.statuses.filter(({ keyword }) => keyword.kind === 'reference')
  const actions = nextActions(facts, { statuses, citations: all.data.citations })
  const order = actions.map(({ status }) => status)
  const distinguish = placesOf(all.history.keywords)
  const isWithoutClicks = actions.every(({ clicks }) => clicks === null)
  const columns: readonly SimpleColumn<NextAction>[] = [
    {
      title: words.keyword,
      class: 'action-keyword',
      cell: ({ status: { keyword } }) => {
        const about = distinguish(keyword)
        const query = html('bdi', '', keyword.query)
        return about === '' ? query : twoLines(query, about)
      },
    },
    {
      title: words.reason,
      class: 'action-reason',
      cell: (action) => reasonsOf(action, say, isolated),
    },
    ...(isWithoutClicks
      ? []
      : [
          figures<NextAction>(
            words.clicks,
            (action) =>
              action.clicks === null
                ? noValue(words.noClicks)
                : html(
                    'span',
                    untoldClicks(action) === null ? 'told' : '',
                    number(Math.round(action.clicks)),
                    html('span', 'action-unit', ` ${words.atStake}`),
                  ),
            ' action-clicks',
          ),
        ]),
    {
      title: words.page,
      class: 'action-page',
      cell: ({ page, status: { current } }) =>
        page === null
          ? noValue(current.state === 'absent' ? words.noPage : say.ranks.notKnown)
          : linkTo(page, pathOf(page)),
    },
    {
      title: words.why,
      class: 'action-why',
      cell: ({ status }) =>
        button(
          'quiet',
          () => open(status, order),
          {
            'aria-haspopup': 'dialog',
            'aria-label': words.whyOf([status.keyword.query, distinguish(status.keyword)].join(' ').trim()),
          },
          words.why,
        ),
    },
  ]
  const taken: readonly TakenColumn<NextAction>[] = [
    ...takenKeyword<NextAction>(all.history.keywords, ({ status }) => status.keyword),
    { title: words.reason, of: (action) => reasonsOf(action, say) },
    ...(isWithoutClicks
      ? []
      : [
          {
            title: words.clicks,
            of: ({ clicks }: NextAction) => (clicks === null ? null : Math.round(clicks)),
          },
        ]),
    { title: words.page, of: ({ page }) => page },
  ]
  return panel(
    words.title,
    actions.length === 0
      ? empty(nothingText(nothingToDo(facts), say, isolated))
      : html(
          'div',
          'actions',
          simpleTable(words.title, actions, columns),
          tableTools({ label: words.title, columns: taken, rows: () => actions }),
        ),
  )
}
