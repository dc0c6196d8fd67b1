import type { Database } from 'better-sqlite3'
import { and, eq, getTableColumns, getTableName, gt, max, sql } from 'drizzle-orm'
import {
  blob,
  getTableConfig,
  integer,
  real,
  type SQLiteTable,
  sqliteTable,
  text,
} from 'drizzle-orm/sqlite-core'
import { mergeQueries, type PlannedQuery } from '../../../model/query.ts'
import type { Target } from '../../../model/target.ts'
import type { RepeatedRow } from '../../runs.ts'
import { drizzle, withSortMemory } from '../connection/statements.ts'
import { queries } from '../schema.ts'

/*
 * Queries of a plan, in the separate database `draft` in a temporary file. No table of the main database has one of these names.
 */

function stagedQueries(number: number) {
  return sqliteTable(`staged_${number}`, {
    id: integer().primaryKey(),
    key: blob({ mode: 'buffer' }).notNull(),
    operation: text().notNull(),
    text: text().notNull(),
    params: text().notNull(),
    credits: integer().notNull(),
    pages: integer().notNull(),
    pageSize: integer('page_size'),
    depth: integer(),
    priority: integer().notNull(),
    volume: real(),
    url: text(),
    tags: text({ mode: 'json' }).$type<PlannedQuery['tags']>().notNull(),
    labels: text({ mode: 'json' }).$type<PlannedQuery['labels']>().notNull(),
    /** The number of a list. */
    targets: integer(),
    file: text(),
    line: integer(),
  })
}

/** Lists of targets of single queries, each list once, with the numbers of the targets when they are known. */
function stagedLists(number: number) {
  return sqliteTable(`lists_${number}`, {
    id: integer().primaryKey(),
    list: text().notNull().unique(),
    numbers: text({ mode: 'json' }).$type<readonly number[]>(),
  })
}

/** Keys of queries that the job asks, and that are left out of this plan. */
function stagedKeys(number: number) {
  return sqliteTable(`left_out_${number}`, { key: blob({ mode: 'buffer' }).notNull() })
}

/** Numbers of queries by their place in the file; filled for one job at a time. */
export const asked = sqliteTable('asked', {
  id: integer().primaryKey(),
  queryId: integer('query_id').notNull(),
  added: integer().notNull(),
})

/** Page numbers, up to the last page of the job. */
export const numbers = sqliteTable('numbers', { page: integer().primaryKey() })

export function createTable(db: Database, table: SQLiteTable): void {
  const columns = getTableConfig(table).columns.map(
    (column) =>
      `${column.name} ${column.getSQLType()}${column.primary ? ' PRIMARY KEY' : ''}${column.notNull ? ' NOT NULL' : ''}${column.isUnique ? ' UNIQUE' : ''}`,
  )
  db.exec(`CREATE TABLE draft.${getTableName(table)} (${columns.join(', ')})`)
}

/** The staged queries of one job, in the order of its file. */
export type Staged = ReturnType<typeof stagedJob>

/**
 * Stages the queries of a job in its own tables. Duplicates are merged when all queries are staged: an index that is built at
 * once, from sorted keys, takes a fraction of the time of one that grows.
 */
export function stagedJob(db: Database, number: number) {
  const table = stagedQueries(number)
  const lists = stagedLists(number)
  const index = `${getTableName(table)}_key`
  createTable(db, table)
  createTable(db, lists)
  const leftOut = stagedKeys(number)
  createTable(db, leftOut)
  const insertKey = db.prepare(`INSERT INTO draft.${getTableName(leftOut)} (key) VALUES (?)`)
  const listOf = listNumbers(db, lists)
  const names = Object.values(getTableColumns(table)).map((column) => column.name)
  const insert = db.prepare(
    `INSERT INTO draft.${getTableName(table)} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  )
  /** In the order of the columns. Values by name, or spread from a list, take 1.5 times as long. */
  const add = (q: PlannedQuery, id: number | null = null): void => {
    insert.run(
      id,
      q.key,
      q.operation,
      q.text,
      q.params,
      q.credits,
      q.pages,
      q.pageSize,
      q.depth,
      q.priority,
      q.volume,
      q.url,
      JSON.stringify(q.tags),
      JSON.stringify(q.labels),
      listOf.number(q.targets),
      q.source?.file ?? null,
      q.source?.line ?? null,
    )
  }
  const first: RepeatedRow[] = []
  const mergeAll = duplicateMerger(db, table, listOf, add, first)
  let isIndexed = false
  let repeats = 0
  return {
    table,
    /** The index of the keys; it exists when duplicates are merged. */
    index,
    lists,
    leftOut,
    leaveOut: (keys: readonly Buffer[]): void => {
      for (const key of keys) insertKey.run(key)
    },
    add: (queries: readonly PlannedQuery[]): void => {
      if (isIndexed) db.exec(`DROP INDEX draft.${index}`)
      isIndexed = false
      for (const query of queries) add(query)
    },
    drop: (): void => {
      for (const one of [table, lists, leftOut]) db.exec(`DROP TABLE draft.${getTableName(one)}`)
    },
    /** The first rows that repeat an earlier one, once duplicates are merged. */
    repeats: first,
    /** Merges duplicates; returns how many there were so far. */
    mergeDuplicates: (): number => {
      if (!isIndexed) {
        withSortMemory(db, () => db.exec(`CREATE INDEX draft.${index} ON ${getTableName(table)} (key)`))
        repeats += mergeAll()
      }
      isIndexed = true
      return repeats
    },
  }
}

type Lists = ReturnType<typeof listNumbers>

const listsInMemory = 10_000

/** Gives numbers to lists of targets; an empty list has no number. */
function listNumbers(db: Database, table: Staged['lists']) {
  const name = getTableName(table)
  const add = db.prepare(`INSERT INTO draft.${name} (list) VALUES (?) ON CONFLICT DO NOTHING`)
  const find = db.prepare<[list: string], number>(`SELECT id FROM draft.${name} WHERE list = ?`).pluck()
  const read = db.prepare<[id: number], string>(`SELECT list FROM draft.${name} WHERE id = ?`).pluck()
  const known = new Map<string, number>()
  return {
    number: (targets: readonly Target[]): number | null => {
      if (targets.length === 0) return null
      const list = JSON.stringify(targets)
      const before = known.get(list)
      if (before !== undefined) return before
      add.run(list)
      const id = find.get(list) as number
      if (known.size >= listsInMemory) known.clear()
      known.set(list, id)
      return id
    },
    targets: (id: number | null): readonly Target[] =>
      id === null ? [] : JSON.parse(read.get(id) as string),
  }
}

/** Rows that are told at most. */
const mostRepeats = 10

/** Keys, or rows of one key, that are read at once. */
const rowsAtOnce = 1_000

/** Merges all rows of a query into the first one; returns the number of removed rows. */
function duplicateMerger(
  db: Database,
  table: Staged['table'],
  lists: Lists,
  insert: (query: PlannedQuery, id: number) => void,
  repeats: RepeatedRow[],
): () => number {
  const orm = drizzle(db)
  const repeated = (after: Buffer) =>
    orm
      .select({ key: table.key })
      .from(table)
      .where(gt(table.key, after))
      .groupBy(table.key)
      .having(sql`count(*) > 1`)
      .orderBy(table.key)
      .limit(rowsAtOnce)
      .all()
  const ofKey = eq(table.key, sql.placeholder('key'))
  const next = orm
    .select()
    .from(table)
    .where(and(ofKey, gt(table.id, sql.placeholder('after'))))
    .orderBy(table.id)
    .limit(rowsAtOnce)
    .prepare()
  const drop = orm.delete(table).where(ofKey).prepare()
  function* rows(key: Buffer) {
    for (let some = next.all({ key, after: 0 }); some.length > 0; ) {
      yield* some
      some = next.all({ key, after: some.at(-1)?.id as number })
    }
  }
  const merge = (key: Buffer): number => {
    let first: { readonly id: number; readonly query: PlannedQuery } | null = null
    for (const { id, targets, file, line, ...row } of rows(key)) {
      const source = file === null || line === null ? {} : { source: { file, line } }
      const query: PlannedQuery = { ...row, targets: lists.targets(targets), ...source }
      if (first !== null) note(first.query, query)
      first = first === null ? { id, query } : { id: first.id, query: mergeQueries(first.query, query) }
    }
    const { changes } = drop.run({ key })
    if (first !== null) insert(first.query, first.id)
    return changes - 1
  }
  const note = ({ source: of }: PlannedQuery, { source: row, text }: PlannedQuery): void => {
    if (of === undefined || row === undefined || repeats.length >= mostRepeats) return
    // A matrix makes several queries of a row.
    const isKnown = repeats.some(({ row: known }) => known.file === row.file && known.line === row.line)
    if (!isKnown && (of.file !== row.file || of.line !== row.line)) repeats.push({ text, row, of })
  }
  return () => {
    let gone = 0
    for (let after: Buffer | undefined = Buffer.alloc(0); after !== undefined; ) {
      const keys = repeated(after)
      for (const { key } of keys) gone += merge(key)
      after = keys.at(-1)?.key
    }
    return gone
  }
}

/**
 * Finds the numbers of the staged queries. New queries get the next numbers, in the order of the file. Keys are looked up in
 * their own order: in the order of the file, lookups would be spread over a large database.
 */
export function assignQueryIds(db: Database, { table, index }: Staged): void {
  const orm = drizzle(db)
  orm.delete(asked).run()
  orm.delete(numbers).run()
  const newest =
    orm
      .select({ id: max(queries.id) })
      .from(queries)
      .get()?.id ?? 0
  const find = db.prepare(
    `INSERT INTO asked (id, query_id, added)
      SELECT id, coalesce(known, ? + sum(known IS NULL) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING)), known IS NULL
      FROM (SELECT s.id, coalesce(q.same_as, q.id) AS known
        FROM ${getTableName(table)} s INDEXED BY ${index} LEFT JOIN queries q ON q.key = s.key)`,
  )
  withSortMemory(db, () => find.run(newest))
  const pages =
    orm
      .select({ last: max(table.pages) })
      .from(table)
      .get()?.last ?? 0
  for (let page = 1; page <= pages; page++) orm.insert(numbers).values({ page }).run()
}
