import { dayMs } from '../../../model/time.ts'
import type { ImportSink } from '../../../store/sqlite/imports/imports.ts'
import type { ForeignFormat } from '../format.ts'
import { brokenDatabase, type ForeignFile } from '../source.ts'
import { readDay, readLink, siteOf } from '../values.ts'

interface OpenseoSnapshot {
  readonly keyword: string
  readonly device: string | null
  readonly position: number | null
  readonly url: string | null
  readonly checked_at: string | number
  readonly domain: string
  readonly location_code: number | null
  readonly language_code: string | null
  readonly volume: number | null
}

const wanted = ['rank_snapshots', 'rank_check_runs', 'rank_tracking_keywords', 'rank_tracking_configs']

/** OpenSEO's own SQLite database. A position that is missing failed or was not found, and nothing tells which. */
export const openseoFormat: ForeignFormat = {
  name: 'openseo',
  tool: 'openseo',
  title: 'OpenSEO',
  sameDay: 'last',
  recognise: ({ tables }) => wanted.every((name) => tables?.has(name)),
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
  const snapshots = file.db().prepare<[], OpenseoSnapshot>(
    `SELECT coalesce(s.keyword, k.keyword) AS keyword, s.device, s.position, s.url, s.checked_at, c.domain, c.location_code, c.language_code,
      ${volume === undefined ? 'NULL' : `k.${volume}`} AS volume
    FROM rank_snapshots s
      JOIN rank_check_runs r ON r.id = s.run_id
      JOIN rank_tracking_configs c ON c.id = r.config_id
      LEFT JOIN rank_tracking_keywords k ON k.id = s.tracking_keyword_id
    ORDER BY s.rowid`,
  )
  for (const one of snapshots.iterate()) {
    const day = dayOf(one.checked_at)
    if (day === null || one.keyword === null) {
      into.dropped('snapshots without a day or a keyword')
      continue
    }
    const country = countryOf(one.location_code)
    const query = into.query({
      text: one.keyword,
      gl: country,
      hl: one.language_code,
      location: country === null && one.location_code !== null ? String(one.location_code) : null,
      device: one.device,
      volume: one.volume,
    })
    const series = into.series(query, siteOf(one.domain), 'organic')
    if (one.position !== null && one.position > 0) into.ranked(series, day, one.position, readLink(one.url))
    else into.unknown(series, day, 'without a position: it failed or was not found')
  }
}

/** An instant in ISO form, or as seconds or milliseconds; its day in UTC, in which OpenSEO writes. */
function dayOf(at: string | number): number | null {
  if (typeof at === 'string' && !/^\d{9,}$/.test(at)) {
    const day = readDay(at, null)
    return typeof day === 'number' ? day : null
  }
  const instant = Number(at)
  return Math.floor((instant < 1e11 ? instant * 1_000 : instant) / dayMs)
}

/** Countries are 2000 and the number that ISO 3166-1 gives them; smaller places have other numbers. */
function countryOf(code: number | null): string | null {
  if (code === null || code <= 2_000 || code >= 3_000) return null
  const region = new Intl.Locale(`und-${String(code - 2_000).padStart(3, '0')}`).region ?? ''
  return /^[A-Z]{2}$/.test(region) ? region.toLowerCase() : null
}
