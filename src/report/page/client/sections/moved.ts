import type { Choice } from '../choice.ts'
import { h } from '../dom.ts'
import { number } from '../format.ts'
import { movedNames, movedWords, movementOf } from '../movement-text.ts'
import type { View } from '../view.ts'

/** How many keywords moved in which way; each is a button that leaves only those in the table of keywords. */
export function moved({ standings, choice }: View, choose: (change: Partial<Choice>) => void): HTMLElement {
  const all = standings.map(({ change }) => movementOf(change))
  return h(
    'div',
    { class: 'moved', role: 'group', 'aria-label': 'List only keywords that moved so' },
    ...movedNames
      .map((name) => ({ name, count: all.filter((one) => one === name).length }))
      .filter(({ name, count }) => count > 0 || choice.movement === name)
      .map(({ name, count }) =>
        h(
          'button',
          {
            type: 'button',
            'aria-pressed': String(choice.movement === name),
            'data-movement': name,
            on: { click: () => choose({ movement: choice.movement === name ? '' : name }) },
          },
          h('b', {}, number(count)),
          movedWords[name],
        ),
      ),
  )
}
