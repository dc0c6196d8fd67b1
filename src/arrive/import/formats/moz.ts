import { type ForeignFormat, siteGuess } from '../format.ts'
import { type ForeignTable, tableIn } from '../table.ts'
import { readLink, readRank, tagReader, volumeIn } from '../values.ts'
import { dayIn } from './table.ts'

/** The ranks of an engine in a market: `Google en-US Rank`. */
const engineColumn = /^(\w+) ([a-z]{2})-([a-z]{2}) rank$/i

/** Moz Pro: a row for a keyword, some columns for each engine. */
export const mozFormat: ForeignFormat = {
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
    const tagsOf = tagReader(/[,;|]/)
    await table.eachRow((row) => {
      for (const { index, engine, hl, gl, date, url, volume } of engines) {
        const place = readRank(row.needed(index))
        const dated = row.cell(date)
        if (dated === '' && options.day === null) {
          into.dropped('ranks without a day: never checked')
          continue
        }
        const day = dated === '' ? (options.day as number) : dayIn(row, dated, options)
        const link = readLink(row.cell(url))
        const query = into.query({
          text: row.needed(keyword),
          gl,
          hl,
          location: row.cell(location) || null,
          engine,
          volume: volumeIn(row.cell(volume)),
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
export const webPositionFormat: ForeignFormat = {
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
    await table.eachRow((row) => {
      const place = readRank(row.needed(position))
      const day = dayIn(row, row.needed(date), options)
      const link = readLink(row.cell(url))
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
