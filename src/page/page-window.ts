import vm from 'node:vm'
import { parseHTML } from 'linkedom'
import { type HtmlElement, screen, serialised } from './serialise.ts'

/** A page that its own script has drawn, in a window without a screen. */
export interface DrawnPage {
  readonly root: HtmlElement
  /** Draws everything, as a browser asks a page to before it prints. */
  readonly print: () => void
}

/**
 * Runs the page's own script in a world of its own.
 *
 * @param json what the page reads its data from; it is never part of the script
 */
export async function drawnPage(json: string, script: string): Promise<DrawnPage> {
  const { globals, ...page } = pageWindow(json)
  await vm.runInNewContext(`(async () => {'use strict';${script}\n})()`, globals)
  return page
}

/**
 * The HTML of what the page shows first, as its own script draws it: a browser can show it before that script runs, which then puts
 * the same in its place. Charts are not part of it, because they are as wide as the window.
 *
 * @param json what the page reads its data from
 */
export async function firstScreen(json: string, script: string): Promise<string> {
  const { root } = await drawnPage(json, script)
  for (const unseen of root.querySelectorAll(notSeenFirst)) unseen.remove()
  return Array.from(root.querySelectorAll('#report > *'), (part) => serialised(part, screen)).join('')
}

const notSeenFirst = 'main > :nth-child(n + 2), .main-plot > *'

interface PageWindow extends DrawnPage {
  /** What the script of the page finds in a browser. */
  readonly globals: Readonly<Record<string, unknown>>
}

/** A window without a screen: elements have no size, nothing scrolls, and events come from `print` only. */
function pageWindow(json: string): PageWindow {
  const { document, Node, Element, HTMLElement, HTMLSelectElement } = parseHTML(frame)
  settable(HTMLSelectElement.prototype, 'value')
  Object.assign(HTMLElement.prototype, ofScreens)
  const elementById = document.getElementById.bind(document)
  Object.defineProperty(document, 'getElementById', {
    value: (id: string) => (id === 'page-data' ? { textContent: json } : elementById(id)),
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
