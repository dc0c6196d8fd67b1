import type { Cell } from '../../../model/result.ts'

/** The types of the cells of an exported column. An `instant` is ISO 8601 text in UTC, `json` is its text. */
export type CellType = 'text' | 'integer' | 'long' | 'instant' | 'json'

/** The types of columns in Postgres. */
export const columnTypes = {
  text: 'text',
  integer: 'integer',
  long: 'bigint',
  instant: 'timestamptz',
  json: 'jsonb',
} as const satisfies Record<CellType, string>

/** A cell as a column of its type takes it: Postgres has no text with NUL characters, and its JSON has no half of a pair, either. */
export function storedCell(cell: Cell, type: CellType): Cell {
  if (cell === null) return null
  if (type === 'json') return storableJson(String(cell))
  return type === 'text' ? storableText(String(cell)) : cell
}

export function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}

/** What a backslash of JSON can begin: a pair of halves, which is a character, another code, or a single letter. */
const escapes = /\\(?:u[dD][89aAbB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u(?<code>[\da-fA-F]{4})|[^u])/g

function storableJson(text: string): string {
  if (!text.includes('\\u')) return text
  return text.replace(escapes, (written: string, code: string | undefined) =>
    code !== undefined && /^(0000|d[89a-f]..)$/i.test(code) ? '\\ufffd' : written,
  )
}
