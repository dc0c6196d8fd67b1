import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { changing } from '../connection/database.ts'
import { raw } from '../connection/statements.ts'
import {
  hasTextIndex,
  type IndexedTable,
  indexedTables,
  indexes,
  indexOf,
  lastIndexed,
  unindexed,
} from '../rankings/found.ts'

/** Rows of one change: where no other process writes, and where one may want to. */
const rowsTogether = { alone: 20_000, beside: 500 } as const
const shortestPauseMs = 20

/** How far the index is. */
export type TextIndex = ReturnType<typeof textIndexState>

/** How far the index is; changes nothing. */
export function textIndexState(db: Database) {
  const exists = hasTextIndex(db)
  const sum = (of: (name: IndexedTable) => number): number =>
    indexedTables.reduce((total, name) => total + of(name), 0)
  const rows = (name: IndexedTable): number =>
    Number(
      db
        .prepare(`SELECT count(*) FROM ${indexOf(name)}_docsize`)
        .pluck()
        .get(),
    )
  return {
    exists,
    /** Bytes that it takes. */
    bytes: exists ? sum((name) => bytesOf(db, name)) : 0,
    /** Results, links and AI answers that are in it, and those that came since. */
    indexed: exists ? sum(rows) : 0,
    missing: sum((name) => unindexed(db, name, 'rows')),
    /** Characters of what is missing. */
    missingText: sum((name) => unindexed(db, name, 'text')),
  }
}

/** The tables in which FTS5 keeps an index. */
const ofIndex = ['data', 'idx', 'docsize', 'config']

function bytesOf(db: Database, name: IndexedTable): number {
  const size = db
    .prepare<[string], number>('SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name = ? AND aggregate = 1')
    .pluck()
  return ofIndex.reduce((total, part) => total + (size.get(`${indexOf(name)}_${part}`) as number), 0)
}

/**
 * Makes the index, or brings it up to date, in short changes; an interruption undoes nothing.
 *
 * @param alone whether no other process wants to write meanwhile
 * @param progress how many rows were taken
 */
export async function buildTextIndex(
  path: string,
  { alone, progress }: { readonly alone: boolean; readonly progress: (rows: number) => void },
): Promise<TextIndex> {
  return await changing(path, async (db) => {
    if (!hasTextIndex(db)) db.transaction(() => make(db)).immediate()
    const limit = alone ? rowsTogether.alone : rowsTogether.beside
    let taken = 0
    for (const name of indexedTables) {
      const step = db.prepare(catchUp(name))
      const after = db.prepare(`SELECT ${lastIndexed(name)}`).pluck()
      const doSome = db.transaction(() => step.run({ after: after.get(), limit }).changes)
      for (;;) {
        const began = performance.now()
        const rows = doSome.immediate()
        taken += rows
        if (rows < limit) break
        progress(taken)
        if (!alone) await sleep(Math.max(shortestPauseMs, performance.now() - began))
      }
    }
    return textIndexState(db)
  })
}

function make(db: Database): void {
  for (const name of indexedTables) {
    const { columns } = indexes[name]
    db.exec(
      `CREATE VIRTUAL TABLE ${indexOf(name)} USING fts5(${columns.join(', ')}, content='${name}', content_rowid='id',
        tokenize='unicode61 remove_diacritics 2')`,
    )
  }
}

function catchUp(name: IndexedTable): string {
  const { table, columns, which } = indexes[name]
  const list = columns.join(', ')
  return raw`INSERT INTO ${indexOf(name)} (rowid, ${list})
    SELECT id, ${list} FROM ${table} WHERE id > @after AND ${which} ORDER BY id LIMIT @limit`
}

/** Drops the index; answers the bytes that it took. */
export async function dropTextIndex(path: string): Promise<number> {
  return await changing(path, (db) => {
    const { bytes } = textIndexState(db)
    db.transaction(() => {
      for (const name of indexedTables) db.exec(`DROP TABLE IF EXISTS ${indexOf(name)}`)
    }).immediate()
    return bytes
  })
}

/** Writes the index anew, without the words of what has left it. Takes long, and holds other writers up. */
export function mergeTextIndex(db: Database): void {
  if (!hasTextIndex(db)) return
  for (const name of indexedTables)
    db.exec(`INSERT INTO ${indexOf(name)} (${indexOf(name)}) VALUES ('optimize')`)
}

/** A statement that takes the row @id out of the index before it is dropped: its number may be given again. */
export function forgetWords(name: IndexedTable): string {
  const { table, columns } = indexes[name]
  const list = columns.join(', ')
  return raw`INSERT INTO ${indexOf(name)} (${indexOf(name)}, rowid, ${list})
    SELECT 'delete', id, ${list} FROM ${table} WHERE id = @id AND id IN (SELECT id FROM ${indexOf(name)}_docsize)`
}

/** Rows of the index whose text is not stored any more: how many, and the first of them. */
export function strayWords(db: Database): { readonly count: number; readonly first: number | null } {
  const stray = indexedTables.map(
    (name) => `SELECT id FROM ${indexOf(name)}_docsize WHERE id NOT IN (SELECT id FROM ${name})`,
  )
  return db
    .prepare(`SELECT count(*) AS count, min(id) AS first FROM (${stray.join(' UNION ALL ')})`)
    .get() as {
    readonly count: number
    readonly first: number | null
  }
}
