import { createHash } from 'node:crypto'
import { basename, dirname } from 'node:path'
import { UsageError } from '../../model/errors.ts'
import { count, grouped } from '../../model/text.ts'
import { dayText } from '../../model/time.ts'
import { quoted } from '../../model/values.ts'
import { type ClickDraft, countryCode } from '../../store/sqlite/clicks/draft.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { countryNamed } from '../countries.ts'
import {
  type CsvRecord,
  cellText,
  checkCells,
  dayReader,
  decimalIn,
  decimalMarkOf,
  digitsIn,
  firstRows,
  readCsv,
  repeatedCells,
  separatorOf,
  type TextRow,
  textRow,
  wholeOf,
} from '../csv.ts'
import { type InputFile, inputFiles, textOfStart } from '../input-files.ts'
import { keyNames, openJson } from './json.ts'
import { overlapOf, type RowsFile } from './overlap.ts'
import { openParquet } from './parquet.ts'
import {
  type AddOptions,
  columnTwice,
  decimal,
  excessOfClicks,
  excessWarnings,
  layoutOf,
  noHours,
  ofOtherSite,
  originOf,
  type RowReader,
  rowSink,
  siteOfProperty,
  type UiTable,
  uiExport,
  unreadOf,
} from './rows.ts'

type UiFile = Extract<RecognisedFile, { readonly kind: 'ui' }>
type FiltersFile = Extract<RecognisedFile, { readonly kind: 'filters' }>

/** Folders may have a file a day: so many of them are named for their sums. */
const mostOfTotals = 3

/** As many rows as Search Console puts into a file of its UI export at most. */
const mostRows = 1_000

type ClickFiles = Awaited<ReturnType<typeof findClicks>>

/** Recognises what a file, a folder or an archive says of clicks. Throws a sentence where that is nothing, or of different kinds. */
export async function findClicks(path: string, { property }: Pick<AddOptions, 'property'>) {
  if (property !== null && siteOfProperty(property) === null)
    throw new UsageError(`'${property}' names no site. Write the property as in --site acme.com`)
  const files = await inputFiles(path)
  const recognised: (RecognisedFile | JsonFile)[] = []
  for (const file of files) recognised.push(await recognise(file))
  const keys = keyNames(recognised.flatMap((one) => (one.kind === 'json' ? [one.rows] : [])))
  const found = recognised.map((one): RecognisedFile => {
    if (one.kind !== 'json') return one
    const table = one.rows.named(keys.of(one.rows))
    return table === null ? { kind: 'other', file: one.file } : { kind: 'rows', file: one.file, ...table }
  })
  const rowFiles = found.filter((one) => one.kind === 'rows')
  const uiFiles = found.filter((one) => one.kind === 'ui')
  if (rowFiles.length + uiFiles.length === 0) throw new UsageError(unknownFile(path, files))
  if (rowFiles.length > 0 && uiFiles.length > 0)
    throw new UsageError(
      `${path} holds tables of the UI export (${uiFiles[0]?.file.name}) and rows by day (${rowFiles[0]?.file.name}). Add them one after the other`,
    )
  const filters = found.filter((one) => one.kind === 'filters')
  return { path, files, rowFiles, uiFiles, filters, keyOfCountry: keys.country }
}

/** Adds the clicks of files as one change. Throws a sentence where one cannot be read to its end; then nothing is stored. */
export async function addClicks(
  store: Pick<Store, 'clickAdditionOf' | 'draftClicks'>,
  { path, files, rowFiles, uiFiles, filters, keyOfCountry }: ClickFiles,
  options: AddOptions,
): Promise<{
  readonly id: number
  /** False where the same content stood there before: nothing was stored. */
  readonly isNew: boolean
  readonly rows: number
  readonly otherSearches: number
  /** Files that say nothing of clicks by query, page or day. */
  readonly leftOut: readonly string[]
  /** What a reader should know, in one sentence each. */
  readonly warnings: readonly string[]
}> {
  const digests = await digestsOf(files)
  const digest = createHash('sha256')
    .update([...digests.values()].sort().join())
    .digest('hex')
  const before = await store.clickAdditionOf(digest)
  if (before !== null)
    return { id: before, isNew: false, rows: 0, otherSearches: 0, leftOut: [], warnings: [] }
  using draft = await store.draftClicks()
  const read =
    uiFiles.length > 0
      ? addUiExport(draft, uiFiles, {
          ...options,
          path,
          isArchive: files[0]?.path === null,
          country: countryFilter(filters),
        })
      : await addRows(draft, rowFiles, { ...options, digests, keyOfCountry })
  const id = await draft.commit({
    addedAt: options.now,
    source: path,
    digest,
    rows: read.rows,
    otherSearches: read.otherSearches,
  })
  const used = new Set<InputFile>([...read.used, ...filters.map(({ file }) => file)])
  return {
    ...read,
    id,
    isNew: true,
    leftOut: files.filter((file) => !used.has(file)).map(({ name }) => name),
  }
}

function unknownFile(path: string, files: readonly InputFile[]): string {
  const what = files.length === 1 ? path : `None of the ${count(files.length, 'file')} of ${path}`
  return `${what} is ${files.length === 1 ? 'no' : 'a'} table of clicks that rankline knows: a UI export of Search Console, rows of its API (date, query, page, country, clicks, impressions, position) or a table of the bulk export. See docs/clicks.md; nothing was stored`
}

async function addRows(
  draft: ClickDraft,
  files: readonly RowsFile[],
  {
    digests,
    keyOfCountry,
    ...options
  }: AddOptions & { readonly digests: ReadonlyMap<InputFile, string>; readonly keyOfCountry: string | null },
) {
  const counts = { rows: 0, otherSearches: 0 }
  const [first] = files
  for (const { file, layout } of files) {
    if (layout.date === -1 && options.period === null) throw new UsageError(noPeriod(file.name))
    if (options.property === null && layout.property === -1 && layout.page === -1)
      throw new UsageError(noProperty(file.name))
    if (
      Object.keys(layout).some((field) =>
        isOther(field as keyof typeof layout, layout, first?.layout ?? layout),
      )
    )
      throw new UsageError(
        `${file.name} and ${first?.file.name} are different tables. Add them one after the other; nothing was stored`,
      )
  }
  // Rows of several files are of one table: those of a day may lie in any of them.
  const sinks = new Map<string, ReturnType<typeof rowSink>>()
  const shared = sharedTables(draft)
  /** Names of files that have rows, by what is in them. */
  const read = new Map<string | undefined, string>()
  const overlap = files.length > 1 ? overlapOf(files) : null
  const totals: string[] = []
  for (const file of files) {
    const { layout } = file
    const key = JSON.stringify(layout)
    const sink = sinks.get(key) ?? rowSink(shared, layout, options)
    sinks.set(key, sink)
    const before = sink.counts.rows
    await file.read(shared, (reader) => {
      overlap?.see(file, reader)
      sink.take(reader)
    })
    const ofTotals = sink.endFile()
    if (ofTotals !== null) totals.push(ofTotals)
    if (sink.counts.rows === before) continue
    const same = read.get(digests.get(file.file))
    if (same !== undefined)
      throw new UsageError(
        `${file.file.name} has the same content as ${same}, and would count twice. Leave one of them out; nothing was stored`,
      )
    read.set(digests.get(file.file), file.file.name)
  }
  await overlap?.check(shared)
  for (const sink of sinks.values()) {
    counts.rows += sink.counts.rows
    counts.otherSearches += sink.counts.otherSearches
  }
  const excess = excessWarnings([...sinks.values()].map((sink) => sink.excess))
  const [nowhere] = [...sinks.values()].flatMap((sink) => sink.unknownCountries)
  const warnings = [
    ...excess,
    ...totals.slice(0, mostOfTotals),
    ...(totals.length > mostOfTotals
      ? [`The same is so of ${count(totals.length - mostOfTotals, 'more file')}.`]
      : []),
    ...(counts.otherSearches === 0
      ? []
      : [
          `${grouped(counts.otherSearches)} rows are of other searches than of the web (images, videos, news, Discover) and were left out.`,
        ]),
    ...(keyOfCountry === null
      ? []
      : [
          `3-letter keys were read as countries (${keyOfCountry}). Where they are queries, undo this addition, and give rows names in place of keys.`,
        ]),
    ...(nowhere === undefined
      ? []
      : [
          `${nowhere} is no country that is known: its clicks are of no country. Where it is misspelled, undo this addition and correct the file.`,
        ]),
  ]
  if (counts.rows === counts.otherSearches)
    throw new UsageError(
      counts.rows === 0
        ? `${first?.file.name} has no row below its header. Export it again; nothing was stored`
        : `${first?.file.name} has no row of a web search. Nothing was stored`,
    )
  return { ...counts, warnings, used: files.map(({ file }) => file) }
}

const isOther = (
  field: keyof RowsFile['layout'],
  one: RowsFile['layout'],
  other: RowsFile['layout'],
): boolean =>
  ['date', 'query', 'page', 'country'].includes(field) && (one[field] === -1) !== (other[field] === -1)

/** A draft in which tables of the same kind are one. */
function sharedTables(draft: ClickDraft): ClickDraft {
  const known = new Map<string, number>()
  return {
    ...draft,
    table: (table) => {
      const key = JSON.stringify(table)
      const number = known.get(key) ?? draft.table(table)
      known.set(key, number)
      return number
    },
  }
}

function noPeriod(name: string): string {
  return `${name} has no days, and nothing beside it says its period. Add the whole export (the ZIP file or its folder), or say the period: --from 2026-08-01 --until 2026-10-31`
}

function noProperty(name: string): string {
  return `${name} does not say of which site it is. Name the property: --site acme.com`
}

/**
 * The country that a UI export is of; null for one of all countries. Throws a sentence where it is of another search than of the web, or of
 * another part of the property: its sums would stand for all of it.
 */
function countryFilter(
  files: readonly FiltersFile[],
): { readonly name: string; readonly code: string } | null {
  let country = null as { readonly name: string; readonly code: string } | null
  for (const { file, search, isOfWeb, parts } of files) {
    if (!isOfWeb)
      throw new UsageError(
        `${file.name} says that the export is of another search than that of the web (${search}). Choose the search type Web in Search Console; nothing was stored`,
      )
    for (const { name, value, isCountry } of parts) {
      const code = isCountry && country === null ? countryNamed(value) : null
      if (code === null)
        throw new UsageError(
          `${file.name} says that the export is of a part of the property alone (${name}: ${value}). Take that filter away in Search Console, and export again; nothing was stored`,
        )
      country = { name: value, code }
    }
  }
  return country
}

/** Adds the tables of a UI export: queries and pages are of one period, the days are sums. */
function addUiExport(
  draft: ClickDraft,
  files: readonly UiFile[],
  {
    property,
    period: given,
    now,
    path,
    isArchive,
    country,
  }: AddOptions & {
    readonly path: string
    readonly isArchive: boolean
    readonly country: ReturnType<typeof countryFilter>
  },
) {
  const days = files.find(({ table }) => table.about === 'date')
  const pages = files.find(({ table }) => table.about === 'page')
  const others = files.filter(({ table }) => table.about === 'other')
  const queries =
    others[
      uiExport.placeOfQueries(
        others.map(({ file, table }) => ({ base: file.base, rows: table.rows.length })),
        isArchive,
      )
    ]
  const [some] = files
  const name = some?.file.name ?? path
  const dayOf = dayReader(now)
  const labelDay = ({ label, line }: UiTable['rows'][number]): number =>
    dayOf(label, () => `${days?.file.name}:${line}`)
  const read = dayRange(days?.table.rows.map(labelDay) ?? [])
  const period = read ?? given
  const hours = files.find(({ table }) => table.about === 'hour')
  const hour = hours?.table.rows[0]
  if (hours !== undefined && hour !== undefined && (period === null || files.length === 1))
    throw new UsageError(`${hours.file.name}:${hour.line}: ${noHours(hour.label)}`)
  if (period === null) throw new UsageError(noPeriod(name))
  const named =
    property ??
    uiExport.propertyIn(basename(path)) ??
    uiExport.propertyIn(basename(dirname(path))) ??
    propertyOfPages(pages?.table)
  const site = named === null ? null : siteOfProperty(named)
  if (named === null || site === null) throw new UsageError(noProperty(name))

  const stranger = pages?.table.rows.find(({ label }) => ![site, null].includes(siteOfProperty(label)))
  if (stranger !== undefined)
    throw new UsageError(
      `${pages?.file.name}:${stranger.line}: ${ofOtherSite(originOf(stranger.label), site)}; nothing was stored`,
    )
  const addTable = (
    table: UiTable,
    {
      rowsOf,
      countedBy,
    }: { readonly rowsOf: 'query' | 'page' | 'total'; readonly countedBy: 'property' | 'page' },
  ): void => {
    const isDaily = rowsOf === 'total'
    const id = draft.table({
      property: named,
      site,
      countedBy,
      rowsOf,
      timeSpan: isDaily ? 'day' : 'period',
      hasCountries: country !== null,
      period: isDaily ? null : period,
    })
    for (const row of table.rows) {
      const { label, clicks, impressions, position } = row
      draft.add({
        table: id,
        query: rowsOf === 'query' ? draft.textOf(label, 'query') : 0,
        page: rowsOf === 'page' ? draft.textOf(label, 'page') : 0,
        country: country === null ? 0 : countryCode(country.code),
        day: isDaily ? labelDay(row) : period.from,
        clicks,
        impressions,
        positionSum: Math.max(0, position - 1) * impressions,
      })
    }
  }
  if (days !== undefined) addTable(days.table, { rowsOf: 'total', countedBy: 'property' })
  if (queries !== undefined) addTable(queries.table, { rowsOf: 'query', countedBy: 'property' })
  if (pages !== undefined) addTable(pages.table, { rowsOf: 'page', countedBy: 'page' })
  const used = [days, queries, pages].flatMap((one) => (one === undefined ? [] : [one]))
  const excess = used.map(({ file, table }) => {
    const one = excessOfClicks()
    for (const row of table.rows) one.see(row, () => `${file.name}:${row.line}`)
    return one
  })
  const cut = [queries, pages].flatMap((one) => (one?.table.rows.length === mostRows ? [one.file.base] : []))
  return {
    rows: used.reduce((sum, { table }) => sum + table.rows.length, 0),
    otherSearches: 0,
    used: used.map(({ file }) => file),
    warnings: [
      ...excessWarnings(excess),
      ...used.flatMap(({ table }) => table.warning ?? []),
      ...(country === null
        ? []
        : [
            `The export is of searches in one country alone (${country.name}, ${country.code}): keywords of others have no clicks of it.`,
          ]),
      ...cut.map(
        (base) =>
          `${base} has exactly 1,000 rows: Search Console cuts its export there, so that rarer ones are missing. Its API and its bulk export have them all.`,
      ),
      ...(queries === undefined
        ? ['The export has no table of queries: clicks cannot stand beside keywords.']
        : [
            `Queries are of the whole period from ${dayText(period.from)} to ${dayText(period.until)}: a UI export has no query by day.`,
          ]),
    ],
  }
}

function dayRange(days: readonly number[]) {
  return days.length === 0 ? null : { from: Math.min(...days), until: Math.max(...days) }
}

/** The domain of the pages, where all are of one. */
function propertyOfPages(table: UiTable | undefined): string | null {
  const sites = new Set((table?.rows ?? []).map(({ label }) => siteOfProperty(label)))
  const [site] = sites
  return sites.size === 1 && site != null ? `sc-domain:${site}` : null
}

/** What a file is. */
type RecognisedFile =
  | RowsFile
  | { readonly kind: 'ui'; readonly file: InputFile; readonly table: UiTable }
  | ({ readonly kind: 'filters'; readonly file: InputFile } & NonNullable<
      ReturnType<typeof uiExport.filters>
    >)
  | { readonly kind: 'other'; readonly file: InputFile }

/** Rows of JSON whose keys have no names yet. */
interface JsonFile {
  readonly kind: 'json'
  readonly file: InputFile
  readonly rows: NonNullable<Awaited<ReturnType<typeof openJson>>>
}

const headBytes = 1 << 16
/** Tables of the UI export have 1,000 rows at most. */
const mostUiRows = 5_000

/** Recognises a file by its content. Throws a sentence for one that looks like rows of Search Console and cannot be read. */
async function recognise(file: InputFile): Promise<RecognisedFile | JsonFile> {
  const head = await file.start(headBytes)
  if (head.length === 0) return { kind: 'other', file }
  if (head.subarray(0, 4).toString('latin1') === 'PAR1') {
    const parquet = await openParquet(file)
    return parquet === null ? { kind: 'other', file } : { kind: 'rows', file, ...parquet }
  }
  const text = textOfStart(head)
  const first = text.trimStart()[0]
  if (first === '{' || first === '[') {
    const rows = await openJson(file, text)
    return rows === null ? { kind: 'other', file } : { kind: 'json', file, rows }
  }
  return await recogniseCsv(file, text)
}

async function recogniseCsv(file: InputFile, head: string): Promise<RecognisedFile> {
  const separator = separatorOf(head)
  const rows = firstRows(head)
  const [header, first] = rows
  if (header === undefined) return { kind: 'other', file }
  const filters = uiExport.filters(rows, file.base)
  if (filters !== null) return { kind: 'filters', file, ...filters }
  if (uiExport.isComparison(header.cells, first?.cells))
    throw new UsageError(
      `${file.name} compares two periods. Export one period alone from Search Console, without Compare`,
    )
  // In English it has the names of the API: the form of its rates tells them apart.
  const table = header.cells.length === 5 ? await readUiTable(file, separator) : null
  if (table !== null) return { kind: 'ui', file, table }
  const layout = layoutOf(header.cells)
  if (layout === null) return { kind: 'other', file }
  const twice = columnTwice(header.cells)
  if (twice !== null)
    throw new UsageError(
      `${file.name}:${header.line}: two columns are called ${quoted(twice)}. Leave one of them; nothing was stored`,
    )
  return {
    kind: 'rows',
    file,
    layout,
    read: (draft, take) => readCsvRows(file, { separator, columns: header.cells, layout }, draft, take),
  }
}

/** A table of the UI export as a whole; null where it is none. */
async function readUiTable(file: InputFile, separator: number): Promise<UiTable | null> {
  const rows: TextRow[] = []
  await readCsv(file, separator, (record) => rows.push(textRow(record)) <= mostUiRows)
  const table = rows.length > mostUiRows ? null : uiExport.table(rows.slice(1), file.name)
  if (table !== null && 'mistake' in table)
    throw new UsageError(`${file.name}:${table.line}: ${table.mistake}; nothing was stored`)
  return table
}

async function readCsvRows(
  file: InputFile,
  {
    separator,
    columns,
    layout,
  }: {
    readonly separator: number
    readonly columns: readonly string[]
    readonly layout: RowsFile['layout']
  },
  draft: ClickDraft,
  take: (reader: RowReader) => void,
): Promise<void> {
  const mark = decimalMarkOf(separator)
  let record = null as CsvRecord | null
  const at = (): CsvRecord => record as CsvRecord
  const digitsAt = (place: number): number =>
    digitsIn(at().bytes, at().starts[place] as number, at().ends[place] as number)
  const isThere = (place: number): boolean => place < at().cells
  const written = repeatedCells(at, ({ bytes, starts, ends }, place) =>
    bytes.toString('utf8', starts[place], ends[place]),
  )
  const wordAt = (place: number): string => (isThere(place) ? written(place) : '')
  const reader: RowReader = {
    text: (place, kind) => {
      const one = at()
      if (!isThere(place)) return 0
      if (one.doubled[place] === 1) return draft.textOf(cellText(one, place), kind)
      return draft.textIn(one.bytes, one.starts[place] as number, one.ends[place] as number, kind)
    },
    word: wordAt,
    unread: unreadOf(columns, wordAt),
    number: (place) => {
      const one = at()
      if (!isThere(place)) return -1
      const usual = decimalIn(one.bytes, one.starts[place] as number, one.ends[place] as number)
      return usual >= 0 ? usual : decimal(cellText(one, place))
    },
    whole: (place) => {
      if (!isThere(place)) return -1
      const digits = digitsAt(place)
      return digits >= 0 ? digits : wholeOf(cellText(at(), place), mark)
    },
    where: () => `${file.name}:${at().line}`,
  }
  // Excel leaves empty cells out at the end of a row. What is cut has no line end.
  const { date, query, page, searchType, clicks, impressions } = layout
  const least = Math.max(date, query, page, searchType, clicks, impressions) + 1
  let isHeader = true
  await readCsv(file, separator, (one) => {
    record = one
    if (isHeader) {
      isHeader = false
      return
    }
    checkCells(one, columns.length, file.name, one.isOpen ? columns.length : least)
    take(reader)
  })
}

/** Digests of the content of files, whatever they are called. */
async function digestsOf(files: readonly InputFile[]): Promise<ReadonlyMap<InputFile, string>> {
  const digests = new Map<InputFile, string>()
  for (const file of files) {
    const hash = createHash('sha256')
    for await (const chunk of file.chunks()) hash.update(chunk)
    digests.set(file, hash.digest('hex'))
  }
  return digests
}
