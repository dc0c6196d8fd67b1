import { randomUUID } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { and, asc, eq, gt, lt, lte, max, type Placeholder, type SQL, sql } from 'drizzle-orm'
import type { JobSettings } from '../../../model/job.ts'
import { inOneSpelling } from '../../../model/query.ts'
import type { SharedCall, StoredAnswer } from '../../shared/calls.ts'
import type { ImportBatch, ReadChange, SyncStep, SyncStore } from '../../sync.ts'
import type { ApiKeyIds } from '../cache.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { orm, prepared, type Values } from '../connection/statements.ts'
import { callSettler } from '../ledger/calls.ts'
import { answers, calls, queries, rawAnswers, runs, tasks, usageReadings } from '../schema.ts'
import { followJob, jobsCollectedHere, nameHere, namesOfOthers, ownJob } from './job-names.ts'
import { journalReader, queueFailovers, readChanges, sharedCalls, sharedRuns, syncSteps } from './schema.ts'

/** What this database knows of a shared journal, and how that gets in. */
export function syncStore(db: Database, writer: GroupCommit, keys: ApiKeyIds): SyncStore {
  const importAll = batchImporter(db, keys)
  return {
    readerId: async () => reader.get(db)?.id ?? (await writer.write(() => makeReader(db))),
    followedJournal: async () => reader.get(db)?.journal ?? null,
    followJournal: (journal) => writer.write(() => void follow.run(db, { journal })),
    journalPosition: async () => reader.get(db)?.position ?? null,
    sharedRunId: async (run) => sharedRun.get(db, { run })?.id ?? null,
    localRun: async (id) => localRun.get(db, { id }) ?? null,
    linkRun: (runId, { id, groupId }, planVersion) =>
      writer.write(() => void link.run(db, { runId, id, groupId, planVersion })),
    linkSpellings: (former) =>
      writer.write(() => {
        for (const query of former) {
          const { key, operation, text, params } = query
          addFormer.run(db, { key, operation, text, params, is: inOneSpelling(query).key })
        }
      }),
    sharedGroupId: async (group) => sharedGroup.get(db, { group })?.groupId ?? null,
    importRun: (run, ownKey) =>
      writer.write(() => {
        const known = localRun.get(db, { id: run.id })
        if (known !== undefined) return { ...known, job: followJob(db, run, known.job, ownKey) }
        const { id, groupId, date, startedAt } = run
        const job = nameHere(db, run, ownKey)
        const settings = { ...run.settings, name: job }
        const group = localGroup.get(db, { groupId })?.group ?? (newestGroup.one(db).id ?? 0) + 1
        const row = newRun.run(db, { job, group, settings, date, startedAt })
        const runId = Number(row.lastInsertRowid)
        link.run(db, { runId, id, groupId, planVersion: 0 })
        return { runId, planVersion: 0, job }
      }),
    ownJob: (keyHash, job) => writer.write(() => ownJob(db, { keyHash, job })),
    ownJobs: async () => jobsCollectedHere(db),
    jobsOfOthers: async () => namesOfOthers(db),
    importBatch: (batch) => writer.write(() => importAll(batch)),
    lastChange: async () => lastChange.one(db).id ?? 0,
    changesRead: async (after, most) => changesAfter.all(db, { after, most }),
    queueFailovers: async () => failovers.all(db).map(({ at }) => at),
    syncSteps: async (most) => nextSteps.all(db, { most }),
    stepsApplied: (upTo) => writer.write(() => void forgetSteps.run(db, { upTo })),
    sharedTask: async ({ run, query, page, call }) => {
      const runId = localRun.get(db, { id: run })?.runId
      if (runId === undefined) return null
      const task = taskOf.get(db, { run: runId, key: Buffer.from(query, 'hex'), page })
      const answerId = call === null ? null : (callHere.get(db, { id: bytesOf(call) })?.answerId ?? null)
      return task === undefined ? null : { ...task, answerId }
    },
    sharedAnswer: async (call) => callHere.get(db, { id: bytesOf(call) })?.answerId ?? null,
    attachAnswer: (task, answer, reused) =>
      writer.write(() => void attach.run(db, { task, answer, reused: reused ? 1 : 0 })),
  }
}

const reader = prepared(() => orm.select().from(journalReader).limit(1))
const addReader = prepared(($: Values<{ id: string }>) => orm.insert(journalReader).values({ id: $.id }))
const follow = prepared(($: Values<{ journal: string }>) =>
  orm.update(journalReader).set({ journal: sql`${$.journal}` }),
)
const moveTo = prepared(($: Values<{ position: string }>) =>
  orm.update(journalReader).set({ position: sql`${$.position}` }),
)

function makeReader(db: Database): string {
  const id = randomUUID()
  addReader.run(db, { id })
  return id
}

const sharedRun = prepared(($: Values<{ run: number }>) =>
  orm.select({ id: sharedRuns.id }).from(sharedRuns).where(eq(sharedRuns.runId, $.run)),
)
const localRun = prepared(($: Values<{ id: string }>) =>
  orm
    .select({ runId: sharedRuns.runId, planVersion: sharedRuns.planVersion, job: runs.job })
    .from(sharedRuns)
    .innerJoin(runs, eq(runs.id, sharedRuns.runId))
    .where(eq(sharedRuns.id, $.id)),
)
const sharedGroup = prepared(($: Values<{ group: number }>) =>
  orm
    .select({ groupId: sharedRuns.groupId })
    .from(sharedRuns)
    .innerJoin(runs, eq(runs.id, sharedRuns.runId))
    .where(eq(runs.groupId, $.group))
    .limit(1),
)
const localGroup = prepared(($: Values<{ groupId: string }>) =>
  orm
    .select({ group: runs.groupId })
    .from(runs)
    .innerJoin(sharedRuns, eq(sharedRuns.runId, runs.id))
    .where(eq(sharedRuns.groupId, $.groupId))
    .limit(1),
)
const newestGroup = prepared(() => orm.select({ id: max(runs.groupId) }).from(runs))

const link = prepared(($: Values<{ runId: number; id: string; groupId: string; planVersion: number }>) =>
  orm
    .insert(sharedRuns)
    .values({ runId: $.runId, id: $.id, groupId: $.groupId, planVersion: $.planVersion })
    .onConflictDoUpdate({
      target: sharedRuns.runId,
      set: { groupId: sql`excluded.group_id`, planVersion: sql`excluded.plan_version` },
    }),
)

const newRun = prepared(
  ($: Values<{ job: string; group: number; settings: JobSettings; date: string; startedAt: number }>) =>
    orm.insert(runs).values({
      job: $.job,
      groupId: $.group,
      settings: $.settings,
      date: $.date,
      startedAt: $.startedAt,
      planNumber: 0,
      plannedMin: 0,
      plannedMax: 0,
    }),
)

const nextSteps = prepared(($: Values<{ most: number }>) =>
  orm
    .select({ number: syncSteps.id, step: syncSteps.step })
    .from(syncSteps)
    .orderBy(asc(syncSteps.id))
    .limit($.most),
)
const addStep = prepared(($: Values<{ step: SyncStep }>) => orm.insert(syncSteps).values({ step: $.step }))
const forgetSteps = prepared(($: Values<{ upTo: number }>) =>
  orm.delete(syncSteps).where(lte(syncSteps.id, $.upTo)),
)

/** So long a standby may be behind whose server fails. */
const keptReadMs = 3_600_000

const lastChange = prepared(() => orm.select({ id: max(readChanges.id) }).from(readChanges))
const changesAfter = prepared(($: Values<{ after: number; most: number }>) =>
  orm
    .select({ number: readChanges.id, change: readChanges.change })
    .from(readChanges)
    .where(gt(readChanges.id, $.after))
    .orderBy(asc(readChanges.id))
    .limit($.most),
)
const addChange = prepared(($: Values<{ change: ReadChange; readAt: number }>) =>
  orm.insert(readChanges).values({ change: $.change, readAt: $.readAt }),
)
// The last one stays, for its number.
const forgetChanges = prepared(($: Values<{ before: number }>) =>
  orm
    .delete(readChanges)
    .where(
      and(lt(readChanges.readAt, $.before), sql`${readChanges.id} < (SELECT max(id) FROM ${readChanges})`),
    ),
)
const addFailover = prepared(($: Values<{ at: number }>) =>
  orm.insert(queueFailovers).values({ at: $.at }).onConflictDoNothing(),
)
const failovers = prepared(() => orm.select({ at: queueFailovers.at }).from(queueFailovers))

/** The number of a query here. Older journals may name one by the key of a former spelling. */
const idOfKey = (key: Placeholder): SQL =>
  sql`(SELECT coalesce(named.same_as, named.id) FROM ${queries} named WHERE named.key = ${key})`

type Former = { key: Buffer; operation: string; text: string; params: string; is: Buffer }
const addFormer = prepared(
  ($: Values<Former>) => sql`INSERT OR IGNORE INTO ${queries} (key, operation, text, params, same_as)
    SELECT ${$.key}, ${$.operation}, ${$.text}, ${$.params}, id FROM ${queries} WHERE key = ${$.is}`,
)

type TaskKey = { run: number; key: Buffer; page: number }

const taskOf = prepared(($: Values<TaskKey>) =>
  orm
    .select({
      taskId: tasks.id,
      runId: tasks.runId,
      queryId: tasks.queryId,
      page: tasks.page,
      operation: queries.operation,
      text: queries.text,
      params: queries.params,
      hasFailed: sql<boolean>`${tasks.state} = 'failed'`.mapWith(Boolean),
    })
    .from(tasks)
    .innerJoin(queries, eq(queries.id, tasks.queryId))
    .where(and(eq(tasks.runId, $.run), sql`${tasks.queryId} = ${idOfKey($.key)}`, eq(tasks.page, $.page))),
)

/** A page whose task follows from the page before it, which may be read later. */
const addTask = prepared(
  (
    $: Values<TaskKey & { credits: number }>,
  ) => sql`INSERT INTO ${tasks} (run_id, query_id, page, state, ready, priority, credits)
    SELECT ${$.run}, ${queries.id}, ${$.page}, 'pending', 1,
      coalesce((SELECT priority FROM ${tasks} WHERE run_id = ${$.run} AND query_id = ${queries.id} AND page = 1), 0), ${$.credits}
    FROM ${queries} WHERE ${queries.id} = ${idOfKey($.key)} ON CONFLICT DO NOTHING`,
)

const attach = prepared(($: Values<{ task: number; answer: number; reused: number }>) =>
  orm
    .update(tasks)
    .set({ state: 'answered', answerId: sql`${$.answer}`, reused: sql`${$.reused}` })
    .where(eq(tasks.id, $.task)),
)

const callHere = prepared(($: Values<{ id: Buffer }>) =>
  orm
    .select({ callId: sharedCalls.callId, answerId: sharedCalls.answerId })
    .from(sharedCalls)
    .where(eq(sharedCalls.id, $.id)),
)
const noteCall = prepared(($: Values<{ id: Buffer; callId: number }>) =>
  orm.insert(sharedCalls).values({ id: $.id, callId: $.callId }),
)
const noteAnswer = prepared(($: Values<{ id: Buffer; answerId: number }>) =>
  orm
    .update(sharedCalls)
    .set({ answerId: sql`${$.answerId}` })
    .where(eq(sharedCalls.id, $.id)),
)

type CallRow = {
  runId: number | null
  taskId: number | null
  operation: string
  sentAt: number
  credits: number
  keyId: number
}
const insertCall = prepared(($: Values<CallRow>) =>
  orm.insert(calls).values({
    runId: $.runId,
    taskId: $.taskId,
    operation: $.operation,
    sentAt: $.sentAt,
    credits: $.credits,
    keyId: $.keyId,
  }),
)
const endJob = prepared(($: Values<{ callId: number; at: number }>) =>
  orm
    .update(calls)
    .set({ jobEndedAt: sql`${$.at}` })
    .where(eq(calls.id, $.callId)),
)
type ImportedAnswer = { queryId: number; page: number; runId: number; callId: number; fetchedAt: number }
const insertAnswer = prepared(($: Values<ImportedAnswer>) =>
  orm.insert(answers).values({
    queryId: $.queryId,
    page: $.page,
    runId: $.runId,
    callId: $.callId,
    fetchedAt: $.fetchedAt,
  }),
)
const insertBody = prepared(($: Values<{ answerId: number; encoding: string; body: Buffer }>) =>
  orm.insert(rawAnswers).values({ answerId: $.answerId, encoding: $.encoding, body: $.body }),
)
type ReadingRow = {
  runId: number | null
  keyHash: string
  askedAt: number
  readAt: number
  remaining: number | null
  totalUsed: number | null
  record: string
}
const addReading = prepared(
  (
    $: Values<ReadingRow>,
  ) => sql`INSERT INTO ${usageReadings} (run_id, key_hash, asked_at, read_at, remaining, total_used, record)
    SELECT ${$.runId}, ${$.keyHash}, ${$.askedAt}, ${$.readAt}, ${$.remaining}, ${$.totalUsed}, ${$.record}
    WHERE NOT EXISTS (SELECT 1 FROM ${usageReadings} WHERE key_hash = ${$.keyHash} AND asked_at = ${$.askedAt} AND read_at = ${$.readAt})`,
)

function batchImporter(db: Database, keys: ApiKeyIds): (batch: ImportBatch) => void {
  const settle = callSettler(db)
  const runHere = (id: string | undefined): number | null =>
    id === undefined ? null : (localRun.get(db, { id })?.runId ?? null)

  /** The task of a call, which is made where the page before it was not read yet; null where its run does not ask it here. */
  const taskHere = ({ task, credits }: SharedCall, run: number | null) => {
    if (task === null || run === null) return null
    const key = { run, key: task.query, page: task.page }
    const known = taskOf.get(db, key)
    if (known !== undefined || credits === 0) return known ?? null
    addTask.run(db, { ...key, credits })
    return taskOf.get(db, key) ?? null
  }

  const importCall = (call: SharedCall): void => {
    if (call.settlement === null) return
    const id = bytesOf(call.id)
    const known = callHere.get(db, { id })?.callId
    if (known !== undefined) {
      settle(known, call.settlement)
      return
    }
    const run = runHere(call.task?.run)
    const { operation, sentAt, credits, keyHash } = call
    const taskId = taskHere(call, run)?.taskId ?? null
    const row = insertCall.run(db, {
      runId: run,
      taskId,
      operation,
      sentAt,
      credits,
      keyId: keys.idOf(keyHash),
    })
    const callId = Number(row.lastInsertRowid)
    settle(callId, call.settlement)
    // An asynchronous job comes when it is over.
    if (call.settlement.outcome === 'accepted') endJob.run(db, { callId, at: call.settlement.finishedAt })
    noteCall.run(db, { id, callId })
  }

  const importAnswer = (run: string, answer: StoredAnswer): void => {
    const id = bytesOf(answer.call)
    const call = callHere.get(db, { id })
    const runId = runHere(run)
    if (call === undefined || call.answerId !== null || runId === null) return
    const query = queryOf.get(db, { key: answer.query })
    if (query === undefined) return
    const { page, fetchedAt, encoding, body } = answer
    const row = insertAnswer.run(db, { queryId: query.id, page, runId, callId: call.callId, fetchedAt })
    const answerId = Number(row.lastInsertRowid)
    insertBody.run(db, { answerId, encoding, body })
    noteAnswer.run(db, { id, answerId })
  }

  return ({ calls: made, answers: stored, readings, steps, position, read, readAt, failovers: noticed }) => {
    for (const call of made) importCall(call)
    for (const { run, answer } of stored) importAnswer(run, answer)
    for (const { reading, run } of readings)
      addReading.run(db, { ...reading, runId: run === null ? null : runHere(run) })
    for (const step of steps) addStep.run(db, { step })
    for (const change of read) addChange.run(db, { change, readAt })
    if (read.length > 0) forgetChanges.run(db, { before: readAt - keptReadMs })
    for (const at of noticed) addFailover.run(db, { at: Math.round(at) })
    moveTo.run(db, { position })
  }
}

const queryOf = prepared(($: Values<{ key: Buffer }>) =>
  orm
    .select({ id: queries.id })
    .from(queries)
    .where(sql`${queries.id} = ${idOfKey($.key)}`),
)

/** A UUID as its 16 bytes. */
function bytesOf(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex')
}
