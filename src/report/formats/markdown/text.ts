import { parseUrl } from '../../../model/url.ts'
import { sanitize } from '../../../output/terminal.ts'

/** Invisible, and of no width: what stands on both sides of it is not one name. */
const joiner = '\u2060'

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * Text from outside, so that it stays text wherever it stands: no emphasis, code, links, HTML, lists, headings or cells come
 * of it; nor, on the sites that read names, mentions (`@name`) or references (`#12`): these have a word joiner in them.
 */
export function mdText(text: string): string {
  const line = sanitize(text).replace(/\s+/g, ' ').trim()
  return (
    line
      .replace(/[\\`*_[\]|~$!]/g, '\\$&')
      // What would be a list, or a rule.
      .replace(/^[-+=]/, '\\$&')
      .replace(/^(\d+)([.)])/, '$1\\$2')
      // Addresses that would become links by themselves.
      .replace(/\b(www)\./gi, '$1\\.')
      .replace(/([a-z]):(?=\S)/gi, '$1\\:')
      .replace(/#/g, `\\#${joiner}`)
      .replace(/@/g, `@${joiner}`)
      .replace(/[&<>]/g, (sign) => entities[sign] as string)
  )
}

/** A link for what can be opened, else its text alone. */
export function mdLink(text: string, link: string): string {
  const href = hrefOf(link)
  return href === null ? mdText(text) : `[${mdText(text)}](${href})`
}

/** The address as browsers send it, without anything that ends a link; null where it is none of the web. */
function hrefOf(link: string): string | null {
  const url = parseUrl(link)
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return null
  return url.href
    .replace(
      /[^\w.~:/?#@!$',;=%&+-]/g,
      (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .replaceAll('&', '&amp;')
}

/** A column of a table. */
export interface MdColumn<T> {
  readonly title: string
  readonly align?: 'right'
  /** Markdown. */
  readonly cell: (row: T, place: number) => string
}

/** A column whose cells stand to the right, as numbers do. */
export function toTheRight<T>(title: string, cell: MdColumn<T>['cell']): MdColumn<T> {
  return { title, align: 'right', cell }
}

/** A table; its cells are Markdown. */
export function mdTable<T>(columns: readonly MdColumn<T>[], rows: readonly T[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [
    line(columns.map(({ title }) => title)),
    line(columns.map(({ align }) => (align === 'right' ? '---:' : '---'))),
    ...rows.map((row, place) => line(columns.map(({ cell }) => cell(row, place)))),
  ].join('\n')
}
