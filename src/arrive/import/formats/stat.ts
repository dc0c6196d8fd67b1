import { dayNumber } from '../../../model/time.ts'
import type { RankRuler } from '../../../store/sqlite/imports/schema.ts'
import { countryNamed } from '../../countries.ts'
import { type ForeignFormat, siteGuess } from '../format.ts'
import { type ForeignTable, tableIn } from '../table.ts'
import { readLink, readRank, tagReader, volumeIn } from '../values.ts'
import { dayIn } from './table.ts'

/** Since then a blank says that a site does not rank; before, 0 did. */
const blanksSince = dayNumber(2015, 10, 1) as number
/** What may be chosen to stand for it begins here. */
const leastCustom = 120

/** Columns of ranks: in which engine, what they count, and the column of the page. */
const rankColumns: readonly {
  readonly name: string
  readonly engine: string
  readonly ruler: RankRuler
  readonly url: string
}[] = [
  { name: 'google', engine: 'google', ruler: 'all', url: 'google url' },
  { name: 'google base rank', engine: 'google', ruler: 'organic', url: 'google url' },
  { name: 'rank', engine: 'google', ruler: 'all', url: 'url' },
  { name: 'yahoo', engine: 'yahoo', ruler: 'all', url: 'yahoo url' },
  { name: 'bing', engine: 'bing', ruler: 'all', url: 'bing url' },
]

/** STAT: ranks of all engines, or of one. The base rank counts organic results; the others count all elements. */
export const statFormat: ForeignFormat = {
  name: 'stat',
  tool: 'stat',
  title: 'STAT',
  sameDay: 'last',
  recognise: (file) => tableIn(file, isStat) !== null,
  read: async (file, into, options) => {
    const table = tableIn(file, isStat) as ForeignTable
    const column = {
      date: table.column('date', 'start date'),
      site: table.column('site'),
      keyword: table.column('keyword'),
      market: table.column('market'),
      location: table.column('location'),
      device: table.column('device'),
      volume: table.column('regional monthly searches'),
      tags: table.column('tags'),
    }
    const ranks = rankColumns
      .map((one) => ({ ...one, index: table.column(one.name), link: table.column(one.url) }))
      .filter(({ index }) => index >= 0)
    const siteFor = siteGuess(file, options)
    const tagsOf = tagReader('/')
    await table.eachRow((row) => {
      const text = row.needed(column.keyword)
      const day = dayIn(row, row.needed(column.date), options)
      const [country = '', language = ''] = row.cell(column.market).split('-')
      const site = row.cell(column.site) || null
      for (const { index, link, engine, ruler } of ranks) {
        const place = row.needed(index)
        const read = readRank(place)
        // A blank of another engine says as well that it is not followed there.
        if (engine !== 'google' && !('rank' in read)) continue
        const url = readLink(row.cell(link))
        const query = into.query({
          text,
          gl: country === '' ? null : countryNamed(country),
          hl: language || null,
          location: row.cell(column.location) || null,
          device: row.cell(column.device).toLowerCase().replace('smartphone', 'mobile') || null,
          engine,
          volume: volumeIn(row.cell(column.volume)),
          tags: tagsOf(row.cell(column.tags)),
        })
        const series = into.series(query, siteFor(site ?? url), ruler)
        if ('rank' in read && read.rank < leastCustom) into.ranked(series, day, read.rank, url)
        else if (
          'rank' in read ||
          (place === '' && day >= blanksSince) ||
          (place === '0' && day < blanksSince)
        )
          into.absent(series, day, null)
        else into.unknown(series, day, /^n\/a$/i.test(place) ? 'not yet checked' : 'no rank')
      }
    })
  },
}

function isStat(names: ReadonlySet<string>): boolean {
  const has = (name: string): boolean => names.has(name)
  return (
    has('keyword') &&
    has('market') &&
    has('device') &&
    (has('google') || has('rank')) &&
    (has('date') || has('start date'))
  )
}
