import { dayMs } from '../../../model/time.ts'
import type { ImportSink } from '../../../store/sqlite/imports/imports.ts'
import { brokenDatabase, type ForeignFile, type ForeignFormat, readCell } from '../format.ts'

/** A keyword of SerpBear; columns that came later may be missing. */
interface SerpbearKeyword {
  readonly keyword: string | null
  readonly device: string | null
  readonly country: string | null
  readonly city?: string | null
  readonly location?: string | null
  readonly domain: string | null
  readonly lastUpdated: string | null
  readonly history: string | null
  readonly url: string | null
  readonly tags: string | null
  readonly volume?: number | null
  readonly lastUpdateError: string | null
}

/**
 * SerpBear 3 and its fork v-serpbear 4. A failed check writes the rank of the day before into the history, and 0 stands for not found
 * and for never checked. What the file lets one tell: days after the last update of a keyword that fails were repeated, and the last
 * day of one that does not fail was checked. All other days may have been repeated.
 */
const serpbearFormat: ForeignFormat = {
  name: 'serpbear',
  tool: 'serpbear',
  title: 'SerpBear or v-serpbear',
  sameDay: 'last',
  recognise: ({ tables }) => {
    const columns = tables?.get('keyword') ?? []
    return (
      tables?.has('domain') === true &&
      ['ID', 'keyword', 'domain', 'history', 'lastUpdateError'].every((name) => columns.includes(name))
    )
  },
  read: async (file, into) => {
    try {
      readKeywords(file, into)
    } catch (error) {
      throw brokenDatabase(file.name, error)
    }
  },
}

/** A column as text: SQLite keeps in any column what it is given. */
function textColumn(name: string, of = ''): string {
  return `CAST(${of}${name} AS TEXT) AS ${name}`
}

function readKeywords(file: ForeignFile, into: ImportSink): void {
  const wanted = [
    'keyword',
    'device',
    'country',
    'city',
    'location',
    'domain',
    'lastUpdated',
    'history',
    'url',
    'tags',
    'volume',
    'lastUpdateError',
  ]
  const has = file.tables?.get('keyword') ?? []
  const columns = wanted
    .filter((name) => has.includes(name))
    .map((name) => (name === 'volume' ? name : textColumn(name)))
    .join(', ')
  const keywords = file.db().prepare<[], SerpbearKeyword>(`SELECT ${columns} FROM keyword ORDER BY ID`)
  const offset = serverOffset(keywords.iterate())
  for (const one of keywords.iterate()) {
    if (one.keyword === null || one.domain === null) {
      into.dropped('keywords without a text or a domain')
      continue
    }
    const query = into.query({
      text: one.keyword,
      gl: one.country?.toLowerCase() || null,
      location: one.city || one.location || null,
      device: one.device || null,
      volume: one.volume || null,
      tags: textsOf(one.tags),
    })
    const series = into.series(query, readCell.site(one.domain), 'organic', 'repeats possible')
    const days = historyOf(one.history, into)
    const lastDay = Math.max(...days.keys())
    const hasFailed = one.lastUpdateError !== 'false'
    const updated = updatedDay(one, offset)
    for (const [day, rank] of days) {
      if (hasFailed && (updated === null || day > updated)) {
        into.dropped('days on which the check failed and SerpBear repeated the rank before')
        continue
      }
      const isLastChecked = !hasFailed && day === lastDay
      if (rank > 0) into.ranked(series, day, rank, isLastChecked ? readCell.link(one.url) : null)
      else if (isLastChecked) into.absent(series, day, null)
      else into.unknown(series, day, '0 stands for not found and for a check that failed')
    }
  }
}

/** Ranks by day. Days of the history are not padded: `2026-1-5`. */
function historyOf(json: string | null, into: ImportSink): ReadonlyMap<number, number> {
  const days = new Map<number, number>()
  const history = parsed(json)
  if (typeof history !== 'object' || history === null) {
    if (json !== null && json !== '') into.dropped('histories that are no JSON')
    return days
  }
  for (const [key, rank] of Object.entries(history)) {
    const day = readCell.day(key, null)
    if (typeof day === 'number' && Number.isInteger(rank) && (rank as number) >= 0)
      days.set(day, rank as number)
    else into.dropped('entries of a history that are no day with a rank')
  }
  return days
}

function textsOf(json: string | null): readonly string[] {
  const list = parsed(json)
  return Array.isArray(list) ? list.filter((tag): tag is string => typeof tag === 'string' && tag !== '') : []
}

function parsed(json: string | null): unknown {
  try {
    return json === null || json === '' ? null : JSON.parse(json)
  } catch {
    return undefined
  }
}

/** The local day of the last check that did not fail. */
function updatedDay({ lastUpdated }: Pick<SerpbearKeyword, 'lastUpdated'>, offset: number): number | null {
  const at = Date.parse(lastUpdated ?? '')
  return Number.isNaN(at) ? null : Math.floor((at + offset) / dayMs)
}

/**
 * How far the days of the server were from UTC, in milliseconds: the last day of a keyword that does not fail is the local day of its
 * last update. Where several offsets fit, the one nearest to UTC.
 */
function serverOffset(keywords: Iterable<SerpbearKeyword>): number {
  let [least, most] = [-12 * 3_600_000, 14 * 3_600_000]
  for (const { history, lastUpdated, lastUpdateError } of keywords) {
    const at = Date.parse(lastUpdated ?? '')
    const entries = lastUpdateError === 'false' && !Number.isNaN(at) ? parsed(history) : null
    const days = Object.keys(entries ?? {}).map((key) => readCell.day(key, null))
    const last = Math.max(...days.map((day) => (typeof day === 'number' ? day : 0)))
    const [from, until] = [last * dayMs - at, (last + 1) * dayMs - at - 1]
    // A day that is further away is not that of the update.
    if (days.length === 0 || from > most || until < least) continue
    least = Math.max(least, from)
    most = Math.min(most, until)
  }
  return Math.min(Math.max(0, least), most)
}

const ofOpenseo = ['rank_snapshots', 'rank_check_runs', 'rank_tracking_keywords', 'rank_tracking_configs']

/** OpenSEO's own SQLite database. A position that is missing failed or was not found, and nothing tells which. */
const openseoFormat: ForeignFormat = {
  name: 'openseo',
  tool: 'openseo',
  title: 'OpenSEO',
  sameDay: 'last',
  recognise: ({ tables }) => ofOpenseo.every((name) => tables?.has(name)),
  read: async (file, into) => {
    try {
      readSnapshots(file, into)
    } catch (error) {
      throw brokenDatabase(file.name, error)
    }
  },
}

function readSnapshots(file: ForeignFile, into: ImportSink): void {
  const columns = file.tables?.get('rank_tracking_keywords') ?? []
  const volume = ['search_volume', 'searchVolume'].find((name) => columns.includes(name))
  const snapshots = file.db().prepare<
    [],
    {
      readonly keyword: string
      readonly device: string | null
      readonly position: number | null
      readonly url: string | null
      readonly checked_at: string | number
      readonly domain: string | null
      readonly location_code: number | null
      readonly language_code: string | null
      readonly volume: number | null
    }
  >(
    `SELECT CAST(coalesce(s.keyword, k.keyword) AS TEXT) AS keyword, ${textColumn('device', 's.')}, s.position, ${textColumn('url', 's.')},
      s.checked_at, ${textColumn('domain', 'c.')}, c.location_code, ${textColumn('language_code', 'c.')},
      ${volume === undefined ? 'NULL' : `k.${volume}`} AS volume
    FROM rank_snapshots s
      JOIN rank_check_runs r ON r.id = s.run_id
      JOIN rank_tracking_configs c ON c.id = r.config_id
      LEFT JOIN rank_tracking_keywords k ON k.id = s.tracking_keyword_id
    ORDER BY s.rowid`,
  )
  for (const one of snapshots.iterate()) {
    const day = openseoDay(one.checked_at)
    if (day === null || one.keyword === null) {
      into.dropped('snapshots without a day or a keyword')
      continue
    }
    const country = openseoCountry(one.location_code)
    const query = into.query({
      text: one.keyword,
      gl: country,
      hl: one.language_code,
      location: country === null && one.location_code !== null ? String(one.location_code) : null,
      device: one.device,
      volume: one.volume,
    })
    const series = into.series(query, readCell.site(one.domain ?? ''), 'organic')
    if (typeof one.position === 'number' && one.position > 0)
      into.ranked(series, day, one.position, readCell.link(one.url))
    else into.unknown(series, day, 'without a position: it failed or was not found')
  }
}

/** An instant in ISO form, or as seconds or milliseconds; its day in UTC, in which OpenSEO writes. */
function openseoDay(at: string | number): number | null {
  if (typeof at === 'string' && !/^\d{9,}$/.test(at)) {
    const day = readCell.day(at, null)
    return typeof day === 'number' ? day : null
  }
  const instant = Number(at)
  return Math.floor((instant < 1e11 ? instant * 1_000 : instant) / dayMs)
}

/** Countries are 2000 and the number that ISO 3166-1 gives them; smaller places have other numbers. */
function openseoCountry(code: number | null): string | null {
  if (code === null || code <= 2_000 || code >= 3_000) return null
  const region = new Intl.Locale(`und-${String(code - 2_000).padStart(3, '0')}`).region ?? ''
  return /^[A-Z]{2}$/.test(region) ? region.toLowerCase() : null
}

/**
 * The database of SEO Command Center. Its ranks come from an index of pages that were looked up at some time, count all elements of the
 * page, and are carried forward.
 */
const seoCommandCenterFormat: ForeignFormat = {
  name: 'seo-command-center',
  tool: 'seo-command-center',
  title: 'SEO Command Center',
  sameDay: 'last',
  recognise: ({ tables }) => {
    const columns = tables?.get('kw') ?? []
    return ['checked_at', 'domain', 'keyword', 'rank', 'source'].every((name) => columns.includes(name))
  },
  read: async (file, into) => {
    try {
      readRows(file, into)
    } catch (error) {
      throw brokenDatabase(file.name, error)
    }
  },
}

const notInEach = ['mobile_rank', 'search_volume', 'url', 'geo']

function readRows(file: ForeignFile, into: ImportSink): void {
  const has = file.tables?.get('kw') ?? []
  const numbers = ['rank', 'mobile_rank', 'search_volume']
  const columns = ['checked_at', 'domain', 'keyword', 'rank', 'source', ...notInEach].map((name) => {
    if (!has.includes(name)) return `NULL AS ${name}`
    return numbers.includes(name) ? name : textColumn(name)
  })
  const rows = file.db().prepare<
    [],
    {
      readonly checked_at: string | null
      readonly domain: string | null
      readonly keyword: string | null
      readonly rank: number | null
      readonly mobile_rank: number | null
      readonly search_volume: number | null
      readonly url: string | null
      readonly source: string | null
      readonly geo: string | null
    }
  >(`SELECT ${columns.join(', ')} FROM kw ORDER BY rowid`)
  for (const row of rows.iterate()) {
    const day = readCell.day(row.checked_at ?? '', null)
    if (typeof day !== 'number' || !row.keyword || !row.domain) {
      into.dropped('rows without a day, a keyword or a domain')
      continue
    }
    if (row.source === 'gsc') {
      into.dropped('rows of Search Console: add its files with rankline clicks add')
      continue
    }
    const observe = (device: string, rank: number | null): void => {
      const query = into.query({
        text: row.keyword as string,
        location: row.geo || null,
        device,
        volume: row.search_volume,
      })
      const series = into.series(query, readCell.site(row.domain as string), 'all', 'repeats possible')
      if (rank !== null && Number.isInteger(rank) && rank > 0)
        into.ranked(series, day, rank, readCell.link(row.url))
      else into.unknown(series, day, 'without a rank: not found, or not looked up')
    }
    observe('desktop', row.rank)
    if (row.mobile_rank !== null) observe('mobile', row.mobile_rank)
  }
}

/** SQLite databases of other programs. */
export const databaseFormats: readonly ForeignFormat[] = [
  serpbearFormat,
  openseoFormat,
  seoCommandCenterFormat,
]
