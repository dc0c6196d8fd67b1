import type { Database } from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import { type FitFunds, type FitQuery, fitToBalance, type SkippedTotal } from '../../../ledger/budget.ts'
import type { Funds, SkippedQueries } from '../../journal.ts'
import {
  continuedRun,
  type PlannedJob,
  reuse,
  type Staged,
  skippedForBalance,
  withSortMemory,
} from './staging.ts'

/*
 * What the balance covers: of runs that are about to be collected, and of plans, which foretell the same.
 */

/** Queries in one statement. */
const queriesAtOnce = 1_000

/**
 * Leaves out the queries of runs that the balance does not cover. The most valuable are covered first: by priority, then by
 * the longest time since they were asked (or never), then by the order of the file. Inside a transaction.
 */
export function fitRuns(db: Database, funds: Funds): readonly SkippedQueries[] {
  const { limits = [] } = funds
  const takes = fitToBalance({
    ...funds,
    runs: new Map(funds.runs.map((run) => [run.runId, run])),
    limits: limits.flatMap(({ tag, runIds, left }) =>
      tag === null ? [{ runs: new Set(runIds), left }] : [],
    ),
  })
  const left = new Map<number, { readonly queryIds: number[]; credits: number }>()
  withSortMemory(db, () => {
    for (const { queryId, ...row } of candidates(db, funds.runs)) {
      const query = candidateFrom(row)
      if (takes(query)) continue
      const ofRun = left.get(row.run) ?? { queryIds: [], credits: 0 }
      left.set(row.run, ofRun)
      ofRun.queryIds.push(queryId)
      ofRun.credits += query.pages.length * query.price
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

/** A query as it is read: its pages with commas between them, null where it has none. */
type CandidateRow = Pick<FitQuery, 'query' | 'price'> & Readonly<Record<'pages' | 'accepted', string | null>>

function candidateFrom<Row extends CandidateRow>({ pages, accepted, ...row }: Row) {
  return { ...row, pages: numbersIn(pages), accepted: numbersIn(accepted) }
}

function numbersIn(list: string | null): readonly number[] {
  return list === null ? [] : list.split(',').map(Number)
}

/**
 * The columns that a query `o` is ranked by: when it was asked last, and the pages that it may need. A query that `follows` may
 * need all pages that are not settled, another one only those that wait. Pages with a stored answer that may be used need no call.
 *
 * @param usable condition on an answer `a` of a run `r` that may be used
 * @param isOpen whether the task `t` of a page is one that may need a call
 */
function needs(run: string, usable: string, isOpen: string): string {
  return `coalesce((SELECT max(a.fetched_at) FROM answers_ a WHERE a.query_id = o.query), 0) AS stale,
      (WITH RECURSIVE numbers(page) AS (SELECT 1 UNION ALL SELECT page + 1 FROM numbers WHERE page < o.most)
        SELECT group_concat(n.page) FROM numbers n
        WHERE coalesce((SELECT ${isOpen} FROM tasks_ t
            WHERE t.run_id = ${run} AND t.query_id = o.query AND t.page = n.page), o.follows)
          AND NOT EXISTS (SELECT 1 FROM answers_ a JOIN runs_ r ON r.id = a.run_id
            WHERE a.query_id = o.query AND a.page = n.page AND ${usable})) AS pages`
}

/** Only queries of several runs are named, so that each page of them is paid once. */
function candidates(db: Database, runs: Funds['runs']) {
  const shared = runs.length > 1 ? 'CASE WHEN count(*) OVER (PARTITION BY query) > 1 THEN query END' : 'NULL'
  const ofRuns = runs.map((_, number) => candidatesOf(number)).join(' UNION ALL ')
  const values = runs.flatMap(({ runId, fresh }, number) => [
    [`run${number}`, runId],
    ...Object.entries(reuse.values(fresh)).map(([name, value]) => [`${name}${number}`, value]),
  ])
  return db
    .prepare<unknown[], CandidateRow & { readonly run: number; readonly queryId: number }>(
      `SELECT run, query AS queryId, ${shared} AS query, pages, price, accepted FROM (${ofRuns})
      ORDER BY accepted IS NULL, priority DESC, stale, number, first`,
    )
    .iterate(Object.fromEntries(values))
}

/**
 * Pages may follow the last one that waits, even if they were skipped when it failed before. A query that the service is already
 * working on is not left out half.
 */
function candidatesOf(number: number): string {
  const isOpen = "t.state IN ('pending', 'skipped') AND (o.follows OR t.state = 'pending')"
  const ofGroup = `r.group_id = (SELECT group_id FROM runs_ WHERE id = @run${number})`
  return `
    SELECT o.*, ${number} AS number, ${needs('o.run', reuse.isUsable(reuse.isFresh(number), ofGroup), isOpen)}
    FROM (
      SELECT t.run_id AS run, t.query_id AS query, rq.pages AS most, max(t.credits) AS price, min(t.id) AS first,
        max(CASE WHEN t.state = 'pending' THEN t.priority END) AS priority,
        CASE WHEN rq.plan_number = (SELECT plan_number FROM runs_ WHERE id = @run${number})
          THEN group_concat(CASE WHEN t.state IN ('accepted', 'answered') THEN t.page END) END AS accepted,
        rq.paging_end IS NULL OR max(t.page * (t.state = 'pending'))
          > max(t.page * (t.state NOT IN ('pending', 'skipped'))) AS follows
      FROM tasks_ t JOIN run_queries rq ON rq.run_id = t.run_id AND rq.query_id = t.query_id
      WHERE t.run_id = @run${number} GROUP BY t.query_id
      HAVING sum(t.state = 'pending') > 0 OR accepted IS NOT NULL) o`
}

/** Conditions on a task of the continued run: it waits, also where the next plan restores it; its page needs no call. */
const waits = `(t.state IN ('pending', 'leased', 'sent') OR ${continuedRun.isLeftOut})`
const settles = "(t.state IN ('accepted', 'answered', 'done', 'failed'))"

/** The staged queries that a run would leave out because the balance does not cover them; what accepted jobs will cost is not in it. */
export function unaffordable(
  db: Database,
  staged: (job: string) => Staged,
  jobs: readonly PlannedJob[],
  funds: FitFunds,
): ReadonlyMap<string, SkippedTotal> {
  db.exec(`DROP TABLE IF EXISTS draft.wanted; CREATE TABLE draft.wanted (job INTEGER, run TEXT, key BLOB, accepted TEXT,
    priority INTEGER, stale INTEGER, first INTEGER, id INTEGER, pages TEXT, price INTEGER)`)
  const continued = jobs.flatMap(({ continues }) => continues ?? [])
  for (const [number, job] of jobs.entries())
    addWanted(db, staged(job.settings.name), { ...job, number, continued })
  const takes = fitToBalance(funds)
  const rest = new Map<string, SkippedTotal>()
  withSortMemory(db, () => {
    for (const row of wanted(db, jobs.length)) {
      const query = candidateFrom(row)
      if (takes(query)) continue
      const { queries, credits } = rest.get(query.run) ?? { queries: 0, credits: 0 }
      rest.set(query.run, { queries: queries + 1, credits: credits + query.pages.length * query.price })
    }
  })
  return rest
}

/** The most valuable first. Only queries of several jobs are named, so that each page of them is paid once. */
function wanted(db: Database, jobs: number) {
  const shared = jobs > 1 ? 'CASE WHEN count(*) OVER (PARTITION BY key) > 1 THEN hex(key) END' : 'NULL'
  return db
    .prepare<[], CandidateRow & { readonly run: string }>(
      `SELECT run, ${shared} AS query, pages, price, accepted FROM draft.wanted
      ORDER BY accepted IS NULL, priority DESC, stale, job, first IS NULL, first, id`,
    )
    .iterate()
}

function addWanted(
  db: Database,
  staged: Staged,
  {
    number,
    settings,
    continues,
    fresh,
    continued,
  }: PlannedJob & {
    readonly number: number
    /** The runs that the jobs of the plan continue: they become one group, that of the first of them. */
    readonly continued: readonly number[]
  },
): void {
  staged.assignIds()
  const isOpen = `CASE WHEN o.follows THEN NOT ${settles} ELSE ${waits} END`
  const ofGroup = `(r.id IN (SELECT value FROM json_each(@continued))
    OR r.group_id = (SELECT group_id FROM runs_ WHERE id = @continued ->> 0))`
  db.prepare(
    `INSERT INTO draft.wanted SELECT @job, @name, key, accepted, priority, stale, first, id, pages, price FROM (
      SELECT o.*, ${needs('@run', reuse.isUsable(reuse.isFresh(), ofGroup), isOpen)}
      FROM (
        SELECT s.id, s.key, s.priority, s.credits AS price, s.pages AS most, known.query_id AS query, min(t.id) AS first,
          coalesce(sum(${waits} AND t.page <= s.pages), 0) AS waiting,
          group_concat(CASE WHEN t.state = 'accepted' THEN t.page END) AS accepted,
          NOT coalesce(${continuedRun.ended}, 0) OR max(t.page * (${waits} AND t.page <= s.pages)) > max(t.page * ${settles})
            AS follows,
          -- Where nothing waits, something may only follow behind pages that are all settled.
          max(t.page) >= s.pages OR sum(NOT ${settles}) > 0 AS whole
        FROM ${getTableName(staged.table)} s LEFT JOIN draft.asked known ON known.id = s.id AND known.added = 0
          LEFT JOIN run_queries rq ON rq.run_id = @run AND rq.query_id = known.query_id
          LEFT JOIN tasks_ t ON t.run_id = @run AND t.query_id = known.query_id
        GROUP BY s.id HAVING waiting > 0 OR NOT coalesce(whole, 0)) o)`,
  ).run({
    job: number,
    name: settings.name,
    run: continues,
    continued: JSON.stringify(continued),
    ...reuse.values(fresh),
  })
}
