import { localeText, paramTexts, valueRank } from '../../cells.ts'
import { definitionOf } from '../../headline.ts'
import type { Change, Movement } from '../../history/movement.ts'
import type { DayValue, Keyword, RankHistory } from '../../history/rank-history.ts'
import type { MetricOptions } from '../../metrics/figure.ts'
import { type MetricName, metrics } from '../../metrics/index.ts'
import { lineSample } from './chart/frame.ts'
import { ariaHidden, breakable, type Child, html, srOnly, uniqueId } from './dom.ts'
import { capitalised, decimal, number, percent } from './format.ts'
import { say } from './language.ts'

/** A value in its unit; a dash for null. */
export function metricText(name: MetricName, value: number | null): string {
  if (value === null) return '–'
  const { unit } = metrics[name]
  if (unit === 'share') return percent(value)
  if (unit === 'rank' || unit === 'index') return decimal(value)
  return number(value)
}

/** A value with its change since the compared day. */
export function withDelta(name: MetricName, value: number | null, delta: number | null): HTMLElement {
  return html('span', 'with-delta', metricText(name, value), deltaMark(name, delta))
}

/** The name of a target with a piece of its line in charts. */
export function targetName({ targets }: RankHistory, target: number, badge: Child = null): HTMLElement {
  return html('span', 'target-name', lineSample(target), breakable(targets[target]?.label ?? ''), badge)
}

/**
 * How much better or worse a figure is: `▲ 1.3`, `▼ 0.4 pp` (shares in percentage points), or `=` if the shown digits are
 * equal. Up means better, even if the number is lower.
 */
export function deltaMark(
  name: MetricName,
  delta: number | null,
  better = metrics[name].better,
): HTMLElement | null {
  if (delta === null) return null
  const { unit } = metrics[name]
  const size = Math.abs(delta)
  const isWhole = unit === 'keywords' || unit === 'clicks a month'
  const text = unit === 'share' ? `${decimal(size * 100)} pp` : isWhole ? number(size) : decimal(size)
  if (Number.parseFloat(text) === 0) return html('span', 'change still', ariaHidden('='), srOnly('unchanged'))
  const isBetter = delta > 0 === (better === 'higher')
  return isBetter
    ? mark('up', `▲ ${text}`, `better by ${text}`)
    : mark('down', `▼ ${text}`, `worse by ${text}`)
}

export function metricLabel(name: MetricName): string {
  return capitalised(metrics[name].label)
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

/** The definition of a metric under the options of the report, in sentences. */
export function metricTooltip(name: MetricName, measure: Partial<MetricOptions> = {}): readonly string[] {
  const { definition, denominator, missing, unit, byClicks } = definitionOf(name, measure)
  const { curve } = measure
  return [
    `${definition}.`,
    ...(denominator === null ? [] : [`Of: ${denominator}.`]),
    `Missing: ${missing}.`,
    ...(byClicks && curve !== undefined ? [say.charts.byCurve(`${curve.name}, ${curve.version}`)] : []),
    ...(unit === 'clicks a month' ? [say.charts.clicksAreEstimates] : []),
  ].map(capitalised)
}

/** Groups of keywords by movement. A keyword that ranked on neither day is not in the group `same`. */
export type MovementGroup = Movement | 'unranked'

export const movementLabels: Readonly<Record<MovementGroup, string>> = {
  improved: 'improved',
  declined: 'declined',
  same: 'unchanged',
  unranked: 'still not ranked',
  entered: 'entered',
  left: 'left',
  new: 'new',
  unknown: 'not known',
}

export const movementGroups = Object.keys(movementLabels) as readonly MovementGroup[]

export function movementOf({ movement, change }: Change): MovementGroup {
  return movement === 'same' && change === null ? 'unranked' : movement
}

/** A movement as an arrow and a number, or as a word; never by colour alone. */
export function changeMark(change: Change): HTMLElement {
  const ranks = Math.abs(change.change ?? 0)
  const moved = movementOf(change)
  if (moved === 'improved') return mark('up', `▲ ${ranks}`, `up ${ranks}`)
  if (moved === 'declined') return mark('down', `▼ ${ranks}`, `down ${ranks}`)
  if (moved === 'same') return mark('still', '=', 'unchanged')
  if (moved === 'unranked') return mark('still', '–', 'still not ranked')
  if (moved === 'unknown') return mark('still', '?', 'change not known')
  return mark(moved === 'entered' ? 'up word' : moved === 'left' ? 'down word' : 'still word', moved)
}

function mark(className: string, text: string, spoken = text): HTMLElement {
  const parts = spoken === text ? [text] : [ariaHidden(text), srOnly(spoken)]
  return html('span', `change ${className}`, ...parts)
}

/** A rank in words. */
export function rankText(value: DayValue): string {
  const { state, rank, exactness, absentDepth } = value
  const about = exactness === 'estimated' ? ' (estimated)' : ''
  if (state === 'ranked') return `rank ${rank}${about}`
  return state === 'absent' ? `not in top ${absentDepth}${about}` : 'not known'
}

/** A rank that is shown as {@link valueRank} and spoken as {@link rankText}. */
export function rankMark(value: DayValue): HTMLElement {
  const podium = value.rank !== null && value.rank <= 3 ? ' podium' : ''
  return html('span', `rank ${value.state}${podium}`, ariaHidden(valueRank(value)), srOnly(rankText(value)))
}

export function localeOf({ params }: Keyword): string {
  return localeText(params, ' · ')
}

/** The operation and the params of a query. */
export function requestText({ operation, params }: Keyword): string {
  return [operation, ...paramTexts(params)].join('  ')
}

/** Makes a short text that tells a keyword from others with the same query; empty if there are none. */
export function disambiguate(keywords: readonly Keyword[]): (keyword: Keyword) => string {
  const byText = new Map<string, readonly Keyword[]>()
  for (const one of keywords) byText.set(one.query, [...(byText.get(one.query) ?? []), one])
  return (keyword) => {
    const same = byText.get(keyword.query) ?? []
    const differ = (partOf: (one: Keyword) => string): boolean => new Set(same.map(partOf)).size > 1
    const parts = [localeOf, ({ operation }: Keyword): string => operation].filter(differ)
    if (same.length > 1 && parts.length === 0) return requestText(keyword)
    return parts
      .map((partOf) => partOf(keyword))
      .filter((part) => part !== '')
      .join(' · ')
  }
}
