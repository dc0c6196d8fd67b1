import type { Database } from 'better-sqlite3'
import { defaultDeepEveryMs, type JobSettings } from '../../model/job.ts'
import type { FinishReason, Run } from '../../model/run.ts'
import type { Target } from '../../model/target.ts'
import type { FailureCause, RunReads, TaskFailure } from '../store.ts'
import type { runs } from './schema.ts'
import { tally, taskCounts } from './tally.ts'

type RunRow = typeof runs.$inferSelect

const runColumns = `id, job, group_id AS groupId, settings, date, started_at AS startedAt, finished_at AS finishedAt,
  finish_reason AS finishReason, closed_at AS closedAt, plan_number AS planNumber, planned_min AS plannedMin,
  planned_max AS plannedMax, duration_ms AS durationMs`

/** The run of that id, or null. */
export function runById(db: Database, id: number): Run | null {
  const row = db.prepare<[number], RunRow>(`SELECT ${runColumns} FROM runs_ WHERE id = ?`).get(id)
  return row === undefined ? null : toRun(row)
}

/** What SQLite tells of runs. */
export function runReads(db: Database): RunReads {
  const rows = (where: string, ...values: unknown[]): readonly Run[] =>
    db
      .prepare<unknown[], RunRow>(`SELECT ${runColumns} FROM runs_ ${where}`)
      .all(...values)
      .map(toRun)

  return {
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
          WHERE t.run_id = runs_.id AND (t.state = 'accepted' OR t.state = 'answered')) ORDER BY id`,
        JSON.stringify(jobs),
      ),
    tally: async (runId, open) => tally(db, runId, open),
    taskCounts: async (runId) => taskCounts(db, runId),
    failureCauses: async (runId, most) =>
      db
        .prepare<[number, number], FailureCause>(
          // What a bad answer begins with tells them apart, not what went wrong.
          `SELECT CASE WHEN instr(cause, ' (it begins: ') > 0 THEN substr(cause, 1, instr(cause, ' (it begins: ') - 1)
              ELSE coalesce(cause, '') END AS kind, count(*) AS tasks, count(answer_id) AS answered
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
  const settings = JSON.parse(text) as Omit<JobSettings, 'deepEveryMs' | 'strictEcho' | 'targets'> & {
    readonly deepEveryMs?: number
    readonly strictEcho?: boolean
    readonly targets: readonly (Omit<Target, 'also'> & Partial<Target>)[]
  }
  const targets = settings.targets.map((target) => ({ also: [], ...target }))
  return { deepEveryMs: defaultDeepEveryMs, strictEcho: false, ...settings, targets }
}

function toRun({ planNumber: _, settings, ...row }: RunRow): Run {
  return {
    ...row,
    settings: readSettings(settings),
    finishReason: row.finishReason as FinishReason | null,
  }
}
