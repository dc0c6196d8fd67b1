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
import { type FitFunds, type FitQuery, fitToBalance, type SkippedTotal } from '../../../ledger/budget.ts'
import type { JobSettings, Target } from '../../../model/job.ts'
import { type JobQuery, mergeQueries, type PlannedQuery } from '../../../model/query.ts'
import type { PlanSummary } from '../../../model/run.ts'
import type { TimeSpan } from '../../../model/time.ts'
import { type EndKind, isFinal } from '../../../rank/paging.ts'
import { damagedMark } from '../../compression.ts'
import type { Funds, SkippedQueries } from '../../journal.ts'
import { drizzle } from '../connection/statements.ts'
import { queries, unusableMark } from '../schema.ts'

/** The cause of a task that was left out; the next plan of its run restores it. */
export const skippedForBalance = 'left out, for the balance does not cover it'

/** Queries in one statement. */
const queriesAtOnce = 1_000

/**
 * Leaves out the queries of runs that the balance does not cover. The most valuable are covered first: by priority, then by
 * the longest time since they were asked (or never), then by the order of the file. Inside a transaction.
 */
export function fitRuns(db: Database, funds: Funds): readonly SkippedQueries[] {
  const takes = fitToBalance({ ...funds, runs: new Map(funds.runs.map((run) => [run.runId, run])) })
  const left = new Map<number, { readonly queryIds: number[]; credits: number }>()
  withSortMemory(db, () => {
    for (const candidate of candidates(db, funds.runs)) {
      if (takes(candidate)) continue
      const ofRun = left.get(candidate.run) ?? { queryIds: [], credits: 0 }
      left.set(candidate.run, ofRun)
      ofRun.queryIds.push(candidate.queryId)
      ofRun.credits += candidate.credits
    }
  })
  const skip = db.prepare(
    `UPDATE tasks_ SET state = 'skipped', cause = ? WHERE run_id = ? AND +state = 'pending'
      AND query_id IN (SELECT value FROM json_each(?))`,
  )
  return [...left].map(([runId, { queryIds, credits }]) => {
    queryIds.sort((a, b) => a - b)
    for (let from = 0; from < queryIds.length; from += queriesAtOnce)
      skip.run(skippedForBalance, runId, JSON.stringify(queryIds.slice(from, from + queriesAtOnce)))
    return { runId, queries: queryIds.length, credits }
  })
}

/** Restores the queries of a run that were left out. Inside a transaction. */
export function restoreSkipped(db: Database, run: number): void {
  db.prepare(
    "UPDATE tasks_ SET state = 'pending', cause = NULL WHERE run_id = ? AND state = 'skipped' AND cause = ?",
  ).run(run, skippedForBalance)
}

/**
 * The columns that a query `o` is ranked by: when it was asked last, and the calls that it may need. A query that `follows` may
 * need all pages that are not settled, another one only those that wait. Pages with a fresh stored answer need no call.
 *
 * @param fresh condition on an answer `a` that may be used
 * @param isOpen whether the task `t` of a page with a stored answer would be one of these calls
 */
function needs(run: string, fresh: string, isOpen: string): string {
  return `coalesce((SELECT max(a.fetched_at) FROM answers_ a WHERE a.query_id = o.query), 0) AS stale,
      CASE WHEN follows THEN pages - settled ELSE waiting END
        - (SELECT count(DISTINCT a.page) FROM answers_ a WHERE a.query_id = o.query AND a.page <= o.pages
          AND ${fresh} AND ${reusable}
          AND coalesce((SELECT ${isOpen} FROM tasks_ t
            WHERE t.run_id = ${run} AND t.query_id = a.query_id AND t.page = a.page), o.follows)) AS calls`
}

/** Only queries of several runs are named, so that they are paid once. */
function candidates(db: Database, runs: Funds['runs']) {
  const shared = runs.length > 1 ? 'CASE WHEN count(*) OVER (PARTITION BY query) > 1 THEN query END' : 'NULL'
  const ofRuns = runs.map((_, number) => candidatesOf(number)).join(' UNION ALL ')
  const values = runs.flatMap(({ runId, fresh }, number) => [
    [`run${number}`, runId],
    ...Object.entries(freshValues(fresh)).map(([name, value]) => [`${name}${number}`, value]),
  ])
  return db
    .prepare<unknown[], FitQuery & { readonly run: number; readonly queryId: number }>(
      `SELECT run, query AS queryId, ${shared} AS query, calls, calls * price AS credits FROM (${ofRuns})
      ORDER BY priority DESC, stale, number, first`,
    )
    .iterate(Object.fromEntries(values))
}

/** Pages may follow the last one that waits, even if they were skipped when it failed before. */
function candidatesOf(number: number): string {
  const isOpen = "t.state IN ('pending', 'skipped') AND (o.follows OR t.state = 'pending')"
  return `
    SELECT o.*, ${number} AS number, ${needs('o.run', isFresh(number), isOpen)}
    FROM (
      SELECT t.run_id AS run, t.query_id AS query, rq.pages, max(t.credits) AS price, min(t.id) AS first,
        max(CASE WHEN t.state = 'pending' THEN t.priority END) AS priority,
        sum(t.state = 'pending') AS waiting,
        sum(t.state NOT IN ('pending', 'skipped') AND t.page <= rq.pages) AS settled,
        rq.paging_end IS NULL OR max(t.page * (t.state = 'pending'))
          > max(t.page * (t.state NOT IN ('pending', 'skipped'))) AS follows
      FROM tasks_ t JOIN run_queries rq ON rq.run_id = t.run_id AND rq.query_id = t.query_id
      WHERE t.run_id = @run${number} GROUP BY t.query_id
      -- A query that the service is already working on is not left out half.
      HAVING waiting > 0 AND sum(t.state IN ('accepted', 'answered')) = 0) o`
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

/** Condition on an answer `a`: it was fetched in the time of `freshValues`, numbered where there are several. */
function isFresh(number: number | '' = ''): string {
  return `a.fetched_at >= @freshFrom${number} AND a.fetched_at < @freshUntil${number}`
}

/** The values of that condition; where no answer may be used, none is fresh. */
function freshValues(fresh: TimeSpan | null) {
  return { freshFrom: fresh?.from ?? Number.MAX_SAFE_INTEGER, freshUntil: fresh?.until ?? 0 }
}

/** Which stored answers a task may use in place of a call, in SQL. */
export const reuse = { isUnderstood: understood, isFresh, values: freshValues }

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

/** Conditions on a task of the continued run: the next plan restores it; it waits; its page is settled. */
const isLeftOut = `(t.state = 'skipped' AND t.cause = '${skippedForBalance}')`
const waits = `(t.state IN ('pending', 'leased', 'sent', 'accepted') OR ${isLeftOut})`
const settles = "(t.state IN ('answered', 'done', 'failed'))"
/** Whether the paging of a query has ended within the plan. */
const ended = `(rq.paging_end IS NOT NULL AND (rq.paging_kind IN ${finalKinds} OR (s.pages <= rq.pages
  AND coalesce(s.depth, 0) <= coalesce(rq.depth, 0))))`

/** The staged queries that a run would leave out because the balance does not cover them. */
export function unaffordable(
  db: Database,
  staged: (job: string) => Staged,
  jobs: readonly PlannedJob[],
  funds: FitFunds,
): ReadonlyMap<string, SkippedTotal> {
  db.exec(`DROP TABLE IF EXISTS draft.wanted; CREATE TABLE draft.wanted (job INTEGER, run TEXT, key BLOB, priority INTEGER,
    stale INTEGER, first INTEGER, id INTEGER, calls INTEGER, credits INTEGER)`)
  for (const [number, job] of jobs.entries()) addWanted(db, staged(job.settings.name), number, job)
  const takes = fitToBalance(funds)
  const rest = new Map<string, SkippedTotal>()
  withSortMemory(db, () => {
    for (const query of wanted(db, jobs.length)) {
      if (takes(query)) continue
      const { queries, credits } = rest.get(query.run) ?? { queries: 0, credits: 0 }
      rest.set(query.run, { queries: queries + 1, credits: credits + query.credits })
    }
  })
  return rest
}

/** The most valuable first. Only queries of several jobs are named, so that they are paid once. */
function wanted(db: Database, jobs: number) {
  const shared = jobs > 1 ? 'CASE WHEN count(*) OVER (PARTITION BY key) > 1 THEN hex(key) END' : 'NULL'
  return db
    .prepare<[], FitQuery & { readonly run: string }>(
      `SELECT run, ${shared} AS query, calls, credits FROM draft.wanted
      ORDER BY priority DESC, stale, job, first IS NULL, first, id`,
    )
    .iterate()
}

function addWanted(
  db: Database,
  staged: Staged,
  number: number,
  { settings, continues, fresh }: PlannedJob,
): void {
  staged.assignIds()
  db.prepare(
    `INSERT INTO draft.wanted SELECT @job, @name, key, priority, stale, first, id, calls, calls * credits FROM (
      SELECT o.*, ${needs('@run', isFresh(), `CASE WHEN o.follows THEN NOT ${settles} ELSE ${waits} END`)}
      FROM (
        SELECT s.id, s.key, s.priority, s.credits, s.pages, known.query_id AS query, min(t.id) AS first,
          coalesce(sum(${waits} AND t.page <= s.pages), 0) AS waiting,
          coalesce(sum(${settles} AND t.page <= s.pages), 0) AS settled,
          NOT coalesce(${ended}, 0) OR max(t.page * (${waits} AND t.page <= s.pages)) > max(t.page * ${settles})
            AS follows,
          -- Where nothing waits, something may only follow behind pages that are all settled.
          max(t.page) >= s.pages OR sum(NOT ${settles}) > 0 AS whole
        FROM ${getTableName(staged.table)} s LEFT JOIN draft.asked known ON known.id = s.id AND known.added = 0
          LEFT JOIN run_queries rq ON rq.run_id = @run AND rq.query_id = known.query_id
          LEFT JOIN tasks_ t ON t.run_id = @run AND t.query_id = known.query_id
        GROUP BY s.id HAVING waiting > 0 OR NOT coalesce(whole, 0)) o)`,
  ).run({ job: number, name: settings.name, run: continues, ...freshValues(fresh) })
}

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
function withSortMemory<T>(db: Database, work: () => T): T {
  const cacheSize = Number(db.pragma('cache_size', { simple: true }))
  db.pragma(`cache_size = -${sortSize}`)
  try {
    return work()
  } finally {
    db.pragma(`cache_size = ${cacheSize}`)
  }
}
