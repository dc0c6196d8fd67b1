import type { Choice } from '../choice.ts'
import { h } from '../dom.ts'
import { number } from '../format.ts'
import { type Moved, movedNames, movedWords, movementOf } from '../movement-text.ts'
import type { View } from '../view.ts'

export interface Moves {
  readonly element: HTMLElement
  /** Shows the button of a movement as pressed; that of none where it is empty. */
  press(movement: string): void
}

/**
 * How many keywords moved in which way; each is a button that leaves only those in the table of keywords. Which is pressed is
 * for the caller to say.
 */
export function moved({ standings }: View, choose: (change: Partial<Choice>) => void): Moves {
  const counts = new Map<string, number>()
  for (const { change } of standings) {
    const name = movementOf(change)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const buttons = movedNames.map((name) =>
    h(
      'button',
      {
        type: 'button',
        'data-movement': name,
        on: {
          click: ({ currentTarget }) => {
            const isPressed = (currentTarget as Element).getAttribute('aria-pressed') === 'true'
            choose({ movement: isPressed ? '' : name })
          },
        },
      },
      h('b', {}, number(counts.get(name) ?? 0)),
      movedWords[name],
    ),
  )
  return {
    element: h(
      'div',
      { class: 'moved', role: 'group', 'aria-label': 'List only keywords that moved so' },
      ...buttons,
    ),
    press,
  }

  function press(movement: string): void {
    for (const [place, button] of buttons.entries()) {
      const name = movedNames[place] as Moved
      button.setAttribute('aria-pressed', String(movement === name))
      button.hidden = !counts.has(name) && movement !== name
    }
  }
}
