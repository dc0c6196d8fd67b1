import type { Database } from 'better-sqlite3'
import { type FitQuery, fitter } from '../../plan/fit.ts'
import type { LeftOut, Means } from '../calls.ts'
import { reusable } from './reusable.ts'
import { sorting } from './sorting.ts'

/** Why a task was left out; the next plan of its run takes it in again. */
export const leftOutCause = 'left out, for the balance does not cover it'

interface Candidate extends FitQuery {
  readonly run: number
  readonly queryId: number
}

/** Queries that are left out by one statement. */
const portion = 1_000

/**
 * Leaves out of runs what is not covered. The most valuable queries come first: by priority, then those that were
 * not asked for longest (never, before all), then as they stand in the file. Inside a transaction.
 */
export function fitRuns(db: Database, means: Means): readonly LeftOut[] {
  const takes = fitter({ ...means, runs: new Map(means.runs.map((run) => [run.runId, run])) })
  const left = new Map<number, { readonly queryIds: number[]; credits: number }>()
  sorting(db, () => {
    for (const candidate of candidates(db, means.runs)) {
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
    for (let from = 0; from < queryIds.length; from += portion)
      skip.run(leftOutCause, runId, JSON.stringify(queryIds.slice(from, from + portion)))
    return { runId, queries: queryIds.length, credits }
  })
}

/** Makes what was left out of a run a part of it again. Inside a transaction. */
export function takeInAgain(db: Database, run: number): void {
  db.prepare(
    "UPDATE tasks_ SET state = 'pending', cause = NULL WHERE run_id = ? AND state = 'skipped' AND cause = ?",
  ).run(run, leftOutCause)
}

/** Only what several runs want has to be known by its number. */
function candidates(db: Database, runs: Means['runs']): Iterable<Candidate> {
  const shared =
    runs.length > 1 ? 'CASE WHEN count(*) OVER (PARTITION BY queryId) > 1 THEN queryId END' : 'NULL'
  const ofRuns = runs.map((_, number) => candidatesOf(number)).join(' UNION ALL ')
  return db
    .prepare<unknown[], Candidate>(
      `SELECT run, queryId, ${shared} AS query, calls, calls * price AS credits FROM (${ofRuns})
      ORDER BY priority DESC, stale, number, first`,
    )
    .iterate(
      Object.fromEntries(
        runs.flatMap(({ runId, freshSince }, number) => [
          [`run${number}`, runId],
          [`fresh${number}`, freshSince ?? Number.MAX_SAFE_INTEGER],
        ]),
      ),
    )
}

/**
 * Pages are counted as many as a query may need at most; those that stored answers cover cost nothing. Behind its last
 * page that waits others may follow, though they were given up when it failed.
 */
function candidatesOf(number: number): string {
  return `
    SELECT o.*, ${number} AS number,
      coalesce((SELECT max(a.fetched_at) FROM answers_ a WHERE a.query_id = o.queryId), 0) AS stale,
      CASE WHEN follows THEN pages - settled ELSE waiting END
        - (SELECT count(DISTINCT a.page) FROM answers_ a WHERE a.query_id = o.queryId AND a.page <= o.pages
          AND a.fetched_at >= @fresh${number} AND ${reusable}
          AND coalesce((SELECT s.state IN ('pending', 'skipped') AND (o.follows OR s.state = 'pending') FROM tasks_ s
            WHERE s.run_id = o.run AND s.query_id = a.query_id AND s.page = a.page), o.follows)) AS calls
    FROM (
      SELECT t.run_id AS run, t.query_id AS queryId, rq.pages, max(t.credits) AS price, min(t.id) AS first,
        max(CASE WHEN t.state = 'pending' THEN t.priority END) AS priority,
        sum(t.state = 'pending') AS waiting,
        sum(t.state NOT IN ('pending', 'skipped') AND t.page <= rq.pages) AS settled,
        rq.paging_end IS NULL OR max(t.page * (t.state = 'pending'))
          > max(t.page * (t.state NOT IN ('pending', 'skipped'))) AS follows
      FROM tasks_ t JOIN run_queries rq ON rq.run_id = t.run_id AND rq.query_id = t.query_id
      WHERE t.run_id = @run${number} GROUP BY t.query_id
      -- What the service works on already is not left out half.
      HAVING waiting > 0 AND sum(t.state IN ('accepted', 'answered')) = 0) o`
}
