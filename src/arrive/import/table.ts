import { UsageError } from '../../model/errors.ts'
import { closestMatch, shellWord } from '../../model/text.ts'
import { layoutOf } from '../clicks/rows.ts'
import { countryNamed } from '../countries.ts'
import { type CsvRecord, cellText, firstRows, readCsv, repeatedCells, textRow } from '../csv.ts'
import { type ForeignFile, type ForeignFormat, type ImportOptions, readCell } from './format.ts'

/** A table with a header, below whatever stands above it. */
export type ForeignTable = NonNullable<ReturnType<typeof tableIn>>

/** A row of a table. Cells are trimmed. */
type ForeignRow = ReturnType<ReturnType<typeof rowReader>>

/** Columns that make no row: of two with one name the first counts, as where two sheets were joined. */
const tellsNoRow = /url|page|tag|location/

/** The table of a file whose header is the first row that this says of; null where there is none in its first lines. */
export function tableIn(file: ForeignFile, isHeader: (names: ReadonlySet<string>) => boolean) {
  const header = file.headRows.find(({ cells }) => isHeader(new Set(cells.map(nameOf))))
  if (header === undefined) return null
  const names = header.cells.map(nameOf)
  return {
    /** The names of its columns, as they are written. */
    header: header.cells,
    /** The place of the column of one of these names, whatever their case; -1 where there is none. Throws a sentence where two have the name. */
    column: (...wanted: readonly string[]): number => {
      const name = wanted.find((one) => names.includes(one))
      if (name === undefined) return -1
      if (names.indexOf(name) !== names.lastIndexOf(name) && !tellsNoRow.test(name))
        throw new UsageError(
          `${file.name}:${header.line}: two columns are called '${name}'. Give the one that does not count another name in the file`,
        )
      return names.indexOf(name)
    },
    /** Throws a sentence where columns of several of these names are there: which one counts is not said. */
    refuseSeveral: (wanted: readonly string[], kind: string, what: string): void => {
      const found = header.cells.filter((cell) => wanted.includes(nameOf(cell)))
      if (new Set(found.map(nameOf)).size > 1)
        throw new UsageError(
          `${file.name}:${header.line}: ${found.length} columns have ${what} (${found.join(', ')}). Name one with --column ${shellWord(`${kind}=${found[0]?.trim()}`)}`,
        )
    },
    /**
     * Gives each row below the header that says something to a function. It is one object, of each row in turn. Throws a sentence where rows
     * stand above the header, as in a table that was sorted.
     */
    eachRow: async (at: RowPlaces, take: (row: ForeignRow) => void): Promise<void> => {
      refuseAbove(file, header.line, at)
      const reader = rowReader(file, names)
      await readCsv(file, file.separator, (record) => {
        if (record.line <= header.line || !hasText(record)) return
        if (record.isOpen && record.cells < names.length)
          throw cutAt(`${file.name}:${record.line}`, `ends after ${record.cells} of ${names.length} cells`)
        take(reader(record))
      })
    },
  }
}

/** Where a table has what makes a row of it; the days are -1 where they are in no column. */
interface RowPlaces {
  readonly query: number
  readonly day: number
  readonly ranks: readonly number[]
}

/** Throws a sentence where anything above the header is a row of the table. Titles stand there in files of many tools. */
function refuseAbove({ name, headRows }: ForeignFile, headerLine: number, at: RowPlaces): void {
  const rows = headRows.filter(({ cells, line }) => {
    const cell = (place: number): string => cells[place]?.trim() ?? ''
    return (
      line < headerLine &&
      cell(at.query) !== '' &&
      (at.day < 0 || readCell.day(cell(at.day), null) !== null) &&
      at.ranks.some((place) => isOfRanks(cell(place)))
    )
  })
  // Without a day a title such as `Total keywords,25` looks like a row.
  const isRow = rows.some(({ cells }) => at.day >= 0 || cells.filter((cell) => cell.trim() !== '').length > 2)
  if (isRow)
    throw new UsageError(
      `${name}:${rows[0]?.line}: ${rows.length === 1 ? 'a row stands' : `${rows.length} rows stand`} above the header, which is in line ${headerLine}. Put the header into the first line`,
    )
}

function isOfRanks(cell: string): boolean {
  return !('unknown' in readCell.rank(cell)) || /^(-|n\/a)$/i.test(cell)
}

/** The last row of a file has no line end and may have lost some of it: a rank of which digits are missing is another rank. */
function cutAt(where: string, how: string): UsageError {
  return new UsageError(
    `${where}: the row ${how} and has no line end: the file may be cut off. Export it again, or end its last line if it is whole`,
  )
}

/** Whether any cell has something: spreadsheets write rows of nothing but separators. */
function hasText({ starts, ends, cells }: CsvRecord): boolean {
  for (let cell = 0; cell < cells; cell++) if ((ends[cell] as number) > (starts[cell] as number)) return true
  return false
}

function nameOf(cell: string): string {
  return cell.trim().toLowerCase()
}

/** Reads records as rows. */
function rowReader({ name }: ForeignFile, names: readonly string[]) {
  let record = null as CsvRecord | null
  const at = (): CsvRecord => record as CsvRecord
  const where = (): string => `${name}:${at().line}`
  const trimmed = repeatedCells(at, (one, column) => cellText(one, column).trim())
  const cell = (column: number): string => (column < 0 || column >= at().cells ? '' : trimmed(column))
  /** SerpBear writes each tag of a row into a cell of its own. */
  const endsInTags = (aliases.tags as readonly string[]).includes(names.at(-1) ?? '')
  const urlAt = names.findIndex((name) => (aliases.url as readonly string[]).includes(name))
  /** Whether a row has more cells than the header, so that none of them need be of the column above it. */
  const isShifted = (): boolean => {
    const { starts, ends, cells } = at()
    if (cells <= names.length) return false
    // What is more may be tags; where an address should stand, a number is the rank beside it.
    if (endsInTags) return urlAt >= 0 && /^\d+$/.test(cell(urlAt))
    for (let column = names.length; column < cells; column++) if (starts[column] !== ends[column]) return true
    return false
  }
  const row = {
    /** `file.csv:12`. */
    where,
    cells: () => textRow(at()).cells,
    /** Says of the last row that it may be cut, where it has no line end. */
    refuseOpen: (how: string): void => {
      if (at().isOpen) throw cutAt(where(), how)
    },
    /** A cell that may be missing; empty also for a column that the table does not have. */
    cell,
    /** A cell that every row must have. */
    needed: (column: number): string => {
      if (isShifted())
        throw new UsageError(
          `${where()}: the row has ${at().cells} cells, and the header ${names.length}: one of them has the sign that parts cells in its text. Put quotes around that text, or give every column a name in the header`,
        )
      if (column < at().cells) return cell(column)
      throw new UsageError(
        `${name}:${at().line}: the row ends after ${at().cells} cells, before its column ${column + 1}. The file is cut off or broken: export it again`,
      )
    },
  }
  return (next: CsvRecord) => {
    record = next
    return row
  }
}

/** What a column can hold, with the names that tools give it. */
const aliases = {
  query: ['query', 'keyword', 'keywords', 'search term', 'keyphrase'],
  date: ['date', 'day', 'serp date', 'timestamp', 'start date'],
  rank: [
    'rank',
    'position',
    'pos',
    'current position',
    'end position',
    'google',
    'google rank',
    'serp position',
  ],
  url: ['url', 'ranking url', 'url found', 'found url', 'landing page', 'landing_page'],
  target: ['target', 'domain', 'site', 'website'],
  volume: ['volume', 'search volume', 'monthly searches'],
  tags: ['tags', 'labels', 'groups'],
  device: ['device'],
  location: ['location', 'region', 'market'],
  country: ['country', 'gl'],
  language: ['language', 'hl'],
  engine: ['engine', 'search engine'],
} as const

/** What makes a row of a table, or is a number in it: one column has it. */
const single = { query: 'keywords', date: 'days', rank: 'ranks', target: 'sites', volume: 'search volumes' }

type ColumnKind = keyof typeof aliases
export const columnKinds = Object.keys(aliases) as readonly ColumnKind[]

/** The table of a file with usual names for keywords and ranks, whatever else it has; null where there is none. */
export function namedTable(file: ForeignFile): ForeignTable | null {
  return tableIn(file, (names) =>
    (['query', 'rank'] as const).every((kind) => aliases[kind].some((name) => names.has(name))),
  )
}

/** Any table with a column of texts, one of days and one of ranks. */
export const tableFormat: ForeignFormat = {
  name: 'table',
  tool: 'table',
  title: 'Table with a column of keywords, one of days and one of ranks',
  sameDay: 'last',
  recognise: (file) => {
    const table = namedTable(file)
    return table !== null && layoutOf(table.header) === null
  },
  read: async (file, into, options) => {
    const columnNames = (kind: ColumnKind): readonly string[] => {
      const given = options.columns.get(kind)
      return given === undefined ? aliases[kind] : [given.toLowerCase()]
    }
    const table = tableIn(file, (names) =>
      (['query', 'rank'] as const).every((kind) => columnNames(kind).some((name) => names.has(name))),
    )
    if (table === null) throw withoutColumns(file, options)
    for (const [kind, what] of Object.entries(single))
      table.refuseSeveral(columnNames(kind as ColumnKind), kind, what)
    const at = Object.fromEntries(
      columnKinds.map((kind) => [kind, table.column(...columnNames(kind))]),
    ) as Record<ColumnKind, number>
    for (const [kind, name] of options.columns)
      if (at[kind as ColumnKind] < 0) {
        const near = closestMatch(name, table.header)
        throw new UsageError(
          `${file.name} has no column '${name}'. ${near === null ? `Its columns are ${table.header.join(', ')}` : `Did you mean '${near}'?`}`,
        )
      }
    if (at.date < 0 && options.day === null)
      throw new UsageError(
        `${file.name} has no column of days. Name it with --column date=NAME, or the day of the whole file with --day 2026-03-01`,
      )
    if (at.target < 0 && options.target === null)
      throw new UsageError(
        `${file.name} does not say whose ranks it has. Name the site with --target acme.com, or its column with --column target=NAME`,
      )
    const tagsOf = readCell.tags(/[,;|]/)
    const rankOf = readCell.ranks(
      firstRows(file.head, Number.POSITIVE_INFINITY).map(({ cells }) => cells[at.rank] ?? ''),
    )
    await table.eachRow({ query: at.query, day: at.date, ranks: [at.rank] }, (row) => {
      const text = row.needed(at.query)
      const rank = rankOf(row.needed(at.rank))
      const dated = at.date < 0 ? '' : row.needed(at.date)
      const day = at.date < 0 ? options.day : dated === '' ? null : dayIn(row, dated, options)
      if (day === null) {
        into.dropped('rows without a day: never checked')
        return
      }
      const country = row.cell(at.country)
      const gl = country === '' ? null : countryNamed(country)
      const places = [row.cell(at.location), gl === null ? country : ''].filter((place) => place !== '')
      const query = into.query({
        text,
        gl,
        hl: row.cell(at.language) || null,
        location: places.length === 0 ? null : places.join(', '),
        device: row.cell(at.device).toLowerCase() || null,
        engine: row.cell(at.engine).toLowerCase() || null,
        volume: readCell.volume(row.cell(at.volume)),
        tags: tagsOf(row.cell(at.tags)),
      })
      const site = readCell.site(row.cell(at.target) || (options.target ?? ''))
      const series = into.series(query, site, 'organic')
      if ('rank' in rank) into.ranked(series, day, rank.rank, readCell.link(row.cell(at.url)))
      else if ('absentFrom' in rank) into.absent(series, day, rank.absentFrom)
      else into.unknown(series, day, rank.unknown)
    })
  },
}

function withoutColumns(file: ForeignFile, { columns }: ImportOptions): UsageError {
  const first = file.headRows[0]?.cells.join(', ') ?? ''
  const asked = columns.size === 0 ? '' : ' of those names'
  return new UsageError(
    `${file.name} has no columns${asked} for keywords and ranks. Name them with --column query=NAME --column rank=NAME; its first line has ${first}`,
  )
}

/** The day of a row. */
export function dayIn({ where }: ForeignRow, cell: string, { order }: Pick<ImportOptions, 'order'>): number {
  const day = readCell.day(cell, order)
  if (typeof day === 'number') return day
  throw new UsageError(
    day === 'ambiguous'
      ? `${where()}: '${cell}' can be read as two days. Say which comes first with --days dmy or --days mdy`
      : order !== null && typeof readCell.day(cell, order === 'dmy' ? 'mdy' : 'dmy') === 'number'
        ? `${where()}: '${cell}' is no day where --days says ${order}. Say which comes first in this file`
        : `${where()}: '${cell}' is no day. The file is broken, or another column has the days: --column date=NAME`,
  )
}
