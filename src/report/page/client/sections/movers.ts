import type { KeywordStatus } from '../../../history/keyword-status.ts'
import { groupOf, type MovementGroup, movementGroups } from '../../../history/movement.ts'
import { type Mover, winnersAndLosers } from '../../../metrics/movements.ts'
import { button, html } from '../dom.ts'
import type { Filters } from '../filters.ts'
import { number } from '../format.ts'
import { disambiguate, metricTooltip, movementLabel, rankMark, statusChange, withTooltip } from '../text.ts'
import type { View } from '../view.ts'
import type { OpenKeyword } from './keywords.ts'
import { empty, halves, panel } from './section.ts'

/** Keywords in a list at most. */
const most = 6

/** Winners and losers by clicks. */
export function movers({ statuses, data, history }: View, open: OpenKeyword): HTMLElement {
  const distinguish = disambiguate(history.keywords)
  const { winners, losers } = winnersAndLosers(statuses, data.measure.curve)
  return halves(
    list('Winners', winners, 'No keyword improved or entered.'),
    list('Losers', losers, 'No keyword declined or left.'),
  )

  function list(title: string, all: readonly Mover[], none: string): HTMLElement {
    const order = all.map(({ status }) => status)
    const items = order.slice(0, most).map((status) => item(status, order))
    return panel(
      withTooltip(title, metricTooltip('gain', data.measure)),
      items.length === 0 ? empty(none) : html('ol', 'movers', ...items),
    )
  }

  function item(status: KeywordStatus, all: readonly KeywordStatus[]): HTMLElement {
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
        statusChange(status),
      ),
    )
  }
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
    'aria-label': 'Filter the table of keywords by movement',
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
