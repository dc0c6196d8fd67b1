import { placesOf } from '../../../../report/cells.ts'
import type { KeywordStatus } from '../../../../report/history/keyword-status.ts'
import { groupOf, type MovementGroup, movementGroups } from '../../../../report/history/movement.ts'
import { type Mover, winnersAndLosers } from '../../../../report/metrics/movements.ts'
import { ariaHidden, button, html, srOnly } from '../../dom.ts'
import type { Filters } from '../../filters.ts'
import { number } from '../../format.ts'
import { say } from '../../language.ts'
import { metricTooltip, movementLabel, rankMark, shortStatusChange, withTooltip } from '../../text.ts'
import type { View } from '../../view.ts'
import type { OpenKeyword } from '../keywords.ts'
import { empty, halves, panel } from '../section.ts'

/** Keywords in a list at most. */
const most = 6

/** Winners and losers by clicks, with what they gain and lose in all; null where there are neither. */
export function movers({ statuses, data, history }: View, open: OpenKeyword): HTMLElement | null {
  const words = say.overview
  const distinguish = placesOf(history.keywords)
  const { winners, losers } = winnersAndLosers(statuses, data.measure.curve)
  if (winners.length + losers.length === 0) return null
  const gains = [...winners, ...losers].flatMap(({ gain }) => (gain === null ? [] : [gain]))
  const net = gains.reduce((sum, gain) => sum + gain, 0)
  return html(
    'div',
    '',
    halves(list(words.winners, winners, words.noWinners), list(words.losers, losers, words.noLosers)),
    gains.length === 0 ? null : html('p', 'net', words.net(net)),
  )

  function list(title: string, all: readonly Mover[], none: string): HTMLElement {
    const order = all.map(({ status }) => status)
    const items = all.slice(0, most).map((mover) => item(mover, order))
    return panel(
      html(
        'span',
        'movers-head',
        withTooltip(title, metricTooltip('gain', data.measure)),
        gains.length === 0 || items.length === 0 ? null : html('span', 'unit', words.clicksAMonth),
      ),
      items.length === 0
        ? empty(none)
        : html('ol', `movers${gains.length === 0 ? '' : ' with-gain'}`, ...items),
    )
  }

  function item({ status, gain }: Mover, all: readonly KeywordStatus[]): HTMLElement {
    const { keyword, current, baseline } = status
    const about = distinguish(keyword)
    const query = html('bdi', { title: keyword.query }, keyword.query)
    const before = baseline === null ? null : rankMark(baseline.value)
    return html(
      'li',
      '',
      button(
        '',
        () => open(status, all),
        { 'aria-haspopup': 'dialog' },
        html('span', 'name', query, about === '' ? null : html('span', 'about', about)),
        html('span', 'from-to', before, ' → ', rankMark(current)),
        shortStatusChange(status),
        gains.length === 0 ? null : gainMark(gain),
      ),
    )
  }
}

/** Clicks a month more or fewer; a dash without a volume. */
function gainMark(gain: number | null): HTMLElement {
  if (gain === null || Math.round(gain) === 0)
    return html('span', 'gain none', ariaHidden(gain === null ? '–' : '0'))
  const spoken = gain > 0 ? say.overview.clicksMore(gain) : say.overview.clicksFewer(gain)
  return html('span', { class: 'gain', title: spoken }, ariaHidden(say.overview.gain(gain)), srOnly(spoken))
}

export interface Moves {
  readonly element: HTMLElement
  /** Shows the button of a movement as pressed; none for an empty text. */
  press(movement: string): void
}

/**
 * How many keywords moved in each way. Each number is a button that filters the table of keywords. The caller says which one
 * is pressed.
 */
export function moved({ statuses }: View, choose: (change: Partial<Filters>) => void): Moves {
  const counts = new Map<string, number>()
  for (const { change } of statuses) {
    const name = groupOf(change)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const buttons = movementGroups.map((name) =>
    button(
      '',
      ({ currentTarget }) => {
        const isPressed = (currentTarget as Element).getAttribute('aria-pressed') === 'true'
        choose({ movement: isPressed ? '' : name })
      },
      { 'data-movement': name },
      html('b', '', number(counts.get(name) ?? 0)),
      movementLabel(name),
    ),
  )
  const attributes = {
    class: 'moved',
    role: 'group',
    'aria-label': say.overview.filterByMovement,
  }
  return { element: html('div', attributes, ...buttons), press }

  function press(movement: string): void {
    for (const [place, one] of buttons.entries()) {
      const name = movementGroups[place] as MovementGroup
      one.setAttribute('aria-pressed', String(movement === name))
      one.hidden = !counts.has(name) && movement !== name
    }
  }
}
