import type { Database } from 'better-sqlite3'
import {
  and,
  type Column,
  desc,
  eq,
  inArray,
  isNotNull,
  lte,
  min,
  notLike,
  or,
  type Placeholder,
  type SQL,
  sql,
} from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core/alias'
import type { NewCall, Settlement } from '../../../model/call.ts'
import type { Task } from '../../../model/run.ts'
import { damagedMark } from '../../compression.ts'
import type { AcceptedJob, AnswerStore, Journal, LeaseRequest, Requeue } from '../../journal.ts'
import type { ApiKeyIds } from '../cache.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { insertOne, orm, prepared, raw, updateOrFail, type Values } from '../connection/statements.ts'
import { understood } from '../fragments.ts'
import { fitRuns } from '../planning/fit.ts'
import { answers, asyncJobs, calls, queries, rawAnswers, runs, tasks } from '../schema.ts'

const [a, own] = [alias(answers, 'a'), alias(runs, 'own')]

const taskColumns = {
  ...{ id: tasks.id, runId: tasks.runId, queryId: tasks.queryId, page: tasks.page, credits: tasks.credits },
  ...{ tries: tasks.tries, round: tasks.round, priority: tasks.priority, cause: tasks.cause },
  ...{ operation: queries.operation, text: queries.text, params: queries.params },
}

const isReady = and(eq(tasks.state, 'pending'), eq(tasks.ready, 1))
/** Runs or operations that are given as a JSON list. */
const isIn = (column: Column, list: Placeholder) => sql`${column} IN (SELECT value FROM json_each(${list}))`
const sameGroup = (run: Placeholder) =>
  sql`${runs.groupId} = (SELECT ${own.groupId} FROM ${runs} ${own} WHERE ${own.id} = ${run})`

const inGroup = prepared(($: Values<{ runId: number; queryId: number; page: number }>) =>
  orm
    .select({ id: a.id })
    .from(a)
    .innerJoin(runs, eq(runs.id, a.runId))
    .where(and(eq(a.queryId, $.queryId), eq(a.page, $.page), sql.raw(understood), sameGroup($.runId)))
    .orderBy(desc(a.fetchedAt))
    .limit(1),
)

const pending = prepared(($: Values<{ run: number }>) =>
  orm
    .select({ id: tasks.id })
    .from(tasks)
    .where(and(eq(tasks.runId, $.run), isReady))
    .limit(1),
)

const lastBilled = prepared(($: Values<{ run: number }>) =>
  orm
    .select({ operation: calls.operation })
    .from(calls)
    .where(and(eq(calls.runId, $.run), eq(calls.billed, 1)))
    .orderBy(desc(calls.id))
    .limit(50),
)

const giveBack = prepared(($: Values<{ id: number }>) =>
  orm
    .update(tasks)
    .set({ state: 'pending' })
    .where(and(eq(tasks.id, $.id), inArray(tasks.state, ['leased', 'sent']))),
)

const sendAgain = prepared(
  ($: Values<{ taskId: number; tries: number; nextRound: 0 | 1; cause: string | null }>) =>
    orm
      .update(tasks)
      .set({
        ...{ state: 'pending', tries: sql`${$.tries}`, cause: sql`${$.cause}` },
        round: sql`${tasks.round} + ${$.nextRound}`,
      })
      .where(eq(tasks.id, $.taskId)),
)

const insertJob = prepared(($: Values<AcceptedJob>) =>
  orm.insert(asyncJobs).values({
    ...{ taskId: $.taskId, callId: $.callId, jobId: $.jobId, acceptedAt: $.acceptedAt },
  }),
)

const endJob = prepared(($: Values<{ callId: number; billed: 0 | 1 | null; now: number }>) =>
  orm
    .update(calls)
    .set({ billed: sql`${$.billed}`, jobEndedAt: sql`${$.now}` })
    .where(eq(calls.id, $.callId)),
)

const forgetJob = prepared(($: Values<{ taskId: number }>) =>
  orm.delete(asyncJobs).where(eq(asyncJobs.taskId, $.taskId)),
)

/** Notes the end of an asynchronous job: whether its submission was billed. */
export function settleJob(
  db: Database,
  job: Pick<AcceptedJob, 'taskId' | 'callId'>,
  billed: 0 | 1 | null,
  now: number,
): void {
  endJob.run(db, { callId: job.callId, billed, now })
  forgetJob.run(db, { taskId: job.taskId })
}

const acceptedJobs = prepared(($: Values<{ runs: string }>) => {
  const { taskId, callId, jobId, acceptedAt } = asyncJobs
  const { round: _, ...columns } = taskColumns
  return orm
    .select({ ...columns, taskId, callId, jobId, acceptedAt })
    .from(asyncJobs)
    .innerJoin(tasks, eq(tasks.id, taskId))
    .innerJoin(queries, eq(queries.id, tasks.queryId))
    .where(isIn(tasks.runId, $.runs))
    .orderBy(taskId)
})

const cheapest = prepared(($: Values<{ runs: string; operations: string }>) =>
  orm
    .select({ credits: min(tasks.credits) })
    .from(tasks)
    .innerJoin(queries, eq(queries.id, tasks.queryId))
    .where(and(isIn(tasks.runId, $.runs), isReady, isIn(queries.operation, $.operations))),
)

/** The ledger, and the tasks on their way, in SQLite. */
export function journal(db: Database, writer: GroupCommit, keys: ApiKeyIds): Journal {
  const leaseOf = leaser(db)
  const setState = db.prepare(raw`${updateOrFail} ${tasks} SET ${tasks.state} = ? WHERE ${tasks.id} = ?`)
  const insertCall = db.prepare(
    raw`${insertOne} INTO ${calls} (${calls.runId}, ${calls.taskId}, ${calls.operation}, ${calls.sentAt}, ${calls.credits},
      ${calls.keyId}) VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const settle = callSettler(db)
  const requeue = ({ taskId, tries, nextRound }: Requeue, cause: string | null): void => {
    sendAgain.run(db, { taskId, tries, nextRound: nextRound ? 1 : 0, cause })
  }

  return {
    lease: (request) => writer.write(() => leaseOf(request)),
    fit: (means) => writer.write(() => fitRuns(db, means)),
    release: (taskIds) =>
      writer.write(() => {
        for (const id of taskIds) giveBack.run(db, { id })
      }),
    groupAnswer: async ({ runId, queryId, page }) => inGroup.get(db, { runId, queryId, page })?.id ?? null,
    hasPending: async (runIds) => runIds.some((run) => pending.get(db, { run }) !== undefined),
    cheapestPending: async (runIds, operations) =>
      cheapest.one(db, { runs: JSON.stringify(runIds), operations: JSON.stringify(operations) }).credits,
    operationsBilled: async (runIds) => [
      ...new Set(runIds.flatMap((run) => lastBilled.all(db, { run }).map(({ operation }) => operation))),
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
      writer.writePaid(() => {
        settle(callId, settlement)
        if (again !== null) requeue(again, settlement.error)
      }),
    acceptJob: (callId, settlement, { taskId, jobId }) =>
      writer.writePaid(() => {
        settle(callId, settlement)
        setState.run('accepted', taskId)
        insertJob.run(db, { taskId, callId, jobId, acceptedAt: settlement.finishedAt })
      }),
    endJob: (job, billed, now, again) =>
      writer.writePaid(() => {
        settleJob(db, job, billed, now)
        if (again === null) setState.run('sent', job.taskId)
        else requeue(again, 'the asynchronous job failed')
      }),
    acceptedJobs: async (runIds) =>
      acceptedJobs
        .all(db, { runs: JSON.stringify(runIds) })
        .map(({ taskId, callId, jobId, acceptedAt, ...task }) => {
          return { taskId, callId, jobId, acceptedAt, task: { ...task, reusable: null } }
        }),
  }
}

/** Writes what became of a call into its row of the ledger. */
export function callSettler(db: Database): (callId: number, settlement: Settlement) => void {
  const update = db.prepare(
    raw`${updateOrFail} ${calls} SET ${calls.finishedAt} = ?, ${calls.httpStatus} = ?, ${calls.outcome} = ?,
      ${calls.billed} = ?, ${calls.latencyMs} = ?, ${calls.error} = ? WHERE ${calls.id} = ?`,
  )
  return (callId, { finishedAt, httpStatus, outcome, billed, latencyMs, error }) => {
    update.run(finishedAt, httpStatus, outcome, billed, latencyMs, error, callId)
  }
}

type Wanted = { run: number; credits: number; operations: string; limit: number }

const nextTasks = ($: Values<Wanted>, reusable: SQL<number | null>) =>
  orm
    .select({ ...taskColumns, reusable })
    .from(tasks)
    .innerJoin(queries, eq(queries.id, tasks.queryId))
    .where(
      and(
        ...[eq(tasks.runId, $.run), isReady, isIn(queries.operation, $.operations)],
        or(lte(tasks.credits, $.credits), isNotNull(reusable)),
      ),
    )
    .orderBy(tasks.round, desc(tasks.priority), tasks.id)
    .limit($.limit)

const nextBought = prepared(($: Values<Wanted>) => nextTasks($, sql`NULL`))

const nextReusable = prepared(($: Values<Wanted & { fresh: number; shared: 0 | 1 }>) =>
  nextTasks(
    $,
    sql`(SELECT ${a.id} FROM ${answers} ${a} JOIN ${runs} ON ${runs.id} = ${a.runId}
      WHERE ${a.queryId} = ${tasks.queryId} AND ${a.page} = ${tasks.page} AND ${sql.raw(understood)}
        AND (${a.fetchedAt} >= ${$.fresh} AND ${a.echoMismatch} IS NULL OR (${$.shared} AND ${sameGroup($.run)}))
      ORDER BY ${a.fetchedAt} DESC LIMIT 1)`,
  ),
)

/** Lets through what comes first and is covered, over several runs, cheaper tasks where a dearer one is not covered. */
function leaser(db: Database): (request: LeaseRequest) => readonly Task[] {
  const lease = db.prepare(raw`${updateOrFail} ${tasks} SET ${tasks.state} = 'leased' WHERE ${tasks.id} = ?`)

  return ({ operations, runs, limit, calls, credits, shared }) => {
    const own = new Map(runs.map((run) => [run.runId, { left: run.budget, keep: run.keep }]))
    const rows = runs.flatMap(({ runId: run, budget, keep, freshSince }) => {
      const covered = calls > 0 ? Math.min(credits - keep, budget) : 0
      const request = { run, credits: covered, limit, operations: JSON.stringify(operations) }
      if (freshSince === null && !shared) return nextBought.all(db, request)
      const fresh = freshSince ?? Number.MAX_SAFE_INTEGER
      return nextReusable.all(db, { ...request, fresh, shared: shared ? 1 : 0 })
    })
    if (runs.length > 1) rows.sort((a, b) => a.round - b.round || b.priority - a.priority)
    const taken: Task[] = []
    let left = credits
    let callsLeft = calls
    for (const { round: _, ...row } of rows) {
      if (taken.length >= limit) break
      const cost = row.reusable === null ? row.credits : 0
      const limits = own.get(row.runId) ?? { left: 0, keep: 0 }
      if (cost > 0 && (callsLeft === 0 || cost > limits.left || left - cost < limits.keep)) continue
      if (cost > 0) callsLeft -= 1
      left -= cost
      limits.left -= cost
      lease.run(row.id)
      taken.push(row)
    }
    return taken
  }
}

/** So many of the last calls are looked through. */
const lastCalls = 1_000
/** So many answers in a row make an operation one whose answers cannot be used. */
const unusableInRow = 3

const newestCalls = prepared(() => {
  const { id, operation, outcome, billed, credits } = calls
  return orm
    .select({ id, operation, outcome, billed, credits })
    .from(calls)
    .orderBy(desc(id))
    .limit(lastCalls)
})

/** An answer that is not parsed yet says nothing. */
const newestAnswers = prepared(() => {
  const isUnread = sql`EXISTS (SELECT 1 FROM ${tasks} WHERE ${tasks.answerId} = ${a.id} AND ${tasks.state} = 'answered')`
  return orm
    .select({ callId: a.callId, unusable: sql<0 | 1>`${a.normaliser} IS NULL AND NOT ${isUnread}` })
    .from(a)
    .orderBy(desc(a.id))
    .limit(lastCalls)
})

function operationsUnusable(db: Database): readonly string[] {
  const unusable = new Map(newestAnswers.all(db).map((answer) => [answer.callId, answer.unusable === 1]))
  const last = new Map<string, boolean[]>()
  for (const { id, operation, outcome, billed, credits } of newestCalls.all(db)) {
    if (billed !== 1 || credits === 0) continue
    const known = last.get(operation) ?? []
    last.set(operation, known)
    if (known.length < unusableInRow) known.push(outcome === 'unreadable' || unusable.get(id) === true)
  }
  return [...last]
    .filter(([, ends]) => ends.length === unusableInRow && ends.every((end) => end))
    .map(([operation]) => operation)
}

/**
 * A call is numbered before it is sent, so that numbers tell the order where the clock was set back. What is less comes
 * from processes that wrote at once.
 */
export const leastStepMs = 1_000

/** Calls from one on, up to the next time that the clock was set back. */
interface Stretch {
  readonly firstCall: number
  /** Added to what its clock said, so that what came later is later. */
  readonly addedMs: number
}

/** Puts instants into the order in which they were, though the clock was set back in between. */
export interface ClockSteps {
  /** Whether it never was: then instants are in order as they are. */
  readonly none: boolean
  /** The stretch that a call was sent in. */
  of(call: number): number
  /** An instant of a stretch, in an order with all others. */
  at(stretch: number, instant: number): number
  /** An instant not before that one (itself in order), by the clock of the same stretch or of a later one. */
  notBefore(stretch: number, earliest: number, instant: number): { at: number; stretch: number }
}

const stepsBack = prepared(
  ($: Values<{ after: number }>) =>
    sql<{ id: number; back: number }>`SELECT id, before + coalesce(took, 0) - sent AS back
    FROM (SELECT ${calls.id} AS id, ${calls.sentAt} AS sent, lag(${calls.sentAt}) OVER (ORDER BY ${calls.id}) AS before,
        lag(${calls.latencyMs}) OVER (ORDER BY ${calls.id}) AS took FROM ${calls} WHERE ${calls.id} > ${$.after})
    WHERE before - sent >= ${leastStepMs} ORDER BY id`,
)

/** @param after the call from which on it is asked */
export function clockSteps(db: Database, after = 0): ClockSteps {
  const stretches: Stretch[] = [{ firstCall: Number.NEGATIVE_INFINITY, addedMs: 0 }]
  for (const { id, back } of stepsBack.each(db, { after }))
    stretches.push({ firstCall: id, addedMs: (stretches.at(-1) as Stretch).addedMs + back + 1 })
  const at = (stretch: number, instant: number): number => instant + (stretches[stretch] as Stretch).addedMs
  return {
    none: stretches.length === 1,
    of: (call) => {
      let [low, high] = [0, stretches.length - 1]
      while (low < high) {
        const middle = Math.ceil((low + high) / 2)
        if ((stretches[middle] as Stretch).firstCall <= call) low = middle
        else high = middle - 1
      }
      return low
    },
    at,
    notBefore: (stretch, earliest, instant) => {
      let found = stretch
      while (found + 1 < stretches.length && at(found, instant) < earliest) found += 1
      return { at: Math.max(earliest, at(found, instant)), stretch: found }
    },
  }
}

const markDamaged = prepared(($: Values<{ answer: number }>) =>
  orm
    .update(rawAnswers)
    .set({ encoding: sql`${damagedMark} || ${rawAnswers.encoding}` })
    .where(and(eq(rawAnswers.answerId, $.answer), notLike(rawAnswers.encoding, `${damagedMark}%`))),
)

const waitAgain = prepared(($: Values<{ task: number }>) =>
  orm
    .update(tasks)
    .set({ state: 'pending', answerId: null })
    .where(and(eq(tasks.id, $.task), eq(tasks.state, 'answered'))),
)

const answeredTasks = prepared(($: Values<{ runs: string }>) => {
  const { id: taskId, runId, queryId, page, answerId } = tasks
  const { operation, text, params } = queries
  return orm
    .select({ taskId, runId, queryId, page, operation, text, params, answerId: sql<number>`${answerId}` })
    .from(tasks)
    .innerJoin(queries, eq(queries.id, queryId))
    .where(and(sql`${runId} IN (SELECT value FROM json_each(${$.runs}))`, eq(tasks.state, 'answered')))
    .orderBy(taskId)
})

const rawAnswer = prepared(($: Values<{ answer: number }>) =>
  orm
    .select({ body: rawAnswers.body, encoding: rawAnswers.encoding, fetchedAt: answers.fetchedAt })
    .from(rawAnswers)
    .innerJoin(answers, eq(answers.id, rawAnswers.answerId))
    .where(eq(rawAnswers.answerId, $.answer)),
)

/** Bodies as they came, in SQLite. */
export function answerStore(db: Database, writer: GroupCommit): AnswerStore {
  const settle = callSettler(db)
  const insertAnswer = db.prepare(
    raw`${insertOne} INTO ${answers} (${answers.queryId}, ${answers.page}, ${answers.runId}, ${answers.callId},
      ${answers.fetchedAt}) VALUES (?, ?, ?, ?, ?)`,
  )
  const insertBody = db.prepare(
    raw`${insertOne} INTO ${rawAnswers} (${rawAnswers.answerId}, ${rawAnswers.encoding}, ${rawAnswers.body}) VALUES (?, ?, ?)`,
  )
  const answered = db.prepare(
    raw`${updateOrFail} ${tasks} SET ${tasks.state} = 'answered', ${tasks.answerId} = ?, ${tasks.reused} = ?
      WHERE ${tasks.id} = ?`,
  )

  return {
    saveAnswer: ({ callId, task, settlement, fetchedAt, body, encoding }) =>
      writer.writePaid(() => {
        if (settlement === null) settleJob(db, { taskId: task.id, callId }, 1, fetchedAt)
        else settle(callId, settlement)
        const row = insertAnswer.run(task.queryId, task.page, task.runId, callId, fetchedAt)
        const answer = Number(row.lastInsertRowid)
        insertBody.run(answer, encoding, body)
        answered.run(answer, 0, task.id)
        return answer
      }),
    reuseAnswer: (task, answer) =>
      writer.write(() => {
        answered.run(answer, 1, task)
      }),
    noteDamaged: (task, answer) =>
      writer.write(() => {
        markDamaged.run(db, { answer })
        waitAgain.run(db, { task })
      }),
    answeredTasks: async (runIds) => answeredTasks.all(db, { runs: JSON.stringify(runIds) }),
    rawAnswer: async (answer) => rawAnswer.get(db, { answer }) ?? null,
  }
}
