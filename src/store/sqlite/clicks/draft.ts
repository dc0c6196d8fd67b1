import type { Database } from 'better-sqlite3'
import { textInLowerCase } from '../../../model/text.ts'
import { pageAddress } from '../../../model/url.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { inserter, raw } from '../connection/statements.ts'
import { clickAdditions, clickDays, clickTables, clickTexts } from './schema.ts'
import { type ClickRow, rowSums, sortedRuns } from './sums.ts'

/** What the rows of a table have in common. */
export type ClickTable = Omit<typeof clickTables.$inferInsert, 'id' | 'additionId'> & {
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

interface DaySums {
  clicks: number
  impressions: number
  anonymousClicks: number
  anonymousImpressions: number
}

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
