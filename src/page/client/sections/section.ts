import { ariaHidden, type Child, html, srOnly } from '../dom.ts'
import { say } from '../language.ts'

export interface SectionHead {
  readonly id: string
  readonly title: string
  readonly lead?: Child
}

/** A part of the page with a heading. */
export function section({ id, title, lead }: SectionHead, ...children: readonly Child[]): HTMLElement {
  const heading = html('h2', { id: `${id}-title`, tabindex: -1 }, title)
  return html(
    'section',
    { id, 'aria-labelledby': `${id}-title`, class: 'section' },
    html('header', '', heading, lead ? html('p', 'lead', lead) : null),
    ...children,
  )
}

/** A part of a section. */
export function panel(title: Child, ...children: readonly Child[]): HTMLElement {
  return html('div', 'panel', html('h3', '', title), ...children)
}

/** Parts side by side if they fit. */
export function halves(...panels: readonly HTMLElement[]): HTMLElement {
  return html('div', 'halves', ...panels)
}

/** A chart with its caption. */
export function figure(chart: HTMLElement, ...caption: readonly Child[]): HTMLElement {
  return html('figure', '', chart, caption.length === 0 ? null : html('figcaption', '', ...caption))
}

export function note(...children: readonly Child[]): HTMLElement {
  return html('p', 'note', ...children)
}

/** In place of a part without keywords. */
export const noMatch = (): string => say.ranks.noMatch

/** A text in place of content that is missing. */
export function empty(...children: readonly Child[]): HTMLElement {
  return html('p', 'empty', ...children)
}

/** An empty cell, with the reason for screen readers. */
export function noValue(why: string): HTMLElement {
  return html('span', 'none', ariaHidden('–'), srOnly(why))
}
