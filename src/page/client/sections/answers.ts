import type { ResultKind } from '../../../model/result.ts'
import type { Citation, PageData } from '../../../report/data.ts'
import { baselineOrder } from '../../../report/history/keyword-status.ts'
import { citationShare, ownership } from '../../../report/metrics/serps.ts'
import { type ChartLine, lineChart } from '../chart/line-chart.ts'
import { scaleFromZero } from '../chart/scale.ts'
import { html } from '../dom.ts'
import { capitalised, longDay, percent } from '../format.ts'
import { notIncluded } from '../keyword/top-ten.ts'
import { say } from '../language.ts'
import { isPrinted } from '../paper/medium.ts'
import { shortened } from '../paper/running-head.ts'
import { figures, parts, type SimpleColumn, simpleTable } from '../table/simple-table.ts'
import { metricText, metricTooltip, targetName, withDelta, withTooltip } from '../text.ts'
import type { View } from '../view.ts'
import { empty, figure, halves, noMatch, note, panel, section } from './section.ts'

/** A line needs as many days. */
const leastDays = 3
/** Letters of a name at the end of a line at most. */
const mostOfName = 24
/** Lines beside that of the chosen target at most: shares of a few answers cross a lot. */
const mostRivals = 3

/** Citations in AI answers, and the share of the target in each kind of results. */
export function answers(view: View): HTMLElement {
  const words = say.answers
  const byKind = panel(withTooltip(words.byKind, metricTooltip('first_ten_share')), kinds(view))
  if (isWithoutAnswers(view.data)) return section({ id: 'answers', title: words.titleWithoutAnswers }, byKind)
  const cited = panel(withTooltip(words.cited, metricTooltip('cited_answers')), citations(view))
  return section({ id: 'answers', title: words.title }, cited, byKind)
}

/** Whether no keyword of the job asks for AI answers. The team is told, a client misses nothing. */
export function isWithoutAnswers({ history: { keywords }, presentation }: PageData): boolean {
  return presentation.audience === 'client' && keywords.every(({ kind }) => kind !== 'reference')
}

function kinds({ history, data, statuses, filters }: View): HTMLElement {
  const last = history.days.length - 1
  const serps = data.serps.filter(({ day }) => day === last)
  const rows = ownership(statuses, filters.target, serps)
  if (rows.length === 0) return empty(noMatch())
  const words = say.answers
  const inTopTen = (wanted: ResultKind): number =>
    statuses.filter(
      ({ keyword, current: { rank } }) => keyword.kind === wanted && rank !== null && rank <= 10,
    ).length
  return simpleTable(words.byKindLabel, rows, [
    { title: words.kind, cell: ({ kind }) => capitalised(say.kinds[kind]) },
    parts(words.ranked, ({ coverage }) => [coverage.ranked, coverage.observed], ' wide'),
    parts(words.topTen, ({ kind, coverage }) => [inTopTen(kind), coverage.observed]),
    ...(rows.some(({ firstTen }) => firstTen.coverage.observed > 0) ? [ofFirstTen(words.share)] : []),
  ])
}

function ofFirstTen(title: string): SimpleColumn<ReturnType<typeof ownership>[number]> {
  return figures(title, ({ firstTen }) => metricText('first_ten_share', firstTen.value))
}

/** The citations of every target in the AI answers of the last day, and over time. */
export function citations(view: View): HTMLElement {
  const { history, data } = view
  const words = say.answers
  const last = history.days.length - 1
  const now = data.citations.filter(({ day }) => day === last)
  const isReference = (keyword: number): boolean => history.keywords[keyword]?.kind === 'reference'
  const asked = new Set(
    [...history.series, ...data.citations].flatMap((one) =>
      'references' in one || isReference(one.keyword) ? [one.keyword] : [],
    ),
  )
  if (history.series.length === 0) return empty(noMatch())
  if (asked.size === 0) return empty(words.notAsked)
  if (now.length === 0) {
    const isChecked = view.statuses.some(
      ({ keyword, current }) => keyword.kind === 'reference' && current.state !== 'unknown',
    )
    return empty(isChecked ? notIncluded(view, []) : words.notChecked)
  }
  const compared = baselineOrder(history.days, view.compare)[0]
  const [nowToo, before] = answeredTwice(
    now,
    data.citations.filter(({ day }) => day === compared),
  )
  const rows = history.targets.map((_, target) => {
    const share = citationShare(now, target, asked.size)
    const { averageFirstIndex: index } = share
    return {
      target,
      ...share,
      // The service counts from 0, people from 1.
      firstPlace: index === null ? null : index + 1,
      change: changeOf(citationShare(nowToo, target, asked.size), citationShare(before, target, asked.size)),
    }
  })
  const lines = mostCited(rows, view.filters.target)
  const chart = overTime(view, asked, lines)
  const table = html(
    'div',
    '',
    simpleTable(words.citedLabel, rows, [
      {
        title: words.site,
        cell: ({ target }) =>
          html(
            'span',
            chart === null || lines.includes(target) ? '' : 'without-line',
            targetName(history, target),
          ),
      },
      parts(words.answers, ({ answers }) => [answers.numerator, answers.denominator]),
      figures(words.answerShare, ({ answers, change }) =>
        withDelta('cited_answers', answers.value, change, 'unknown'),
      ),
      figures(words.ofReferences, (one) => metricText('citation_share', one.citations.value), ' wide'),
      figures(words.firstPlace, (one) => metricText('citation_index', one.firstPlace), ' wide'),
    ]),
  )
  return html(
    'div',
    '',
    chart === null ? table : halves(table, chart),
    note(words.note(words.of(now.length, asked.size), longDay(history.days[last] as string))),
  )
}

interface AnswersRow {
  readonly target: number
  readonly answers: { readonly value: number | null }
}

/** The targets that have a line: the chosen one and those that most answers cite. */
function mostCited(rows: readonly AnswersRow[], chosen: number): readonly number[] {
  const others = rows
    .filter(({ target }) => target !== chosen)
    .sort((a, b) => (b.answers.value ?? 0) - (a.answers.value ?? 0))
  return [chosen, ...others.slice(0, mostRivals).map(({ target }) => target)]
}

/** The answers of two days to the keywords that have one on both. */
function answeredTwice(
  now: readonly Citation[],
  before: readonly Citation[],
): readonly [now: readonly Citation[], before: readonly Citation[]] {
  const [keywordsNow, keywordsBefore] = [now, before].map((all) => new Set(all.map(({ keyword }) => keyword)))
  return [
    now.filter(({ keyword }) => keywordsBefore?.has(keyword)),
    before.filter(({ keyword }) => keywordsNow?.has(keyword)),
  ]
}

type CitationShare = ReturnType<typeof citationShare>

function changeOf({ answers: now }: CitationShare, { answers: before }: CitationShare): number | null {
  return now.value === null || before.value === null ? null : now.value - before.value
}

/** The share of answers that cite each target, beginning with the first day that has an answer. */
function overTime(
  { history, data, filters }: View,
  asked: ReadonlySet<number>,
  targets: readonly number[],
): HTMLElement | null {
  const all = data.citations
  const first = Math.min(...all.map(({ day }) => day))
  const days = history.days.slice(first)
  if (new Set(all.map(({ day }) => day)).size < leastDays) return null
  const since = new Map(
    history.series.map(({ keyword, cells }) => [keyword, cells.findIndex((cell) => cell !== null)]),
  )
  const byDay = days.map((_, place) => {
    const day = first + place
    const expected = [...asked].filter((keyword) => (since.get(keyword) ?? 0) <= day).length
    return { found: all.filter((one) => one.day === day), expected }
  })
  const lines = targets.map(
    (target): ChartLine => ({
      label: history.targets[target]?.label ?? '',
      target,
      // A day without most of its answers is a gap in the line.
      values: byDay.map(({ found, expected }) =>
        found.length * 2 < expected ? null : citationShare(found, target, expected).answers.value,
      ),
      main: target === filters.target,
    }),
  )
  return figure(
    lineChart({
      label: say.answers.chart,
      days,
      lines,
      scale: scaleFromZero(lines.flatMap(({ values }) => values)),
      format: (value) => percent(value, 0),
      // Nothing can be pointed at on paper.
      ends: (value, { label }) =>
        isPrinted() ? `${shortened(label, mostOfName)} ${percent(value, 0)}` : percent(value, 0),
      missing: (_, day) => {
        const { found, expected } = byDay[day] ?? { found: [], expected: 0 }
        return found.length === 0 ? say.answers.noAnswer : say.answers.leftOut(found.length, expected)
      },
      height: 220,
    }),
  )
}
