import { type Child, h } from '../dom.ts'

export interface SectionHead {
  readonly id: string
  readonly title: string
  readonly lead?: Child
}

/** A part of the page with a heading. */
export function section({ id, title, lead }: SectionHead, ...children: readonly Child[]): HTMLElement {
  return h(
    'section',
    { id, 'aria-labelledby': `${id}-title`, class: 'section' },
    h(
      'header',
      {},
      h('h2', { id: `${id}-title`, tabindex: -1 }, title),
      lead ? h('p', { class: 'lead' }, lead) : null,
    ),
    ...children,
  )
}

/** A part of a section. */
export function panel(title: Child, ...children: readonly Child[]): HTMLElement {
  return h('div', { class: 'panel' }, h('h3', {}, title), ...children)
}

/** Said where the filters leave no keyword. */
export const nothingFits = 'No keyword fits what was chosen.'

/** Said in place of what there is nothing of. */
export function empty(text: string): HTMLElement {
  return h('p', { class: 'empty' }, text)
}
