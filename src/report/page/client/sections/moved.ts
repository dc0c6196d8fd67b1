import { countMovements, movementNames } from '../../../metrics/movements.ts'
import type { Choice } from '../choice.ts'
import { h } from '../dom.ts'
import { number } from '../format.ts'
import { movementWords } from '../movement-text.ts'
import type { View } from '../view.ts'

/** How many keywords moved in which way; each is a button that leaves only those in sight. */
export function moved({ standings, choice }: View, choose: (change: Partial<Choice>) => void): HTMLElement {
  const counts = countMovements(standings.map(({ change }) => change))
  return h(
    'div',
    { class: 'moved', role: 'group', 'aria-label': 'Show only keywords that moved so' },
    ...movementNames
      .filter((name) => counts[name] > 0 || choice.movement === name)
      .map((name) =>
        h(
          'button',
          {
            type: 'button',
            'aria-pressed': String(choice.movement === name),
            'data-movement': name,
            on: { click: () => choose({ movement: choice.movement === name ? '' : name }) },
          },
          h('b', {}, number(counts[name])),
          movementWords[name],
        ),
      ),
  )
}
