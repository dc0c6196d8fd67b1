import { UsageError } from '../../model/errors.ts'
import { siteOf } from '../../model/public-suffix.ts'
import { grouped, memoized } from '../../model/text.ts'
import { parseLink } from '../../model/url.ts'
import { quoted } from '../../model/values.ts'
import { type ClickDraft, countryCode, emptyRow } from '../../store/sqlite/clicks/draft.ts'
import { countryNamed } from '../countries.ts'
import { dayReader, readDay, type TextRow, wholeOf } from '../csv.ts'
import { keptTotals, maySayTotal } from '../totals.ts'

/** What a column of rows by name says. */
export type ClickField =
  | 'date'
  | 'query'
  | 'page'
  | 'country'
  /** Devices are summed. */
  | 'device'
  | 'searchType'
  | 'anonymous'
  | 'property'
  | 'clicks'
  | 'impressions'
  /** Average, from 1 on. */
  | 'position'
  /** Sum over the impressions, from 0 on. */
  | 'positionSum'

/** Names of columns in the API, in the bulk export, and in what connectors and scripts make of them. */
const names: Readonly<Record<ClickField, readonly string[]>> = {
  date: ['date', 'data_date', 'day'],
  query: ['query', 'queries', 'search_query', 'keyword', 'top_queries'],
  page: ['page', 'url', 'landing_page', 'top_pages'],
  country: ['country', 'country_code'],
  device: ['device', 'device_category'],
  searchType: ['search_type', 'searchtype', 'type'],
  anonymous: ['is_anonymized_query'],
  property: ['site_url', 'property', 'site'],
  clicks: ['clicks'],
  impressions: ['impressions'],
  position: ['position', 'average_position', 'avg_position'],
  positionSum: ['sum_position', 'sum_top_position'],
}

const fieldOf = new Map(
  Object.entries(names).flatMap(([field, all]) => all.map((name) => [name, field as ClickField] as const)),
)

const plainName = (column: string): string =>
  column
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')

/** The places of what rows say; -1 where they do not say it. */
export type ClickLayout = Readonly<Record<ClickField, number>>

/** The name of a field that two columns have; null where none does. */
export function columnTwice(columns: readonly string[]): string | null {
  const written = columns.map((column) => column.trim().toLowerCase())
  return written.find((name, place) => fieldOf.has(plainName(name)) && written.indexOf(name) < place) ?? null
}

/** What the columns of a table are; null where it is none of clicks. Of two columns that say the same the first one counts. */
export function layoutOf(columns: readonly string[]): ClickLayout | null {
  const layout = Object.fromEntries(Object.keys(names).map((field) => [field, -1])) as Record<
    ClickField,
    number
  >
  for (const [place, column] of columns.entries()) {
    const field = fieldOf.get(plainName(column))
    if (field !== undefined && layout[field] === -1) layout[field] = place
  }
  const { clicks, impressions, position, positionSum, date, query, page } = layout
  // Rows of the bulk export are added up, whatever their device.
  if (positionSum !== -1) layout.device = -1
  const isComplete = clicks !== -1 && impressions !== -1 && (position !== -1 || positionSum !== -1)
  return isComplete && (date !== -1 || query !== -1 || page !== -1) ? layout : null
}

/** Columns that say nothing of their own: rates follow from clicks and impressions, and scripts number their rows. */
const emptyNames = /^$|(^|_)ctr(_|$)|^click_through|^(index|unnamed:_\d+)$/

/** Gives what stands in the columns that are not read, whatever their order. */
export function unreadOf(columns: readonly string[], word: (place: number) => string): () => string {
  const layout = layoutOf(columns)
  const read = new Set(Object.values(layout ?? {}))
  const unread = columns
    .map((column, place) => ({ name: plainName(column), place }))
    .filter(({ name, place }) => !read.has(place) && !emptyNames.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  return () => unread.map(({ name, place }) => `${name}=${word(place)}`).join('\n')
}

/** What a table of the UI export is about, by its shape alone: its words are in the language of the account. */
export interface UiTable {
  readonly about: 'date' | 'hour' | 'page' | 'other'
  readonly rows: readonly {
    readonly label: string
    readonly clicks: number
    readonly impressions: number
    /** Average, from 1 on. */
    readonly position: number
    readonly line: number
  }[]
  /** What is to be said of a row that is, or may be, the sum of the others. */
  readonly warning: string | null
}

/** Whether a text is an hour, as the API writes it. */
export const isHour = (text: string): boolean => /^\d{4}-\d{2}-\d{2}[t ]\d/i.test(text)

export function noHours(text: string): string {
  return `${quoted(text)} is an hour, and clicks are kept by day. Export whole days (of the API, the dimension date in place of hour); nothing was stored`
}

const isDayText = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text)
const isRate = (text: string): boolean => /^\d{1,3}(?:[.,]\d+)?[\s\u00a0\u202f]?%$/.test(text)

/** What stands where there is nothing to divide by. */
const isNothing = (text: string): boolean => /^[-–—]{0,3}$/.test(text)

/** A rate, or the dash that stands where there is none. */
const isRateCell = (text: string): boolean => isRate(text) || (text !== '' && isNothing(text))

/**
 * Reads a table of five columns: what it is about, clicks, impressions, rate in percent, position. Null where most rows have another
 * shape; else the message of the first one that has.
 */
function uiTable(
  rows: readonly TextRow[],
  name: string,
): UiTable | null | { readonly line: number; readonly mistake: string } {
  const shaped = rows.filter(({ cells }) => cells.length === 5 && isRateCell((cells[3] ?? '').trim()))
  if (shaped.length * 2 <= rows.length) return null
  const mark = shaped.some(({ cells }) => cells.slice(3).some((cell) => cell.includes(','))) ? ',' : '.'
  const read: UiTable['rows'][number][] = []
  const totals = keptTotals()
  let mistake: { readonly line: number; readonly mistake: string } | null = null
  for (const { cells, line } of rows) {
    const [label = '', clicks = '', impressions = '', rate = '', position = ''] = cells.map((cell) =>
      cell.trim(),
    )
    const shown = wholeOf(impressions, mark)
    // Of a day without impressions, rate and position may be left out.
    if (cells.length > 5 || (cells.length < 5 && shown !== 0 && !maySayTotal(label)))
      return {
        line,
        mistake: 'the row has another form than the others: the file may be cut. Export it again',
      }
    const hasNone = (text: string): boolean => shown === 0 && isNothing(text)
    const row = {
      label,
      clicks: wholeOf(clicks, mark),
      impressions: shown,
      position: hasNone(position) ? 0 : decimal(position),
      line,
    }
    const [wrong] = [
      ...(row.clicks === -1 ? [noNumber(clicks, 'clicks')] : []),
      ...(row.impressions === -1 ? [noNumber(impressions, 'impressions')] : []),
      ...(isRate(rate) || hasNone(rate) ? [] : [`'${rate}' is no rate in percent. Export the table again`]),
      ...(row.position === -1 ? [`'${position}' is no position. Export the table again`] : []),
    ]
    const take = (): void => {
      if (wrong !== undefined) mistake ??= { line, mistake: wrong }
      read.push(row)
    }
    const numbers = [row.clicks, row.impressions] as const
    // Of a sum, rate and position may be missing.
    if (maySayTotal(label)) totals.keep({ day: 0, numbers, name: label, where: `${name}:${line}`, take })
    else {
      totals.see(0, ...numbers)
      take()
    }
    if (mistake !== null) return mistake
  }
  const { warning } = totals.end()
  if (mistake !== null) return mistake
  const about = read.every(({ label }) => isDayText(label))
    ? 'date'
    : read.every(({ label }) => isHour(label))
      ? 'hour'
      : read.every(({ label }) => /^https?:\/\//.test(label))
        ? 'page'
        : 'other'
  return { about, rows: read, warning }
}

function noNumber(cell: string, column: string): string {
  return `${cell === '' ? `the row has no ${column}` : `'${cell.slice(0, 40)}' is no ${column}`}; write a whole number such as 1234`
}

/** Sees rows of a table that have more clicks than impressions. */
export function excessOfClicks() {
  const seen = { rows: 0, excess: 0, first: '' }
  return {
    seen,
    see({ clicks, impressions }: ClickCounts, where: () => string): void {
      seen.rows++
      if (clicks <= impressions) return
      if (seen.excess++ === 0)
        seen.first = `${where()}: the row has more clicks (${grouped(clicks)}) than impressions (${grouped(impressions)})`
    },
  }
}

/** What is said of rows that have more clicks than impressions. Throws it where they are a tenth of a table or more: columns may be mixed up. */
export function excessWarnings(tables: readonly ReturnType<typeof excessOfClicks>[]): readonly string[] {
  const all = tables.reduce((sum, { seen }) => sum + seen.rows, 0)
  return tables.flatMap(({ seen: { rows, excess, first } }) => {
    if (excess === 0) return []
    // One row alone may be a tenth of a small table.
    if (excess * 10 >= (excess === 1 ? all : rows))
      throw new UsageError(
        `${first}${excess === 1 ? '' : `, as have ${grouped(excess)} of ${grouped(rows)}`}. Its columns may be mixed up; nothing was stored`,
      )
    return [
      `${first}${excess === 1 ? '' : `, as have ${grouped(excess)} of ${grouped(rows)}`}, and counts as it stands.`,
    ]
  })
}

interface ClickCounts {
  readonly clicks: number
  readonly impressions: number
}

/** The filters of a UI export, one a row: what is filtered, and by which value. Null where a table of two columns is another one. */
function uiFilters(rows: readonly TextRow[], base: string) {
  const [header, ...others] = rows.map(({ cells }) => cells.map((cell) => cell.trim().normalize('NFC')))
  const isNamed = [base.normalize('NFC'), header?.[0] ?? ''].some((name) => filtersName.test(name))
  if (header?.length !== 2 || !isNamed) return null
  const filters = others.map(([name = '', value = '']) => ({ name, value }))
  // The first one is the type of the search, then come the days, in any language.
  const placeOf = (name: RegExp, usual: number): number => {
    const place = filters.findIndex((one) => name.test(one.name))
    return place === -1 ? usual : place
  }
  const days = placeOf(/^date$/i, 1)
  const search = placeOf(/^search type$/i, days === 0 ? -1 : 0)
  const type = filters[search]?.value ?? ''
  return {
    search: type,
    isOfWeb: !otherSearches.test(type),
    parts: filters
      .filter((_, place) => place !== search && place !== days)
      .map((one) => ({ ...one, isCountry: countryName.test(one.name) })),
  }
}

const filtersName = /^(filt|suodat|szűr|φίλτρ|фильтр|фільтр|フィルタ|筛选|篩選|필터)/iu

/** What the filter of a country is called in the languages of Search Console. */
const countryName =
  /^(country|land|pays|pa[ií]s|paese|kraj|zem[eě]|krajina|država|maa|ország|[tț]ar[aă]|ülke|χώρα|страна|країна|държава|negara|quốc gia|ประเทศ|البلد|מדינה|देश|국가|(国家|國家|国)(\/(地区|地區|地域))?)$/iu

/** Types of searches beside that of the web, in some languages. */
const otherSearches =
  /^(im[aá]g|imm?agin|bild|afbeelding|obra|görsel|kuva|kép|изображ|画像|图片|圖片|이미지|v[ií]d[eé]o|film|wideo|видео|動画|视频|影片|동영상|news|nachrichten|actualit|noticia|notizi|notícia|nieuws|wiadomo|zpráv|nyhet|haber|новост|ニュース|新闻|新聞|뉴스|discover)/iu

/** Whether a header is that of two periods beside each other. */
function isComparison(cells: readonly string[], first: readonly string[] | undefined): boolean {
  return (
    cells.length === 9 && first?.length === 9 && [5, 6].every((place) => isRate((first[place] ?? '').trim()))
  )
}

/** What the file of queries is called in some languages. */
const queriesName =
  /^(quer(ies|y)|(such)?anfragen|suchbegriffe|requ[eê]tes|consultas|query|zapytania|dotazy|zoekopdrachten|f[öo]rfr[åa]gningar|sorgular|запросы|クエリ|查询|검색어)\b/iu

/**
 * Which of several tables that are about no day and no page is that of queries: by its name, else the first one in an archive, where Search
 * Console puts them in the order of its tabs, else the longest. -1 for none.
 */
function tableOfQueries(
  tables: readonly { readonly base: string; readonly rows: number }[],
  isArchive: boolean,
): number {
  const named = tables.findIndex(({ base }) => queriesName.test(base.normalize('NFC')))
  if (named !== -1) return named
  if (isArchive && tables.length > 1) return 0
  const most = Math.max(...tables.map(({ rows }) => rows))
  return tables.findIndex(({ rows }) => rows === most)
}

/** The property that the name of a download says; null where it says none. */
function propertyInName(name: string): string | null {
  const [, scheme, host] = name.match(/^(https?)_{3}([\w.-]+?)_?-[^\d]/) ?? []
  if (scheme !== undefined && host !== undefined) return `${scheme}://${host.replace(/_+$/, '')}/`
  const [, domain] = name.match(/^((?:[a-z0-9-]+\.)+[a-z]{2,})-[^\d.]+-\d{4}-\d{2}-\d{2}/i) ?? []
  return domain === undefined ? null : `sc-domain:${domain.toLowerCase()}`
}

/** One row at a time, whatever kind of file it comes from. */
export interface RowReader {
  /** The number of a text in the draft; 0 for none. */
  readonly text: (place: number, kind: 'query' | 'page') => number
  /** A short text that many rows share. */
  readonly word: (place: number) => string
  /** A number from 0 on, which may have a fraction; -1 for anything else. */
  readonly number: (place: number) => number
  /** A whole number from 0 on, with or without signs between its thousands. */
  readonly whole: (place: number) => number
  /** What stands in columns that are not read, as one text. */
  readonly unread: () => string
  /** Where the row stands: `file.csv:12`. */
  readonly where: () => string
}

/** What an addition is told by options. */
export interface AddOptions {
  /** The property, where the files do not say it. */
  readonly property: string | null
  /** The period of files without days. */
  readonly period: { readonly from: number; readonly until: number } | null
  /** When it is added. */
  readonly now: number
}

/** A number from 0 on, with a point or a comma; -1 for anything else. */
export function decimal(text: string): number {
  return /^\d+(?:[.,]\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text.replace(',', '.')) : -1
}

/** A sum of positions as BigQuery prints it: `4.5`, `1.25E7`. What may be a thousand is none; -1 for anything else. */
export function sumIn(text: string): number {
  return /^\d+(?:\.\d+)?(?:e\+?\d+)?$/i.test(text) && !/^\d{1,3}\.\d{3}$/.test(text) ? Number(text) : -1
}

/** How the address of a page begins, which says its site; the whole text where it is no address. */
export function originOf(page: string): string {
  return page.match(/^https?:\/\/[^/?#]+/i)?.[0] ?? page
}

/** The registrable domain of a property; null where it names none, as a label or a number does, which has no dot. */
export function siteOfProperty(property: string): string | null {
  const address = property.replace(/^sc-domain:/, '')
  if (!address.includes('.')) return null
  const host = parseLink(address.includes('://') ? address : `https://${address}`)?.host ?? ''
  return siteOf(host.toLowerCase()) ?? (host === '' ? null : host.toLowerCase())
}

/** What is wrong with a row of another site than the one that was named. */
export function ofOtherSite(address: string, site: string): string {
  return `${quoted(address)} is of another site than ${site}. Take its rows out, or name its site`
}

/** Nothing that is counted comes to so much; sums of more would lose their last digits. */
const mostOfAll = 1e12

/** How files say that the country is not known. */
const noCountry = /^(|zzz|zz|-+|null|n\/?a|other|\(?(not set|other|unknown|unknown region)\)?)$/i

/** Reads rows by what their columns say. Rows of other searches than of the web are left out: images, videos, news, Discover. */
export function rowSink(
  draft: ClickDraft,
  layout: ClickLayout,
  { property: named, period, now }: AddOptions,
) {
  const has = (field: ClickField): boolean => layout[field] !== -1
  const rowsOf = has('query') ? 'query' : has('page') ? 'page' : 'total'
  const timeSpan = has('date') ? 'day' : 'period'
  const counts = { rows: 0, otherSearches: 0 }
  const excess = excessOfClicks()
  /** The first country that is none, with its line. */
  const unknownCountries: string[] = []
  const row = emptyRow()
  const dayOf = dayReader(now)
  const isWeb = memoized((word) => word.toLowerCase() === 'web')
  const codeOf = memoized((word) => countryCode(countryNamed(word) ?? ''))
  const isTrue = memoized((word) => /^(true|1|t)$/i.test(word))
  const tableOf = memoized((property) => {
    const site = siteOfProperty(property)
    if (site === null) return -1
    return draft.table({
      property,
      site,
      countedBy: has('page') ? 'page' : 'property',
      rowsOf,
      timeSpan,
      hasCountries: has('country'),
      period: timeSpan === 'period' ? period : null,
    })
  })
  const ownSite = memoized((origin) => {
    const site = /^https?:/i.test(origin) ? siteOfProperty(origin) : null
    return site === null ? -1 : tableOf(`sc-domain:${site}`)
  })

  const site = named === null ? null : siteOfProperty(named)
  const isOwn = memoized((address) => [site, null].includes(siteOfProperty(address)))
  /** Pages of the site that was named. */
  const ownPages = new Set<number>()
  const checkPage = (reader: RowReader): void => {
    if (site === null || row.page === 0 || ownPages.has(row.page)) return
    const origin = originOf(reader.word(layout.page))
    if (/^https?:/i.test(origin) && !isOwn(origin))
      throw new UsageError(`${reader.where()}: ${ofOtherSite(origin, site)}; nothing was stored`)
    ownPages.add(row.page)
  }

  const propertyTable = (reader: RowReader): number => {
    if (named !== null) {
      const written = has('property') ? reader.word(layout.property) : ''
      if (site !== null && !isOwn(written))
        throw new UsageError(`${reader.where()}: ${ofOtherSite(written, site)}; nothing was stored`)
      return tableOf(named)
    }
    const table = has('property') ? tableOf(reader.word(layout.property)) : -1
    if (table !== -1 || !has('page')) return table
    return ownSite(originOf(reader.word(layout.page)))
  }
  const wrong = (reader: RowReader, field: ClickField, instead: string): never => {
    const found = reader.word(layout[field]).slice(0, 40)
    const name = field === 'positionSum' ? 'sum of positions' : field
    throw new UsageError(
      `${reader.where()}: ${found === '' ? `the row has no ${name}` : `'${found}' is no ${name}`}; ${instead}. Nothing was stored`,
    )
  }
  const wholeNumber = (reader: RowReader, field: 'clicks' | 'impressions' | 'positionSum'): number => {
    const isSum = field === 'positionSum'
    const whole = reader.whole(layout[field])
    const number = whole === -1 && isSum ? sumIn(reader.word(layout.positionSum)) : whole
    const isWhole = isSum || Number.isInteger(number)
    if (!(isWhole && number >= 0 && number < mostOfAll))
      wrong(reader, field, 'write a whole number such as 1234, or export the file again')
    return number
  }
  const average = (reader: RowReader): number => {
    const number = reader.number(layout.position)
    if (row.impressions === 0 && isNothing(reader.word(layout.position))) return 0
    if (!(number >= 0 && number < mostOfAll))
      wrong(reader, 'position', 'the file may be cut, or its columns mixed up')
    return number
  }

  const countryIn = (reader: RowReader): number => {
    const written = reader.word(layout.country)
    const code = codeOf(written)
    if (code === 0 && unknownCountries.length === 0 && !noCountry.test(written))
      unknownCountries.push(`${reader.where()}: ${quoted(written)}`)
    return code
  }
  /** Reads what a row says beside its texts. */
  const fill = (reader: RowReader): void => {
    row.table = propertyTable(reader)
    if (row.table === -1)
      wrong(
        reader,
        has('property') ? 'property' : 'page',
        'write an address with its site, or name it: --site acme.com',
      )
    row.day = layout.date === -1 ? (period?.from ?? 0) : dayOf(reader.word(layout.date), reader.where)
    row.clicks = wholeNumber(reader, 'clicks')
    row.impressions = wholeNumber(reader, 'impressions')
    row.positionSum =
      layout.positionSum === -1
        ? Math.max(0, average(reader) - 1) * row.impressions
        : wholeNumber(reader, 'positionSum')
    row.country = layout.country === -1 ? 0 : countryIn(reader)
    checkPage(reader)
  }
  const add = (one: ReturnType<typeof emptyRow>, where: () => string): void => {
    excess.see(one, where)
    draft.add(one)
  }

  const totalIn = totalNames(layout)
  let totals = keptTotals()
  /** Keeps a row back that may be a sum, which need not be whole: most have no position. */
  const keep = (reader: RowReader, name: string): void => {
    let mistake: unknown = null
    const strange = unknownCountries.length
    try {
      fill(reader)
    } catch (error) {
      mistake = error
    }
    const own = { ...row }
    const ownStrange = unknownCountries.splice(strange)
    const where = reader.where()
    const day = layout.date === -1 ? (period?.from ?? 0) : readDay(reader.word(layout.date))
    totals.keep({
      day: day === -1 ? null : day,
      numbers: [reader.whole(layout.clicks), reader.whole(layout.impressions)],
      name,
      where,
      take: () => {
        if (mistake !== null) throw mistake
        if (unknownCountries.length === 0) unknownCountries.push(...ownStrange)
        add(own, () => where)
      },
    })
  }

  return {
    counts,
    excess,
    unknownCountries,
    take(reader: RowReader): void {
      counts.rows++
      if (layout.searchType !== -1 && !isWeb(reader.word(layout.searchType))) {
        counts.otherSearches++
        return
      }
      row.page = layout.page === -1 ? 0 : reader.text(layout.page, 'page')
      const isAnonymous = layout.anonymous !== -1 && isTrue(reader.word(layout.anonymous))
      row.query = layout.query === -1 || isAnonymous ? 0 : reader.text(layout.query, 'query')
      const total = totalIn(reader, row)
      if (total !== null) {
        keep(reader, total)
        return
      }
      fill(reader)
      totals.see(row.day, row.clicks, row.impressions)
      add(row, reader.where)
    },
    /** Ends a file: takes rows that were kept back, unless they are sums, and answers what is to be said of them. */
    endFile(): string | null {
      const { sums, warning } = totals.end()
      counts.rows -= sums
      totals = keptTotals()
      return warning
    },
  }
}

/** Says what names a row that may be a sum; null for any other. Rows of the bulk export are none: of many, the query is not named. */
function totalNames(layout: ClickLayout) {
  const { date, query, page } = layout
  const place = query === -1 ? page : query
  /** By the number of a text whether it may: 0 where that is not known yet, 1 for no, 2 for yes. */
  let known = new Uint8Array(1 << 16)
  const mayBeOfAll = memoized((word) => maySayTotal(word))
  return (reader: RowReader, row: ReturnType<typeof emptyRow>): string | null => {
    if (layout.positionSum !== -1 || layout.anonymous !== -1) return null
    const dated = date === -1 ? null : reader.word(date)
    // A row that names a query and lacks its date is broken, and no sum.
    if (dated !== null && dated.trim() !== '' && mayBeOfAll(dated)) return dated
    if (place === -1) return null
    const number = query === -1 ? row.page : row.query
    if (number >= known.length) {
      const before = known
      known = new Uint8Array(number * 2)
      known.set(before)
    }
    if (known[number] === 0) known[number] = maySayTotal(reader.word(place)) ? 2 : 1
    return known[number] === 2 ? reader.word(place) : null
  }
}

/** What is read of the tables of a UI export, and of their names. */
export const uiExport = {
  table: uiTable,
  filters: uiFilters,
  isComparison,
  placeOfQueries: tableOfQueries,
  propertyIn: propertyInName,
}
