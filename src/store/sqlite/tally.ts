import type { Database } from 'better-sqlite3'
import { kindCodes } from '../../model/result.ts'
import type { Tally } from '../../model/run.ts'
import type { OpenCalls } from '../store.ts'

/** What a run comes to so far. */
export function tally(db: Database, runId: number, open: OpenCalls = 'in-the-air'): Tally {
  const { sent, billed, free, unknown, spent, lost } = callsOf(db, runId, open)
  return {
    tasks: taskCounts(db, runId),
    calls: { sent, billed, free, ambiguous: unknown },
    spent,
    ambiguous: lost,
    results: resultsOf(db, runId),
    malformed: malformedOf(db, runId),
    mismatched: mismatchedIn(db)(runId),
  }
}

/** The tasks of a run by how they stand. */
export function taskCounts(db: Database, runId: number): Tally['tasks'] {
  const tasks = db
    .prepare<[number], Omit<Tally['tasks'], 'pending'>>(
      `SELECT coalesce(sum(state <> 'skipped'), 0) AS planned, coalesce(sum(state = 'done'), 0) AS done,
        coalesce(sum(state = 'failed'), 0) AS failed, coalesce(sum(reused), 0) AS reused
      FROM tasks_ WHERE run_id = ?`,
    )
    .get(runId) as Omit<Tally['tasks'], 'pending'>
  return { ...tasks, pending: tasks.planned - tasks.done - tasks.failed }
}

interface Calls {
  readonly sent: number
  readonly billed: number
  readonly free: number
  readonly unknown: number
  readonly spent: number
  readonly lost: number
}

function callsOf(db: Database, runId: number, open: OpenCalls): Calls {
  return db
    .prepare<unknown[], Calls>(
      `SELECT count(*) AS sent, coalesce(sum(billed = 1), 0) AS billed, coalesce(sum(billed = 0), 0) AS free,
        coalesce(sum(${isUnknown}), 0) AS unknown,
        coalesce(sum(CASE WHEN billed = 1 THEN credits ELSE 0 END), 0) AS spent,
        coalesce(sum(CASE WHEN ${isUnknown} THEN credits ELSE 0 END), 0) AS lost
      FROM calls_ WHERE run_id = @runId`,
    )
    .get({ runId, lost: open === 'lost' ? 1 : 0 }) as Calls
}

/** Calls of which it is not known whether they were billed; those without an end only where they are lost. */
const isUnknown = 'billed IS NULL AND (outcome IS NOT NULL OR (@lost AND credits > 0))'

/** Counted page by page, in the order in which they are stored: millions of rows are not sorted by kind. */
function resultsOf(db: Database, runId: number): Tally['results'] {
  const kinds = db
    .prepare<[number], { kind: number; n: number }>(
      `SELECT kind, sum(n) AS n FROM (
        SELECT x.kind, count(*) AS n FROM tasks_ t CROSS JOIN results x ON x.answer_id = t.answer_id
        WHERE t.run_id = ? GROUP BY t.run_id, t.query_id, t.page, x.kind)
      GROUP BY kind`,
    )
    .all(runId)
  const name = new Map(Object.entries(kindCodes).map(([kind, code]) => [code as number, kind]))
  return Object.fromEntries(kinds.map(({ kind, n }) => [name.get(kind) ?? String(kind), n]))
}

function malformedOf(db: Database, runId: number): number {
  return db
    .prepare<[number], number>(
      `SELECT coalesce(sum(json_array_length(a.malformed)), 0) FROM tasks_ t JOIN answers_ a ON a.id = t.answer_id
      WHERE t.run_id = ?`,
    )
    .pluck()
    .get(runId) as number
}

/** Counts the answers of a run that repeat another question than asked, of which there are mostly none. */
export function mismatchedIn(db: Database): (runId: number) => number {
  const count = db
    .prepare<[number], number>(
      `SELECT count(*) FROM answers_ a CROSS JOIN tasks_ t ON t.answer_id = a.id
      WHERE a.echo_mismatch IS NOT NULL AND t.run_id = ?`,
    )
    .pluck()
  return (runId) => count.get(runId) as number
}
