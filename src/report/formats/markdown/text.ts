import { parseUrl } from '../../../model/url.ts'
import { sanitize } from '../../../output/terminal.ts'

/** Invisible and without width; it separates the two sides of a name. */
const joiner = '\u2060'

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/**
 * Escapes text from outside: no emphasis, code, links, HTML, lists, headings or cells can come of it. A word joiner keeps
 * sites from reading mentions (`@name`) and references (`#12`) in it.
 */
export function mdText(text: string): string {
  const line = sanitize(text).replace(/\s+/g, ' ').trim()
  return (
    line
      .replace(/[\\`*_[\]|~$!]/g, '\\$&')
      // Lists and rules.
      .replace(/^[-+=]/, '\\$&')
      .replace(/^(\d+)([.)])/, '$1\\$2')
      // Addresses that sites make links of.
      .replace(/\b(www)\./gi, '$1\\.')
      .replace(/([a-z]):(?=\S)/gi, '$1\\:')
      .replace(/#/g, `\\#${joiner}`)
      .replace(/@/g, `@${joiner}`)
      .replace(/[&<>]/g, (sign) => entities[sign] as string)
  )
}

/** A link if it can be opened, else its text. */
export function mdLink(text: string, link: string): string {
  const href = hrefOf(link)
  return href === null ? mdText(text) : `[${mdText(text)}](${href})`
}

/** The address as browsers send it, with the characters escaped that end a link; null if it is not a web address. */
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
