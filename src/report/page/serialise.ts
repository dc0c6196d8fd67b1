import { escaped } from '../../output/markup.ts'

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
}

interface HtmlText extends HtmlNode {
  readonly data: string
}

/** Elements without an end. */
const isVoid: ReadonlySet<string> = new Set(['br', 'col', 'hr', 'img', 'input', 'wbr'])
/** Elements that hold no text, but code, or that are for the screen only. Their content is left out as well. */
const isLeftOut: ReadonlySet<string> = new Set([
  ...['script', 'style', 'template', 'noscript', 'textarea', 'title', 'xmp', 'iframe', 'object', 'embed'],
  ...['dialog', 'form', 'input', 'nav', 'select'],
])
/** Classes of what the style sheet does not print. */
const onScreenOnly: ReadonlySet<string> = new Set([
  'controls',
  'only-screen',
  'skip',
  'tip',
  'tools',
  'tooltip',
])

/**
 * The HTML of what an element shows on paper. Text and values stay text, whatever is in them; no element can run anything, for
 * those that could are left out, and attributes that listen as well.
 */
export function serialised(element: unknown): string {
  const pieces: string[] = []
  write(element as HtmlElement, pieces)
  return pieces.join('')
}

function write(node: HtmlElement | HtmlText, pieces: string[]): void {
  if (isText(node)) pieces.push(escaped(node.data))
  else if (isElement(node)) writeElement(node, pieces)
}

function writeElement(element: HtmlElement, pieces: string[]): void {
  const { localName, attributes } = element
  if (isLeftOut.has(localName.toLowerCase())) return
  if ((element.getAttribute('class') ?? '').split(' ').some((name) => onScreenOnly.has(name))) return
  pieces.push(`<${localName}`)
  for (const { name, value } of attributes)
    if (isPrinted(name, value)) pieces.push(` ${name}="${escaped(value)}"`)
  pieces.push('>')
  if (isVoid.has(localName)) return
  for (let child = element.firstChild; child !== null; child = (child as HtmlNode).nextSibling)
    write(child as HtmlElement | HtmlText, pieces)
  pieces.push(`</${localName}>`)
}

/** A link that chooses filters of the page leads nowhere on paper. */
function isPrinted(name: string, value: string): boolean {
  if (/^(on|data-(index|medium)$|aria-rowindex$|tabindex$)/i.test(name)) return false
  return name !== 'href' || /^(https?|mailto):/i.test(value) || /^#[\w-]+$/.test(value)
}

function isText(node: HtmlNode): node is HtmlText {
  return node.nodeType === 3
}

function isElement(node: HtmlNode): node is HtmlElement {
  return node.nodeType === 1
}
