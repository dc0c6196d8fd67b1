import { UsageError } from '../../model/errors.ts'
import { quoted } from '../../model/values.ts'
import type { ClickDraft } from '../../store/sqlite/clicks/draft.ts'
import { wholeOf } from '../cells.ts'
import { countryNamed } from '../countries.ts'
import type { InputFile } from '../input-files.ts'
import { type ClickLayout, decimal, layoutOf, type RowReader } from './rows.ts'

const mostJsonBytes = 400_000_000

type JsonRow = Readonly<Record<string, unknown>>

/** What the keys of a row of the API are, by their form: they have no names. */
function keyField(key: string): 'date' | 'page' | 'country' | 'device' | 'query' {
  if (/^\d{4}-\d{2}-\d{2}$/.test(key)) return 'date'
  if (/^https?:\/\//.test(key)) return 'page'
  if (/^(DESKTOP|MOBILE|TABLET)$/.test(key)) return 'device'
  return isCountry(key) ? 'country' : 'query'
}

/** Whether a key is a country as the API names them: by the three letters of one that exists, or those of none that it knows. */
const isCountry = (key: string): boolean =>
  /^[a-z]{3}$/.test(key) && (key === 'zzz' || countryNamed(key) !== null)

const keysOf = (row: JsonRow | undefined): readonly unknown[] => (Array.isArray(row?.keys) ? row.keys : [])

/** Queries that are all codes of countries are few. */
const mostChance = 2

/**
 * The names of the keys of rows of the API: a word of three letters is a country only where all rows have one there. Throws a sentence where
 * it cannot be known whether some are countries or queries.
 */
function keyNames(rows: readonly JsonRow[], file: InputFile): readonly string[] {
  const keyed = rows.map(keysOf).filter((keys) => keys.length > 0)
  const columns = (keyed[0] ?? []).map((_, place) => new Set(keyed.map((keys) => String(keys[place] ?? ''))))
  const names = columns.map((keys) => {
    const fields = new Set(Array.from(keys, keyField))
    const [field = 'query'] = fields
    return fields.size === 1 ? field : 'query'
  })
  const countries = columns.filter((_, place) => names[place] === 'country')
  const [some = new Set<string>()] = countries
  const isSure = countries.length === 0 || names.includes('query') || some.size > mostChance
  if (countries.length > 1 || !isSure)
    throw new UsageError(
      `${file.name}: it cannot be known whether keys such as ${quoted([...some][0] ?? '')} are countries or queries. Give rows names in place of keys, such as {"date": "2026-11-01", "query": "desk", "clicks": 1, …}; nothing was stored`,
    )
  return names
}

/** Opens rows of JSON, one a line or all in one; null where they are none of clicks. Throws a sentence for what cannot be read. */
export async function openJson(
  file: InputFile,
  head: string,
): Promise<{
  readonly layout: ClickLayout
  readonly read: (draft: ClickDraft, take: (reader: RowReader) => void) => Promise<void>
} | null> {
  const lines = head.split(/\r?\n/)
  const firstLine = parsed(lines[0] ?? '')
  const isLines = isRow(firstLine) && !('rows' in firstLine)
  if (isLines) {
    const sample = lines.slice(0, -1).map(parsed).filter(isRow)
    const rows = sample.length === 0 ? [firstLine] : sample
    const layoutAndNames = jsonLayout(rows, file)
    if (layoutAndNames === null) return null
    const { layout, names, keyed } = layoutAndNames
    return {
      layout,
      read: async (draft, take) => {
        const reader = jsonReader(file, draft, names, keyed.length)
        let line = 0
        for await (const bytes of file.lines()) {
          line++
          const text = bytes.toString()
          if (text.trim() === '') continue
          const row = parsed(text)
          if (!isRow(row))
            throw new UsageError(
              `${file.name}:${line}: the line is no JSON: the file may be cut. Export it again; nothing was stored`,
            )
          const country = keysOf(row)[keyed.indexOf('country')]
          if (country !== undefined && !isCountry(String(country)))
            throw new UsageError(
              `${file.name}:${line}: ${quoted(String(country))} is no country, as the keys above it are. Give rows names in place of keys; nothing was stored`,
            )
          reader.set(row, line)
          take(reader)
        }
      },
    }
  }
  const parts: Buffer[] = []
  let size = 0
  for await (const chunk of file.utf8()) {
    size += chunk.length
    if (size > mostJsonBytes)
      throw new UsageError(
        `${file.name} is larger than 400 MB. Write its rows as JSONL, one a line, or as CSV`,
      )
    parts.push(chunk)
  }
  const whole = parsed(Buffer.concat(parts).toString())
  if (whole === undefined)
    throw new UsageError(`${file.name} is no whole JSON: it may be cut. Export it again; nothing was stored`)
  const rows = [whole]
    .flat()
    .flatMap((one: unknown) => (isRow(one) && Array.isArray(one.rows) ? (one.rows as unknown[]) : [one]))
    .filter(isRow)
  const found = rows.length === 0 ? null : jsonLayout(rows, file)
  if (found === null) return null
  return {
    layout: found.layout,
    read: async (draft, take) => {
      const reader = jsonReader(file, draft, found.names, found.keyed.length)
      for (const [index, row] of rows.entries()) {
        reader.set(row, index + 1)
        take(reader)
      }
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRow(value: unknown): value is JsonRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The layout of rows: their own names, or those of their keys and then their own. */
function jsonLayout(rows: readonly JsonRow[], file: InputFile) {
  const keyed = keyNames(rows, file)
  const own = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'keys')
  const layout = layoutOf([...keyed, ...own])
  return layout === null ? null : { layout, names: own, keyed }
}

function jsonReader(file: InputFile, draft: ClickDraft, names: readonly string[], keyed: number) {
  let row: JsonRow = {}
  let line = 0
  const cell = (place: number): unknown => {
    if (place >= keyed) return row[names[place - keyed] as string]
    return keysOf(row)[place]
  }
  const word = (place: number): string => {
    const value = cell(place)
    return value === null || value === undefined ? '' : String(value)
  }
  const numberAt = (place: number): number | null => {
    const value = cell(place)
    return typeof value === 'number' ? value : null
  }
  return {
    set: (next: JsonRow, at: number): void => {
      row = next
      line = at
    },
    text: (place: number, kind: 'query' | 'page') => draft.textOf(word(place), kind),
    word,
    number: (place: number) => numberAt(place) ?? decimal(word(place)),
    whole: (place: number) => numberAt(place) ?? wholeOf(word(place), '.'),
    where: () => `${file.name}:${line}`,
  }
}
