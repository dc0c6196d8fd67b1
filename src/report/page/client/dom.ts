export type Child = Node | string | number | null | undefined | false

type Listeners = { readonly [type in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[type]) => void }

/** Attributes by name; false and null leave one away. There is no `style`: the page's policy forbids it. */
export interface Attributes {
  readonly [name: string]: string | number | boolean | null | undefined | Listeners
  readonly style?: never
  readonly on?: Listeners
}

/** An HTML element. Children that are text stay text. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  dress(element, attributes, children)
  return element
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  dress(element, attributes, children)
  return element
}

function dress(element: Element, { on, ...attributes }: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue
    element.setAttribute(name, value === true ? '' : String(value))
  }
  for (const [type, listener] of Object.entries(on ?? {}))
    element.addEventListener(type, listener as EventListener)
  append(element, children)
}

export function append(parent: Element, children: readonly Child[]): void {
  for (const child of children)
    if (child !== null && child !== undefined && child !== false)
      parent.append(typeof child === 'number' ? String(child) : child)
}

/** What only screen readers say. */
export function unseen(text: string): HTMLElement {
  return h('span', { class: 'unseen' }, text)
}

/** What is seen and not said. */
export function unsaid(text: string, className = ''): HTMLElement {
  return h('span', { 'aria-hidden': 'true', class: className || null }, text)
}

/** A name that may go on in the next line behind a dot, a slash or a dash: never within a word that has room in a line. */
export function breakable(name: string): HTMLElement {
  const parts = name.split(/(?<=[./_-])/)
  return h(
    'bdi',
    { class: 'breakable' },
    ...parts.flatMap((part, place) => (place === 0 ? [part] : [h('wbr'), part])),
  )
}

let made = 0

/** An id that no other element has. */
export function freshId(name: string): string {
  made++
  return `${name}-${made}`
}

/** Calls back with the width of an element, in whole pixels, whenever that changes. */
export function onWidth(element: Element, draw: (width: number) => void): void {
  let last = 0
  onResize(element, () => {
    const width = element.clientWidth
    if (width === last || width === 0) return
    last = width
    draw(width)
  })
}

/** Calls back when an element has another size. Not at once: what is drawn may change sizes, and browsers complain of that. */
export function onResize(element: Element, react: () => void): void {
  new ResizeObserver(() => requestAnimationFrame(react)).observe(element)
}
