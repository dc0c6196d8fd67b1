import vm from 'node:vm'
import { parseHTML } from 'linkedom'
import { escaped } from '../output/markup.ts'
import type { DataElement, WholePage } from './packed.ts'

/** Runs the page's own script in a world of its own. The data are never part of the script. */
export async function drawnPage(data: WholePage, script: string) {
  const { globals, ...page } = pageWindow(data)
  await vm.runInNewContext(`(async () => {'use strict';${script}\n})()`, globals)
  return page
}

/**
 * The HTML of what the page shows first, as its own script draws it: a browser can show it before that script runs, which then puts
 * the same in its place. Charts are not part of it, because they are as wide as the window.
 */
export async function firstScreen(data: WholePage, script: string): Promise<string> {
  const { root } = await drawnPage(data, script)
  for (const unseen of root.querySelectorAll(notSeenFirst)) unseen.remove()
  return Array.from(root.querySelectorAll('#report > *'), (part) => serialised(part, screen)).join('')
}

const notSeenFirst = 'main > :nth-child(n + 2), .main-plot > *'

/** A window without a screen: elements have no size, nothing scrolls, and events come from `print` only. */
function pageWindow(drawn: WholePage) {
  const { document, Node, Element, HTMLElement, HTMLSelectElement } = parseHTML(frame)
  settable(HTMLSelectElement.prototype, 'value')
  Object.assign(HTMLElement.prototype, ofScreens)
  const elementById = document.getElementById.bind(document)
  const element: DataElement = { textContent: '', drawn }
  Object.defineProperty(document, 'getElementById', {
    value: (id: string) => (id === 'page-data' ? element : elementById(id)),
  })
  const events = new EventTarget()
  const waiting: (() => void)[] = []
  const later = (step: () => void): number => waiting.push(step)
  const nothing = (): void => {}
  const globals = {
    document,
    Node,
    Element,
    HTMLElement,
    URL,
    URLSearchParams,
    window: Object.assign(events, { print: nothing, requestIdleCallback: later }),
    location: { hash: '', href: 'about:blank', protocol: 'file:' },
    history: { pushState: nothing, replaceState: nothing },
    Text: class {
      constructor(text = '') {
        // biome-ignore lint/correctness/noConstructorReturn: linkedom makes texts by documents only.
        return document.createTextNode(text)
      }
    },
    matchMedia: () => ({ matches: false, addEventListener: nothing }),
    ResizeObserver: class {
      observe(): void {}
      disconnect(): void {}
    },
    requestIdleCallback: later,
    cancelIdleCallback: nothing,
    requestAnimationFrame: later,
    setTimeout: later,
    clearTimeout: nothing,
    getSelection: () => null,
  }
  return {
    globals,
    root: document.documentElement,
    print: () => {
      for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) step()
      events.dispatchEvent(new Event('beforeprint'))
    },
  }
}

const frame = '<!doctype html><html><head></head><body><div id="report"></div></body></html>'

/**
 * What elements do on a screen, and nothing comes of on paper; linkedom has none of it. Made once: the elements of all windows share
 * it, and a function of one window would keep all that was drawn in it.
 */
const ofScreens = Object.fromEntries(
  ['close', 'show', 'showModal', 'focus', 'blur', 'select', 'scrollIntoView', 'scrollTo'].map((name) => [
    name,
    () => {},
  ]),
)

/** Some properties can only be read in linkedom; what a page sets is of no use on paper. */
function settable(prototype: object, name: string): void {
  Object.defineProperty(prototype, name, { get: () => '', set: () => {}, configurable: true })
}

interface HtmlNode {
  readonly nodeType: number
  readonly nextSibling: unknown
}

/** As much of an element of any DOM as is needed to write it. */
export interface HtmlElement extends HtmlNode {
  readonly localName: string
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>
  readonly firstChild: unknown
  getAttribute(name: string): string | null
  querySelector(selector: string): unknown
  querySelectorAll(selector: string): Iterable<HtmlElement>
  remove(): void
}

/** Elements without an end. */
const isVoid: ReadonlySet<string> = new Set(['br', 'col', 'hr', 'img', 'input', 'wbr'])
/** Elements that hold no text, but code. Their content is left out as well. */
const code = [
  'script',
  'style',
  'template',
  'noscript',
  'textarea',
  'title',
  'xmp',
  'iframe',
  'object',
  'embed',
]

/** What the HTML is for, and what is left out of it. */
interface Medium {
  readonly elements: ReadonlySet<string>
  readonly classes: ReadonlySet<string>
  readonly attributes: RegExp
  /** Whether what is hidden at first is left out as well. */
  readonly isVisible?: true
}

/** Paper has nothing that can be pressed, and nothing that the style sheet does not print. */
export const paper: Medium = {
  elements: new Set([...code, 'dialog', 'form', 'input', 'nav', 'select']),
  classes: new Set(['controls', 'only-screen', 'skip', 'tip', 'tools', 'tooltip']),
  attributes: /^(on|data-(index|medium)$|aria-rowindex$|tabindex$)/i,
}

/** A screen at first shows nothing that is shown when the reader asks for it. The policy of the page forbids styles of elements. */
export const screen: Medium = {
  elements: new Set([...code, 'dialog']),
  classes: new Set(['only-print', 'tooltip']),
  attributes: /^(on|data-medium$|style$|aria-describedby$)/i,
  isVisible: true,
}

/**
 * The HTML of what an element shows. Text and values stay text, whatever is in them; no element can run anything, for
 * those that could are left out, and attributes that listen as well.
 */
export function serialised(element: unknown, medium: Medium): string {
  const pieces: string[] = []
  write(element as HtmlNode, medium, pieces)
  return pieces.join('')
}

function write(node: HtmlNode, medium: Medium, pieces: string[]): void {
  if (isText(node)) pieces.push(escaped(node.data))
  else if (isElement(node)) writeElement(node, medium, pieces)
}

function writeElement(element: HtmlElement, medium: Medium, pieces: string[]): void {
  const { localName, attributes } = element
  if (medium.elements.has(localName.toLowerCase())) return
  if ((element.getAttribute('class') ?? '').split(' ').some((name) => medium.classes.has(name))) return
  if (medium.isVisible && element.getAttribute('hidden') !== null) return
  pieces.push(`<${localName}`)
  for (const { name, value } of attributes)
    if (!medium.attributes.test(name) && isSafe(name, value)) pieces.push(` ${name}="${escaped(value)}"`)
  pieces.push('>')
  if (isVoid.has(localName)) return
  for (let child = element.firstChild; child !== null; child = (child as HtmlNode).nextSibling)
    write(child as HtmlNode, medium, pieces)
  pieces.push(`</${localName}>`)
}

/** A link that chooses filters of the page leads nowhere without its script. */
function isSafe(name: string, value: string): boolean {
  return name.toLowerCase() !== 'href' || /^(https?|mailto):/i.test(value) || /^#[\w-]+$/.test(value)
}

function isText(node: HtmlNode): node is HtmlNode & { readonly data: string } {
  return node.nodeType === 3
}

function isElement(node: HtmlNode): node is HtmlElement {
  return node.nodeType === 1
}
