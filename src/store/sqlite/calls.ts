import type { Database } from 'better-sqlite3'
import type { Settlement } from '../../model/call.ts'
import type { Task } from '../../model/task.ts'
import type { AcceptedJob, CallStore, LeaseRequest, NewCall, TaskAgain } from '../calls.ts'
import { fitRuns } from './fit.ts'
import type { Keys } from './keys.ts'
import { insertOne, updateOne } from './one-row.ts'
import { understood } from './reusable.ts'
import type { Writer } from './writer.ts'

interface TaskRow extends Omit<Task, 'params'> {
  readonly params: string
  readonly round: number
}

const taskColumns = `t.id, t.run_id AS runId, t.query_id AS queryId, q.operation, q.text, q.params, t.page, t.credits,
  t.tries, t.round, t.priority, t.cause`

/** The ledger, and the tasks on their way, in SQLite. */
export function callStore(db: Database, writer: Writer, keys: Keys): CallStore {
  const leaseOf = leaser(db)
  const setState = db.prepare(`${updateOne} tasks_ SET state = ? WHERE id = ?`)
  const insertCall = db.prepare(
    `${insertOne} INTO calls_ (run_id, task_id, operation, sent_at, credits, key_id)
    VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const endJob = db.prepare('UPDATE calls_ SET billed = ?, job_ended_at = ? WHERE id = ?')
  const forgetJob = db.prepare('DELETE FROM async_jobs WHERE task_id = ?')
  const settle = callSettler(db)
  const sendAgain = db.prepare(
    "UPDATE tasks_ SET state = 'pending', round = round + @behind, tries = @tries, cause = @cause WHERE id = @taskId",
  )
  const inGroup = db.prepare<unknown[], { id: number }>(
    `SELECT a.id FROM answers_ a JOIN runs_ r ON r.id = a.run_id
    WHERE a.query_id = @queryId AND a.page = @page AND ${understood}
      AND r.group_id = (SELECT group_id FROM runs_ WHERE id = @runId) ORDER BY a.fetched_at DESC LIMIT 1`,
  )
  const pending = db.prepare<[number]>(
    "SELECT 1 FROM tasks_ WHERE run_id = ? AND state = 'pending' AND ready = 1 LIMIT 1",
  )
  const lastBilled = db.prepare<[number], { operation: string }>(
    'SELECT operation FROM calls_ WHERE run_id = ? AND billed = 1 ORDER BY id DESC LIMIT 50',
  )
  const giveBack = db.prepare(
    "UPDATE tasks_ SET state = 'pending' WHERE id = ? AND state IN ('leased', 'sent')",
  )
  const insertJob = db.prepare(
    // It may stand there already, noted by a thread that died before it said so.
    'INSERT OR REPLACE INTO async_jobs (task_id, call_id, job_id, accepted_at) VALUES (?, ?, ?, ?)',
  )

  return {
    lease: (request) => writer.write(() => leaseOf(request)),
    fit: (means) => writer.write(() => fitRuns(db, means)),
    release: (taskIds) =>
      writer.write(() => {
        for (const id of taskIds) giveBack.run(id)
      }),
    groupAnswer: async ({ runId, queryId, page }) => inGroup.get({ runId, queryId, page })?.id ?? null,
    hasPending: async (runIds) => runIds.some((id) => pending.get(id) !== undefined),
    cheapestPending: async (runIds, operations) => cheapest(db, runIds, operations),
    operationsBilled: async (runIds) => [
      ...new Set(runIds.flatMap((id) => lastBilled.all(id).map(({ operation }) => operation))),
    ],
    operationsUnusable: async () => operationsUnusable(db),
    beginCall: (call: NewCall) =>
      writer.write(() => {
        // A poll changes nothing of its task.
        if (call.taskId !== null && call.credits > 0) setState.run('sent', call.taskId)
        const { runId, taskId, operation, sentAt, credits, keyHash } = call
        const row = insertCall.run(runId, taskId, operation, sentAt, credits, keys.idOf(keyHash))
        return Number(row.lastInsertRowid)
      }),
    settleCall: (callId, settlement, again) =>
      writer.keep(() => {
        settle(callId, settlement)
        if (again !== null) sendAgain.run(againRow(again, settlement.error))
      }),
    acceptJob: (callId, settlement, { taskId, jobId }) =>
      writer.keep(() => {
        settle(callId, settlement)
        setState.run('accepted', taskId)
        insertJob.run(taskId, callId, jobId, settlement.finishedAt)
      }),
    endJob: ({ taskId, callId }, billed, now, again) =>
      writer.keep(() => {
        endJob.run(billed, now, callId)
        forgetJob.run(taskId)
        if (again === null) setState.run('sent', taskId)
        else sendAgain.run(againRow(again, 'the asynchronous job failed'))
      }),
    acceptedJobs: async (runIds) => acceptedJobs(db, runIds),
  }
}

function againRow({ behind, ...again }: TaskAgain, cause: string | null) {
  return { ...again, behind: behind ? 1 : 0, cause }
}

/** Writes what became of a call into its row of the ledger. */
export function callSettler(db: Database): (callId: number, settlement: Settlement) => void {
  const update = db.prepare(
    `${updateOne} calls_ SET finished_at = ?, http_status = ?, outcome = ?, billed = ?, latency_ms = ?, error = ?
    WHERE id = ?`,
  )
  return (callId, { finishedAt, httpStatus, outcome, billed, latencyMs, error }) => {
    update.run(finishedAt, httpStatus, outcome, billed, latencyMs, error, callId)
  }
}

/** Lets through what comes first and is covered, over several runs, cheaper tasks where a dearer one is not covered. */
function leaser(db: Database): (request: LeaseRequest) => readonly Task[] {
  const next = (reusable: string) =>
    db.prepare<unknown[], TaskRow>(
      `SELECT ${taskColumns}, ${reusable} AS reusable FROM tasks_ t JOIN queries q ON q.id = t.query_id
      WHERE t.run_id = @run AND t.state = 'pending' AND t.ready = 1
        AND q.operation IN (SELECT value FROM json_each(@operations))
        AND (t.credits <= @credits OR ${reusable} IS NOT NULL)
      ORDER BY t.round, t.priority DESC, t.id LIMIT @limit`,
    )
  const nextBought = next('NULL')
  const nextReusable = next(
    `(SELECT a.id FROM answers_ a JOIN runs_ r ON r.id = a.run_id
      WHERE a.query_id = t.query_id AND a.page = t.page AND ${understood}
        AND (a.fetched_at >= @fresh AND a.echo_mismatch IS NULL OR (@shared AND r.group_id = (SELECT group_id FROM runs_ WHERE id = @run)))
      ORDER BY a.fetched_at DESC LIMIT 1)`,
  )
  const lease = db.prepare(`${updateOne} tasks_ SET state = 'leased' WHERE id = ?`)

  return ({ operations, runs, limit, calls, credits, shared }) => {
    const own = new Map(runs.map((run) => [run.runId, { left: run.budget, keep: run.keep }]))
    const rows = runs.flatMap(({ runId: run, budget, keep, freshSince }) => {
      const covered = calls > 0 ? Math.min(credits - keep, budget) : 0
      const request = { run, credits: covered, limit, operations: JSON.stringify(operations) }
      if (freshSince === null && !shared) return nextBought.all(request)
      const fresh = freshSince ?? Number.MAX_SAFE_INTEGER
      return nextReusable.all({ ...request, fresh, shared: shared ? 1 : 0 })
    })
    if (runs.length > 1) rows.sort((a, b) => a.round - b.round || b.priority - a.priority)
    const taken: Task[] = []
    let left = credits
    let callsLeft = calls
    for (const { round: _, params, ...row } of rows) {
      if (taken.length >= limit) break
      const cost = row.reusable === null ? row.credits : 0
      const limits = own.get(row.runId) ?? { left: 0, keep: 0 }
      if (cost > 0 && (callsLeft === 0 || cost > limits.left || left - cost < limits.keep)) continue
      if (cost > 0) callsLeft -= 1
      left -= cost
      limits.left -= cost
      lease.run(row.id)
      taken.push({ ...row, params: JSON.parse(params) as Task['params'] })
    }
    return taken
  }
}

function acceptedJobs(db: Database, runIds: readonly number[]): readonly (AcceptedJob & { task: Task })[] {
  const rows = db
    .prepare<[string], TaskRow & AcceptedJob>(
      `SELECT ${taskColumns}, NULL AS reusable, j.task_id AS taskId, j.call_id AS callId, j.job_id AS jobId,
        j.accepted_at AS acceptedAt
      FROM async_jobs j JOIN tasks_ t ON t.id = j.task_id JOIN queries q ON q.id = t.query_id
      WHERE t.run_id IN (SELECT value FROM json_each(?)) ORDER BY j.task_id`,
    )
    .all(JSON.stringify(runIds))
  return rows.map(({ taskId, callId, jobId, acceptedAt, round: _, params, ...task }) => ({
    taskId,
    callId,
    jobId,
    acceptedAt,
    task: { ...task, params: JSON.parse(params) as Task['params'] },
  }))
}

function cheapest(db: Database, runIds: readonly number[], operations: readonly string[]): number | null {
  const least = db.prepare<[string, string], { credits: number | null }>(
    `SELECT min(t.credits) AS credits FROM tasks_ t JOIN queries q ON q.id = t.query_id
    WHERE t.run_id IN (SELECT value FROM json_each(?)) AND t.state = 'pending' AND t.ready = 1
      AND q.operation IN (SELECT value FROM json_each(?))`,
  )
  return least.get(JSON.stringify(runIds), JSON.stringify(operations))?.credits ?? null
}

/** So many of the last calls are looked through. */
const lastCalls = 1_000
/** So many answers in a row make an operation one whose answers cannot be used. */
const unusableInRow = 3

interface LastAnswer {
  readonly callId: number
  readonly unusable: 0 | 1
}

function operationsUnusable(db: Database): readonly string[] {
  const calls = db
    .prepare<
      [number],
      { id: number; operation: string; outcome: string; billed: number | null; credits: number }
    >('SELECT id, operation, outcome, billed, credits FROM calls_ ORDER BY id DESC LIMIT ?')
    .all(lastCalls)
  // What nobody has read yet says nothing.
  const answers = db
    .prepare<[number], LastAnswer>(
      `SELECT a.call_id AS callId, a.normaliser IS NULL
        AND NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.answer_id = a.id AND t.state = 'answered') AS unusable
      FROM answers_ a ORDER BY a.id DESC LIMIT ?`,
    )
    .all(lastCalls)
  const unusable = new Map(answers.map((answer) => [answer.callId, answer.unusable === 1]))
  const last = new Map<string, boolean[]>()
  for (const { id, operation, outcome, billed, credits } of calls) {
    if (billed !== 1 || credits === 0) continue
    const known = last.get(operation) ?? []
    last.set(operation, known)
    if (known.length < unusableInRow) known.push(outcome === 'unreadable' || unusable.get(id) === true)
  }
  return [...last]
    .filter(([, ends]) => ends.length === unusableInRow && ends.every((end) => end))
    .map(([operation]) => operation)
}
