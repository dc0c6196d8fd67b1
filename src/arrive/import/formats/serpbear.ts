import { dayMs } from '../../../model/time.ts'
import type { ImportSink } from '../../../store/sqlite/imports/imports.ts'
import type { ForeignFormat } from '../format.ts'
import type { ForeignFile } from '../source.ts'
import { brokenDatabase } from '../source.ts'
import { readDay, readLink, siteOf } from '../values.ts'

/** A keyword of SerpBear; columns that came later may be missing. */
interface SerpbearKeyword {
  readonly ID: number
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
export const serpbearFormat: ForeignFormat = {
  name: 'serpbear',
  tool: 'serpbear',
  title: 'SerpBear or v-serpbear',
  sameDay: 'last',
  recognise: ({ tables }) => {
    const columns = tables?.get('keyword') ?? []
    return (
      tables?.has('domain') === true &&
      ['keyword', 'history', 'lastUpdateError'].every((name) => columns.includes(name))
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

function readKeywords(file: ForeignFile, into: ImportSink): void {
  const wanted = [
    'ID',
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
  const columns = wanted.filter((name) => has.includes(name)).join(', ')
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
    const series = into.series(query, siteOf(one.domain), 'organic', 'repeats possible')
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
      if (rank > 0) into.ranked(series, day, rank, isLastChecked ? readLink(one.url) : null)
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
    const day = readDay(key, null)
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
    const days = Object.keys(entries ?? {}).map((key) => readDay(key, null))
    const last = Math.max(...days.map((day) => (typeof day === 'number' ? day : 0)))
    const [from, until] = [last * dayMs - at, (last + 1) * dayMs - at - 1]
    // A day that is further away is not that of the update.
    if (days.length === 0 || from > most || until < least) continue
    least = Math.max(least, from)
    most = Math.min(most, until)
  }
  return Math.min(Math.max(0, least), most)
}
