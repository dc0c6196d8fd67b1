import type { ImportSink } from '../../../store/sqlite/imports/imports.ts'
import type { ForeignFormat } from '../format.ts'
import { brokenDatabase, type ForeignFile } from '../source.ts'
import { readDay, readLink, siteOf } from '../values.ts'

interface CommandCenterRow {
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

/**
 * The database of SEO Command Center. Its ranks come from an index of pages that were looked up at some time, count all elements of the
 * page, and are carried forward.
 */
export const seoCommandCenterFormat: ForeignFormat = {
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

const optional = ['mobile_rank', 'search_volume', 'url', 'geo']

function readRows(file: ForeignFile, into: ImportSink): void {
  const has = file.tables?.get('kw') ?? []
  const more = optional.map((name) => (has.includes(name) ? name : `NULL AS ${name}`)).join(', ')
  const rows = file
    .db()
    .prepare<[], CommandCenterRow>(
      `SELECT checked_at, domain, keyword, rank, source, ${more} FROM kw ORDER BY rowid`,
    )
  for (const row of rows.iterate()) {
    const day = readDay(row.checked_at ?? '', null)
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
      const series = into.series(query, siteOf(row.domain as string), 'all', 'repeats possible')
      if (rank !== null && Number.isInteger(rank) && rank > 0)
        into.ranked(series, day, rank, readLink(row.url))
      else into.unknown(series, day, 'without a rank: not found, or not looked up')
    }
    observe('desktop', row.rank)
    if (row.mobile_rank !== null) observe('mobile', row.mobile_rank)
  }
}
