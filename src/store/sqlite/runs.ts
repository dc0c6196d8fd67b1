import type { Database } from 'better-sqlite3'
import type { FinishReason } from '../../model/run.ts'
import type { RunStore } from '../store.ts'
import { countRun, countsForgetter, forgetCounts, uncountedRuns } from './rank-counts.ts'
import { runReads } from './run-reads.ts'
import { isDiskFull, isLocked } from './troubles.ts'
import { fillUnknown } from './unknown.ts'
import type { Writer } from './writer.ts'

/** Nobody is kept waiting much longer than that for what can be done another time. */
const shortlyMs = 2_000

/** Runs in SQLite. */
export function runStore(db: Database, writer: Writer): RunStore {
  return {
    ...runReads(db),
    nameJob: (name, file) =>
      writer.write(() => {
        const known = db.prepare<[string], { file: string }>('SELECT file FROM jobs WHERE name = ?').get(name)
        db.prepare(
          'INSERT INTO jobs (name, file) VALUES (?, ?) ON CONFLICT DO UPDATE SET file = excluded.file',
        ).run(name, file)
        return known?.file ?? null
      }),
    reopenRun: (id) =>
      writer.write(() => {
        db.prepare(
          'UPDATE runs_ SET finished_at = NULL, finish_reason = NULL, duration_ms = NULL WHERE id = ?',
        ).run(id)
      }),
    retryFailed: (runId) =>
      writer.write(() => {
        const { changes } = db
          .prepare(
            "UPDATE tasks_ SET state = 'pending', ready = 1, tries = 0, cause = NULL WHERE run_id = ? AND state = 'failed'",
          )
          .run(runId)
        if (changes > 0)
          db.prepare(
            'UPDATE runs_ SET finished_at = NULL, finish_reason = NULL, duration_ms = NULL WHERE id = ?',
          ).run(runId)
        return changes
      }),
    finishRun: (id, reason, now, durationMs) =>
      writer.write(() => finish(db, { id, reason, now, durationMs: durationMs ?? null })),
    closeRun: (id, now) =>
      writer.write(() => {
        endLostCalls(db, now)
        letWaitAgain(db, id)
        fillUnknown(db, id, now)
        countsForgetter(db)(id)
        db.prepare(
          `UPDATE runs_ SET closed_at = @now, finished_at = coalesce(finished_at, @now),
            finish_reason = coalesce(finish_reason, 'crashed') WHERE id = @id`,
        ).run({ id, now })
      }),
    countRanks: async (withinMs = shortlyMs) => {
      const began = performance.now()
      try {
        for (const run of uncountedRuns(db)) {
          await writer.write(() => countRun(db, run))
          if (performance.now() - began >= withinMs) return
        }
      } catch (error) {
        // Nothing is lost: what is not added up is read as it was observed.
        if (!isDiskFull(error) && !isLocked(error)) throw error
      }
    },
    forgetRankCounts: (job) => writer.write(() => forgetCounts(db, job)),
    recover: (runIds, now) =>
      writer.write(() => {
        for (const id of runIds) letWaitAgain(db, id)
        return endLostCalls(db, now)
      }),
  }
}

/** A failure is never `absent`: what no answer spoke of is `unknown`. */
function finish(db: Database, { id, reason, now, durationMs }: RunEnd): void {
  fillUnknown(db, id, now)
  db.prepare(
    'UPDATE runs_ SET finished_at = @now, finish_reason = @reason, duration_ms = @durationMs WHERE id = @id',
  ).run({ id, now, reason, durationMs })
}

interface RunEnd {
  readonly id: number
  readonly reason: FinishReason
  readonly now: number
  readonly durationMs: number | null
}

/**
 * Calls in the air when their process died: free ones are free, of the others nobody knows. Looked for in the index of
 * open calls (`+` keeps SQLite from the one of runs), not among all that were ever sent.
 */
function endLostCalls(db: Database, now: number): number {
  return db
    .prepare(
      // The plus keeps SQLite from looking through the calls of every run: those in the air have an index of their own.
      `UPDATE calls_ SET outcome = 'ambiguous', billed = CASE WHEN credits = 0 THEN 0 END, finished_at = ?,
        error = 'rankline died while the call was in the air' WHERE outcome IS NULL AND +run_id IS NOT NULL`,
    )
    .run(now).changes
}

function letWaitAgain(db: Database, run: number): void {
  // Another time, perhaps another day: what failed then has all its tries again.
  db.prepare(
    `UPDATE tasks_ SET state = 'pending', tries = 0, round = 0
    WHERE run_id = ? AND (state IN ('leased', 'sent') OR (state = 'pending' AND tries + round > 0))`,
  ).run(run)
}
