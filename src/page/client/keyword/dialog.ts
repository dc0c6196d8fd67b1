import { type SerpFeature, serpFeatures } from '../../../model/result.ts'
import type { Audience } from '../../../model/settings.ts'
import { paramTexts, placesOf } from '../../../report/cells.ts'
import { localeOf } from '../../../report/choice.ts'
import { type FeatureState, featureIn, featureStates } from '../../../report/data.ts'
import type { KeywordStatus } from '../../../report/history/keyword-status.ts'
import type { Keyword } from '../../../report/history/rank-history.ts'
import { bestRank, clicksOf } from '../../../report/metrics/positions.ts'
import { chartFrame, gridLine, round, timeAxis, timeLabels } from '../chart/frame.ts'
import { button, type Child, figure, html, linkTo, svg } from '../dom.ts'
import { rankMark, say, statusChange } from '../text.ts'
import { hasCompared, type View } from '../view.ts'
import { historyChart, intendedPage, urlHistory } from './history.ts'
import { firstTen } from './top-ten.ts'

/** The details of one keyword: figures, history, pages and the first ten results. */
function keywordDetail(view: View, status: KeywordStatus): HTMLElement {
  const words = say.keyword
  const { keyword, series } = status
  const rivals = view.allTargets().filter((one) => one.series.keyword === series.keyword)
  const labels = Object.entries(keyword.labels).map(([name, value]) => `${name}: ${value}`)
  const tags = [...keyword.tags, ...labels].map((one) => html('bdi', 'tag', one))
  return html(
    'div',
    'detail',
    html('p', 'asked', html('span', 'code', askedText(keyword, view.data.presentation.audience)), ...tags),
    facts(view, status),
    html('h3', '', words.history),
    historyChart(view, status, rivals),
    html('h3', '', words.pages),
    urlHistory(view, status),
    ...featuresOverTime(view, status),
    html('h3', '', say.serps.firstTen),
    firstTen(view, status),
  )
}

/** The operation and the params of a query. A client knows the country and the language, but not the names of the params. */
export function askedText(keyword: Keyword, audience: Audience): string {
  const { operation, params } = keyword
  if (audience === 'team') return [operation, ...paramTexts(params)].join('  ')
  return [operation, localeOf(keyword)].filter((part) => part !== '').join(' · ')
}

function facts(view: View, status: KeywordStatus): HTMLElement {
  const { history, target } = view
  const { current, baseline, series, keyword } = status
  const { days } = history
  const intended = intendedPage(view, status)
  const best = bestRank(series.cells)
  const first = series.cells.findIndex((cell) => cell !== null)
  const dayText = (day: number): string => say.mediumDay(days[day] as string)
  const words = say.keyword
  const since =
    baseline === null
      ? [words.nothingBefore]
      : [words.since(dayText(baseline.day)), html('span', '', words.from, rankMark(baseline.value))]
  return html(
    'dl',
    'facts',
    fact(target.label, rankMark(current), days.length === 0 ? '' : dayText(days.length - 1)),
    fact(say.keywords.change, days.length < 2 || hasCompared(view) ? statusChange(status) : '–', ...since),
    best === null
      ? fact(words.best, '–', words.neverRanked)
      : fact(words.best, say.number(best.rank), dayText(best.day)),
    keyword.volume === null ? null : fact(words.volume, say.number(keyword.volume), words.searches),
    ...clickFacts(view, status),
    fact(words.firstChecked, html('span', 'small', first === -1 ? '–' : dayText(first))),
    intended !== null &&
      html('div', 'long', html('dt', '', words.targetPage), html('dd', 'small', linkTo(intended))),
  )
}

/** Clicks that are estimated, and beside them those that were counted; nothing where none were added. */
function clickFacts({ history, target, data: { measure } }: View, { keyword, current }: KeywordStatus) {
  const { counted } = keyword
  const { countedClicks: days } = history
  if (days === undefined || !target.own) return []
  const [words, estimated] = [say.keyword, clicksOf(keyword, current, measure.curve)]
  const figure = (value: number): string => say.figure(value, 'clicks a month')
  return [
    estimated === null ? null : fact(say.overview.labels.clicks, figure(estimated)),
    counted === undefined
      ? fact(say.keywords.counted, '–', say.keywords.notCounted)
      : fact(
          say.keywords.counted,
          figure(counted.clicks),
          words.countedOf(figure(counted.impressions), say.decimal(counted.position)),
          say.period.range(say.mediumDay(days.from), say.mediumDay(days.until)),
        ),
  ]
}

function fact(term: string, value: Child, ...notes: readonly (Node | string)[]): HTMLElement {
  return html(
    'div',
    '',
    html('dt', '', html('bdi', '', term)),
    html('dd', '', value),
    ...notes.filter((one) => one !== '').map((one) => html('dd', 'about', one)),
  )
}

/**
 * The dialog with the details of one keyword. When it closes, the focus returns to where it was.
 *
 * @param shown is told the place of the keyword that is shown, and null when the dialog closes
 */
export function keywordDialog(shown: (keyword: number | null) => void) {
  const title = html('h2', { id: 'dialog-title', tabindex: -1 })
  const place = html('p', 'place')
  const body = html('div', 'dialog-body')
  const dialog = html('dialog', { class: 'dialog', 'aria-labelledby': 'dialog-title' })
  const before = icon(say.keyword.previous, '↑', () => show(index - 1))
  const after = icon(say.keyword.next, '↓', () => show(index + 1))
  const close = icon(say.keyword.close, '✕', () => dialog.close())
  const tools = html('div', 'dialog-tools', place, before, after, close)
  dialog.append(html('header', 'dialog-head', title, tools), body)
  let show: (index: number) => void = () => {}
  let index = 0
  // A click on the backdrop is one on the dialog itself.
  dialog.addEventListener('click', ({ target }) => target === dialog && dialog.close())
  dialog.addEventListener('close', () => {
    // Of a table the row of the keyword that was seen last has the focus, if it is drawn.
    const rows = document.activeElement?.closest('tr[data-index]')?.parentElement
    rows?.querySelector<HTMLElement>(`[data-index="${index}"] button`)?.focus()
    shown(null)
  })
  return {
    element: dialog,
    // On paper no dialog can be opened, nor closed.
    close: (): void => {
      if (dialog.open) dialog.close()
    },
    open: (view: View, status: KeywordStatus, all: readonly KeywordStatus[]): void => {
      const distinguish = placesOf(view.history.keywords)
      show = (next) => {
        const one = all[next]
        if (one === undefined) return
        index = next
        title.replaceChildren(html('bdi', '', one.keyword.query))
        const about = distinguish(one.keyword)
        if (about !== '') title.append(' ', html('span', 'about', about))
        place.textContent = say.keyword.place(next + 1, all.length)
        // A button that is disabled would lose the focus.
        before.ariaDisabled = String(next === 0)
        after.ariaDisabled = String(next === all.length - 1)
        body.replaceChildren(keywordDetail(view, one))
        body.scrollTop = 0
        shown(one.series.keyword)
      }
      show(Math.max(0, all.indexOf(status)))
      if (!dialog.open) dialog.showModal()
      title.focus()
    },
  }
}

function icon(label: string, sign: string, click: () => void): HTMLButtonElement {
  return button('icon', click, { 'aria-label': label }, sign)
}

const lane = 20
/** Pixels that a letter of a name takes. */
const letter = 6.5
const widest = 9

/** What stood on the result page beside the results: a row of signs for each feature. Nothing where no answer tells. */
function featuresOverTime({ history, data }: View, { series }: KeywordStatus): readonly HTMLElement[] {
  const { days } = history
  const words = say.serps.features
  const own = data.features.find(({ keyword }) => keyword === series.keyword)
  if (own === undefined || days.length === 0) return []
  const states = featureStates(own, days.length)
  const told = serpFeatures.filter((one) => states.some((state) => featureIn(state, one) !== null))
  if (told.length === 0) return []
  const on = (feature: SerpFeature, day: number): FeatureState => featureIn(states[day] ?? 0, feature)
  const height = told.length * lane + 26
  const gutter = 14 + letter * Math.max(...told.map((one) => words.names[one].length))
  const chart = chartFrame({
    label: words.chart,
    days,
    height,
    draw: (width) => {
      const axis = timeAxis(days, { left: gutter, right: width - 10 })
      const room = (axis.right - axis.left) / Math.max(1, days.length - 1)
      const size = Math.max(2, Math.min(widest, room - 2))
      const marks = told.flatMap((feature, row) => {
        const middle = row * lane + lane / 2
        return [
          gridLine(axis, middle, words.names[feature]),
          ...days.flatMap((_, day) => sign(on(feature, day), axis.x(day), middle, size)),
        ]
      })
      marks.push(timeLabels(days, axis, width, height - 6))
      return { axis, marks, bottom: told.length * lane }
    },
    tip: (day) =>
      told.map((feature) => ({ label: words.names[feature], value: stateText(on(feature, day)) })),
  })
  return [html('h3', '', words.overTime), figure(chart, html('p', 'key', words.key))]
}

function stateText(state: FeatureState): string {
  const { there, notThere } = say.serps.features
  return state === null ? say.ranks.notKnown : state ? there : notThere
}

/** A square, hollow where the feature is not there; nothing where it is not known. */
function sign(state: FeatureState, x: number, y: number, size: number): readonly SVGElement[] {
  if (state === null) return []
  const [left, top] = [round(x - size / 2), round(y - size / 2)]
  const place = { x: left, y: top, width: round(size), height: round(size), rx: 1.5 }
  return [svg('rect', { class: state ? 'feature-there' : 'feature-not-there', ...place })]
}
