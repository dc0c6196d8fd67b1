import type { Database } from 'better-sqlite3'
import { and, desc, eq, inArray, notLike, sql } from 'drizzle-orm'
import QuickLRU from 'quick-lru'
import type { NewCall, Settlement } from '../../../model/call.ts'
import type { Task } from '../../../model/run.ts'
import {
  blocks,
  type CompressedBody,
  compressAtOnce,
  damagedMark,
  decompress,
  orNull,
} from '../../compression.ts'
import type {
  AcceptedJob,
  Funds,
  LeaseRequest,
  NewAnswer,
  OpenJob,
  Requeue,
  SkippedQueries,
} from '../../journal.ts'
import type { StoreCache } from '../cache.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import {
  drizzle,
  inserter,
  insertOrFail,
  named,
  once,
  raw,
  updateOrFail,
  type Value,
} from '../connection/statements.ts'
import { fitRuns } from '../planning/fit.ts'
import { reuse } from '../planning/staging.ts'
import { operationsUnusable } from '../runs.ts'
import {
  answers,
  asyncJobs,
  bodyBlocks,
  calls,
  queries,
  rawAnswers,
  runQueries,
  runs,
  tasks,
  unusableMark,
} from '../schema.ts'

/** Of `tasks_ t` and `queries q`. */
const taskColumns = `${named('t', {
  id: tasks.id,
  runId: tasks.runId,
  queryId: tasks.queryId,
  page: tasks.page,
  credits: tasks.credits,
  tries: tasks.tries,
  round: tasks.round,
  priority: tasks.priority,
  cause: tasks.cause,
})}, ${named('q', { operation: queries.operation, text: queries.text, params: queries.params })}`

/** A task as it is stored, with the tags of its query where they are read. */
type TaskRow = Omit<Task, 'params' | 'tags'> & {
  readonly round: number
  readonly params: string
  readonly tags?: string
}

function taskFromRow(row: Omit<TaskRow, 'reusable'>, reusable: Task['reusable']): Task {
  const { id, runId, queryId, page, credits, tries, priority, cause, operation, text, tags } = row
  const params = JSON.parse(row.params) as Task['params']
  // One literal: what is put together of parts takes several times as long.
  const task = {
    id,
    runId,
    queryId,
    page,
    credits,
    tries,
    priority,
    cause,
    operation,
    text,
    params,
    reusable,
  }
  return tags === undefined ? task : { ...task, tags: JSON.parse(tags) as readonly string[] }
}

const isReady = raw`t.${tasks.state} = 'pending' AND t.${tasks.ready} = 1`
/** Runs or operations that are given as a JSON list. */
const isIn = (column: string, list: string) => `${column} IN (SELECT value FROM json_each(${list}))`
const sameGroup = raw`r.${runs.groupId} = (SELECT own.${runs.groupId} FROM ${runs} own WHERE own.${runs.id} = @run)`

const withQuery = raw`JOIN ${queries} q ON q.${queries.id} = t.${tasks.queryId}`
const withTags = raw`JOIN ${runQueries} rq ON rq.${runQueries.runId} = t.${tasks.runId} AND rq.${runQueries.queryId} = t.${tasks.queryId}`

const isWanted = raw`t.${tasks.runId} = @run AND ${isReady} AND ${isIn(raw`q.${queries.operation}`, '@operations')}`
const inOrder = raw`ORDER BY t.${tasks.round}, t.${tasks.priority} DESC, t.${tasks.id} LIMIT @limit`

const nextTasks = (reusable: string): string =>
  raw`SELECT ${taskColumns}, ${reusable} AS reusable FROM ${tasks} t ${withQuery}
    WHERE ${isWanted} AND (t.${tasks.credits} <= @credits OR ${reusable} IS NOT NULL) ${inOrder}`

/** The same without the tasks that the limit of a tag does not cover: they would hide those behind them. */
const nextTagged = (reusable: string): string =>
  raw`SELECT ${taskColumns}, ${reusable} AS reusable, rq.${runQueries.tags} FROM ${tasks} t ${withQuery} ${withTags}
    WHERE ${isWanted} AND ((t.${tasks.credits} <= @credits
      AND NOT EXISTS (SELECT 1 FROM json_each(rq.${runQueries.tags}) tag JOIN json_each(@tags) l
        ON l.value ->> 0 = tag.value AND l.value ->> 1 < t.${tasks.credits})) OR ${reusable} IS NOT NULL) ${inOrder}`

const newestAnswer = raw`(SELECT a.${answers.id} FROM ${answers} a JOIN ${runs} r ON r.${runs.id} = a.${answers.runId}
  WHERE a.${answers.queryId} = t.${tasks.queryId} AND a.${answers.page} = t.${tasks.page}
    AND ${reuse.isUsable(reuse.isFresh(), raw`@shared AND ${sameGroup}`)}
  ORDER BY a.${answers.fetchedAt} DESC LIMIT 1)`

/** Looks for what tasks may be sent, and for stored answers that they may use. */
function taskFinder(db: Database) {
  const cheapest = once(() =>
    db
      .prepare<unknown[], number | null>(
        raw`SELECT min(t.${tasks.credits}) FROM ${tasks} t ${withQuery}
        WHERE ${isIn(raw`t.${tasks.runId}`, '@runs')} AND ${isReady} AND ${isIn(raw`q.${queries.operation}`, '@operations')}`,
      )
      .pluck(),
  )
  const cheapestTagged = once(() =>
    db
      .prepare<unknown[], number | null>(
        raw`SELECT min(t.${tasks.credits}) FROM ${tasks} t ${withQuery} ${withTags}
        WHERE ${isIn(raw`t.${tasks.runId}`, '@runs')} AND ${isReady} AND ${isIn(raw`q.${queries.operation}`, '@operations')}
          AND @tag IN (SELECT value FROM json_each(rq.${runQueries.tags}))`,
      )
      .pluck(),
  )
  const pending = once(() =>
    db.prepare(raw`SELECT 1 FROM ${tasks} t WHERE t.${tasks.runId} = ? AND ${isReady} LIMIT 1`),
  )
  const inGroup = once(() =>
    db
      .prepare<unknown[], number>(
        raw`SELECT a.${answers.id} FROM ${answers} a JOIN ${runs} r ON r.${runs.id} = a.${answers.runId}
        WHERE a.${answers.queryId} = @query AND a.${answers.page} = @page AND ${reuse.isUnderstood} AND ${sameGroup}
        ORDER BY a.${answers.fetchedAt} DESC LIMIT 1`,
      )
      .pluck(),
  )
  return {
    /** Credits of the cheapest task that may be sent; with a tag, only of queries that have it. */
    cheapest: (runIds: readonly number[], operations: readonly string[], tag?: string): number | null => {
      const asked = { runs: JSON.stringify(runIds), operations: JSON.stringify(operations) }
      const found = tag === undefined ? cheapest().get(asked) : cheapestTagged().get({ ...asked, tag })
      return found ?? null
    },
    /** Whether a task of a run may be sent. */
    hasPending: (run: number): boolean => pending().get(run) !== undefined,
    /** The newest answer to a call that a run of the same group has. */
    inGroup: ({ runId, queryId, page }: Pick<Task, 'runId' | 'queryId' | 'page'>): number | null =>
      inGroup().get({ run: runId, query: queryId, page }) ?? null,
  }
}

/** Lets through what comes first and is covered, over several runs, cheaper tasks where a dearer one is not covered. */
function leaser(db: Database): (request: LeaseRequest) => readonly Task[] {
  const prepared = (text: string) => once(() => db.prepare<unknown[], TaskRow>(text))
  const nextBought = prepared(nextTasks('NULL'))
  const nextReusable = prepared(nextTasks(newestAnswer))
  const nextBoughtTagged = prepared(nextTagged('NULL'))
  const nextReusableTagged = prepared(nextTagged(newestAnswer))
  const lease = db.prepare(
    raw`${updateOrFail} ${tasks} SET ${tasks.state} = 'leased' WHERE ${tasks.id} IN (SELECT value FROM json_each(?))`,
  )

  return ({ operations, runs, limits = [], limit, calls, credits, shared, rooms = new Map() }) => {
    const own = new Map(runs.map((run) => [run.runId, { left: run.budget, keep: run.keep }]))
    const pools = limits.map((pool) => ({ ...pool, runIds: new Set(pool.runIds) }))
    const rows = runs.flatMap(({ runId: run, budget, keep, fresh }): readonly TaskRow[] => {
      const covered = calls > 0 ? Math.min(credits - keep, budget) : 0
      const request = { run, credits: covered, limit, operations: JSON.stringify(operations) }
      const tags = pools.flatMap(({ tag, runIds, left }) =>
        tag !== null && runIds.has(run) ? [[tag, left]] : [],
      )
      const tagged = { ...request, tags: JSON.stringify(tags) }
      if (fresh === null && !shared)
        return tags.length === 0 ? nextBought().all(request) : nextBoughtTagged().all(tagged)
      const asked = { ...reuse.values(fresh), shared: shared ? 1 : 0 } as const
      return tags.length === 0
        ? nextReusable().all({ ...request, ...asked })
        : nextReusableTagged().all({ ...tagged, ...asked })
    })
    const ordered =
      runs.length > 1 ? [...rows].sort((a, b) => a.round - b.round || b.priority - a.priority) : rows
    const taken: Task[] = []
    let left = credits
    let callsLeft = calls
    const roomLeft = new Map(rooms)
    for (const stored of ordered) {
      if (taken.length >= limit) break
      const row = taskFromRow(stored, stored.reusable)
      const cost = row.reusable === null ? row.credits : 0
      const ofRun = own.get(row.runId) ?? { left: 0, keep: 0 }
      if (cost > 0 && (callsLeft === 0 || cost > ofRun.left || left - cost < ofRun.keep)) continue
      const binding = pools.filter(
        ({ runIds, tag }) => runIds.has(row.runId) && (tag === null || row.tags?.includes(tag) === true),
      )
      if (binding.some((pool) => cost > pool.left)) continue
      if (cost > 0) callsLeft -= 1
      left -= cost
      ofRun.left -= cost
      for (const pool of binding) pool.left -= cost
      const room = roomLeft.get(row.operation)
      if (cost > 0 && room === 0) continue
      if (cost > 0 && room !== undefined) roomLeft.set(row.operation, room - 1)
      taken.push(row)
    }
    if (taken.length > 0) lease.run(JSON.stringify(taken.map(({ id }) => id)))
    return taken
  }
}

/** Notes the end of an asynchronous job: whether its submission was billed. */
function jobSettler(
  db: Database,
): (job: Pick<AcceptedJob, 'taskId' | 'callId'>, billed: 0 | 1 | null, now: number) => void {
  const end = once(() =>
    db.prepare(raw`UPDATE ${calls} SET ${calls.billed} = ?, ${calls.jobEndedAt} = ? WHERE ${calls.id} = ?`),
  )
  const forget = once(() => db.prepare(raw`DELETE FROM ${asyncJobs} WHERE ${asyncJobs.taskId} = ?`))
  return ({ taskId, callId }, billed, now) => {
    end().run(billed, now, callId)
    forget().run(taskId)
  }
}

const acceptedJobs = raw`SELECT ${taskColumns}, rq.${runQueries.tags}, ${named('j', {
  taskId: asyncJobs.taskId,
  callId: asyncJobs.callId,
  jobId: asyncJobs.jobId,
  acceptedAt: asyncJobs.acceptedAt,
})}, ${named('c', { sentAt: calls.sentAt })}
  FROM ${asyncJobs} j JOIN ${tasks} t ON t.${tasks.id} = j.${asyncJobs.taskId}
    JOIN ${queries} q ON q.${queries.id} = t.${tasks.queryId}
    JOIN ${runQueries} rq ON rq.${runQueries.runId} = t.${tasks.runId} AND rq.${runQueries.queryId} = t.${tasks.queryId}
    JOIN ${calls} c ON c.${calls.id} = j.${asyncJobs.callId}
  WHERE t.${tasks.runId} IN (SELECT value FROM json_each(?)) ORDER BY j.${asyncJobs.taskId}`

/** What must be durable for money: leases of tasks, calls with their settlement, accepted jobs. */
export function journal(db: Database, writer: GroupCommit, keys: StoreCache['keys']) {
  const orm = drizzle(db)
  const leaseOf = leaser(db)
  const find = taskFinder(db)
  const setState = db.prepare(raw`${updateOrFail} ${tasks} SET ${tasks.state} = ? WHERE ${tasks.id} = ?`)
  const insertCalls = callWriter(db, keys)
  const insertJob = once(() =>
    db.prepare(
      raw`INSERT INTO ${asyncJobs} (${asyncJobs.taskId}, ${asyncJobs.callId}, ${asyncJobs.jobId}, ${asyncJobs.acceptedAt})
        VALUES (?, ?, ?, ?)`,
    ),
  )
  const giveBack = once(() =>
    db.prepare(
      raw`UPDATE ${tasks} SET ${tasks.state} = 'pending' WHERE ${tasks.id} = ? AND ${tasks.state} IN ('leased', 'sent')`,
    ),
  )
  const sendAgain = once(() =>
    db.prepare(
      raw`UPDATE ${tasks} SET ${tasks.state} = 'pending', ${tasks.tries} = ?, ${tasks.cause} = ?,
        ${tasks.round} = ${tasks.round} + ? WHERE ${tasks.id} = ?`,
    ),
  )
  const settle = callSettler(db)
  const settleJob = jobSettler(db)
  const requeue = ({ taskId, tries, nextRound }: Requeue, cause: string | null): void => {
    sendAgain().run(tries, cause, nextRound ? 1 : 0, taskId)
  }

  return {
    /** Leases tasks, first tries before later ones, then by priority, then in file order, as far as they are covered. */
    lease: (request: LeaseRequest): Promise<readonly Task[]> => writer.write(() => leaseOf(request)),
    /** Leaves whole queries out of runs, the least valuable first, until the rest is covered; answers how much of each run. */
    fit: (means: Funds): Promise<readonly SkippedQueries[]> => writer.write(() => fitRuns(db, means)),
    /** Makes leased tasks that did not end pending again; accepted jobs stay accepted. */
    release: (taskIds: readonly number[]): Promise<void> =>
      writer.write(() => {
        for (const id of taskIds) giveBack().run(id)
      }),
    /** An answer to the same call that a run of the same group has; null where none does. */
    groupAnswer: async (task: Pick<Task, 'runId' | 'queryId' | 'page'>) => find.inGroup(task),
    /** Whether any task may be sent. */
    hasPending: async (runIds: readonly number[]) => runIds.some(find.hasPending),
    /**
     * Credits of the cheapest task of these operations that may be sent, or null where there is none; looks at every one of
     * them. With a tag, only of queries that have it.
     */
    cheapestPending: async (runIds: readonly number[], operations: readonly string[], tag?: string) =>
      find.cheapest(runIds, operations, tag),
    /** Operations of the calls of these runs that were billed last, some dozens of each run. */
    operationsBilled: async (runIds: readonly number[]): Promise<readonly string[]> => {
      const lastBilled = runIds.flatMap((run) =>
        orm
          .select({ operation: calls.operation })
          .from(calls)
          .where(and(eq(calls.runId, run), eq(calls.billed, 1)))
          .orderBy(desc(calls.id))
          .limit(50)
          .all(),
      )
      return [...new Set(lastBilled.map(({ operation }) => operation))]
    },
    /**
     * Operations whose last calls, of whatever run, were of no use: paid for and not usable, or all without an answer. With how many
     * were in a row.
     */
    operationsUnusable: async () => operationsUnusable(db),
    /** Writes a call into the ledger before it is sent; answers its id. */
    beginCall: (call: NewCall): Promise<number> => writer.writeTogether(insertCalls, call),
    /** Notes that a free lookup, which was made before a run began, was for that run. */
    callOfRun: (callId: number, runId: number): Promise<void> =>
      writer.write(() => {
        orm.update(calls).set({ runId }).where(eq(calls.id, callId)).run()
      }),
    /** Settles a call that brought no answer; its task is pending again where one is given. */
    settleCall: (callId: number, settlement: Settlement, again: Requeue | null): Promise<void> =>
      writer.writePaid(() => {
        settle(callId, settlement)
        if (again !== null) requeue(again, settlement.error)
      }),
    /** Notes that the service took a call as an asynchronous job: settles the call as not billed yet. */
    acceptJob: (
      callId: number,
      settlement: Settlement,
      { taskId, jobId }: Omit<AcceptedJob, 'acceptedAt'>,
    ): Promise<void> =>
      writer.writePaid(() => {
        settle(callId, settlement)
        setState.run('accepted', taskId)
        insertJob().run(taskId, callId, jobId, settlement.finishedAt)
      }),
    /** Ends a job without an answer: its submission was not billed (0), or that is not known (null); its task is pending again where one is given. */
    endJob: (job: AcceptedJob, billed: 0 | null, now: number, again: Requeue | null): Promise<void> =>
      writer.writePaid(() => {
        settleJob(job, billed, now)
        if (again === null) setState.run('leased', job.taskId)
        else requeue(again, 'the asynchronous job failed')
      }),
    /** Jobs of these runs that wait for their answer. */
    acceptedJobs: async (runIds: readonly number[]): Promise<readonly OpenJob[]> =>
      db
        .prepare<[runs: string], Omit<TaskRow, 'reusable'> & Omit<OpenJob, 'task'>>(acceptedJobs)
        .all(JSON.stringify(runIds))
        .map(({ taskId, callId, jobId, acceptedAt, sentAt, ...task }) => {
          return { taskId, callId, jobId, acceptedAt, sentAt, task: taskFromRow(task, null) }
        }),
  }
}

/** Writes calls that are to be sent; returns their numbers. */
function callWriter(
  db: Database,
  keys: StoreCache['keys'],
): (begun: readonly NewCall[]) => readonly number[] {
  const { runId, taskId, operation, sentAt, credits, keyId } = calls
  const add = inserter(
    db,
    raw`${calls} (${runId}, ${taskId}, ${operation}, ${sentAt}, ${credits}, ${keyId})`,
    6,
  )
  return (begun) => {
    const values: Value[] = []
    for (const { runId, taskId, operation, sentAt, credits, keyHash } of begun)
      values.push(runId, taskId, operation, sentAt, credits, keys.idOf(keyHash))
    const first = add(values)
    return begun.map((_, place) => first + place)
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

/** The answer says nothing: no task uses it. */
export function markUnusable(db: Database, answer: number): void {
  drizzle(db).update(answers).set({ normaliser: unusableMark }).where(eq(answers.id, answer)).run()
}

/** Bodies as they came. */
export function answerStore(db: Database, writer: GroupCommit) {
  const orm = drizzle(db)
  const settle = callSettler(db)
  const settleJob = jobSettler(db)
  const store = answerWriter(db)
  const unpack = bodyReader()
  const bodyOf = once(() =>
    db.prepare<[answer: number], StoredBodyRow & { readonly fetchedAt: number }>(
      raw`SELECT ${bodyColumns}, ${named('a', { fetchedAt: answers.fetchedAt })}
      FROM ${rawAnswers} JOIN ${answers} a ON a.${answers.id} = ${rawAnswers.answerId} WHERE ${rawAnswers.answerId} = ?`,
    ),
  )
  const answered = db.prepare(
    raw`${updateOrFail} ${tasks} SET ${tasks.state} = 'answered', ${tasks.answerId} = ?, ${tasks.reused} = ?
      WHERE ${tasks.id} = ?`,
  )
  const saveAll = (together: readonly NewAnswer[]): readonly number[] => {
    for (const { callId, task, settlement, fetchedAt } of together)
      if (settlement === null) settleJob({ taskId: task.id, callId }, 1, fetchedAt)
      else settle(callId, settlement)
    const ids = store(together)
    for (const [place, { task }] of together.entries()) answered.run(ids[place], 0, task.id)
    return ids
  }

  return {
    /** Stores a whole body and settles its call, or the submission of its job, as billed; answers the id of the answer. */
    saveAnswer: (answer: NewAnswer): Promise<number> => writer.writePaidTogether(saveAll, answer),
    /** Gives a task a stored answer instead of a call. */
    reuseAnswer: (task: number, answer: number): Promise<void> =>
      writer.write(() => {
        answered.run(answer, 1, task)
      }),
    /** Notes that the stored answer of a task is damaged: no task uses it any more, and one that had it is pending again. */
    noteDamaged: (task: number, answer: number): Promise<void> =>
      writer.write(() => {
        orm
          .update(rawAnswers)
          .set({ encoding: sql`${damagedMark} || ${rawAnswers.encoding}` })
          .where(and(eq(rawAnswers.answerId, answer), notLike(rawAnswers.encoding, `${damagedMark}%`)))
          .run()
        orm
          .update(tasks)
          .set({ state: 'pending', answerId: null })
          .where(and(eq(tasks.id, task), eq(tasks.state, 'answered')))
          .run()
      }),
    /** Notes that a stored answer says nothing: no other task uses it. */
    noteUnusable: (answer: number): Promise<void> => writer.write(() => markUnusable(db, answer)),
    /** The answer of a task says nothing, and its page is bought once more at once. */
    lookAgain: (task: number): Promise<void> =>
      writer.write(() => {
        const stored = orm.select({ id: tasks.answerId }).from(tasks).where(eq(tasks.id, task)).get()
        const id = stored?.id ?? null
        if (id !== null) markUnusable(db, id)
        orm.update(tasks).set({ state: 'leased', answerId: null }).where(eq(tasks.id, task)).run()
      }),
    /** Tasks of these runs whose answer is stored and not yet parsed. */
    answeredTasks: async (runIds: readonly number[]) =>
      orm
        .select({
          taskId: tasks.id,
          runId: tasks.runId,
          queryId: tasks.queryId,
          page: tasks.page,
          operation: queries.operation,
          text: queries.text,
          params: queries.params,
          answerId: sql<number>`${tasks.answerId}`,
        })
        .from(tasks)
        .innerJoin(queries, eq(queries.id, tasks.queryId))
        .where(and(inArray(tasks.runId, [...runIds]), eq(tasks.state, 'answered')))
        .orderBy(tasks.id)
        .all(),
    /** A stored body; null where it is damaged, or retention has dropped it. */
    storedBody: async (
      answer: number,
    ): Promise<{ readonly body: Buffer; readonly fetchedAt: number } | null> => {
      const row = bodyOf().get(answer)
      const body = row === undefined ? null : orNull(() => unpack(row))
      return row === undefined || body === null ? null : { body, fetchedAt: row.fetchedAt }
    },
  }
}

/** The encoding of a body that is in a block. */
const inBlock = 'block'

const ofBlock = (what: string): string =>
  raw`(SELECT ${what} FROM ${bodyBlocks} k WHERE k.${bodyBlocks.id} = ${rawAnswers}.${rawAnswers.blockId})`

/** What a body is read from: it was compressed by itself, or with others. */
const bodyColumns = `${named(raw`${rawAnswers}`, {
  answerId: rawAnswers.answerId,
  encoding: rawAnswers.encoding,
  body: rawAnswers.body,
  blockId: rawAnswers.blockId,
})}, ${ofBlock(bodyBlocks.block.name)} AS block, ${ofBlock(bodyBlocks.bodies.name)} AS bodies`

/** How much room a body takes: in a block, its share. */
const bodyBytes = raw`coalesce(${ofBlock(raw`length(${bodyBlocks.block}) / ${bodyBlocks.bodies}`)},
  length(${rawAnswers}.${rawAnswers.body}))`

export type StoredBodyRow = CompressedBody & {
  readonly answerId: number
  readonly blockId: number | null
  readonly block: Buffer | null
  readonly bodies: number | null
}

/** Blocks that stay unpacked: who reads one body mostly reads its neighbours soon, or those of the same query on other days. */
const unpackedBlocks = 32

/** Makes a function that unpacks bodies. It throws where one was damaged since it was stored. */
function bodyReader(): (row: StoredBodyRow) => Buffer {
  const known = new QuickLRU<number, { readonly block: Buffer; readonly bodies: readonly Buffer[] }>({
    maxSize: unpackedBlocks,
  })
  return ({ answerId, encoding, body, blockId, block, bodies }) => {
    if (encoding !== inBlock || blockId === null) return decompress({ encoding, body })
    if (block === null || bodies === null) throw new Error('the block of the body is not stored')
    const before = known.get(blockId)
    const unpacked =
      before?.block.equals(block) === true ? before : { block, bodies: blocks.unpack(block, bodies) }
    known.set(blockId, unpacked)
    const found = unpacked.bodies[answerId - blockId]
    if (found === undefined) throw new Error('the body is not in its block')
    return found
  }
}

/** Bodies as they are stored: what they are read from, how much room each takes, and who unpacks them. */
export const storedBodies = { columns: bodyColumns, bytes: bodyBytes, reader: bodyReader }

/** Stores answers with their bodies inside a transaction; returns their numbers. */
function answerWriter(db: Database): (stored: readonly NewAnswer[]) => readonly number[] {
  const { queryId, page, runId, callId, fetchedAt } = answers
  const addAnswers = inserter(db, raw`${answers} (${queryId}, ${page}, ${runId}, ${callId}, ${fetchedAt})`, 5)
  const add = db.prepare(
    raw`${insertOrFail} INTO ${rawAnswers} (${rawAnswers.answerId}, ${rawAnswers.encoding}, ${rawAnswers.body}) VALUES (?, ?, ?)`,
  )
  const addBlock = db.prepare(
    raw`${insertOrFail} INTO ${bodyBlocks} (${bodyBlocks.id}, ${bodyBlocks.bodies}, ${bodyBlocks.block}) VALUES (?, ?, ?)`,
  )
  const addToBlock = db.prepare(
    raw`${insertOrFail} INTO ${rawAnswers} (${rawAnswers.answerId}, ${rawAnswers.encoding}, ${rawAnswers.body}, ${rawAnswers.blockId})
      SELECT ${answers.id}, '${inBlock}', x'', ? FROM ${answers} WHERE ${answers.id} BETWEEN ? AND ?`,
  )

  const writeBodies = (first: number, bodies: readonly Buffer[]): void => {
    for (let from = 0; from < bodies.length; ) {
      const count = blocks.count(bodies, from)
      const id = first + from
      if (count === 1) {
        const { encoding, body } = compressAtOnce(bodies[from] as Buffer)
        add.run(id, encoding, body)
      } else {
        addBlock.run(id, count, blocks.pack(bodies.slice(from, from + count)))
        addToBlock.run(id, id, id + count - 1)
      }
      from += count
    }
  }

  return (stored) => {
    const values: Value[] = []
    for (const { task, callId, fetchedAt } of stored)
      values.push(task.queryId, task.page, task.runId, callId, fetchedAt)
    const first = addAnswers(values)
    const plain: Buffer[] = []
    for (const [place, { encoding, body }] of stored.entries()) {
      if (encoding === null) plain.push(body)
      else {
        writeBodies(first + place - plain.length, plain.splice(0))
        add.run(first + place, encoding, body)
      }
    }
    writeBodies(first + stored.length - plain.length, plain)
    return stored.map((_, place) => first + place)
  }
}
