import { UsageError } from '../../../model/errors.ts'
import type { ImportSink } from '../../../store/sqlite/imports/imports.ts'
import { countryNamed } from '../../countries.ts'
import { type ForeignFile, type ForeignFormat, readCell } from '../format.ts'
import { dayIn, type ForeignTable, tableIn } from '../table.ts'

/**
 * The whole database of Serposcope as SQL, packed or not: ranks, and every result page. Tables that hold secrets (users, proxies,
 * settings) are passed over unread.
 */
const serposcopeFormat: ForeignFormat = {
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
      const read = readCell.day(String(day), null)
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
      if (rank !== unranked)
        into.ranked(series, day, rank, readCell.link(url === null ? null : String(url)), depth)
      else if (depth === undefined)
        into.unknown(series, day, 'not ranked, and its result page is not in the file')
      else if (depth === 0) into.unknown(series, day, 'the search came back empty')
      else into.absent(series, day, depth)
    },
    EVENT: ([, day, title, description]) => {
      const read = readCell.day(String(day), null)
      const text = [title, description].filter((part) => part !== null && part !== '').join(': ')
      if (typeof read === 'number' && text !== '')
        into.note(read, text.replace(/\s+/g, ' ').slice(0, longestNote))
    },
  }
}

/** The site of a target: domains and subdomains are patterns of a fixed form. */
function siteOfPattern(kind: number, pattern: string, name: string): string {
  if (kind === 2) return readCell.site(name)
  const site = pattern.replace(/^\^https\?:\/\/(?:\(\[\^\/\]\+\\\.\)\?)?/, '').replace(/\(\/\|\$\)$/, '')
  return readCell.site(site.replace(/\\[QE]/g, '').replaceAll('\\', '') || name)
}

/** The INSERT statements, a line each; those of other tables are passed over. */
async function* statements(file: ForeignFile) {
  let line = 0
  for await (const bytes of file.lines()) {
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

/** The columns of the CSV of a target. */
const ofTarget = [
  'date',
  'rank',
  'url',
  'target',
  'keyword',
  'device',
  'country',
  'datacenter',
  'local',
  'custom',
]
/** Cells behind the address, which is not escaped: each comma of it makes one cell more. */
const behind = ofTarget.length - 3

/** What stands for not found. A search that came back empty has it, too. */
const unranked = 32_767
const unrankedReason = '32767 stands for not found and for a search that came back empty'

/** The ranks of a target that Serposcope exports as CSV. */
const serposcopeCsvFormat: ForeignFormat = {
  name: 'serposcope-csv',
  tool: 'serposcope',
  title: 'Serposcope, CSV of a target',
  sameDay: 'last',
  recognise: (file) => tableIn(file, isTargetCsv) !== null,
  read: async (file, into, options) => {
    const table = tableIn(file, isTargetCsv) as ForeignTable
    let only: string | null = null
    await table.eachRow({ query: table.column('keyword'), day: 0, ranks: [1] }, (row) => {
      const cells = row.cells()
      if (cells.length < ofTarget.length)
        throw new UsageError(
          `${row.where()}: the row has ${cells.length} cells, and Serposcope writes ${ofTarget.length}. The file is cut off: export it again`,
        )
      const [date = '', place = ''] = cells
      const url = cells.slice(2, -behind).join(',')
      const [target = '', text = '', device = '', country = '', datacenter = '', local = '', custom = ''] =
        cells.slice(-behind)
      // The commas of an address take the place of cells that are cut off.
      if (!/^[dm]$/i.test(device)) row.refuseOpen(`has '${device}' for a device`)
      const day = dayIn(row, date, options)
      const query = into.query({
        text,
        gl: serposcopeCountry(country),
        location: local || null,
        device: /^m/i.test(device) ? 'mobile' : 'desktop',
        engine: [datacenter, custom].filter((part) => part !== '').join(' ') || null,
      })
      only ??= target
      if (options.target !== null && target !== only)
        throw new UsageError(
          `${row.where()}: the row is of '${target}' and those above it are of '${only}': --target would give one site the ranks of both. Leave it out, or part the file`,
        )
      const series = into.series(query, readCell.site(options.target ?? target), 'organic')
      const rank = readCell.rank(place)
      if (place === '') into.unknown(series, day, 'an empty cell: it was not checked')
      else if (Number(place) === unranked) into.unknown(series, day, unrankedReason)
      else if ('rank' in rank) into.ranked(series, day, rank.rank, readCell.link(url))
      else into.unknown(series, day, 'unknown' in rank ? rank.unknown : 'no number')
    })
  },
}

function isTargetCsv(header: ReadonlySet<string>): boolean {
  return ofTarget.every((name) => header.has(name))
}

/** Serposcope writes two underscores where a search has no country. */
function serposcopeCountry(country: string): string | null {
  return country === '' || country === '__' ? null : (countryNamed(country) ?? country.toLowerCase())
}

/**
 * The links of a result page in the order of their ranks; null where the bytes are not those of a page. A page is the length of its text as
 * four bytes, then an LZ4 block.
 */
function linksOf(blob: Buffer): readonly string[] | null {
  if (blob.length < 4) return null
  const plain = decompressed(blob.subarray(4), blob.readUInt32BE(0))
  return plain === null ? null : readPage(plain)
}

/** More than any page of results takes. */
const mostBytes = 64 * 1024 * 1024

/** An LZ4 block: literals and copies of what was written before, in turns. */
function decompressed(block: Buffer, length: number): Buffer | null {
  if (length > mostBytes) return null
  const plain = Buffer.alloc(length)
  let [from, to] = [0, 0]
  /** A length of which four bits stand in the token: 15 says that bytes follow, up to one that is not 255. */
  const longer = (start: number): number => {
    if (start < 15) return start
    let sum = start
    for (;;) {
      const more = block[from]
      from += 1
      if (more === undefined) return Number.POSITIVE_INFINITY
      sum += more
      if (more !== 255) return sum
    }
  }
  while (from < block.length) {
    const token = block[from] as number
    from += 1
    const literals = longer(token >> 4)
    if (from + literals > block.length || to + literals > length) return null
    block.copy(plain, to, from, from + literals)
    from += literals
    to += literals
    if (from === block.length) break
    if (from + 2 > block.length) return null
    const distance = block.readUInt16LE(from)
    from += 2
    const copied = longer(token & 15) + 4
    if (distance === 0 || distance > to || to + copied > length) return null
    // What is copied may overlap what is written: byte by byte.
    for (let end = to + copied; to < end; to++) plain[to] = plain[to - distance] as number
  }
  return to === length ? plain : null
}

/** A version (0), how many results, and each with its address and its former ranks. */
function readPage(plain: Buffer): readonly string[] | null {
  try {
    if (plain[0] !== 0) return null
    const count = plain.readUInt16BE(1)
    const links: string[] = []
    let at = 3
    for (let index = 0; index < count; index++) {
      const length = plain.readUInt16BE(at)
      at += 2
      if (at + length >= plain.length) return null
      links.push(modifiedUtf8(plain.subarray(at, at + length)))
      at += length
      at += 1 + plain.readUInt8(at) * 4
    }
    return at <= plain.length ? links : null
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Text as Java writes it: each half of a pair of surrogates in three bytes, and NUL in two. */
function modifiedUtf8(bytes: Buffer): string {
  if (bytes.every((byte) => byte < 0x80)) return bytes.toString('latin1')
  const units: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const [a, b, c] = [bytes[at] as number, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0]
    if (a < 0x80) units.push(a)
    else if (a < 0xe0) units.push(((a & 0x1f) << 6) | (b & 0x3f))
    else units.push(((a & 0x0f) << 12) | ((b & 0x3f) << 6) | (c & 0x3f))
    at += a < 0x80 ? 1 : a < 0xe0 ? 2 : 3
  }
  let text = ''
  for (const unit of units) text += String.fromCharCode(unit)
  return text
}

/** What Serposcope writes: its whole database, and the ranks of a target. */
export const serposcopeFormats: readonly ForeignFormat[] = [serposcopeFormat, serposcopeCsvFormat]
