import { UsageError } from '../model/errors.ts'
import { grouped, memoized, shellWord, textInLowerCase } from '../model/text.ts'
import { dayMs, dayText } from '../model/time.ts'
import { type DecimalMark, quoted, readVolume } from '../model/values.ts'
import type { Store } from '../store/sqlite/open.ts'
import { countryOrAll } from './countries.ts'
import {
  type CsvRecord,
  cellText,
  checkCells,
  dayReader,
  decimalMarkOf,
  firstRows,
  readCsv,
  readDay,
  separatorOf,
} from './csv.ts'
import { type DayBeforeMonth, readCell } from './import/format.ts'
import { type InputFile, inputFiles, textOfStart } from './input-files.ts'
import { keptTotals, maySayTotal } from './totals.ts'

type VolumeRow = Parameters<Store['addVolumes']>[0][number]

/** Names of the columns in files of Keyword Planner, Semrush, Ahrefs and others, in lower case. */
const columnNames = {
  query: ['keyword', 'query', 'search term', 'keyphrase', 'search_query'],
  volume: ['volume', 'search volume', 'avg. monthly searches', 'search_volume', 'monthly searches', 'msv'],
  country: ['country', 'gl', 'database'],
  day: ['last update', 'date', 'updated'],
} as const

type VolumeColumn = keyof typeof columnNames

export interface VolumeOptions {
  /** For rows that name none; empty for all countries. */
  readonly country: string | null
  /** The day that the file is of, as a number. */
  readonly day: number | null
  /** Names of columns that a file calls otherwise. */
  readonly columns: Readonly<Partial<Record<string, string>>>
  /** When it is added. */
  readonly now: number
}

/** What low spending accounts are shown in place of numbers, and the range that each stands for. */
const buckets: ReadonlyMap<number, readonly [least: number, most: number]> = new Map([
  [0, [0, 10]],
  [50, [10, 100]],
  [500, [100, 1_000]],
  [5_000, [1_000, 10_000]],
  [50_000, [10_000, 100_000]],
  [500_000, [100_000, 1_000_000]],
  [5_000_000, [1_000_000, 10_000_000]],
])

/** What tables write into a cell of which they know nothing. */
const nothing = /^(?:[-–—]|n\/?a|null|no data)?$/i

const headBytes = 1 << 16
/** Lines before the header of a file, at most. */
const mostTitles = 10
/** Fewer numbers that are all steps may be so by chance. */
const leastSteps = 5

/** Reads search volumes from a file. Throws a sentence where a row cannot be read; then nothing is to be stored. */
export async function readVolumes(
  path: string,
  options: VolumeOptions,
): Promise<{
  readonly source: string
  readonly rows: readonly VolumeRow[]
  /** Rows without a volume. */
  readonly empty: number
  /** What is to be said of a row that is, or may be, the sum of the others. */
  readonly warning: string | null
}> {
  const files = await inputFiles(path)
  const [file] = files
  if (file === undefined || files.length > 1)
    throw new UsageError(`${path} holds ${files.length} files. Name one file of search volumes`)
  const head = textOfStart(await file.start(headBytes))
  if (head.startsWith('PAR1'))
    throw new UsageError(`${path} is no CSV. Save the table of search volumes as CSV`)
  const titles = firstRows(head).slice(0, mostTitles)
  const headerAt = titles.findIndex(({ cells }) => headerOf(cells, options) !== null)
  const headerRow = titles[headerAt]
  if (headerRow === undefined)
    throw new UsageError(
      `${path} has no columns of a keyword and its volume in its first ${mostTitles} lines. Name them: --column query=Phrase --column volume=Searches; nothing was stored`,
    )
  const header = headerRow.cells.map((cell) => cell.trim())
  checkColumns(header, options.columns, `${path}:${headerRow.line}`)
  const places = headerOf(header, options) as Readonly<Record<VolumeColumn, number>>
  const above = titles.slice(0, headerAt).map(({ cells }) => cells.join(' '))
  const source = sourceOf(above, header, file.base)
  const dayOf = dayReader(options.now)
  const day =
    options.day ?? dayOfTitles(above, (text) => dayOf(text, () => path)) ?? Math.floor(options.now / dayMs)
  if (places.country === -1 && options.country === null)
    throw new UsageError(
      `${path} does not say of which country its volumes are. Name it: --country us, or --country all; nothing was stored`,
    )
  // Excel leaves empty cells out at the end of a row. What is cut has no line end.
  const named = header.findLastIndex((name) => name !== '') + 1
  // Of Keyword Planner a keyword may have nothing else.
  const needed = (source === planner ? places.query : Math.max(places.query, places.volume)) + 1
  const months = header.flatMap((name, place) => (/^searches: /i.test(name) ? [place] : []))
  /** By country and query the newest row. */
  const newest = new Map<string, { readonly row: VolumeRow; readonly line: number }>()
  const totals = keptTotals()
  let empty = 0
  let hasMonths = false
  const separator = separatorOf(head)
  const mark = decimalMarkOf(separator)
  const dayOfRow = rowDayReader(options, await orderOfDays(file, separator, headerRow.line, places.day))
  await readCsv(file, separator, (record) => {
    if (record.line <= headerRow.line) return
    const cell = (place: number): string =>
      place === -1 || place >= record.cells ? '' : cellText(record, place).trim()
    const query = textInLowerCase(cell(places.query))
    const text = cell(places.volume)
    hasMonths ||= months.some((place) => cell(place) !== '')
    if (query === '') return
    checkCells(record, header.length, path, record.isOpen ? named : needed)
    if (nothing.test(text)) {
      empty++
      return
    }
    const where = () => `${path}:${record.line}`
    const dated = cell(places.day)
    const country = countryOf(record, cell(places.country), path, options)
    const row = {
      query,
      country,
      source,
      ...volumeOf(text, mark, where()),
      day: nothing.test(dated) ? day : dayOfRow(dated, where),
      file: file.base,
      addedAt: options.now,
    }
    const { line } = record
    const take = (): void => {
      const key = `${country} ${query}`
      const known = newest.get(key)
      if (known?.row.day === row.day && shownVolume(known.row) !== shownVolume(row))
        throw new UsageError(
          `${path}:${line}: ${quoted(query)} has the volume ${shownVolume(row)} here and ${shownVolume(known.row)} in line ${known.line}. Leave one of the two rows: of one day, only the country tells volumes apart, and no other column, such as a city or a device, is read; nothing was stored`,
        )
      if (known === undefined || known.row.day < row.day) newest.set(key, { row, line })
    }
    const numbers = [row.volume ?? 0, row.volume ?? 0] as const
    if (maySayTotal(query)) totals.keep({ day: null, numbers, name: query, where: where(), take })
    else {
      totals.see(0, ...numbers)
      take()
    }
  })
  const { warning } = totals.end()
  const read = [...newest.values()]
  if (read.length === 0)
    throw new UsageError(`${path} has no volume below its header. Export it again; nothing was stored`)
  const areSteps =
    read.length >= leastSteps &&
    !hasMonths &&
    source === planner &&
    read.every(({ row }) => row.volume == null || buckets.has(row.volume))
  const rows = read.map(({ row }) => (areSteps && row.volume != null ? asRange(row, row.volume) : row))
  return { source, rows, empty, warning }
}

/** The places of the columns; null where the line is no header of volumes. */
function headerOf(
  cells: readonly string[],
  { columns }: Pick<VolumeOptions, 'columns'>,
): Readonly<Record<VolumeColumn, number>> | null {
  const names = cells.map((cell) => cell.trim().toLowerCase())
  const placeOf = (column: VolumeColumn): number => names.findIndex((name) => isNamed(name, column, columns))
  const places = {
    query: placeOf('query'),
    volume: placeOf('volume'),
    country: placeOf('country'),
    day: placeOf('day'),
  }
  return places.query === -1 || places.volume === -1 ? null : places
}

function isNamed(name: string, column: VolumeColumn, given: VolumeOptions['columns']): boolean {
  const own = given[column]
  // Global volume is never the volume.
  return own === undefined
    ? (columnNames[column] as readonly string[]).includes(name)
    : name === own.toLowerCase()
}

/** Throws a sentence where two columns say the same: they may say it differently. */
function checkColumns(header: readonly string[], given: VolumeOptions['columns'], where: string): void {
  for (const column of Object.keys(columnNames) as VolumeColumn[]) {
    const [one, other] = header.filter((name) => isNamed(name.toLowerCase(), column, given))
    if (one === undefined || other === undefined) continue
    const what = column === 'query' ? 'keyword' : column
    throw new UsageError(
      one.toLowerCase() === other.toLowerCase()
        ? `${where}: two columns are called ${quoted(one)}. Leave one of them; nothing was stored`
        : `${where}: two columns say the ${what}, ${quoted(one)} and ${quoted(other)}. Name the one that counts: --column ${column}=${shellWord(other)}; nothing was stored`,
    )
  }
}

/** A volume or a range, for messages. */
function shownVolume({ volume, least, most }: Pick<VolumeRow, 'volume' | 'least' | 'most'>): string {
  return volume == null ? `${grouped(least ?? 0)} to ${grouped(most ?? 0)}` : grouped(volume)
}

const planner = 'Keyword Planner'

/** Who made the file, by its titles and its columns; else its name. */
function sourceOf(titles: readonly string[], header: readonly string[], base: string): string {
  const has = (name: string): boolean => header.includes(name)
  if (/^"?Keyword Stats\b/.test(titles[0] ?? '') || has('Avg. monthly searches')) return planner
  if (has('Parent Keyword') || has('Traffic potential')) return 'Ahrefs'
  if (has('Competitive Density') || has('Keyword Difficulty')) return 'Semrush'
  return base
}

/** A day that stands in the lines above the header. */
function dayOfTitles(titles: readonly string[], dayOf: (text: string) => number): number | null {
  const written = titles
    .join(' ')
    .match(/\d{4}-\d{2}-\d{2}/g)
    ?.find((text) => readDay(text) !== -1)
  return written === undefined ? null : dayOf(written)
}

/** Whether day or month comes first in days such as 05/01/2026: as in the first one that can be read in one way only. */
async function orderOfDays(
  file: InputFile,
  separator: number,
  headerLine: number,
  place: number,
): Promise<DayBeforeMonth | null> {
  let order: DayBeforeMonth | null = null
  if (place === -1) return order
  await readCsv(file, separator, (record) => {
    if (record.line <= headerLine || place >= record.cells) return true
    const text = cellText(record, place).trim()
    const day = readCell.day(text, null)
    if (day !== 'ambiguous') return day === null
    const [one, other] = [readCell.day(text, 'dmy'), readCell.day(text, 'mdy')]
    if ((one === null) === (other === null)) return true
    order = one === null ? 'mdy' : 'dmy'
    return false
  })
  return order
}

/** Reads the days of rows. Where one cannot be read, that which was named for the file counts, or a sentence is thrown. */
function rowDayReader(
  { now, day: named }: VolumeOptions,
  order: DayBeforeMonth | null,
): (text: string, where: () => string) => number {
  const pastDay = dayReader(now)
  const meant = (text: string) => {
    const day = readCell.day(text, order)
    if (day !== 'ambiguous') return day
    const [one, other] = [readCell.day(text, 'dmy'), readCell.day(text, 'mdy')]
    return one === null || one === other ? other : other === null ? one : day
  }
  /** As `2026-08-01`; null where it cannot be read. */
  const written = memoized((text) => {
    const day = meant(text)
    return typeof day === 'number' ? dayText(day) : null
  })
  return (text, where) => {
    const day = written(text)
    if (day !== null) return pastDay(day, where)
    if (named !== null) return named
    const what = meant(text) === null ? 'is no date' : 'is no date that can be read in one way only'
    const asOthers =
      order === null || readCell.day(text, null) !== 'ambiguous'
        ? ''
        : ` with the ${order === 'dmy' ? 'day' : 'month'} first, as another row of the file has it`
    throw new UsageError(
      `${where()}: ${quoted(text)} ${what}${asOthers}. Write days such as 2026-08-01, or name that of the file: --date 2026-08-01; nothing was stored`,
    )
  }
}

function countryOf(record: CsvRecord, written: string, path: string, { country }: VolumeOptions): string {
  const code = written === '' ? null : countryOrAll(written)
  if (code !== null) return code
  const isNothing = nothing.test(written)
  if (isNothing && country !== null) return country
  const what = isNothing
    ? 'the row has no country. Name it: --country us, or --country all'
    : `${quoted(written)} is no country. Write two letters such as us, or all, or leave the cell empty and name it: --country us`
  throw new UsageError(`${path}:${record.line}: ${what}; nothing was stored`)
}

function asRange(row: VolumeRow, step: number): VolumeRow {
  const [least, most] = buckets.get(step) as readonly [number, number]
  return { ...row, volume: null, least, most }
}

/** A number of searches, or a range as Keyword Planner writes it: `10 – 100`, `1K – 10K`. */
function volumeOf(
  text: string,
  mark: DecimalMark,
  where: string,
): Pick<VolumeRow, 'volume' | 'least' | 'most'> {
  const ends = text.match(/^(\S+)\s*[-–—]\s*(\S+)$/)
  if (ends !== null) {
    const [least, most] = [ends[1], ends[2]].map((end) => readVolume(end as string, mark))
    if (least !== undefined && most !== undefined && 'value' in least && 'value' in most)
      return { volume: null, least: least.value, most: most.value }
  }
  const read = readVolume(text, mark)
  if ('value' in read) return { volume: read.value, least: null, most: null }
  throw new UsageError(`${where}: the volume ${read.message}; ${read.fix}. Nothing was stored`)
}
