import { UsageError } from '../../../model/errors.ts'
import type { ImportSink } from '../../../store/sqlite/imports/imports.ts'
import { linesOf, utf8Chunks } from '../../input-files.ts'
import type { ForeignFormat } from '../format.ts'
import type { ForeignFile } from '../source.ts'
import { readDay, readLink, siteOf } from '../values.ts'
import { serposcopeCountry, unranked } from './serposcope-csv.ts'
import { linksOf } from './serposcope-serp.ts'

/**
 * The whole database of Serposcope as SQL, packed or not: ranks, and every result page. Tables that hold secrets (users, proxies,
 * settings) are passed over unread.
 */
export const serposcopeFormat: ForeignFormat = {
  name: 'serposcope',
  tool: 'serposcope',
  title: 'Serposcope, SQL export of the whole database',
  sameDay: 'last',
  recognise: ({ head }) => /CREATE TABLE[^;]*GOOGLE_/i.test(head) || /INSERT INTO `GOOGLE_/.test(head),
  read: async (file, into) => {
    const readers = tableReaders(into)
    for await (const { where, table, tuples } of statements(file)) {
      const reader = readers[table]
      if (reader === undefined) continue
      for (const values of valuesOf(tuples, where)) reader(values)
    }
  },
}

const longestNote = 1_000

type SqlValue = string | number | Buffer | null

function tableReaders(into: ImportSink): Readonly<Record<string, (values: readonly SqlValue[]) => void>> {
  const runs = new Map<number, number>()
  const searches = new Map<number, number>()
  const targets = new Map<number, string>()
  /** How many results a search of a run had. */
  const depths = new Map<number, number>()
  const pageOf = (run: number, search: number): number => run * 2 ** 24 + search
  return {
    RUN: ([id, module, day]) => {
      const read = readDay(String(day), null)
      if (Number(module) === 0 && typeof read === 'number') runs.set(Number(id), read)
    },
    GOOGLE_SEARCH: ([id, text, country, datacenter, device, local, custom]) => {
      const engine = [datacenter, custom].filter((part) => part !== null && part !== '').join(' ')
      const query = into.query({
        text: String(text),
        gl: serposcopeCountry(String(country ?? '')),
        location: local === null || local === '' ? null : String(local),
        device: Number(device) === 1 ? 'mobile' : 'desktop',
        engine: engine || null,
      })
      searches.set(Number(id), query)
    },
    GOOGLE_TARGET: ([id, , name, kind, pattern]) => {
      targets.set(Number(id), siteOfPattern(Number(kind), String(pattern), String(name)))
    },
    GOOGLE_SERP: ([run, search, , serp]) => {
      const [day, query] = [runs.get(Number(run)), searches.get(Number(search))]
      const links = Buffer.isBuffer(serp) ? linksOf(serp) : null
      if (day === undefined || query === undefined) return into.dropped('result pages of no known search')
      if (links === null) return into.dropped('result pages that cannot be read')
      depths.set(pageOf(Number(run), Number(search)), links.length)
      if (links.length > 0) into.answer(query, day, links)
      else into.dropped('result pages that came back empty')
    },
    GOOGLE_RANK: ([run, , target, search, place, , , url]) => {
      const [day, query, site] = [
        runs.get(Number(run)),
        searches.get(Number(search)),
        targets.get(Number(target)),
      ]
      if (day === undefined || query === undefined || site === undefined)
        return into.dropped('ranks of no known search or target')
      const series = into.series(query, site, 'organic')
      const rank = Number(place)
      const depth = depths.get(pageOf(Number(run), Number(search)))
      if (rank >= 1 && rank < unranked)
        into.ranked(series, day, rank, readLink(url === null ? null : String(url)), depth)
      else if (depth === undefined)
        into.unknown(series, day, 'not ranked, and its result page is not in the file')
      else if (depth === 0) into.unknown(series, day, 'the search came back empty')
      else into.absent(series, day, depth)
    },
    EVENT: ([, day, title, description]) => {
      const read = readDay(String(day), null)
      const text = [title, description].filter((part) => part !== null && part !== '').join(': ')
      if (typeof read === 'number' && text !== '')
        into.note(read, text.replace(/\s+/g, ' ').slice(0, longestNote))
    },
  }
}

/** The site of a target: domains and subdomains are patterns of a fixed form. */
function siteOfPattern(kind: number, pattern: string, name: string): string {
  if (kind === 2) return siteOf(name)
  const site = pattern.replace(/^\^https\?:\/\/(?:\(\[\^\/\]\+\\\.\)\?)?/, '').replace(/\(\/\|\$\)$/, '')
  return siteOf(site.replace(/\\[QE]/g, '').replaceAll('\\', '') || name)
}

/** The INSERT statements, a line each; those of other tables are passed over. */
async function* statements(file: ForeignFile) {
  let line = 0
  for await (const bytes of linesOf(file.name, utf8Chunks(file))) {
    line += 1
    const where = `${file.name}:${line}`
    const [start, table = ''] =
      /^INSERT INTO [`"]?(\w+)[`"]? VALUES\s*/i.exec(bytes.toString('latin1', 0, 200)) ?? []
    if (start === undefined) continue
    const tuples = bytes.toString('utf8', start.length)
    if (!/;\s*$/.test(tuples.slice(-10)))
      throw new UsageError(`${where}: the statement has no end: the file is cut off. Export it again`)
    yield { where, table: table.toUpperCase(), tuples }
  }
}

const tokens =
  /\s*(?:('(?:[^']|'')*')|X'([0-9A-Fa-f]*)'|(-?[\d.]+(?:E-?\d+)?)|(NULL)|(TRUE|FALSE))\s*([,)])/gy

/** The values of each row of a statement. */
function* valuesOf(text: string, where: string): Generator<readonly SqlValue[]> {
  let at = 0
  while (text[at] === '(') {
    tokens.lastIndex = at + 1
    const row: SqlValue[] = []
    for (;;) {
      const [, quoted, hex, number, isNull, truth, end] = tokens.exec(text) ?? []
      if (end === undefined)
        throw new UsageError(`${where}: a row of the statement cannot be read. Export it again`)
      if (quoted !== undefined) row.push(quoted.slice(1, -1).replaceAll("''", "'"))
      else if (hex !== undefined) row.push(Buffer.from(hex, 'hex'))
      else if (number !== undefined) row.push(Number(number))
      else row.push(isNull === undefined ? Number(truth === 'TRUE') : null)
      if (end === ')') break
    }
    yield row
    at = tokens.lastIndex
    while (text[at] === ',' || text[at] === ' ') at += 1
  }
}
