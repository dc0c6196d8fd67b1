import type { Database } from 'better-sqlite3'
import { type FitQuery, fitToBalance } from '../../../ledger/budget.ts'
import type { TimeSpan } from '../../../model/time.ts'
import { type EndKind, isFinal } from '../../../rank/paging.ts'
import { damagedMark } from '../../compression.ts'
import type { Funds, SkippedQueries } from '../../journal.ts'
import { withSortMemory } from '../connection/statements.ts'
import { unusableMark } from '../schema.ts'

/** The cause of a task that was left out; the next plan of its run restores it. */
export const skippedForBalance = 'left out, for the balance does not cover it'

interface Candidate extends FitQuery {
  readonly run: number
  readonly queryId: number
}

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
export function needs(run: string, fresh: string, isOpen: string): string {
  return `coalesce((SELECT max(a.fetched_at) FROM answers_ a WHERE a.query_id = o.query), 0) AS stale,
      CASE WHEN follows THEN pages - settled ELSE waiting END
        - (SELECT count(DISTINCT a.page) FROM answers_ a WHERE a.query_id = o.query AND a.page <= o.pages
          AND ${fresh} AND ${reusable}
          AND coalesce((SELECT ${isOpen} FROM tasks_ t
            WHERE t.run_id = ${run} AND t.query_id = a.query_id AND t.page = a.page), o.follows)) AS calls`
}

/** Only queries of several runs are named, so that they are paid once. */
function candidates(db: Database, runs: Funds['runs']): Iterable<Candidate> {
  const shared = runs.length > 1 ? 'CASE WHEN count(*) OVER (PARTITION BY query) > 1 THEN query END' : 'NULL'
  const ofRuns = runs.map((_, number) => candidatesOf(number)).join(' UNION ALL ')
  const values = runs.flatMap(({ runId, fresh }, number) => [
    [`run${number}`, runId],
    ...Object.entries(freshValues(fresh)).map(([name, value]) => [`${name}${number}`, value]),
  ])
  return db
    .prepare<unknown[], Candidate>(
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
export const understood = `a.normaliser IS NOT ${unusableMark}
  AND NOT EXISTS (SELECT 1 FROM tasks_ f WHERE f.answer_id = a.id AND f.state NOT IN ('answered', 'done'))
  AND EXISTS (SELECT 1 FROM raw_answers b WHERE b.answer_id = a.id AND b.encoding NOT LIKE '${damagedMark}%')`

/** The same for runs that did not ask for it: what repeats another question than asked is no answer to theirs. */
export const reusable = `${understood} AND a.echo_mismatch IS NULL`

/** Condition on an answer `a`: it was fetched in the time of `freshValues`, numbered where there are several. */
export function isFresh(number: number | '' = ''): string {
  return `a.fetched_at >= @freshFrom${number} AND a.fetched_at < @freshUntil${number}`
}

/** The values of that condition; where no answer may be used, none is fresh. */
export function freshValues(fresh: TimeSpan | null) {
  return { freshFrom: fresh?.from ?? Number.MAX_SAFE_INTEGER, freshUntil: fresh?.until ?? 0 }
}

const kinds = (Object.keys(isFinal) as EndKind[]).filter((kind) => isFinal[kind])

/** Condition on the `paging_kind` of a query: a deeper plan would still ask for nothing. */
export const finalKinds = `(${kinds.map((kind) => `'${kind}'`).join(', ')})`
