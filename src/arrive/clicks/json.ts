import { UsageError } from '../../model/errors.ts'
import { count, memoized } from '../../model/text.ts'
import { quoted } from '../../model/values.ts'
import type { ClickDraft } from '../../store/sqlite/clicks/draft.ts'
import { countryNamed } from '../countries.ts'
import { wholeOf } from '../csv.ts'
import type { InputFile } from '../input-files.ts'
import { type ClickLayout, decimal, isHour, layoutOf, noHours, type RowReader, unreadOf } from './rows.ts'

const mostJsonBytes = 400_000_000

type JsonRow = Readonly<Record<string, unknown>>

/** The keys of the rows of a file, by their place. */
interface KeyedFile {
  readonly file: InputFile
  readonly columns: readonly ReadonlySet<string>[]
}

/** What the keys of rows of the API are at a place, by their form: they have no names. */
function keyField(keys: ReadonlySet<string>): 'date' | 'page' | 'device' | 'letters' | 'query' {
  const forms = [
    ['date', /^\d{4}-\d{2}-\d{2}$/],
    ['page', /^https?:\/\//],
    ['device', /^(DESKTOP|MOBILE|TABLET)$/],
    ['letters', /^[a-z]{3}$/],
  ] as const
  const all = [...keys]
  return forms.find(([, form]) => all.every((key) => form.test(key)))?.[0] ?? 'query'
}

/** Whether a key is a country as the API names them: by the three letters of one that exists, or those of none that it knows. */
const isCountry = (key: string): boolean =>
  /^[a-z]{3}$/.test(key) && (key === 'zzz' || countryNamed(key) !== null)

const keysOf = (row: JsonRow | undefined): readonly unknown[] => (Array.isArray(row?.keys) ? row.keys : [])

/** Queries that are all codes of countries are few. */
const mostChance = 2

/**
 * The names of the keys of files that are of one table. Keys of three letters are countries where all are codes of some, whatever file they
 * are in, and queries where at most half are. Throws a sentence where it cannot be known.
 */
export function keyNames(files: readonly KeyedFile[]): {
  readonly of: (file: KeyedFile) => readonly string[]
  /** A key that was read as a country, where it may have been a query. */
  readonly country: string | null
} {
  const words = memoized((place) => wordsAt(files, place))
  const names = new Map(
    files.map((one) => {
      const fields = one.columns.map((keys, index) => {
        const field = keyField(keys)
        if (field !== 'letters') return field
        const { all, hasQueries } = words(`${one.columns.length}/${index}`)
        const strange = [...all].filter((key) => !isCountry(key))
        const isSome = strange.length * 2 < all.size
        return isSome && !(hasQueries && all.size <= mostChance) ? 'country' : 'query'
      })
      const places = fields.flatMap((field, place) => (field === 'country' ? [place] : []))
      const strange = places
        .flatMap((place) => [...(one.columns[place] ?? [])])
        .find((key) => !isCountry(key))
      const shown = fields.map((field, place) => {
        const keys = [...(one.columns[place] ?? [])]
        const key = field === 'country' && strange !== undefined && keys.includes(strange) ? strange : keys[0]
        return `"${places.length > 1 && place === places[0] ? 'query' : field}": ${JSON.stringify(key)}`
      })
      const instead = `Give rows names in place of keys, such as {${shown.join(', ')}, "clicks": 1, …}; nothing was stored`
      if (strange !== undefined)
        throw new UsageError(
          `${one.file.name}: ${quoted(strange)} is no country, as most keys beside it are. ${instead}`,
        )
      if (places.length > 1)
        throw new UsageError(
          `${one.file.name}: it cannot be known whether keys such as ${places.map((place) => quoted([...(one.columns[place] ?? [])][0] ?? '')).join(' and ')} are countries or queries. ${instead}`,
        )
      return [one, fields] as const
    }),
  )
  const [unsure] = [...names].filter(([, fields]) => fields.includes('country') && !fields.includes('query'))
  const [country = null] = unsure?.[0].columns[unsure[1].indexOf('country')] ?? []
  return { of: (file) => names.get(file) ?? [], country }
}

/** The keys of three letters that files have at a place, and whether some of them have queries there; places are written `2/1`. */
function wordsAt(files: readonly KeyedFile[], place: string) {
  const [size, index] = place.split('/').map(Number)
  const columns = files.flatMap(({ columns: all }) => (all.length === size ? [all[index ?? 0]] : []))
  const known = columns.flatMap((keys) => (keys === undefined ? [] : [{ keys, field: keyField(keys) }]))
  return {
    all: new Set(known.flatMap(({ keys, field }) => (field === 'letters' ? [...keys] : []))),
    hasQueries: known.some(({ field }) => field === 'query'),
  }
}

/** The keys of rows by their place. Throws a sentence for hours: clicks are kept by day. */
function columnsOf(rows: readonly JsonRow[], file: InputFile): KeyedFile['columns'] {
  const keyed = rows.map(keysOf).filter((keys) => keys.length > 0)
  const columns = (keyed[0] ?? []).map((_, place) => new Set(keyed.map((keys) => String(keys[place] ?? ''))))
  for (const keys of columns)
    for (const key of keys) if (isHour(key)) throw new UsageError(`${file.name}: ${noHours(key)}`)
  return columns
}

/** Rows whose keys have names. */
interface JsonTable {
  readonly layout: ClickLayout
  readonly read: (draft: ClickDraft, take: (reader: RowReader) => void) => Promise<void>
}

/**
 * Opens rows of JSON, one a line or all in one; null where there are none. Their keys are named once all files are known. Throws a sentence
 * for what cannot be read.
 */
export async function openJson(
  file: InputFile,
  head: string,
): Promise<(KeyedFile & { readonly named: (keyed: readonly string[]) => JsonTable | null }) | null> {
  const lines = head.split(/\r?\n/)
  const firstLine = parsed(lines[0] ?? '')
  const isLines = isRow(firstLine) && !('rows' in firstLine)
  if (isLines) {
    const sample = lines.slice(0, -1).map(parsed).filter(isRow)
    const rows = sample.length === 0 ? [firstLine] : sample
    const read =
      (names: readonly string[], keyed: readonly string[]): JsonTable['read'] =>
      async (draft, take) => {
        const reader = jsonReader(file, draft, names, keyed)
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
      }
    return jsonFile(file, rows, read)
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
  if (rows.length === 0) return null
  return jsonFile(file, rows, (names, keyed) => async (draft, take) => {
    const reader = jsonReader(file, draft, names, keyed)
    for (const [index, row] of rows.entries()) {
      reader.set(row, index + 1)
      take(reader)
    }
  })
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

/** A file of rows. Its columns are the keys of rows, and then what they name themselves. */
function jsonFile(
  file: InputFile,
  rows: readonly JsonRow[],
  read: (names: readonly string[], keyed: readonly string[]) => JsonTable['read'],
) {
  const own = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'keys')
  return {
    file,
    columns: columnsOf(rows, file),
    named: (keyed: readonly string[]): JsonTable | null => {
      const layout = layoutOf([...keyed, ...own])
      return layout === null ? null : { layout, read: read(own, keyed) }
    },
  }
}

function jsonReader(file: InputFile, draft: ClickDraft, names: readonly string[], keyed: readonly string[]) {
  let row: JsonRow = {}
  let line = 0
  const cell = (place: number): unknown => {
    if (place >= keyed.length) return row[names[place - keyed.length] as string]
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
    /** Throws a sentence for a row with another number of keys: sums of a day, for instance, are no row of a query. */
    set: (next: JsonRow, at: number): void => {
      row = next
      line = at
      const { length } = keysOf(row)
      if (length > 0 && length !== keyed.length)
        throw new UsageError(
          `${file.name}:${line}: the row has ${count(length, 'key')}, and the first one ${keyed.length}: they are rows of different tables. Put them into files of their own, and add those one after the other; nothing was stored`,
        )
    },
    text: (place: number, kind: 'query' | 'page') => draft.textOf(word(place), kind),
    word,
    unread: unreadOf([...keyed, ...names], word),
    number: (place: number) => numberAt(place) ?? decimal(word(place)),
    whole: (place: number) => numberAt(place) ?? wholeOf(word(place), '.'),
    where: () => `${file.name}:${line}`,
  }
}
