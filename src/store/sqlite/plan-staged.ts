import type { Database } from 'better-sqlite3'
import type { PlannedQuery } from '../../model/plan.ts'
import type { Target } from '../../model/target.ts'
import { mergeQueries } from '../../plan/merge.ts'
import { sorting } from './sorting.ts'

/** The queries of one job in a draft, in the order of its file. */
export interface Staged {
  /** Its table; a query's `targets` is the number of a list. */
  readonly table: string
  /** The index of its keys, there when it is joined. */
  readonly index: string
  /** Table of the lists of targets that only some queries have, each once, and of their numbers when those are known. */
  readonly lists: string
  add(queries: readonly PlannedQuery[]): void
  /** Makes every query stand once; answers how many repeated another one so far. */
  join(): number
}

/** A staged query as a row. */
interface StagedRow extends Omit<PlannedQuery, 'pageSize' | 'tags' | 'labels' | 'targets'> {
  readonly id: number
  readonly page_size: number | null
  readonly tags: string
  readonly labels: string
  readonly targets: number | null
}

const columns =
  'key, operation, text, params, credits, pages, page_size, depth, priority, volume, url, tags, labels, targets'

/**
 * Stages the queries of a job in tables of their own. What repeats another query is looked for when all of them are
 * there: an index that is built at once, from sorted keys, takes a fraction of the time of one that grows.
 */
export function stagedJob(db: Database, number: number): Staged {
  const table = `draft.staged_${number}`
  const index = `staged_${number}_key`
  const lists = `draft.lists_${number}`
  db.exec(`
    CREATE TABLE ${table} (
      id INTEGER PRIMARY KEY, key BLOB NOT NULL, operation TEXT NOT NULL, text TEXT NOT NULL, params TEXT NOT NULL,
      credits INTEGER NOT NULL, pages INTEGER NOT NULL, page_size INTEGER, depth INTEGER, priority INTEGER NOT NULL,
      volume REAL, url TEXT, tags TEXT NOT NULL, labels TEXT NOT NULL, targets INTEGER);
    CREATE TABLE ${lists} (id INTEGER PRIMARY KEY, list TEXT NOT NULL UNIQUE, numbers TEXT);`)
  const listOf = listNumbers(db, lists)
  const insert = db.prepare(`INSERT INTO ${table} (${columns}) VALUES (${columns.replaceAll(/\w+/g, '?')})`)
  const rowOf = (query: PlannedQuery): readonly unknown[] => [
    query.key,
    query.operation,
    query.text,
    query.params,
    query.credits,
    query.pages,
    query.pageSize,
    query.depth,
    query.priority,
    query.volume,
    query.url,
    JSON.stringify(query.tags),
    JSON.stringify(query.labels),
    listOf.number(query.targets),
  ]
  const joinAll = joiner(db, table, listOf, rowOf)
  let joined = false
  let repeats = 0
  return {
    table,
    index,
    lists,
    add: (queries) => {
      if (joined) db.exec(`DROP INDEX draft.${index}`)
      joined = false
      for (const query of queries) insert.run(...rowOf(query))
    },
    join: () => {
      if (!joined) {
        sorting(db, () => db.exec(`CREATE INDEX draft.${index} ON staged_${number} (key)`))
        repeats += joinAll()
      }
      joined = true
      return repeats
    },
  }
}

type Lists = ReturnType<typeof listNumbers>

/** How many lists of targets are remembered at once. */
const remembered = 10_000

/** Numbers lists of targets; no list has none. */
function listNumbers(db: Database, table: string) {
  const add = db.prepare(`INSERT INTO ${table} (list) VALUES (?) ON CONFLICT DO NOTHING`)
  const find = db.prepare<[string], number>(`SELECT id FROM ${table} WHERE list = ?`).pluck()
  const read = db.prepare<[number], string>(`SELECT list FROM ${table} WHERE id = ?`).pluck()
  const known = new Map<string, number>()
  return {
    number: (targets: readonly Target[]): number | null => {
      if (targets.length === 0) return null
      const list = JSON.stringify(targets)
      const before = known.get(list)
      if (before !== undefined) return before
      add.run(list)
      const id = find.get(list) as number
      if (known.size >= remembered) known.clear()
      known.set(list, id)
      return id
    },
    targets: (id: number | null): readonly Target[] =>
      id === null ? [] : (JSON.parse(read.get(id) as string) as Target[]),
  }
}

/** Keys that are looked at in one go. */
const portion = 1_000

/** Puts rows of one query into the first of them; answers how many rows went. */
function joiner(
  db: Database,
  table: string,
  lists: Lists,
  rowOf: (query: PlannedQuery) => readonly unknown[],
): () => number {
  // Prepared when the index is there.
  const prepare = () => ({
    repeated: db
      .prepare<unknown[], Buffer>(
        `SELECT key FROM ${table} WHERE key > ? GROUP BY key HAVING count(*) > 1 ORDER BY key LIMIT ${portion}`,
      )
      .pluck(),
    rows: db.prepare<[Buffer], StagedRow>(`SELECT id, ${columns} FROM ${table} WHERE key = ? ORDER BY id`),
    drop: db.prepare(`DELETE FROM ${table} WHERE key = ? AND id > ?`),
    replace: db.prepare(
      `UPDATE ${table} SET (${columns}) = (${columns.replaceAll(/\w+/g, '?')}) WHERE id = ?`,
    ),
  })
  const queryOf = ({ id: _, page_size, tags, labels, targets, ...same }: StagedRow): PlannedQuery => ({
    ...same,
    pageSize: page_size,
    tags: JSON.parse(tags) as string[],
    labels: JSON.parse(labels) as Record<string, string>,
    targets: lists.targets(targets),
  })
  return () => {
    const { repeated, rows, drop, replace } = prepare()
    let gone = 0
    for (let keys = repeated.all(Buffer.alloc(0)); keys.length > 0; keys = repeated.all(keys.at(-1)))
      for (const key of keys) {
        let first = 0
        let query: PlannedQuery | null = null
        for (const row of rows.iterate(key)) {
          if (query === null) first = row.id
          query = query === null ? queryOf(row) : mergeQueries(query, queryOf(row))
        }
        gone += drop.run(key, first).changes
        replace.run(...rowOf(query as PlannedQuery), first)
      }
    return gone
  }
}
