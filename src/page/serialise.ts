import { escaped } from '../output/markup.ts'

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

interface HtmlText extends HtmlNode {
  readonly data: string
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
  classes: new Set(['only-print', 'picker-panel', 'tooltip']),
  attributes: /^(on|data-medium$|style$|aria-describedby$)/i,
  isVisible: true,
}

/**
 * The HTML of what an element shows. Text and values stay text, whatever is in them; no element can run anything, for
 * those that could are left out, and attributes that listen as well.
 */
export function serialised(element: unknown, medium: Medium): string {
  const pieces: string[] = []
  write(element as HtmlElement, medium, pieces)
  return pieces.join('')
}

function write(node: HtmlElement | HtmlText, medium: Medium, pieces: string[]): void {
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
    write(child as HtmlElement | HtmlText, medium, pieces)
  pieces.push(`</${localName}>`)
}

/** A link that chooses filters of the page leads nowhere without its script. */
function isSafe(name: string, value: string): boolean {
  return name.toLowerCase() !== 'href' || /^(https?|mailto):/i.test(value) || /^#[\w-]+$/.test(value)
}

function isText(node: HtmlNode): node is HtmlText {
  return node.nodeType === 3
}

function isElement(node: HtmlNode): node is HtmlElement {
  return node.nodeType === 1
}
