import { micromark } from 'micromark'
import { gfm, gfmHtml } from 'micromark-extension-gfm'

/** Without footnotes and check boxes, which would need ids and fields. */
const withoutFields = {
  disable: {
    null: ['gfmFootnoteDefinition', 'gfmFootnoteCall', 'gfmPotentialFootnoteCall', 'tasklistCheck'],
  },
}

/** The headings of the report come before those of a comment. */
const firstHeading = 3

const allowed = /^(p|ul|ol|li|blockquote|pre|code|em|strong|del|hr|br|table|thead|tbody|tr|th|td)$/
const allowedAttribute = /\s(?:align="(?:left|right|center)"|start="\d+")/g

/**
 * Makes harmless HTML of Markdown: HTML in it is shown as text, pictures as their description, and only links to http, https and
 * mailto stay links.
 */
export function commentOf(markdown: string) {
  const html = micromark(markdown, { extensions: [gfm(), withoutFields], htmlExtensions: [gfmHtml()] })
  return { markdown, html: harmless(html) }
}

/** Quotes and lists one in the other. Deeper ones are no letter, and take minutes and more memory than a browser has. */
const mostDepth = 50
const nestedLine = new RegExp(`^(?:[ \\t]*(?:>|[-*+][ \\t]|\\d{1,9}[.)][ \\t])){${mostDepth + 1}}`, 'm')
const container = /<(\/?)(?:ul|ol|blockquote|em|strong|del)\b/g

/** Whether quotes, lists or emphasis of a comment stand too deep in each other, as far as its text shows before it is read. */
export function looksTooDeep(markdown: string): boolean {
  return nestedLine.test(markdown) || /[*_]{1000}/.test(markdown)
}

/** The same of a comment that was read. */
export function isTooDeep({ html }: { readonly html: string }): boolean {
  let depth = 0
  for (const [, end] of html.matchAll(container)) {
    depth += end === '' ? 1 : -1
    if (depth > mostDepth) return true
  }
  return false
}

/** Keeps the allowed tags of what micromark writes. It escapes every `<` and `"` of the comment itself. */
function harmless(html: string): string {
  const openLinks: boolean[] = []
  return html.replace(/<(\/?)(\w+)([^>]*)>/g, (_, end: string, name: string, attributes: string) => {
    if (name === 'a' && end !== '') return openLinks.pop() === true ? '</a>' : ''
    if (name === 'a') {
      const [, to] = /\shref="((?:https?:\/\/|mailto:)[^"]*)"/i.exec(attributes) ?? []
      const isLink = to !== undefined && !openLinks.includes(true)
      openLinks.push(isLink)
      return isLink ? `<a href="${to}" target="_blank" rel="noopener noreferrer">` : ''
    }
    if (name === 'img') return /\salt="([^"]*)"/.exec(attributes)?.[1] ?? ''
    const [, level] = /^h([1-6])$/.exec(name) ?? []
    if (level !== undefined) return `<${end}h${Math.min(6, Number(level) + firstHeading - 1)}>`
    return allowed.test(name) ? `<${end}${name}${attributes.match(allowedAttribute)?.join('') ?? ''}>` : ''
  })
}
