import type { Language } from '../../model/settings.ts'
import { valueRank } from '../../report/cells.ts'
import type { KeywordStatus } from '../../report/history/keyword-status.ts'
import { groupOf, type MovementGroup, type RankMovement } from '../../report/history/movement.ts'
import type { DayValue } from '../../report/history/rank-history.ts'
import { curveName, type MetricDefinition, type MetricOptions } from '../../report/metrics/figure.ts'
import { type ShownMetric, shownMetrics } from '../../report/metrics/index.ts'
import type { FigureChange } from '../../report/words/formats.ts'
import { type Words, wordsOf } from '../../report/words/words.ts'
import { ariaHidden, html, srOnly } from './dom.ts'

/** The words of the page. They are chosen once, before anything is drawn. */
export let say: Words = wordsOf('en')

export function speak(language: Language): void {
  say = wordsOf(language)
  document.documentElement.lang = language
}

/** A value in its unit; a dash for null. */
export function metricText(name: ShownMetric, value: number | null): string {
  return value === null ? '–' : say.figure(value, shownMetrics[name].unit)
}

/** How a figure changed since the compared day; within its usual swing it is grey. */
export function deltaMark(name: ShownMetric, delta: number | null, isUsual: boolean): HTMLElement | null {
  if (delta === null) return null
  const { unit, better } = shownMetrics[name]
  return changeMark(say.changeOf(delta, unit, { better, isUsual }))
}

/** A change of a figure: up means better, even if the number is lower. */
export function changeMark({ text, way }: FigureChange): HTMLElement {
  const [sign = '', ...size] = text.split(' ')
  if (size.length === 0) return html('span', 'change still', ariaHidden(text), srOnly(say.ranks.unchanged))
  const spoken = say.ranks[sign === '▲' ? 'better' : 'worse'](size.join(' '))
  if (way !== 'same') return mark(way === 'better' ? 'up' : 'down', text, spoken)
  const usual = mark('usual', text, `${spoken}, ${say.ranks.usual}`)
  usual.title = say.ranks.usual
  return usual
}

let ids = 0

/** An id that no other element has. */
function uniqueId(name: string): string {
  return `${name}-${++ids}`
}

/** A term with its meaning, which is shown on hover and focus. */
export function withTooltip(text: string, meaning: readonly string[]): HTMLElement {
  const id = uniqueId('meaning')
  const lines = meaning.map((one) => html('span', '', one))
  const tooltip = html('span', { class: 'tooltip', role: 'tooltip', id }, ...lines)
  const button = html('button', { type: 'button', class: 'term', 'aria-describedby': id }, text)
  const term = html('span', 'with-tooltip', button, tooltip)
  // Escape hides it without moving pointer or focus.
  term.addEventListener('keydown', ({ key }) => term.classList.toggle('dismissed', key === 'Escape'))
  term.addEventListener('pointerenter', () => term.classList.remove('dismissed'))
  button.addEventListener('blur', () => term.classList.remove('dismissed'))
  return term
}

/** The definition of a metric under the options of the report, and its formula. */
export function metricTooltip(name: ShownMetric, measure: Partial<MetricOptions> = {}): readonly string[] {
  const { definition, formula } = say.metric(name, measure)
  const { unit, byClicks }: MetricDefinition = shownMetrics[name]
  const { curve } = measure
  const byCurve = byClicks && curve !== undefined ? say.charts.byCurve(curveName(curve)) : ''
  const estimates = unit === 'clicks a month' ? say.charts.clicksAreEstimates : ''
  return [definition, formula, byCurve, estimates].filter((line) => line !== '')
}

/** A group of keywords that moved in one way, such as `new in top 30` for keywords that were checked to one depth. */
export function movementLabel(group: MovementGroup, depth: number | null = null): string {
  return say.ranks.group(group, depth)
}

/** The depth to which all of these keywords count as not found; null if there are several, or none. */
export function commonDepth(statuses: readonly KeywordStatus[]): number | null {
  const absent = statuses
    .flatMap(({ current, baseline }) => [current, baseline?.value])
    .flatMap((value) => (value?.state === 'absent' ? (value.absentDepth ?? []) : []))
  const [depth, ...others] = new Set(absent)
  return others.length > 0 ? null : (depth ?? null)
}

/** How a keyword moved since the compared day. */
export function statusChange(status: KeywordStatus): HTMLElement {
  return movementMark(status.change, commonDepth([status]))
}

/**
 * A movement as an arrow and a number, or in words; never by colour alone.
 *
 * @param depth how many results were checked, where the target was not found among them
 */
export function movementMark(change: RankMovement, depth: number | null = null): HTMLElement {
  const { up, down, unchanged, changeNotKnown } = say.ranks
  const ranks = Math.abs(change.change ?? 0)
  const group = groupOf(change)
  const text = movementLabel(group, depth)
  if (group === 'improved') return mark('up', `▲ ${say.number(ranks)}`, up(ranks))
  if (group === 'declined') return mark('down', `▼ ${say.number(ranks)}`, down(ranks))
  if (group === 'same') return mark('still', '=', unchanged)
  if (group === 'unranked') return mark('still', '–', text)
  if (group === 'unknown') return mark('still', '?', changeNotKnown)
  return mark(wordClass(group), text)
}

/** A movement in one word at most; its whole words are for the pointer, and are spoken. */
export function shortStatusChange(status: KeywordStatus): HTMLElement {
  const group = groupOf(status.change)
  if (!['entered', 'left', 'new'].includes(group)) return statusChange(status)
  const whole = movementLabel(group, commonDepth([status]))
  const short = mark(wordClass(group), say.ranks.shortGroup(group), whole)
  short.title = whole
  return short
}

function wordClass(group: MovementGroup): string {
  return group === 'entered' ? 'up word' : group === 'left' ? 'down word' : 'still word'
}

function mark(className: string, text: string, spoken = text): HTMLElement {
  const parts = spoken === text ? [text] : [ariaHidden(text), srOnly(spoken)]
  return html('span', `change ${className}`, ...parts)
}

/** A rank in words. */
export function rankText(value: DayValue): string {
  const { rank, notInTop, estimated, notKnown } = say.ranks
  if (value.state === 'unknown') return notKnown
  const text = value.rank === null ? notInTop(value.absentDepth ?? 0) : rank(value.rank)
  return value.exactness === 'estimated' ? estimated(text) : text
}

/** A rank that is shown as {@link valueRank} and spoken as {@link rankText}. */
export function rankMark(value: DayValue): HTMLElement {
  const podium = value.rank !== null && value.rank <= 3 ? ' podium' : ''
  return html('span', `rank ${value.state}${podium}`, ariaHidden(valueRank(value)), srOnly(rankText(value)))
}

/** The name of a tag; an empty tag stands for having none. */
export function tagName(tag: string): string {
  return tag === '' ? say.scorecards.noTag : tag
}

/** A text, or as much of it as has room. */
export function shortened(text: string, most: number): string {
  if (lengthOf(text) <= most) return text
  const kept = [...text].slice(0, most - 1).join('')
  return `${kept.trimEnd()}…`
}

/** Its letters, whatever they are made of. */
export function lengthOf(text: string): number {
  return [...text].length
}
