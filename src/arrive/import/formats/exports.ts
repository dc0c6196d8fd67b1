import { UsageError } from '../../../model/errors.ts'
import { dayNumber } from '../../../model/time.ts'
import type { RankRuler } from '../../../store/sqlite/imports/schema.ts'
import { countryNamed } from '../../countries.ts'
import { type ForeignFormat, readCell, siteGuess } from '../format.ts'
import { dayIn, type ForeignTable, tableIn } from '../table.ts'

const ofAhrefs = ['keyword', 'current position', 'current url', 'previous position']
const ofOldAhrefs = ['keyword', 'position', 'position history', 'last update']

/** Ahrefs Site Explorer, organic keywords: today's form, of one day that stands in its name at best. */
const ahrefsFormat: ForeignFormat = {
  name: 'ahrefs',
  tool: 'ahrefs',
  title: 'Ahrefs Site Explorer, organic keywords',
  sameDay: 'best',
  recognise: (file) => tableIn(file, (names) => ofAhrefs.every((name) => names.has(name))) !== null,
  read: async (file, into, options) => {
    const table = tableIn(file, (names) => ofAhrefs.every((name) => names.has(name))) as ForeignTable
    const column = {
      keyword: table.column('keyword'),
      position: table.column('current position'),
      kind: table.column('current position kind'),
      url: table.column('current url'),
      volume: table.column('volume'),
      country: table.column('country'),
    }
    const dated = readCell.day(/\d{4}-\d{2}-\d{2}/.exec(file.base)?.[0] ?? '', null)
    const day = options.day ?? dated
    if (typeof day !== 'number')
      throw new UsageError(`${file.name} does not say of which day it is. Name it with --day 2026-03-01`)
    const siteFor = siteGuess(file, options, domainIn(file.base))
    await table.eachRow({ query: column.keyword, day: -1, ranks: [column.position] }, (row) => {
      const text = row.needed(column.keyword)
      const rank = readCell.rank(row.needed(column.position))
      const url = readCell.link(row.cell(column.url))
      const kind = row.cell(column.kind).toLowerCase()
      const country = row.cell(column.country)
      const query = into.query({
        text,
        gl: country === '' ? null : countryNamed(country),
        volume: readCell.volume(row.cell(column.volume)),
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
const ahrefsOldFormat: ForeignFormat = {
  name: 'ahrefs-old',
  tool: 'ahrefs',
  title: 'Ahrefs Site Explorer, organic keywords in the older form',
  sameDay: 'best',
  recognise: (file) => tableIn(file, (names) => ofOldAhrefs.every((name) => names.has(name))) !== null,
  read: async (file, into, options) => {
    const table = tableIn(file, (names) => ofOldAhrefs.every((name) => names.has(name))) as ForeignTable
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
    await table.eachRow({ query: column.keyword, day: column.updated, ranks: [column.position] }, (row) => {
      const query = into.query({
        text: row.needed(column.keyword),
        volume: readCell.volume(row.cell(column.volume)),
      })
      const url = readCell.link(row.cell(column.url))
      const series = into.series(query, siteFor(url), 'organic')
      const rank = readCell.rank(row.needed(column.position))
      const day = dayIn(row, row.needed(column.updated), options)
      if ('rank' in rank) into.ranked(series, day, rank.rank, url)
      else into.unknown(series, day, 'no position: lost, or not looked up again')
      const earlier = readCell.rank(row.cell(column.earlier))
      const earlierDay = readCell.day(row.cell(column.earlierDay), options.order)
      if ('rank' in earlier && typeof earlierDay === 'number' && earlierDay !== day)
        into.ranked(series, earlierDay, earlier.rank, null)
    })
  },
}

/** Names begin with the site, as `acme.com-organic-keywords`. */
function domainIn(name: string): string | null {
  return /^(?:www\.)?((?:[a-z0-9-]+\.)+[a-z]{2,}?)(?=[-_]organic)/i.exec(name)?.[1] ?? null
}

/** The ranks of an engine in a market: `Google en-US Rank`. */
const engineColumn = /^(\w+) ([a-z]{2})-([a-z]{2}) rank$/i

/** Moz Pro: a row for a keyword, some columns for each engine. */
const mozFormat: ForeignFormat = {
  name: 'moz',
  tool: 'moz',
  title: 'Moz Pro rankings',
  sameDay: 'last',
  recognise: (file) => tableIn(file, isMoz) !== null,
  read: async (file, into, options) => {
    const table = tableIn(file, isMoz) as ForeignTable
    const [keyword, location, labels] = [
      table.column('keyword'),
      table.column('location'),
      table.column('labels'),
    ]
    const engines = table.header.flatMap((name, index) => {
      const [, engine, language = '', country = ''] = engineColumn.exec(name.trim()) ?? []
      if (engine === undefined) return []
      const prefix = name
        .trim()
        .toLowerCase()
        .replace(/ rank$/, '')
      const of = (what: string) => table.column(`${prefix} ${what}`)
      return [
        {
          index,
          engine: engine.toLowerCase(),
          hl: language.toLowerCase(),
          gl: country.toLowerCase(),
          date: of('serp date'),
          url: of('url'),
          volume: of('search volume'),
        },
      ]
    })
    const siteFor = siteGuess(file, options)
    const tagsOf = readCell.tags(/[,;|]/)
    await table.eachRow({ query: keyword, day: -1, ranks: engines.map(({ index }) => index) }, (row) => {
      for (const { index, engine, hl, gl, date, url, volume } of engines) {
        const place = readCell.rank(row.needed(index))
        const dated = row.cell(date)
        const day = date < 0 ? options.day : dated === '' ? null : dayIn(row, dated, options)
        if (day === null) {
          into.dropped('ranks without a day: never checked')
          continue
        }
        const link = readCell.link(row.cell(url))
        const query = into.query({
          text: row.needed(keyword),
          gl,
          hl,
          location: row.cell(location) || null,
          engine,
          volume: readCell.volume(row.cell(volume)),
          tags: tagsOf(row.cell(labels)),
        })
        const series = into.series(query, siteFor(link), 'organic')
        if ('rank' in place) into.ranked(series, day, place.rank, link)
        else if ('absentFrom' in place) into.absent(series, day, place.absentFrom)
        else into.unknown(series, day, place.unknown)
      }
    })
  },
}

function isMoz(names: ReadonlySet<string>): boolean {
  return names.has('keyword') && [...names].some((name) => engineColumn.test(name))
}

const ofWebPosition = ['run date', 'engine', 'keyword', 'url', 'position']

/** WebPosition: a row for each keyword, engine and run. */
const webPositionFormat: ForeignFormat = {
  name: 'webposition',
  tool: 'webposition',
  title: 'WebPosition',
  sameDay: 'best',
  recognise: (file) => tableIn(file, isWebPosition) !== null,
  read: async (file, into, options) => {
    const table = tableIn(file, isWebPosition) as ForeignTable
    const [date, engine, keyword, url, position] = ofWebPosition.map((name) => table.column(name)) as [
      number,
      number,
      number,
      number,
      number,
    ]
    const siteFor = siteGuess(file, options)
    await table.eachRow({ query: keyword, day: date, ranks: [position] }, (row) => {
      const place = readCell.rank(row.needed(position))
      const day = dayIn(row, row.needed(date), options)
      const link = readCell.link(row.cell(url))
      const query = into.query({
        text: row.needed(keyword),
        engine: row.cell(engine).toLowerCase() || null,
      })
      const series = into.series(query, siteFor(link), 'organic')
      if ('rank' in place) into.ranked(series, day, place.rank, link)
      else if ('absentFrom' in place) into.absent(series, day, place.absentFrom)
      else into.unknown(series, day, place.unknown)
    })
  },
}

function isWebPosition(names: ReadonlySet<string>): boolean {
  return ofWebPosition.every((name) => names.has(name))
}

/** A column of ranks of a site on a day: `*.acme.com/*_20260301`. */
const rankColumn = /^(.+)_(\d{8})$/

/** Semrush Position Tracking: a row for a keyword, three columns for each site and day. */
const semrushTrackingFormat: ForeignFormat = {
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
      const day = readCell.day(digits, null)
      if (typeof day !== 'number') return []
      const prefix = name.trim().toLowerCase()
      return [
        {
          index,
          day,
          site: readCell.site(site),
          type: table.column(`${prefix}_type`),
          url: table.column(`${prefix}_landing`),
        },
      ]
    })
    const tagsOf = readCell.tags(/[,;|]/)
    await table.eachRow({ query: keyword, day: -1, ranks: places.map(({ index }) => index) }, (row) => {
      const text = row.needed(keyword)
      if (text === '') return
      const query = into.query({
        text,
        volume: readCell.volume(row.cell(volume)),
        tags: tagsOf(row.cell(tags)),
      })
      for (const { index, day, site, type, url } of places) {
        const series = into.series(query, site, 'organic')
        const place = row.needed(index)
        const rank = readCell.rank(place)
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
        else into.ranked(series, day, rank.rank, readCell.link(row.cell(url)))
      }
    })
  },
}

function isTracking(names: ReadonlySet<string>): boolean {
  return names.has('keyword') && [...names].some((name) => rankColumn.test(name))
}

/** Semrush Organic Positions: a row for each page that ranks, of words that rank at all. */
const semrushPositionsFormat: ForeignFormat = {
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
    await table.eachRow({ query: column.keyword, day: column.time, ranks: [column.position] }, (row) => {
      const rank = readCell.rank(row.needed(column.position))
      const kind = row.cell(column.type).toLowerCase()
      const url = readCell.link(row.cell(column.url))
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
        volume: readCell.volume(row.cell(column.volume)),
      })
      into.ranked(into.series(query, siteFor(url), 'organic'), day, rank.rank, url)
    })
  },
}

function isPositions(names: ReadonlySet<string>): boolean {
  return ['keyword', 'position', 'previous position', 'url', 'timestamp'].every((name) => names.has(name))
}

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
const statFormat: ForeignFormat = {
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
    const tagsOf = readCell.tags('/')
    await table.eachRow(
      { query: column.keyword, day: column.date, ranks: ranks.map(({ index }) => index) },
      (row) => {
        const text = row.needed(column.keyword)
        const day = dayIn(row, row.needed(column.date), options)
        const [country = '', language = ''] = row.cell(column.market).split('-')
        const site = row.cell(column.site) || null
        for (const { index, link, engine, ruler } of ranks) {
          const place = row.needed(index)
          const read = readCell.rank(place)
          // A blank of another engine says as well that it is not followed there.
          if (engine !== 'google' && !('rank' in read)) continue
          const url = readCell.link(row.cell(link))
          const query = into.query({
            text,
            gl: country === '' ? null : countryNamed(country),
            hl: language || null,
            location: row.cell(column.location) || null,
            device: row.cell(column.device).toLowerCase().replace('smartphone', 'mobile') || null,
            engine,
            volume: readCell.volume(row.cell(column.volume)),
            tags: tagsOf(row.cell(column.tags)),
          })
          const series = into.series(query, site === null ? siteFor(url) : readCell.site(site), ruler)
          if ('rank' in read && read.rank < leastCustom) into.ranked(series, day, read.rank, url)
          else if (
            'rank' in read ||
            (place === '' && day >= blanksSince) ||
            (place === '0' && day < blanksSince)
          )
            into.absent(series, day, null)
          else into.unknown(series, day, /^n\/a$/i.test(place) ? 'not yet checked' : 'no rank')
        }
      },
    )
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

/** What rank trackers write as CSV. */
export const exportFormats: readonly ForeignFormat[] = [
  semrushTrackingFormat,
  semrushPositionsFormat,
  ahrefsFormat,
  ahrefsOldFormat,
  statFormat,
  mozFormat,
  webPositionFormat,
]
