import { type ForeignFormat, siteGuess } from '../format.ts'
import { type ForeignTable, tableIn } from '../table.ts'
import { readDay, readLink, readRank, siteOf, tagReader, volumeIn } from '../values.ts'
import { dayIn } from './table.ts'

/** A column of ranks of a site on a day: `*.acme.com/*_20260301`. */
const rankColumn = /^(.+)_(\d{8})$/

/** Semrush Position Tracking: a row for a keyword, three columns for each site and day. */
export const semrushTrackingFormat: ForeignFormat = {
  name: 'semrush-tracking',
  tool: 'semrush-tracking',
  title: 'Semrush Position Tracking',
  sameDay: 'last',
  recognise: (file) => tableIn(file, isTracking) !== null,
  read: async (file, into) => {
    const table = tableIn(file, isTracking) as ForeignTable
    const [keyword, tags, volume] = [
      table.column('keyword'),
      table.column('tags'),
      table.column('search volume'),
    ]
    const places = table.header.flatMap((name, index) => {
      const [, site = '', digits = ''] = rankColumn.exec(name.trim()) ?? []
      const day = readDay(digits, null)
      if (typeof day !== 'number') return []
      const prefix = name.trim().toLowerCase()
      return [
        {
          index,
          day,
          site: siteOf(site),
          type: table.column(`${prefix}_type`),
          url: table.column(`${prefix}_landing`),
        },
      ]
    })
    const tagsOf = tagReader(/[,;|]/)
    await table.eachRow((row) => {
      const text = row.needed(keyword)
      if (text === '') return
      const query = into.query({
        text,
        volume: volumeIn(row.cell(volume)),
        tags: tagsOf(row.cell(tags)),
      })
      for (const { index, day, site, type, url } of places) {
        const series = into.series(query, site, 'organic')
        const place = row.needed(index)
        const rank = readRank(place)
        const kind = row.cell(type).toLowerCase()
        if (place === '-' || place === '')
          into.unknown(
            series,
            day,
            `${place === '' ? 'an empty cell' : "'-'"} stands for not ranking and for not yet tracked`,
          )
        else if (!('rank' in rank)) into.unknown(series, day, 'no rank')
        else if (kind !== '' && kind !== '-' && kind !== 'organic')
          into.unknown(series, day, 'it ranked with another element of the page, not among organic results')
        else into.ranked(series, day, rank.rank, readLink(row.cell(url)))
      }
    })
  },
}

function isTracking(names: ReadonlySet<string>): boolean {
  return names.has('keyword') && [...names].some((name) => rankColumn.test(name))
}

/** Semrush Organic Positions: a row for each page that ranks, of words that rank at all. */
export const semrushPositionsFormat: ForeignFormat = {
  name: 'semrush-positions',
  tool: 'semrush-positions',
  title: 'Semrush Organic Positions',
  sameDay: 'best',
  recognise: (file) => tableIn(file, isPositions) !== null,
  read: async (file, into, options) => {
    const table = tableIn(file, isPositions) as ForeignTable
    const column = {
      keyword: table.column('keyword'),
      position: table.column('position'),
      volume: table.column('search volume'),
      url: table.column('url'),
      time: table.column('timestamp'),
      type: table.column('position type'),
    }
    // <domain>-organic.Positions-<database>-<day>-<time>.csv
    const [, domain = null, market = null] =
      /^(.+?)-organic\.Positions-([a-z-]+)-\d{8}/i.exec(file.base) ?? []
    const siteFor = siteGuess(file, options, domain)
    const gl = market === null ? null : (/^(?:mobile-)?([a-z]{2})$/.exec(market)?.[1] ?? null)
    const device = market?.startsWith('mobile-') === true ? 'mobile' : null
    await table.eachRow((row) => {
      const rank = readRank(row.needed(column.position))
      const kind = row.cell(column.type).toLowerCase()
      const url = readLink(row.cell(column.url))
      if (kind !== '' && kind !== 'organic') {
        into.dropped('rows of other elements of the page than organic results')
        return
      }
      if (!('rank' in rank)) {
        into.dropped('rows without a rank')
        return
      }
      const time = row.cell(column.time)
      const day = options.day ?? dayIn(row, time, options)
      const query = into.query({
        text: row.needed(column.keyword),
        gl: gl === 'uk' ? 'gb' : gl,
        device,
        volume: volumeIn(row.cell(column.volume)),
      })
      into.ranked(into.series(query, siteFor(url), 'organic'), day, rank.rank, url)
    })
  },
}

function isPositions(names: ReadonlySet<string>): boolean {
  return ['keyword', 'position', 'previous position', 'url', 'timestamp'].every((name) => names.has(name))
}
