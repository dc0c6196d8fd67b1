import type { Database } from 'better-sqlite3'
import { defaultDeepEveryMs, type JobSettings } from '../../model/job.ts'
import type { FinishReason, Run } from '../../model/run.ts'
import type { Target } from '../../model/target.ts'
import type { FailureCause, RunStore, TaskFailure } from '../store.ts'
import type { runs } from './schema.ts'
import { tally, taskCounts } from './tally.ts'
import { fillUnknown } from './unknown.ts'
import type { Writer } from './writer.ts'

type RunRow = typeof runs.$inferSelect

const runColumns = `id, job, group_id AS groupId, settings, date, started_at AS startedAt, finished_at AS finishedAt,
  finish_reason AS finishReason, closed_at AS closedAt, plan_number AS planNumber, planned_min AS plannedMin,
  planned_max AS plannedMax`

/** The run of that id, or null. */
export function runById(db: Database, id: number): Run | null {
  const row = db.prepare<[number], RunRow>(`SELECT ${runColumns} FROM runs_ WHERE id = ?`).get(id)
  return row === undefined ? null : toRun(row)
}

/** Runs in SQLite. */
export function runStore(db: Database, writer: Writer): RunStore {
  const rows = (where: string, ...values: unknown[]): readonly Run[] =>
    db
      .prepare<unknown[], RunRow>(`SELECT ${runColumns} FROM runs_ ${where}`)
      .all(...values)
      .map(toRun)

  return {
    nameJob: (name, file) =>
      writer.write(() => {
        const known = db.prepare<[string], { file: string }>('SELECT file FROM jobs WHERE name = ?').get(name)
        db.prepare(
          'INSERT INTO jobs (name, file) VALUES (?, ?) ON CONFLICT DO UPDATE SET file = excluded.file',
        ).run(name, file)
        return known?.file ?? null
      }),
    jobFile: async (name) =>
      db.prepare<[string], { file: string }>('SELECT file FROM jobs WHERE name = ?').get(name)?.file ?? null,
    jobNames: async () =>
      db
        .prepare<[], { name: string }>('SELECT name FROM jobs ORDER BY name')
        .all()
        .map(({ name }) => name),
    latestRun: async (job) =>
      rows('WHERE job = ? AND closed_at IS NULL ORDER BY id DESC LIMIT 1', job)[0] ?? null,
    run: async (id) => runById(db, id),
    runs: async ({ job, limit, closed }) =>
      rows(
        'WHERE (@job IS NULL OR job = @job) AND (@closed OR closed_at IS NULL) ORDER BY id DESC LIMIT @limit',
        { job: job ?? null, limit: limit ?? -1, closed: closed === false ? 0 : 1 },
      ),
    groupSize: async (groupId) => rows('WHERE group_id = ?', groupId).length,
    leftovers: async (jobs) =>
      rows(
        `WHERE closed_at IS NOT NULL AND job IN (SELECT value FROM json_each(?)) AND EXISTS (SELECT 1 FROM tasks_ t
          WHERE t.run_id = runs_.id AND t.state IN ('accepted', 'answered')) ORDER BY id`,
        JSON.stringify(jobs),
      ),
    reopenRun: (id) =>
      writer.write(() => {
        db.prepare('UPDATE runs_ SET finished_at = NULL, finish_reason = NULL WHERE id = ?').run(id)
      }),
    retryFailed: (runId) =>
      writer.write(() => {
        const { changes } = db
          .prepare(
            "UPDATE tasks_ SET state = 'pending', ready = 1, tries = 0, cause = NULL WHERE run_id = ? AND state = 'failed'",
          )
          .run(runId)
        if (changes > 0)
          db.prepare('UPDATE runs_ SET finished_at = NULL, finish_reason = NULL WHERE id = ?').run(runId)
        return changes
      }),
    finishRun: (id, reason, now) => writer.write(() => finish(db, id, reason, now)),
    closeRun: (id, now) =>
      writer.write(() => {
        endLostCalls(db, now)
        letWaitAgain(db, id)
        fillUnknown(db, id, now)
        db.prepare(
          `UPDATE runs_ SET closed_at = @now, finished_at = coalesce(finished_at, @now),
            finish_reason = coalesce(finish_reason, 'crashed') WHERE id = @id`,
        ).run({ id, now })
      }),
    recover: (runIds, now) =>
      writer.write(() => {
        for (const id of runIds) letWaitAgain(db, id)
        return endLostCalls(db, now)
      }),
    tally: async (runId) => tally(db, runId),
    taskCounts: async (runId) => taskCounts(db, runId),
    failureCauses: async (runId, most) =>
      db
        .prepare<[number, number], FailureCause>(
          // What a bad answer begins with tells them apart, not what went wrong.
          `SELECT CASE WHEN instr(cause, ' (it begins: ') > 0 THEN substr(cause, 1, instr(cause, ' (it begins: ') - 1)
              ELSE coalesce(cause, '') END AS kind, count(*) AS tasks
          FROM tasks_ WHERE run_id = ? AND state = 'failed' GROUP BY kind ORDER BY tasks DESC, kind LIMIT ?`,
        )
        .all(runId, most),
    failures: async (runId) =>
      db
        .prepare<[number], TaskFailure>(
          `SELECT t.id AS taskId, q.operation, q.text AS query, t.page, coalesce(t.cause, '') AS cause
          FROM tasks_ t JOIN queries q ON q.id = t.query_id WHERE t.run_id = ? AND t.state = 'failed' ORDER BY t.id`,
        )
        .all(runId),
  }
}

/** Settings as they were stored; runs of before something was a setting do not name it. */
function readSettings(text: string): JobSettings {
  const settings = JSON.parse(text) as Omit<JobSettings, 'deepEveryMs' | 'targets'> & {
    readonly deepEveryMs?: number
    readonly targets: readonly (Omit<Target, 'also'> & Partial<Target>)[]
  }
  const targets = settings.targets.map((target) => ({ also: [], ...target }))
  return { deepEveryMs: defaultDeepEveryMs, ...settings, targets }
}

function toRun({ planNumber: _, settings, ...row }: RunRow): Run {
  return {
    ...row,
    settings: readSettings(settings),
    finishReason: row.finishReason as FinishReason | null,
  }
}

/** A failure is never `absent`: what no answer spoke of is `unknown`. */
function finish(db: Database, id: number, reason: FinishReason, now: number): void {
  fillUnknown(db, id, now)
  db.prepare('UPDATE runs_ SET finished_at = ?, finish_reason = ? WHERE id = ?').run(now, reason, id)
}

/**
 * Calls in the air when their process died: free ones are free, of the others nobody knows. Looked for in the index of
 * open calls (`+` keeps SQLite from the one of runs), not among all that were ever sent.
 */
function endLostCalls(db: Database, now: number): number {
  return db
    .prepare(
      `UPDATE calls_ SET outcome = 'ambiguous', billed = CASE WHEN credits = 0 THEN 0 END, finished_at = ?,
        error = 'rankline died while the call was in the air' WHERE outcome IS NULL AND +run_id IS NOT NULL`,
    )
    .run(now).changes
}

function letWaitAgain(db: Database, run: number): void {
  db.prepare("UPDATE tasks_ SET state = 'pending' WHERE run_id = ? AND state IN ('leased', 'sent')").run(run)
  // Another time, perhaps another day: what failed then has all its tries again.
  db.prepare(
    "UPDATE tasks_ SET tries = 0, round = 0 WHERE run_id = ? AND state = 'pending' AND tries + round > 0",
  ).run(run)
}
