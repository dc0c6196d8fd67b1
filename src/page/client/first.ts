import { type DailyFigures, daily } from '../../report/daily.ts'
import { once } from '../../report/data.ts'
import { type FindingFacts, factsOf } from '../../report/findings/facts.ts'
import { findings, linkOf } from '../../report/findings/find.ts'
import type { Finding, FindingLink } from '../../report/findings/finding.ts'
import { sentenceOf } from '../../report/findings/say.ts'
import { shareFloors } from '../../report/findings/spread.ts'
import { isSwing, isUsual, levelOn } from '../../report/findings/swing.ts'
import { headline, isKnownOnBothDays } from '../../report/headline.ts'
import { partKey, partLabel, partOf } from '../../report/history/filter-history.ts'
import { alignDepths } from '../../report/history/keyword-status.ts'
import { type Coverage, coverageOf } from '../../report/metrics/figure.ts'
import { type MetricName, metrics } from '../../report/metrics/index.ts'
import { type Distribution, distribution, top } from '../../report/metrics/positions.ts'
import { citationShare } from '../../report/metrics/serps.ts'
import type { SectionId } from './address.ts'
import { trendLine } from './chart/line-chart.ts'
import { button, type Child, empty, html, section } from './dom.ts'
import { type Filters, setLabels } from './filters.ts'
import { sectionLink } from './header.ts'
import type { OpenKeyword } from './keywords.ts'
import { type FigureChoice, firstDrawn, firstKnown, type MainChart, mainChart } from './main-chart.ts'
import { moved, next } from './moves.ts'
import {
  deltaMark,
  isolated,
  metricLabel,
  metricText,
  metricTooltip,
  say,
  usualMark,
  withTooltip,
} from './text.ts'
import type { View } from './view.ts'

/** What a sentence or a row can open. */
export interface Opening {
  readonly open: OpenKeyword
  /** Sets filters and goes to a section, in one step of the browser's history. */
  readonly choose: (change: Partial<Filters>, section?: SectionId) => void
  readonly goToSection: (section: SectionId) => void
  readonly chart: FigureChoice
}

/** With more series, of all targets, sentences and next steps are found after the figures are on the screen. */
const manySeries = 2_000

/** What is shown of many keywords until the sentences and what to do next are found. */
export type StandIns = readonly [sentences: Element, next: Element]

/** What stands in for them: what the file has of them, if that is of the same keywords. */
export function standInsIn(root: Element | null): StandIns {
  const written = (selector: string): Element => root?.querySelector(selector) ?? html('div')
  return [written('.sentences'), written('#next')]
}

/**
 * The first screen: what happened in three sentences beside the main chart, four figures, what moved, and what to do next.
 *
 * @param all the view with the keywords of every kind
 * @param view those that are counted
 * @param standIns null to find sentences and next steps at once
 */
export function firstBlocks(
  all: View,
  view: View,
  opening: Opening,
  standIns: StandIns | null,
): Omit<MainChart, 'element'> & {
  readonly elements: readonly Element[]
  /** Shows the button of a movement as pressed; none for an empty text. */
  readonly press: (movement: string) => void
} {
  const head = { id: 'overview', title: say.header.sections.overview }
  if (view.statuses.length === 0)
    return {
      elements: [section(head, empty(say.ranks.noMatch))],
      press: () => {},
      steps: [],
      showFigure: () => {},
    }
  const { history, data, filters } = view
  const first = firstKnown(view)
  const known = daily(history, filters.target, data.measure, first)
  const days = known.slice(firstDrawn(view) - first)
  const chart = mainChart(view, days, opening.chart)
  const facts = once(() =>
    factsOf(history, {
      target: filters.target,
      compare: view.compare,
      measure: data.measure,
      statuses: view.allTargets(),
    }),
  )
  const isLater = standIns !== null && history.series.length > manySeries
  const [sentences, steps] = isLater ? standIns : [html('div'), html('div')]
  const found = [
    () => sentences.replaceWith(sentenceList(view, facts(), opening)),
    () => steps.replaceWith(next(all, facts(), opening.open)),
  ]
  const moves = moved(view, opening)
  const element = section(
    head,
    html('div', 'first', sentences, chart.element),
    html('div', 'cards', ...cards(all, view, days, known)),
  )
  const pair = html('div', 'pair', moves.element, steps)
  if (!isLater) for (const find of found) find()
  return {
    elements: [element, pair],
    press: moves.press,
    steps: [...(isLater ? found : []), ...chart.steps],
    showFigure: chart.showFigure,
  }
}

/** What happened; each sentence opens what it speaks of. What is filtered is named before the first one. */
function sentenceList(view: View, facts: FindingFacts, { open, choose, goToSection }: Opening): HTMLElement {
  const scope = [...setLabels(view.filters, view.data), ...ofPart(view)]
  const items = findings(facts)
    .slice(0, 3)
    .map((finding) => html('li', '', opening(finding)))
  return html(
    'div',
    'sentences',
    scope.length === 0 ? null : html('p', 'scope', html('bdi', '', scope.join(' · '))),
    html('ul', { 'aria-label': say.overview.inShort }, ...items),
  )

  function opening(finding: Finding): HTMLElement {
    const link = linkOf(finding)
    const text = sentenceOf(finding, say, isolated)
    if (link.to === 'section') {
      const id = link.section === 'competitors' ? 'competitors' : 'keywords'
      return sectionLink(id, text, () => goToSection(id))
    }
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

/** The part that the figures are of, if the job has several and the filters do not name it. */
function ofPart({ parts: [counted], history: { keywords }, filters }: View): readonly string[] {
  const isOne = new Set(keywords.map(partOf).map(partKey)).size < 2
  return counted === undefined || isOne || filters.part !== '' ? [] : [partLabel(counted, say)]
}

/** Four figures: clicks, visibility, the top 10, and citations in AI answers or what else there is. */
function cards(
  all: View,
  { statuses, data }: View,
  days: readonly DailyFigures[],
  known: readonly DailyFigures[],
): readonly HTMLElement[] {
  const figures = headline(statuses, data.measure)
  const coverage = coverageOf(statuses.map(({ current }) => ({ value: current })))
  const of = (name: 'clicks' | 'visibility' | 'share_of_voice' | 'average_position'): HTMLElement | null => {
    const { value, cohort, uncounted } = figures[name]
    if (value === null) return null
    const change = deltaMark(name, cohort?.delta ?? null)
    return card({
      name,
      value: metricText(name, name === 'clicks' ? Number(value.toPrecision(3)) : value),
      change: isSwing(name, figures[name], known) ? usualMark(change) : change,
      trend: days.map((day) => (day.isPartial ? null : levelOn(day, name))),
      about: uncounted === 0 ? '' : say.overview.notCounted(uncounted),
    })
  }
  const cited = citedCard(all)
  return [of('clicks'), of('visibility'), topTen(), cited, of('share_of_voice'), of('average_position')]
    .filter((one) => one !== null)
    .slice(0, 4)

  function topTen(): HTMLElement {
    const inTen = (counts: Distribution): number => top(counts, 10)
    // Checked on both days, down to the same depth.
    const both = statuses
      .filter(isKnownOnBothDays)
      .map(({ current, baseline }) => alignDepths(current, baseline.value))
    const [now, before] = [0, 1].map((day) =>
      inTen(distribution(both.map((pair) => pair[day] as (typeof pair)[0]))),
    ) as [number, number]
    const delta = both.length === 0 ? null : now - before
    // Shares, so that a day with fewer checked keywords is not a loss.
    const shareOn = ({ distribution, coverage: { observed } }: DailyFigures) =>
      observed === 0 ? null : inTen(distribution) / observed
    const change = deltaMark('top_ranks', delta, 'higher')
    const isQuiet = isUsual(delta === null ? null : delta / both.length, known, shareOn, shareFloors)
    return card({
      name: 'top_ranks',
      label: say.overview.top(10),
      value: say.blocks.ofAll(inTen(distribution(statuses.map(({ current }) => current))), coverage.observed),
      change: isQuiet ? usualMark(change) : change,
      trend: days.map((day) => (day.isPartial ? null : shareOn(day))),
      about: unchecked(coverage),
    })
  }

  function unchecked({ observed, expected }: Coverage): string {
    return observed === expected ? '' : say.overview.checked(observed, expected)
  }

  function card({ name, label = metricLabel(name), value, change, trend, about }: Card): HTMLElement {
    return html(
      'div',
      'card',
      html('h3', '', withTooltip(label, metricTooltip(name, data.measure))),
      html('p', 'value', value),
      html('p', 'about', change, about === '' ? null : ` ${about}`),
      trendLine(trend, metrics[name].better === 'lower'),
    )
  }

  /** How many AI answers of the last day cite the target; null where none were asked. */
  function citedCard({ history, filters, data: { citations } }: View): HTMLElement | null {
    const last = history.days.length - 1
    const on = (day: number) => citations.filter((one) => one.day === day)
    if (on(last).length === 0) return null
    const shareOn = (day: number) => citationShare(on(day), filters.target, on(day).length).answers
    const { numerator, denominator } = shareOn(last)
    return card({
      name: 'cited_answers',
      value: say.blocks.ofAll(numerator, denominator),
      change: null,
      trend: history.days.slice(-days.length).map((_, place) => {
        const day = history.days.length - days.length + place
        return on(day).length === 0 ? null : shareOn(day).value
      }),
      about: '',
    })
  }
}

interface Card {
  readonly name: MetricName
  /** The label, if the figure is only a part of the metric. */
  readonly label?: string
  readonly value: string
  readonly change: Child
  readonly trend: readonly (number | null)[]
  readonly about: string
}
