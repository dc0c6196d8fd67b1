import type { Database } from 'better-sqlite3'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { once, raw } from '../connection/statements.ts'
import { hashed, type itemHashes, type linkHashes } from '../schema.ts'

/** So many of the newest rows are kept in memory. Then their hashes are written in order, each page of the table once. */
const newest = 65_536

/**
 * Finds the newest rows of a table by their hashes; the others are found in its table of hashes. For use inside transactions only.
 * Hashes lie anywhere: written with each row, they would change as many pages as there are rows, ever more of them not at hand. So the
 * newest wait in memory; after a crash they are read again from the end of the table.
 */
export function hashIndex(
  db: Database,
  {
    name,
    table,
    id,
    hash,
    hashes,
    check,
  }: {
    readonly name: 'links' | 'items'
    readonly table: SQLiteTable
    readonly id: SQLiteColumn
    readonly hash: SQLiteColumn
    /** Where the hashes of all but the newest rows are. */
    readonly hashes: typeof linkHashes | typeof itemHashes
    /** SQL of a number that tells rows with one hash apart. */
    readonly check: string
  },
  capacity = newest,
) {
  const statements = once(() => ({
    upTo: db
      .prepare<[], number>(raw`SELECT ${hashed.upTo} FROM ${hashed} WHERE ${hashed.name} = '${name}'`)
      .pluck(),
    after: db
      .prepare<[number, number], [number, number, number]>(
        raw`SELECT ${id}, ${hash}, ${check} FROM ${table} WHERE ${id} > ? ORDER BY ${id} LIMIT ?`,
      )
      .raw(),
    // Another process may have written some of them.
    write: db.prepare<[number, number]>(
      raw`INSERT OR IGNORE INTO ${hashes} (${hashes.hash}, ${hashes.id})
        SELECT ${hash}, ${id} FROM ${table} WHERE ${id} > ? AND ${id} <= ? ORDER BY ${hash}, ${id}`,
    ),
    written: db.prepare<[number]>(
      raw`INSERT INTO ${hashed} VALUES ('${name}', ?)
        ON CONFLICT DO UPDATE SET ${hashed.upTo} = max(${hashed.upTo}, excluded.${hashed.upTo})`,
    ),
  }))
  const unwritten = numbersByHash()
  const found = numbersByHash()
  let [isCurrent, isKnown] = [false, false]
  let last = 0

  const write = (): void => {
    const { upTo, write, written } = statements()
    write.run(upTo.get() ?? 0, last)
    written.run(last)
    unwritten.clear()
  }

  const add = (id: number, hash: number, check: number): void => {
    unwritten.add(id, hash, check)
    last = id
    if (unwritten.count() >= capacity) write()
  }

  /** Reads what came after the last row that is known. */
  const readOn = (): void => {
    const { upTo, after } = statements()
    if (!isKnown) last = upTo.get() ?? 0
    isKnown = true
    for (;;) {
      const rows = after.all(last, capacity)
      for (const [id, hash, check] of rows) {
        // A damaged one is found by nobody.
        if (Number.isSafeInteger(hash) && hash >= 0) add(id, hash, check)
        else last = id
      }
      if (rows.length < capacity) break
    }
    isCurrent = true
  }

  return {
    /** The number of a row with this hash and this check; 0 where none is remembered. */
    find: (hash: number, check: number): number => {
      if (!isCurrent) readOn()
      return unwritten.find(hash, check) || found.find(hash, check)
    },
    /** Notes a row that was just inserted. */
    add,
    /** Notes a row that was found in the table of hashes. */
    remember: (id: number, hash: number, check: number): void => {
      if (found.count() >= capacity) found.clear()
      found.add(id, hash, check)
    },
    /** Another connection may have inserted rows. */
    refresh: (): void => {
      isCurrent = false
    },
    /** Forgets everything, after a rollback. */
    forget: (): void => {
      unwritten.clear()
      found.clear()
      isCurrent = false
      isKnown = false
    },
  }
}

/** So many places a table of numbers has at first, a power of two: most runs need no more. */
const fewPlaces = 1_024

/** Numbers by hash and check in typed arrays, from 1 on: a tenth of the memory of a Map. */
function numbersByHash() {
  let tables = placesFor(fewPlaces)
  let count = 0

  const put = (id: number, hash: number, check: number): void => {
    const { ids, hashes, checks, last } = tables
    let place = hash & last
    while (ids[place] !== 0) place = (place + 1) & last
    ids[place] = id
    hashes[place] = hash
    checks[place] = check
  }

  const grow = (): void => {
    const { ids, hashes, checks } = tables
    tables = placesFor(ids.length * 2)
    for (const [place, id] of ids.entries())
      if (id !== 0) put(id, hashes[place] as number, checks[place] as number)
  }

  return {
    count: () => count,
    find: (hash: number, check: number): number => {
      if (count === 0) return 0
      const { ids, hashes, checks, last } = tables
      for (let place = hash & last; ids[place] !== 0; place = (place + 1) & last)
        if (hashes[place] === hash && checks[place] === check) return ids[place] as number
      return 0
    },
    add: (id: number, hash: number, check: number): void => {
      // A quarter of the places stays empty, so that few are looked at.
      if (count * 4 >= tables.ids.length * 3) grow()
      put(id, hash, check)
      count += 1
    },
    clear: (): void => {
      if (count > 0) tables.ids.fill(0)
      count = 0
    },
  }
}

/** @param places a power of two: the last bits of a hash are its place */
function placesFor(places: number) {
  return {
    ids: new Float64Array(places),
    hashes: new Float64Array(places),
    checks: new Float64Array(places),
    last: places - 1,
  }
}
