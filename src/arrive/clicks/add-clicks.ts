import { basename, dirname } from 'node:path'
import { UsageError } from '../../model/errors.ts'
import { count, grouped } from '../../model/text.ts'
import { dayText } from '../../model/time.ts'
import type { ClickDraft } from '../../store/sqlite/clicks/draft.ts'
import type { Store } from '../../store/sqlite/open.ts'
import { digestOf, type InputFile, inputFiles } from '../input-files.ts'
import { type RecognisedFile, recognise } from './read-files.ts'
import {
  type AddOptions,
  propertyInName,
  readDay,
  rowSink,
  siteOfProperty,
  tableOfQueries,
  type UiTable,
} from './rows.ts'

type UiFile = Extract<RecognisedFile, { readonly kind: 'ui' }>
type RowsFile = Extract<RecognisedFile, { readonly kind: 'rows' }>

/** As many rows as Search Console puts into a file of its UI export at most. */
const mostRows = 1_000

/**
 * Adds what a file, a folder or an archive says of clicks, as one change. Throws a sentence where it cannot be read to its end; then nothing
 * is stored.
 */
export async function addClicks(
  store: Pick<Store, 'clickAdditionOf' | 'draftClicks'>,
  path: string,
  { now, ...options }: AddOptions & { readonly now: number },
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
  if (options.property !== null && siteOfProperty(options.property) === null)
    throw new UsageError(`'${options.property}' names no site. Write the property as in --site acme.com`)
  const files = await inputFiles(path)
  const found: RecognisedFile[] = []
  for (const file of files) found.push(await recognise(file))
  const rowFiles = found.filter((one) => one.kind === 'rows')
  const uiFiles = found.filter((one) => one.kind === 'ui')
  if (rowFiles.length + uiFiles.length === 0) throw new UsageError(unknownFile(path, files))
  if (rowFiles.length > 0 && uiFiles.length > 0)
    throw new UsageError(
      `${path} holds tables of the UI export (${uiFiles[0]?.file.name}) and rows by day (${rowFiles[0]?.file.name}). Add them one after the other`,
    )
  const digest = await digestOf(files)
  const before = await store.clickAdditionOf(digest)
  if (before !== null)
    return { id: before, isNew: false, rows: 0, otherSearches: 0, leftOut: [], warnings: [] }
  using draft = await store.draftClicks()
  const read =
    uiFiles.length > 0
      ? addUiExport(draft, uiFiles, { ...options, path, isArchive: files[0]?.path === null })
      : await addRows(draft, rowFiles, options)
  const id = await draft.commit({
    addedAt: now,
    source: path,
    digest,
    rows: read.rows,
    otherSearches: read.otherSearches,
  })
  const used = new Set<InputFile>(read.used)
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

async function addRows(draft: ClickDraft, files: readonly RowsFile[], options: AddOptions) {
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
  for (const { layout, read } of files) {
    const key = JSON.stringify(layout)
    const sink = sinks.get(key) ?? rowSink(shared, layout, options)
    sinks.set(key, sink)
    await read(shared, sink.take)
  }
  for (const sink of sinks.values()) {
    counts.rows += sink.counts.rows
    counts.otherSearches += sink.counts.otherSearches
  }
  const warnings =
    counts.otherSearches === 0
      ? []
      : [
          `${grouped(counts.otherSearches)} rows are of other searches than of the web (images, videos, news, Discover) and were left out.`,
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

/** Adds the tables of a UI export: queries and pages are of one period, the days are sums. */
function addUiExport(
  draft: ClickDraft,
  files: readonly UiFile[],
  {
    property,
    period: given,
    path,
    isArchive,
  }: AddOptions & { readonly path: string; readonly isArchive: boolean },
) {
  const days = files.find(({ table }) => table.about === 'date')
  const pages = files.find(({ table }) => table.about === 'page')
  const others = files.filter(({ table }) => table.about === 'other')
  const queries =
    others[
      tableOfQueries(
        others.map(({ file, table }) => ({ base: file.base, rows: table.rows.length })),
        isArchive,
      )
    ]
  const [some] = files
  const name = some?.file.name ?? path
  const read = dayRange(days?.table)
  const period = read ?? given
  if (period === null) throw new UsageError(noPeriod(name))
  const named =
    property ??
    propertyInName(basename(path)) ??
    propertyInName(basename(dirname(path))) ??
    propertyOfPages(pages?.table)
  const site = named === null ? null : siteOfProperty(named)
  if (named === null || site === null) throw new UsageError(noProperty(name))

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
      hasCountries: false,
      period: isDaily ? null : period,
    })
    for (const { label, clicks, impressions, position } of table.rows)
      draft.add({
        table: id,
        query: rowsOf === 'query' ? draft.textOf(label, 'query') : 0,
        page: rowsOf === 'page' ? draft.textOf(label, 'page') : 0,
        country: 0,
        day: isDaily ? readDay(label) : period.from,
        clicks,
        impressions,
        positionSum: Math.max(0, position - 1) * impressions,
      })
  }
  if (days !== undefined) addTable(days.table, { rowsOf: 'total', countedBy: 'property' })
  if (queries !== undefined) addTable(queries.table, { rowsOf: 'query', countedBy: 'property' })
  if (pages !== undefined) addTable(pages.table, { rowsOf: 'page', countedBy: 'page' })
  const used = [days, queries, pages].flatMap((one) => (one === undefined ? [] : [one]))
  const cut = [queries, pages].flatMap((one) => (one?.table.rows.length === mostRows ? [one.file.base] : []))
  return {
    rows: used.reduce((sum, { table }) => sum + table.rows.length, 0),
    otherSearches: 0,
    used: used.map(({ file }) => file),
    warnings: [
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

function dayRange(table: UiTable | undefined) {
  const days = (table?.rows ?? []).map(({ label }) => readDay(label)).filter((day) => day !== -1)
  return days.length === 0 ? null : { from: Math.min(...days), until: Math.max(...days) }
}

/** The domain of the pages, where all are of one. */
function propertyOfPages(table: UiTable | undefined): string | null {
  const sites = new Set((table?.rows ?? []).map(({ label }) => siteOfProperty(label)))
  const [site] = sites
  return sites.size === 1 && site != null ? `sc-domain:${site}` : null
}
