import { shortLink } from '../../report/cells.ts'

export type Child = Node | string | number | null | undefined | false

/** Attributes by name; false and null omit one. There is no `style`, because the policy of the page forbids it. */
export interface Attributes {
  readonly [name: string]: string | number | boolean | null | undefined | Attributes['on']
  readonly style?: never
  readonly on?: { readonly [type in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[type]) => void }
}

/** An HTML element. A text in place of attributes is its class. Children that are text stay text. */
export function html<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes | string = '',
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children)
}

/** An SVG element. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes | string = '',
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children)
}

/** Called for thousands of elements whenever a filter is chosen. */
function fill<E extends Element>(element: E, given: Attributes | string, children: readonly Child[]): E {
  if (typeof given !== 'string') setAll(element, given)
  else if (given !== '') element.setAttribute('class', given)
  for (const child of children)
    if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child))
  return element
}

export function setAll(element: Element, { on, ...attributes }: Attributes): void {
  for (const name in attributes) {
    const value = attributes[name]
    if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value))
  }
  for (const type in on) element.addEventListener(type, on[type as keyof typeof on] as EventListener)
}

/** A button that submits no form. */
export function button(
  className: string,
  click: (event: MouseEvent) => void,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLButtonElement {
  const all = { type: 'button', class: className || null, ...attributes, on: { click } }
  return html('button', all, ...children)
}

/** A name, and below it more about it. */
export function twoLines(name: Child, about: Child): HTMLElement {
  return html('span', 'two-lines', name, ' ', html('span', 'about', about))
}

/** A text for screen readers only. */
export function srOnly(text: string): HTMLElement {
  return html('span', 'sr-only', text)
}

/** A text that screen readers skip. */
export function ariaHidden(text: string, className = ''): HTMLElement {
  return html('span', { 'aria-hidden': 'true', class: className || null }, text)
}

/** A name that may break after a dot, a slash or a dash, but not within a word that fits into a line. */
export function breakable(name: string): HTMLElement {
  const parts = name.split(/(?<=[./_-])(?=\S)/)
  const broken = parts.flatMap((part, place) => (place === 0 ? [part] : [html('wbr'), part]))
  return html('bdi', 'breakable', ...broken)
}

/** Calls back when the size of an element changes. Not at once: drawing may change sizes, and browsers report that as an error. */
export function onResize(element: Element, react: () => void): void {
  new ResizeObserver(() => requestAnimationFrame(react)).observe(element)
}

/** A link that opens in a new window; text if it is not a web address. */
export function linkTo(link: string, text = shortLink(link)): HTMLElement {
  const attributes = { class: 'link', title: link, dir: 'ltr' }
  if (!isWeb(link)) return html('span', attributes, ...inOrder(text))
  const opening = { href: link, target: '_blank', rel: 'noopener noreferrer' }
  return html('a', { ...attributes, ...opening }, ...inOrder(text))
}

/** Scripts that are written from right to left. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|[\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** The parts of a link from left to right, isolated so that they keep their order. */
function inOrder(text: string): readonly Child[] {
  if (!rightToLeft.test(text)) return [text]
  return text.split(/([/?&=#]+)/).map((part) => (rightToLeft.test(part) ? html('bdi', '', part) : part))
}

function isWeb(link: string): boolean {
  try {
    return ['http:', 'https:'].includes(new URL(link).protocol)
  } catch {
    return false
  }
}

// Rules of the page are tested outside a browser, where there are no media.
const print = globalThis.matchMedia?.('print')
/** Screens on which names have two lines, as in the style sheet. */
const narrow = globalThis.matchMedia?.('screen and (max-width: 760px)')
/** Set by events, because in Safari the media query does not change for a print. */
let isAboutToPrint = false

/** Whether the page is on paper now. */
export function isPrinted(): boolean {
  return isAboutToPrint || print.matches
}

const reactions = new WeakMap<Element, () => void>()

/** Calls back before and after a print, and when a screen becomes narrow or wide. Removed elements are forgotten. */
export function onMedium(element: Element, react: () => void): void {
  element.setAttribute('data-medium', '')
  reactions.set(element, react)
}

function redrawAll(): void {
  for (const element of document.querySelectorAll('[data-medium]')) reactions.get(element)?.()
}

for (const medium of [print, narrow]) medium?.addEventListener('change', redrawAll)
for (const [event, isBefore] of [
  ['beforeprint', true],
  ['afterprint', false],
] as const)
  globalThis.window?.addEventListener(event, () => {
    isAboutToPrint = isBefore
    redrawAll()
  })

/** A part of the page with a heading. */
export function section(
  { id, title, lead }: { readonly id: string; readonly title: string; readonly lead?: Child },
  ...children: readonly Child[]
): HTMLElement {
  const heading = html('h2', { id: `${id}-title`, tabindex: -1 }, title)
  const head = html('header', '', heading, lead && html('p', 'lead', lead))
  return html('section', { id, 'aria-labelledby': `${id}-title`, class: 'section' }, head, ...children)
}

/** A chart with its caption. */
export function figure(chart: HTMLElement, ...caption: readonly Child[]): HTMLElement {
  return html('figure', '', chart, caption.length === 0 ? null : html('figcaption', '', ...caption))
}

export function note(...children: readonly Child[]): HTMLElement {
  return html('p', 'note', ...children)
}

/** A text in place of content that is missing. */
export function empty(...children: readonly Child[]): HTMLElement {
  return html('p', 'empty', ...children)
}

/** An empty cell, with the reason for screen readers. */
export function noValue(why: string): HTMLElement {
  return html('span', 'none', ariaHidden('–'), srOnly(why))
}

/** Whether the screen is a phone. */
export function isNarrow(): boolean {
  return narrow?.matches ?? false
}
