import { UsageError } from '../../../model/errors.ts'
import { countryNamed } from '../../countries.ts'
import { type ForeignFormat, siteGuess } from '../format.ts'
import { type ForeignTable, tableIn } from '../table.ts'
import { readDay, readLink, readRank, volumeIn } from '../values.ts'
import { dayIn } from './table.ts'

const now = ['keyword', 'current position', 'current url', 'previous position']
const before = ['keyword', 'position', 'position history', 'last update']

/** Ahrefs Site Explorer, organic keywords: today's form, of one day that stands in its name at best. */
export const ahrefsFormat: ForeignFormat = {
  name: 'ahrefs',
  tool: 'ahrefs',
  title: 'Ahrefs Site Explorer, organic keywords',
  sameDay: 'best',
  recognise: (file) => tableIn(file, (names) => now.every((name) => names.has(name))) !== null,
  read: async (file, into, options) => {
    const table = tableIn(file, (names) => now.every((name) => names.has(name))) as ForeignTable
    const column = {
      keyword: table.column('keyword'),
      position: table.column('current position'),
      kind: table.column('current position kind'),
      url: table.column('current url'),
      volume: table.column('volume'),
      country: table.column('country'),
    }
    const dated = readDay(/\d{4}-\d{2}-\d{2}/.exec(file.base)?.[0] ?? '', null)
    const day = options.day ?? dated
    if (typeof day !== 'number')
      throw new UsageError(`${file.name} does not say of which day it is. Name it with --day 2026-03-01`)
    const siteFor = siteGuess(file, options, domainIn(file.base))
    await table.eachRow((row) => {
      const text = row.needed(column.keyword)
      const rank = readRank(row.needed(column.position))
      const url = readLink(row.cell(column.url))
      const kind = row.cell(column.kind).toLowerCase()
      const country = row.cell(column.country)
      const query = into.query({
        text,
        gl: country === '' ? null : countryNamed(country),
        volume: volumeIn(row.cell(column.volume)),
      })
      const series = into.series(query, siteFor(url), 'organic')
      if (!('rank' in rank)) into.unknown(series, day, 'no position now: lost, or not looked up again')
      else if (kind !== '' && kind !== 'organic')
        into.unknown(series, day, 'it ranked with another element of the page, not among organic results')
      else into.ranked(series, day, rank.rank, url)
    })
  },
}

/** The older form, each row with the day of its last update and one earlier rank. */
export const ahrefsOldFormat: ForeignFormat = {
  name: 'ahrefs-old',
  tool: 'ahrefs',
  title: 'Ahrefs Site Explorer, organic keywords in the older form',
  sameDay: 'best',
  recognise: (file) => tableIn(file, (names) => before.every((name) => names.has(name))) !== null,
  read: async (file, into, options) => {
    const table = tableIn(file, (names) => before.every((name) => names.has(name))) as ForeignTable
    const column = {
      keyword: table.column('keyword'),
      position: table.column('position'),
      updated: table.column('last update'),
      earlier: table.column('position history'),
      earlierDay: table.column('position history date'),
      url: table.column('url'),
      volume: table.column('volume'),
    }
    const siteFor = siteGuess(file, options, domainIn(file.base))
    await table.eachRow((row) => {
      const query = into.query({
        text: row.needed(column.keyword),
        volume: volumeIn(row.cell(column.volume)),
      })
      const url = readLink(row.cell(column.url))
      const series = into.series(query, siteFor(url), 'organic')
      const rank = readRank(row.needed(column.position))
      const day = dayIn(row, row.needed(column.updated), options)
      if ('rank' in rank) into.ranked(series, day, rank.rank, url)
      else into.unknown(series, day, 'no position: lost, or not looked up again')
      const earlier = readRank(row.cell(column.earlier))
      const earlierDay = readDay(row.cell(column.earlierDay), options.order)
      if ('rank' in earlier && typeof earlierDay === 'number' && earlierDay !== day)
        into.ranked(series, earlierDay, earlier.rank, null)
    })
  },
}

/** Names begin with the site, as `acme.com-organic-keywords`. */
function domainIn(name: string): string | null {
  return /^(?:www\.)?((?:[a-z0-9-]+\.)+[a-z]{2,}?)(?=[-_]organic)/i.exec(name)?.[1] ?? null
}
