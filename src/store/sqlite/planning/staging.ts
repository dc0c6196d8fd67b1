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
import type { JobSettings, Target } from '../../../model/job.ts'
import { type JobQuery, mergeQueries, type PlannedQuery } from '../../../model/query.ts'
import type { PlanSummary } from '../../../model/run.ts'
import type { TimeSpan } from '../../../model/time.ts'
import { type EndKind, isFinal } from '../../../rank/paging.ts'
import { damagedMark } from '../../compression.ts'
import { drizzle } from '../connection/statements.ts'
import { queries, unusableMark } from '../schema.ts'

/** The cause of a task that was left out; the next plan of its run restores it. */
export const skippedForBalance = 'left out, for the balance does not cover it'

/** Restores the queries of a run that were left out. Inside a transaction. */
export function restoreSkipped(db: Database, run: number): void {
  db.prepare(
    "UPDATE tasks_ SET state = 'pending', cause = NULL WHERE run_id = ? AND state = 'skipped' AND cause = ?",
  ).run(run, skippedForBalance)
}

/**
 * Condition on an answer `a` for other tasks to use it: one that made its task fail would make others fail, too, and
 * that task may have been made to wait again since; one whose body was dropped, or is damaged, cannot be read again.
 */
const understood = `a.normaliser IS NOT ${unusableMark}
  AND NOT EXISTS (SELECT 1 FROM tasks_ f WHERE f.answer_id = a.id AND f.state NOT IN ('answered', 'done'))
  AND EXISTS (SELECT 1 FROM raw_answers b WHERE b.answer_id = a.id AND b.encoding NOT LIKE '${damagedMark}%')`

/** The same for runs that did not ask for it: what repeats another question than asked is no answer to theirs. */
const reusable = `${understood} AND a.echo_mismatch IS NULL`

/**
 * Condition on an answer `a` of a run `r` for a task to use it in place of a call.
 *
 * @param isFresh condition on an answer
 * @param ofGroup condition on a run: it is one of those that share their answers, whatever their age
 */
function usable(isFresh: string, ofGroup: string): string {
  return `${understood} AND (${isFresh} AND a.echo_mismatch IS NULL OR ${ofGroup})`
}

/** Condition on an answer `a`: it was fetched in the time of `freshValues`, numbered where there are several. */
function isFresh(number: number | '' = ''): string {
  return `a.fetched_at >= @freshFrom${number} AND a.fetched_at < @freshUntil${number}`
}

/** The values of that condition; where no answer may be used, none is fresh. */
function freshValues(fresh: TimeSpan | null) {
  return { freshFrom: fresh?.from ?? Number.MAX_SAFE_INTEGER, freshUntil: fresh?.until ?? 0 }
}

/** Which stored answers a task may use in place of a call, in SQL. */
export const reuse = { isUnderstood: understood, isFresh, isUsable: usable, values: freshValues }

const kinds = (Object.keys(isFinal) as EndKind[]).filter((kind) => isFinal[kind])

/** Condition on the `paging_kind` of a query: a deeper plan would still ask for nothing. */
export const finalKinds = `(${kinds.map((kind) => `'${kind}'`).join(', ')})`

/** A row whose query is that of an earlier row. */
interface RepeatedRow {
  readonly text: string
  readonly row: JobQuery['source']
  readonly of: JobQuery['source']
}

/** A job of a draft with the run that it continues. */
export interface PlannedJob {
  readonly settings: JobSettings
  /** Local day of the job. */
  readonly date: string
  readonly continues: number | null
  /** Stored answers fetched in this time are used; null where none are. */
  readonly fresh: TimeSpan | null
}

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
const asked = sqliteTable('asked', {
  id: integer().primaryKey(),
  queryId: integer('query_id').notNull(),
  added: integer().notNull(),
})

/** Page numbers, up to the last page of the job. */
const numbers = sqliteTable('numbers', { page: integer().primaryKey() })

function createTable(db: Database, table: SQLiteTable): void {
  const columns = getTableConfig(table).columns.map(
    (column) =>
      `${column.name} ${column.getSQLType()}${column.primary ? ' PRIMARY KEY' : ''}${column.notNull ? ' NOT NULL' : ''}${column.isUnique ? ' UNIQUE' : ''}`,
  )
  db.exec(`CREATE TABLE draft.${getTableName(table)} (${columns.join(', ')})`)
}

/** In kilobytes; small, because a draft is written and read in order. */
const cacheSize = 2_000

/** Opens the database of drafts, with the tables that all of them fill anew. */
export function attachDrafts(db: Database): void {
  db.exec(`ATTACH '' AS draft`)
  db.pragma(`draft.cache_size = -${cacheSize}`)
  // A draft grows at its end, so its journal has few old pages.
  db.pragma('draft.journal_mode = MEMORY')
  for (const table of [asked, numbers]) createTable(db, table)
  // New queries, and those that are no longer asked.
  for (const name of ['fresh', 'gone'])
    db.exec(`CREATE TABLE draft.${name} (operation TEXT NOT NULL, text TEXT NOT NULL, params TEXT NOT NULL)`)
  db.exec('CREATE INDEX draft.gone_text ON gone (text COLLATE NOCASE)')
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
  /** The index of the keys; it exists when duplicates are merged. */
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
  /**
   * Finds the numbers of the staged queries. New queries get the next numbers, in the order of the file. Keys are looked up in
   * their own order: in the order of the file, lookups would be spread over a large database.
   */
  const assignIds = (): void => {
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

  return {
    table,
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
    repeats: first as readonly RepeatedRow[],
    /** Merges duplicates; returns how many there were so far. */
    mergeDuplicates: (): number => {
      if (!isIndexed) {
        withSortMemory(db, () => db.exec(`CREATE INDEX draft.${index} ON ${getTableName(table)} (key)`))
        repeats += mergeAll()
      }
      isIndexed = true
      return repeats
    },
    assignIds,
    /**
     * What a job comes to, of which so many rows were duplicates. For each query: pages already settled in the continued run, and pages that
     * a stored answer covers.
     */
    summary: (job: PlannedJob, duplicates: number): PlanSummary => {
      assignIds()
      const row = db
        .prepare<unknown[], SummaryRow>(
          `SELECT count(*) AS queries, coalesce(sum(max(pages, settled)), 0) AS tasks,
            coalesce(sum(settled), 0) AS settled, coalesce(sum(fresh), 0) AS fresh,
            coalesce(sum(CASE WHEN settled = 0 AND fresh = 0 THEN credits ELSE 0 END), 0) AS min,
            coalesce(sum(CASE WHEN ended THEN 0 ELSE max(pages - settled - fresh, 0) * credits END), 0) AS max
          FROM (
            SELECT s.pages, s.credits,
              (SELECT count(*) FROM tasks_ t WHERE t.run_id = @run AND t.query_id = known.query_id
                AND t.state IN ('answered', 'done', 'failed', 'skipped') AND NOT ${isLeftOut}) AS settled,
              -- Page by page: so of all the answers that a query ever had only the fresh ones are looked at.
              (SELECT count(*) FROM draft.numbers n WHERE n.page <= s.pages
                AND EXISTS (SELECT 1 FROM answers_ a WHERE a.query_id = known.query_id AND a.page = n.page
                  AND ${isFresh()} AND ${reusable})
                AND NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = @run AND t.query_id = known.query_id
                  AND t.page = n.page AND t.state <> 'pending' AND NOT ${isLeftOut})) AS fresh,
              coalesce((SELECT ${ended} FROM run_queries rq WHERE rq.run_id = @run AND rq.query_id = known.query_id), 0) AS ended
            FROM ${getTableName(table)} s LEFT JOIN draft.asked known ON known.id = s.id AND known.added = 0)`,
        )
        .get({ run: job.continues, ...freshValues(job.fresh) }) as SummaryRow
      return {
        job: job.settings.name,
        continues: job.continues,
        queries: row.queries,
        duplicates,
        tasks: row.tasks,
        done: row.settled,
        reused: row.fresh,
        credits: { min: row.min, expected: expected(row, usedShare(db, job)), max: row.max },
      }
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

/** A task of the continued run that the next plan restores. */
const isLeftOut = `(t.state = 'skipped' AND t.cause = '${skippedForBalance}')`
/** Whether the paging of a query has ended within the plan. */
const ended = `(rq.paging_end IS NOT NULL AND (rq.paging_kind IN ${finalKinds} OR (s.pages <= rq.pages
  AND coalesce(s.depth, 0) <= coalesce(rq.depth, 0))))`

type SummaryRow = Readonly<Record<'queries' | 'tasks' | 'settled' | 'fresh' | 'min' | 'max', number>>

function expected({ min, max }: SummaryRow, share: number | null): number {
  return share === null ? max : Math.min(max, Math.max(min, Math.round(max * share)))
}

/** Several runs, because a single one may be untypical: some are deeper than others. */
const pastRuns = 7

/** The cost of the last finished runs of the job as a share of their greatest possible cost, with reused answers. */
function usedShare(db: Database, { settings }: PlannedJob): number | null {
  const past = db
    .prepare<unknown[], { share: number | null }>(
      `SELECT sum(used) * 1.0 / nullif(sum(planned), 0) AS share FROM (
        SELECT r.planned_max AS planned, (SELECT sum(t.credits) FROM tasks_ t
          WHERE t.run_id = r.id AND t.state IN ('done', 'failed')) AS used
        FROM runs_ r WHERE r.job = @job AND r.finish_reason IN ('completed', 'completed_with_failures')
          AND json_extract(r.settings, '$.paging') = @paging
        ORDER BY r.id DESC LIMIT ${pastRuns})`,
    )
    .get({ job: settings.name, paging: settings.paging })
  return past?.share ?? null
}

/** Kilobytes that a large sort may take; the rest goes through a temporary file. */
const sortSize = 8_000

/** Does what sorts very many rows. SQLite sorts in as much memory as its cache may have, beside the cache. */
export function withSortMemory<T>(db: Database, work: () => T): T {
  const cacheSize = Number(db.pragma('cache_size', { simple: true }))
  db.pragma(`cache_size = -${sortSize}`)
  try {
    return work()
  } finally {
    db.pragma(`cache_size = ${cacheSize}`)
  }
}

/** Conditions on what the run that a job continues holds already of its staged queries. */
export const continuedRun = { isLeftOut, ended }
