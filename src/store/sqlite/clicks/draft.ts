import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { textInLowerCase } from '../../../model/text.ts'
import { pageAddress } from '../../../model/url.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { inserter, raw } from '../connection/statements.ts'
import { clickAdditions, clickDays, clickTables, clickTexts } from './schema.ts'

/** What the rows of a table have in common. */
type ClickTable = Omit<typeof clickTables.$inferInsert, 'id' | 'additionId'> & {
  /** The first and the last day of a table of a whole period. */
  readonly period: { readonly from: number; readonly until: number } | null
}

/** A two-letter code as a number; 0 for none. */
export function countryCode(letters: string): number {
  if (!/^[a-z]{2}$/.test(letters)) return 0
  return (letters.charCodeAt(0) - 96) * 32 + letters.charCodeAt(1) - 96
}

const countryOf = (code: number): string =>
  code === 0 ? '' : String.fromCharCode(96 + (code >> 5), 96 + (code & 31))

type TextKind = 'query' | 'page'
const seeds = { query: 0x9e3779b9, page: 0x51ed270b } as const

const spelled = { query: textInLowerCase, page: pageAddress } as const

/** 64 bits of some bytes, left in `high` and `low`: a value for each call would take longer than the sum. */
const hashed = { high: 0, low: 0 }
function hash(bytes: Uint8Array, start: number, end: number, kind: TextKind): void {
  let high: number = seeds[kind]
  let low = 0x85ebca6b ^ (end - start)
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    high = Math.imul(high ^ byte, 0x01000193)
    low = Math.imul(low ^ byte, 0xcc9e2d51)
    low = (low << 13) | (low >>> 19)
  }
  high = Math.imul(high ^ (high >>> 16), 0x7feb352d)
  low = Math.imul(low ^ (low >>> 15), 0x846ca68b)
  hashed.high = (high ^ (low >>> 13)) | 0
  hashed.low = (low ^ (high >>> 16)) | 0
}

/** The stored hash of a text in its one spelling. */
export function textHash(text: string, kind: TextKind): bigint {
  const bytes = Buffer.from(text)
  hash(bytes, 0, bytes.length, kind)
  return joined(hashed.high, hashed.low)
}

const joined = (high: number, low: number): bigint => (BigInt(high) << 32n) | BigInt(low >>> 0)

/** Numbers of texts by their hashes, in 12 bytes a place: a Map of millions of texts would fill memory. */
function textNumbers() {
  let size = 1 << 16
  let filled = 0
  let [highs, lows, numbers] = [new Int32Array(size), new Int32Array(size), new Int32Array(size)]
  const placeOf = (high: number, low: number): number => {
    let place = (low ^ Math.imul(high, 31)) & (size - 1)
    while (numbers[place] !== 0 && (highs[place] !== high || lows[place] !== low))
      place = (place + 1) & (size - 1)
    return place
  }
  const put = (high: number, low: number, number: number): void => {
    const place = placeOf(high, low)
    highs[place] = high
    lows[place] = low
    numbers[place] = number
  }
  return {
    find: (high: number, low: number): number => numbers[placeOf(high, low)] as number,
    add(high: number, low: number, number: number): void {
      if (++filled * 10 > size * 7) {
        const before = { highs, lows, numbers }
        size *= 2
        highs = new Int32Array(size)
        lows = new Int32Array(size)
        numbers = new Int32Array(size)
        for (const [place, one] of before.numbers.entries())
          if (one !== 0) put(before.highs[place] as number, before.lows[place] as number, one)
      }
      put(high, low, number)
    },
  }
}

type DaySums = Omit<typeof clickDays.$inferSelect, 'tableId' | 'day' | 'untilDay'>

/** Numbers of the rows that one statement stores. */
const batchSize = 128

export type ClickDraft = ReturnType<typeof clickDraft>

/**
 * Takes the rows of files and stores them as one change at the end. Until then nothing of the database is changed or locked: what memory
 * cannot hold lies in a temporary file.
 */
export function clickDraft(db: Database, writer: GroupCommit) {
  const numbers = textNumbers()
  let nextText = 1
  for (const [id, text] of db
    .prepare<[], [bigint, bigint]>(raw`SELECT ${clickTexts.id}, ${clickTexts.hash} FROM ${clickTexts}`)
    .raw()
    .safeIntegers()
    .iterate()) {
    numbers.add(Number(text >> 32n), Number(BigInt.asIntN(32, text)), Number(id))
    nextText = Math.max(nextText, Number(id) + 1)
  }
  db.exec(
    `CREATE TEMP TABLE new_click_texts (id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, text TEXT NOT NULL)`,
  )
  const insertText = db.prepare('INSERT INTO new_click_texts VALUES (?, ?, ?)')
  const firstNew = nextText
  /** 1 for each text that a row has: readers may ask for those of rows that they leave out. */
  let isUsed = new Uint8Array(Math.max(1 << 16, nextText * 2))
  const tables: ClickTable[] = []
  const days: Map<number, DaySums>[] = []
  let sums: ReturnType<typeof rowSums> | null = rowSums()
  let runs: ReturnType<typeof sortedRuns> | null = null
  const newTexts: [number, bigint, string][] = []
  const writeTexts = db.transaction(() => {
    for (const values of newTexts.splice(0)) insertText.run(...values)
  })
  const dropUnused = db.transaction(() => {
    const drop = db.prepare('DELETE FROM new_click_texts WHERE id = ?')
    for (let id = firstNew; id < nextText; id++) if (isUsed[id] === 0) drop.run(id)
  })
  const writeAside = (): void => {
    runs ??= sortedRuns()
    runs.add((write) => sums?.take(write))
  }
  const end = (): void => {
    sums = null
    runs?.[Symbol.dispose]()
    runs = null
    db.exec('DROP TABLE IF EXISTS temp.new_click_texts')
  }

  const numberOf = (bytes: Buffer, start: number, end: number, kind: TextKind): number => {
    hash(bytes, start, end, kind)
    const { high, low } = hashed
    const known = numbers.find(high, low)
    if (known !== 0) return known
    const written = bytes.toString('utf8', start, end)
    const text = spelled[kind](written)
    if (text !== written) {
      const own = Buffer.from(text)
      const number = text === '' ? 0 : numberOf(own, 0, own.length, kind)
      if (number !== 0) numbers.add(high, low, number)
      return number
    }
    const number = nextText++
    if (number >= isUsed.length) {
      const before = isUsed
      isUsed = new Uint8Array(before.length * 2)
      isUsed.set(before)
    }
    numbers.add(high, low, number)
    newTexts.push([number, joined(high, low), text])
    if (newTexts.length >= 10_000) writeTexts()
    return number
  }

  return {
    /** The number of rows of a kind in this draft. */
    table(table: ClickTable): number {
      tables.push(table)
      days.push(new Map())
      return tables.length - 1
    },
    /** The number of a text that stands in a buffer, or 0 where it is empty. */
    textIn: (bytes: Buffer, start: number, end: number, kind: TextKind): number =>
      end <= start ? 0 : numberOf(bytes, start, end, kind),
    /** The same of a string. */
    textOf(text: string, kind: TextKind): number {
      if (text === '') return 0
      const bytes = Buffer.from(text)
      return numberOf(bytes, 0, bytes.length, kind)
    },
    add(row: ClickRow): void {
      const ofTable = days[row.table] as Map<number, DaySums>
      let ofDay = ofTable.get(row.day)
      if (ofDay === undefined) {
        ofDay = { clicks: 0, impressions: 0, anonymousClicks: 0, anonymousImpressions: 0 }
        ofTable.set(row.day, ofDay)
      }
      ofDay.clicks += row.clicks
      ofDay.impressions += row.impressions
      if (row.query === 0 && (tables[row.table] as ClickTable).rowsOf === 'query') {
        ofDay.anonymousClicks += row.clicks
        ofDay.anonymousImpressions += row.impressions
      }
      isUsed[row.query] = 1
      isUsed[row.page] = 1
      sums?.add(row)
      if (sums?.isFull()) writeAside()
    },
    /** Stores everything as one change and answers the number of the addition. */
    async commit(addition: Omit<typeof clickAdditions.$inferInsert, 'id'>): Promise<number> {
      writeTexts()
      dropUnused()
      if (runs !== null) {
        writeAside()
        sums = null
      }
      try {
        return await writer.write(() => store(addition))
      } finally {
        end()
      }
    },
    /** Forgets everything. */
    [Symbol.dispose]: end,
  }

  function store({
    addedAt,
    source,
    digest,
    rows,
    otherSearches,
  }: typeof clickAdditions.$inferInsert): number {
    const addition = Number(
      db
        .prepare(
          raw`INSERT INTO ${clickAdditions} (${clickAdditions.addedAt}, ${clickAdditions.source}, ${clickAdditions.digest},
            ${clickAdditions.rows}, ${clickAdditions.otherSearches}) VALUES (?, ?, ?, ?, ?)`,
        )
        .run(addedAt, source, digest, rows, otherSearches).lastInsertRowid,
    )
    const insertTable = db.prepare(
      raw`INSERT INTO ${clickTables} (${clickTables.additionId}, ${clickTables.property}, ${clickTables.site}, ${clickTables.countedBy},
        ${clickTables.rowsOf}, ${clickTables.timeSpan}, ${clickTables.hasCountries}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    const insertDay = db.prepare(
      raw`INSERT INTO ${clickDays} (${clickDays.tableId}, ${clickDays.day}, ${clickDays.untilDay}, ${clickDays.clicks},
        ${clickDays.impressions}, ${clickDays.anonymousClicks}, ${clickDays.anonymousImpressions}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    const ids = tables.map((one) =>
      Number(
        insertTable.run(
          addition,
          one.property,
          one.site,
          one.countedBy,
          one.rowsOf,
          one.timeSpan,
          one.hasCountries ? 1 : 0,
        ).lastInsertRowid,
      ),
    )
    for (const [table, ofTable] of days.entries())
      for (const [day, one] of [...ofTable].sort(([a], [b]) => a - b))
        insertDay.run(
          ids[table],
          day,
          tables[table]?.period?.until ?? day,
          one.clicks,
          one.impressions,
          one.anonymousClicks,
          one.anonymousImpressions,
        )
    db.exec(raw`INSERT INTO ${clickTexts} SELECT id, hash, text FROM temp.new_click_texts`)
    const insert = inserter(db, 'click_rows', 8)
    let batch: (string | number)[] = []
    const write = ({
      table,
      query,
      page,
      country,
      day,
      clicks,
      impressions,
      positionSum,
    }: ClickRow): void => {
      const values = [ids[table] as number, query, page, countryOf(country), day]
      batch.push(...values, clicks, impressions, positionSum)
      if (batch.length < batchSize) return
      insert(batch)
      batch = []
    }
    if (runs === null) sums?.take(write)
    else runs.merge(write)
    if (batch.length > 0) insert(batch)
    return addition
  }
}

/** A row of a file. */
type ClickRow = ReturnType<typeof emptyRow>

/**
 * A row to be filled again and again: millions of them would be made otherwise. `query` and `page` are numbers that the draft gave, 0 for
 * none; `country` is one that `countryCode` gave; the positions of `positionSum` count from 0.
 */
export function emptyRow() {
  return { table: 0, query: 0, page: 0, country: 0, day: 0, clicks: 0, impressions: 0, positionSum: 0 }
}

/**
 * Sums rows that say the same of the same: in few places first, for all of them take more time than a small file.
 *
 * @param most places that it may come to, a power of two; it is full with seven tenths of them
 */
export function rowSums(most = 1 << 20) {
  const mostFilled = Math.floor(most * 0.7)
  let places = Math.min(most, 1 << 12)
  let keys = new Int32Array(places * 5)
  let sums = new Float64Array(places * 3)
  let used = new Uint8Array(places)
  const one = emptyRow()
  let filled = 0
  const placeOf = (table: number, query: number, page: number, country: number, day: number): number => {
    let mixed = Math.imul(query, 0x9e3779b1) ^ Math.imul(page, 0x85ebca77)
    mixed ^= Math.imul(day * 64 + table, 0xc2b2ae3d) ^ Math.imul(country, 0x27d4eb2f)
    let place = (mixed ^ (mixed >>> 15)) & (places - 1)
    for (; used[place] === 1; place = (place + 1) & (places - 1)) {
      const at = place * 5
      if (
        keys[at + 1] === query &&
        keys[at + 2] === page &&
        keys[at + 4] === day &&
        keys[at + 3] === country &&
        keys[at] === table
      )
        break
    }
    return place
  }
  const grow = (): void => {
    const before = { keys, sums, used }
    places = most
    keys = new Int32Array(places * 5)
    sums = new Float64Array(places * 3)
    used = new Uint8Array(places)
    for (const [old, isUsed] of before.used.entries()) {
      if (isUsed === 0) continue
      const key = before.keys.subarray(old * 5, old * 5 + 5)
      const [table = 0, query = 0, page = 0, country = 0, day = 0] = key
      const place = placeOf(table, query, page, country, day)
      used[place] = 1
      keys.set(key, place * 5)
      sums.set(before.sums.subarray(old * 3, old * 3 + 3), place * 3)
    }
  }
  return {
    isFull: () => filled >= mostFilled,
    add({ table, query, page, country, day, clicks, impressions, positionSum }: ClickRow): void {
      let place = placeOf(table, query, page, country, day)
      if (used[place] === 0) {
        if (filled * 10 >= places * 7 && places < most) {
          grow()
          place = placeOf(table, query, page, country, day)
        }
        used[place] = 1
        filled++
        const at = place * 5
        keys[at] = table
        keys[at + 1] = query
        keys[at + 2] = page
        keys[at + 3] = country
        keys[at + 4] = day
      }
      const at = place * 3
      sums[at] = (sums[at] as number) + clicks
      sums[at + 1] = (sums[at + 1] as number) + impressions
      sums[at + 2] = (sums[at + 2] as number) + positionSum
    },
    /** Gives each sum, in the order of the table of rows; nothing is left. */
    take(write: (row: ClickRow) => void): void {
      const taken = new Uint32Array(filled)
      let next = 0
      for (let place = 0; place < places; place++) if (used[place] === 1) taken[next++] = place
      taken.sort((a, b) => {
        for (let part = 0; part < 5; part++) {
          const difference = (keys[a * 5 + part] as number) - (keys[b * 5 + part] as number)
          if (difference !== 0) return difference
        }
        return 0
      })
      for (const place of taken) {
        const [key, sum] = [place * 5, place * 3]
        one.table = keys[key] as number
        one.query = keys[key + 1] as number
        one.page = keys[key + 2] as number
        one.country = keys[key + 3] as number
        one.day = keys[key + 4] as number
        one.clicks = sums[sum] as number
        one.impressions = sums[sum + 1] as number
        one.positionSum = sums[sum + 2] as number
        write(one)
      }
      used.fill(0)
      sums.fill(0)
      filled = 0
    },
  }
}

/** Numbers of a row. */
const width = 8
/** Rows of a run that lie in memory at once. */
const piece = 4_096

/** The order in which rows are stored. */
function compared(a: ClickRow, b: ClickRow): number {
  return a.table - b.table || a.query - b.query || a.page - b.page || a.country - b.country || a.day - b.day
}

function putRow(into: Float64Array, at: number, row: ClickRow): void {
  into[at] = row.table
  into[at + 1] = row.query
  into[at + 2] = row.page
  into[at + 3] = row.country
  into[at + 4] = row.day
  into[at + 5] = row.clicks
  into[at + 6] = row.impressions
  into[at + 7] = row.positionSum
}

function takeRow(from: Float64Array, at: number, row: ClickRow): void {
  row.table = from[at] as number
  row.query = from[at + 1] as number
  row.page = from[at + 2] as number
  row.country = from[at + 3] as number
  row.day = from[at + 4] as number
  row.clicks = from[at + 5] as number
  row.impressions = from[at + 6] as number
  row.positionSum = from[at + 7] as number
}

/**
 * Keeps sorted runs of rows in a temporary file, and gives the rows of all of them in one order, those of the same adding up. SQLite would
 * take some times as long to sort them.
 */
export function sortedRuns() {
  const folder = mkdtempSync(join(tmpdir(), 'rankline-clicks-'))
  const file = openSync(join(folder, 'runs'), 'wx+', 0o600)
  const runs: { readonly start: number; readonly rows: number }[] = []
  let written = 0

  /** Fills a row with the next one of a run; false behind its last one. */
  const reader = ({ start, rows }: (typeof runs)[number], row: ClickRow) => {
    const part = new Float64Array(Math.min(piece, rows) * width)
    let taken = 0
    return (): boolean => {
      if (taken === rows) return false
      const at = (taken % piece) * width
      if (at === 0)
        readSync(file, part, 0, Math.min(piece, rows - taken) * width * 8, (start + taken) * width * 8)
      takeRow(part, at, row)
      taken++
      return true
    }
  }

  return {
    /** Adds a run, of which a function gives the rows in their order. */
    add(each: (write: (row: ClickRow) => void) => void): void {
      const start = written
      const buffer = new Float64Array(piece * width)
      let filled = 0
      const flush = (): void => {
        writeFileSync(file, buffer.subarray(0, filled * width))
        written += filled
        filled = 0
      }
      each((row) => {
        putRow(buffer, filled * width, row)
        filled++
        if (filled === piece) flush()
      })
      flush()
      runs.push({ start, rows: written - start })
    },
    /** Gives each row once, in their order. */
    merge(write: (row: ClickRow) => void): void {
      const heads = runs.flatMap((run) => {
        const row = emptyRow()
        const next = reader(run, row)
        return next() ? [{ row, next }] : []
      })
      const sum = emptyRow()
      let isFilled = false
      for (let [least] = heads; least !== undefined; [least] = heads) {
        for (const head of heads) if (compared(head.row, least.row) < 0) least = head
        const { row, next } = least
        if (isFilled && compared(sum, row) === 0) {
          sum.clicks += row.clicks
          sum.impressions += row.impressions
          sum.positionSum += row.positionSum
        } else {
          if (isFilled) write(sum)
          Object.assign(sum, row)
          isFilled = true
        }
        if (!next()) heads.splice(heads.indexOf(least), 1)
      }
      if (isFilled) write(sum)
    },
    [Symbol.dispose](): void {
      closeSync(file)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
