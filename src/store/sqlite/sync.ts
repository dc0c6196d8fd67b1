import { randomUUID } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { and, desc, eq, gt, lt, lte, max, not, sql } from 'drizzle-orm'
import { removedJob } from '../../model/job.ts'
import { inOneSpelling, type PlannedQuery } from '../../model/query.ts'
import { shortKey } from '../../model/text.ts'
import type {
  FinishStep,
  ImportBatch,
  JournalPosition,
  SharedCall,
  SharedJob,
  SharedRun,
  StoredAnswer,
  TaskHere,
  TaskStep,
} from '../sync.ts'
import type { StoreCache } from './cache.ts'
import type { GroupCommit } from './connection/group-commit.ts'
import { drizzle, lazy, named, once, raw } from './connection/statements.ts'
import { renameJob } from './jobs.ts'
import { callSettler } from './ledger/calls.ts'
import {
  answers,
  calls,
  jobs,
  journalReader,
  keys,
  queries,
  queueFailovers,
  rawAnswers,
  readChanges,
  runs,
  sharedCalls,
  sharedJobs,
  sharedRuns,
  syncSteps,
  tasks,
  usageReadings,
} from './schema.ts'

/** So long a standby may be behind whose server fails. */
const keptReadMs = 3_600_000

/** What this database knows of a shared journal, and how that gets in. */
export function syncStore(db: Database, writer: GroupCommit, keys: StoreCache['keys']) {
  const orm = drizzle(db)
  const importAll = lazy(() => batchImporter(db, keys))
  const find = rowFinder(db)
  const attach = once(() =>
    db.prepare(
      raw`UPDATE ${tasks} SET ${tasks.state} = 'answered', ${tasks.answerId} = ?, ${tasks.reused} = ? WHERE ${tasks.id} = ?`,
    ),
  )
  const reader = () => orm.select().from(journalReader).limit(1).get()
  const makeReader = (): string => {
    const id = randomUUID()
    orm.insert(journalReader).values({ id }).run()
    return id
  }
  const localRun = (id: string) => loadSharedRun(db, id)
  const link = (runId: number, id: string, groupId: string, planVersion: number): void => {
    orm
      .insert(sharedRuns)
      .values({ runId, id, groupId, planVersion })
      .onConflictDoUpdate({ target: sharedRuns.runId, set: { groupId, planVersion } })
      .run()
  }
  /** The number that the runs of a group have here, which is a new one where none of them is here. */
  const groupHere = (groupId: string): number => {
    const known = orm
      .select({ group: runs.groupId })
      .from(runs)
      .innerJoin(sharedRuns, eq(sharedRuns.runId, runs.id))
      .where(eq(sharedRuns.groupId, groupId))
      .limit(1)
      .get()
    const newest = () =>
      orm
        .select({ id: max(runs.groupId) })
        .from(runs)
        .get()
    return known?.group ?? (newest()?.id ?? 0) + 1
  }
  return {
    /** Names this database as a reader; made when it is first asked for. */
    readerId: async (): Promise<string> => reader()?.id ?? (await writer.write(makeReader)),
    /** Which journal it follows; null where it follows none yet. */
    followedJournal: async (): Promise<string | null> => reader()?.journal ?? null,
    followJournal: (journal: string): Promise<void> =>
      writer.write(() => {
        orm.update(journalReader).set({ journal }).run()
      }),
    /** How far it has read; null where it never did. */
    journalPosition: async (): Promise<JournalPosition | null> => reader()?.position ?? null,
    /** The id that a run has on all machines; null where it is no shared one. */
    sharedRunId: async (run: number): Promise<string | null> =>
      orm.select({ id: sharedRuns.id }).from(sharedRuns).where(eq(sharedRuns.runId, run)).get()?.id ?? null,
    /** The number that a shared run has here, and the version of its plan, 0 for none; null where it is not known yet. */
    localRun: async (id: string) => localRun(id) ?? null,
    /** Notes that a run of this database is that shared one, and which plan of it stands here. */
    linkRun: (
      runId: number,
      { id, groupId }: Pick<SharedRun, 'id' | 'groupId'>,
      planVersion: number,
    ): Promise<void> => writer.write(() => link(runId, id, groupId, planVersion)),
    /** Keeps the former spellings by which the journal names queries that stand here in their one spelling. */
    linkSpellings: (
      former: readonly Pick<PlannedQuery, 'key' | 'operation' | 'text' | 'params'>[],
    ): Promise<void> =>
      writer.write(() => {
        const add = db.prepare(
          raw`INSERT OR IGNORE INTO ${queries} (${queries.key}, ${queries.operation}, ${queries.text}, ${queries.params}, ${queries.sameAs})
            SELECT ?, ?, ?, ?, ${queries.id} FROM ${queries} WHERE ${queries.key} = ?`,
        )
        for (const query of former) {
          const { key, operation, text, params } = query
          add.run(key, operation, text, params, inOneSpelling(query).key)
        }
      }),
    /** The shared group of a group of runs; null where none of them is shared. */
    sharedGroupId: async (group: number): Promise<string | null> =>
      orm
        .select({ groupId: sharedRuns.groupId })
        .from(sharedRuns)
        .innerJoin(runs, eq(runs.id, sharedRuns.runId))
        .where(eq(runs.groupId, group))
        .limit(1)
        .get()?.groupId ?? null,
    /**
     * The number of a shared run here and the version of its plan, 0 for none; a run that is new here is made, without a plan. Its job has
     * its own name here, or that with its key where a job of another key has the name, and on a host with another key.
     *
     * @param ownKey the key of this host; null where it has none
     */
    importRun: (run: SharedRun, ownKey: string | null) =>
      writer.write(() => {
        const known = localRun(run.id)
        if (known !== undefined) return { ...known, job: followJob(db, run, known.job, ownKey) }
        const { id, groupId, date, startedAt } = run
        const job = nameHere(db, run, ownKey)
        const settings = { ...run.settings, name: job }
        const noPlan = { planNumber: 0, plannedMin: 0, plannedMax: 0 }
        const row = orm
          .insert(runs)
          .values({ job, groupId: groupHere(groupId), settings, date, startedAt, ...noPlan })
          .run()
        const runId = Number(row.lastInsertRowid)
        link(runId, id, groupId, 0)
        return { runId, planVersion: 0, job }
      }),
    /**
     * Notes that this database collects a job with a key, so that the job has its own name here. One of another key that came from elsewhere
     * and had the name gets another, which is answered; null where there was none.
     */
    ownJob: (keyHash: string, job: string): Promise<string | null> =>
      writer.write(() => ownJob(db, { keyHash, job })),
    /** The jobs that this database collects with a queue, or did, and their keys. */
    ownJobs: async (): Promise<readonly SharedJob[]> => jobsCollectedHere(db),
    /** In a database that collects: names here of jobs of keys with which it does not. */
    jobsOfOthers: async (): Promise<readonly string[]> => namesOfOthers(db),
    /** Writes what was read, what is still to be done with it, and how far that is, in one change. */
    importBatch: (batch: ImportBatch): Promise<void> => writer.write(() => importAll(batch)),
    /** Keeps the end of a run of this database, which it writes into the journal itself, beside what it has read there. */
    keepEnd: (end: FinishStep, now: number): Promise<void> =>
      writer.write(() => {
        orm.insert(readChanges).values({ change: end, readAt: now }).run()
      }),
    /** The number of the last change that was read. */
    lastChange: async (): Promise<number> =>
      orm
        .select({ id: max(readChanges.id) })
        .from(readChanges)
        .get()?.id ?? 0,
    /** The next changes after that number that are kept, in order. */
    changesRead: async (after: number, most: number) =>
      orm
        .select({ number: readChanges.id, change: readChanges.change })
        .from(readChanges)
        .where(gt(readChanges.id, after))
        .orderBy(readChanges.id)
        .limit(most)
        .all(),
    /** When the server of the queue failed over, epoch milliseconds. */
    queueFailovers: async (): Promise<readonly number[]> =>
      orm
        .select()
        .from(queueFailovers)
        .all()
        .map(({ at }) => at),
    /** The next steps that were read and not applied, in order. */
    syncSteps: async (most: number) =>
      orm
        .select({ number: syncSteps.id, step: syncSteps.step })
        .from(syncSteps)
        .orderBy(syncSteps.id)
        .limit(most)
        .all(),
    /** Forgets steps up to this one: they are applied. */
    stepsApplied: (upTo: number): Promise<void> =>
      writer.write(() => {
        orm.delete(syncSteps).where(lte(syncSteps.id, upTo)).run()
      }),
    /** A task of a shared run with its query, and its answer where one is named. */
    sharedTask: async ({
      run,
      query,
      page,
      call,
    }: Pick<TaskStep, 'run' | 'query' | 'page' | 'call'>): Promise<TaskHere | null> => {
      const runId = find.run(run)
      if (runId === undefined) return null
      const task = find.task(runId, Buffer.from(query, 'hex'), page)
      const answerId = call === null ? null : (find.call(bytesOf(call))?.answerId ?? null)
      return task === undefined ? null : { ...task, answerId }
    },
    /** The number here of the answer that a shared call brought; null where it is not here. */
    sharedAnswer: async (call: string): Promise<number | null> => find.call(bytesOf(call))?.answerId ?? null,
    /** Gives a task the answer that counts for it. */
    attachAnswer: (task: number, answerId: number, reused: boolean): Promise<void> =>
      writer.write(() => {
        attach().run(answerId, reused ? 1 : 0, task)
      }),
  }
}

/** A run of the shared journal, as it is here. */
function loadSharedRun(db: Database, id: string) {
  return drizzle(db)
    .select({ runId: sharedRuns.runId, planVersion: sharedRuns.planVersion, job: runs.job })
    .from(sharedRuns)
    .innerJoin(runs, eq(runs.id, sharedRuns.runId))
    .where(eq(sharedRuns.id, id))
    .get()
}

/** The number of a query here. Older journals may name one by the key of a former spelling. */
const idOfKey = raw`(SELECT coalesce(named.${queries.sameAs}, named.${queries.id}) FROM ${queries} named WHERE named.${queries.key} = @key)`

/** Finds tasks and calls of the shared journal among the rows here. */
function rowFinder(db: Database) {
  const task = once(() =>
    db.prepare<
      unknown[],
      Omit<TaskHere, 'answerId' | 'params' | 'hasFailed'> & { params: string; hasFailed: 0 | 1 }
    >(
      raw`SELECT ${named('t', { taskId: tasks.id, runId: tasks.runId, queryId: tasks.queryId, page: tasks.page })},
        ${named('q', { operation: queries.operation, text: queries.text, params: queries.params })},
        t.${tasks.state} = 'failed' AS hasFailed
      FROM ${tasks} t JOIN ${queries} q ON q.${queries.id} = t.${tasks.queryId}
      WHERE t.${tasks.runId} = @run AND t.${tasks.queryId} = ${idOfKey} AND t.${tasks.page} = @page`,
    ),
  )
  const call = once(() =>
    db.prepare<[id: Buffer], { readonly callId: number; readonly answerId: number | null }>(
      raw`SELECT ${named('c', { callId: sharedCalls.callId, answerId: sharedCalls.answerId })} FROM ${sharedCalls} c
      WHERE c.${sharedCalls.id} = ?`,
    ),
  )
  const run = once(() =>
    db
      .prepare<[id: string], number>(
        raw`SELECT ${sharedRuns.runId} FROM ${sharedRuns} WHERE ${sharedRuns.id} = ?`,
      )
      .pluck(),
  )
  return {
    /** The number of a run here. */
    run: (id: string): number | undefined => run().get(id),
    task: (run: number, key: Buffer, page: number) => {
      const row = task().get({ run, key, page })
      if (row === undefined) return undefined
      const params = JSON.parse(row.params) as TaskHere['params']
      return { ...row, params, hasFailed: row.hasFailed === 1 }
    },
    call: (id: Buffer) => call().get(id),
  }
}

function batchImporter(db: Database, keys: StoreCache['keys']): (batch: ImportBatch) => void {
  const orm = drizzle(db)
  const settle = callSettler(db)
  const find = rowFinder(db)
  // A page whose task follows from the page before it, which may be read later.
  const addTask = db.prepare(
    raw`INSERT INTO ${tasks} (${tasks.runId}, ${tasks.queryId}, ${tasks.page}, ${tasks.state}, ${tasks.ready},
        ${tasks.priority}, ${tasks.credits})
      SELECT @run, q.${queries.id}, @page, 'pending', 1, coalesce((SELECT first.${tasks.priority} FROM ${tasks} first
        WHERE first.${tasks.runId} = @run AND first.${tasks.queryId} = q.${queries.id} AND first.${tasks.page} = 1), 0), @credits
      FROM ${queries} q WHERE q.${queries.id} = ${idOfKey} ON CONFLICT DO NOTHING`,
  )
  const insertCall = db.prepare(
    raw`INSERT INTO ${calls} (${calls.runId}, ${calls.taskId}, ${calls.operation}, ${calls.sentAt}, ${calls.credits}, ${calls.keyId})
      VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const endJob = db.prepare(raw`UPDATE ${calls} SET ${calls.jobEndedAt} = ? WHERE ${calls.id} = ?`)
  const noteCall = db.prepare(
    raw`INSERT INTO ${sharedCalls} (${sharedCalls.id}, ${sharedCalls.callId}) VALUES (?, ?)`,
  )
  const noteAnswer = db.prepare(
    raw`UPDATE ${sharedCalls} SET ${sharedCalls.answerId} = ? WHERE ${sharedCalls.id} = ?`,
  )
  const insertAnswer = db.prepare(
    raw`INSERT INTO ${answers} (${answers.queryId}, ${answers.page}, ${answers.runId}, ${answers.callId}, ${answers.fetchedAt})
      VALUES (?, ?, ?, ?, ?)`,
  )
  const insertBody = db.prepare(
    raw`INSERT INTO ${rawAnswers} (${rawAnswers.answerId}, ${rawAnswers.encoding}, ${rawAnswers.body}) VALUES (?, ?, ?)`,
  )
  const queryOf = db
    .prepare<unknown[], number>(raw`SELECT ${queries.id} FROM ${queries} WHERE ${queries.id} = ${idOfKey}`)
    .pluck()
  const u = usageReadings
  const addReading = db.prepare(
    raw`INSERT INTO ${u} (${u.runId}, ${u.keyHash}, ${u.askedAt}, ${u.readAt}, ${u.remaining}, ${u.totalUsed}, ${u.record})
      SELECT @runId, @keyHash, @askedAt, @readAt, @remaining, @totalUsed, @record
      WHERE NOT EXISTS (SELECT 1 FROM ${u} WHERE ${u.keyHash} = @keyHash AND ${u.askedAt} = @askedAt AND ${u.readAt} = @readAt)`,
  )
  const addStep = db.prepare(raw`INSERT INTO ${syncSteps} (${syncSteps.step}) VALUES (?)`)
  const addChange = db.prepare(
    raw`INSERT INTO ${readChanges} (${readChanges.change}, ${readChanges.readAt}) VALUES (?, ?)`,
  )
  /** The task of a call, which is made where the page before it was not read yet; null where its run does not ask it here. */
  const taskHere = ({ task, credits }: SharedCall, run: number | null) => {
    if (task === null || run === null) return null
    const known = find.task(run, task.query, task.page)
    if (known !== undefined || credits === 0) return known ?? null
    addTask.run({ run, key: task.query, page: task.page, credits })
    return find.task(run, task.query, task.page) ?? null
  }

  const importCall = (call: SharedCall): void => {
    if (call.settlement === null) return
    const id = bytesOf(call.id)
    const known = find.call(id)?.callId
    if (known !== undefined) {
      settle(known, call.settlement)
      return
    }
    const run = call.task === null ? null : (find.run(call.task.run) ?? null)
    const { operation, sentAt, credits, keyHash } = call
    const taskId = taskHere(call, run)?.taskId ?? null
    const row = insertCall.run(run, taskId, operation, sentAt, credits, keys.idOf(keyHash))
    const callId = Number(row.lastInsertRowid)
    settle(callId, call.settlement)
    // An asynchronous job comes when it is over.
    if (call.settlement.outcome === 'accepted') endJob.run(call.settlement.finishedAt, callId)
    noteCall.run(id, callId)
  }

  const importAnswer = (run: string, answer: StoredAnswer): void => {
    const id = bytesOf(answer.call)
    const call = find.call(id)
    const runId = find.run(run)
    if (call === undefined || call.answerId !== null || runId === undefined) return
    const query = queryOf.get({ key: answer.query })
    if (query === undefined) return
    const { page, fetchedAt, encoding, body } = answer
    const row = insertAnswer.run(query, page, runId, call.callId, fetchedAt)
    const answerId = Number(row.lastInsertRowid)
    insertBody.run(answerId, encoding, body)
    noteAnswer.run(answerId, id)
  }

  // The last change stays, for its number.
  const forgetChanges = (before: number): void => {
    const isLast = sql`${readChanges.id} = (SELECT max(id) FROM ${readChanges})`
    orm
      .delete(readChanges)
      .where(and(lt(readChanges.readAt, before), not(isLast)))
      .run()
  }

  return ({ calls: made, answers: stored, readings, steps, position, read, readAt, failovers: noticed }) => {
    for (const call of made) importCall(call)
    for (const { run, answer } of stored) importAnswer(run, answer)
    for (const { reading, run } of readings)
      addReading.run({ ...reading, runId: run === null ? null : (find.run(run) ?? null) })
    for (const step of steps) addStep.run(JSON.stringify(step))
    for (const change of read) addChange.run(JSON.stringify(change), readAt)
    if (read.length > 0) forgetChanges(readAt - keptReadMs)
    for (const at of noticed)
      orm
        .insert(queueFailovers)
        .values({ at: Math.round(at) })
        .onConflictDoNothing()
        .run()
    orm.update(journalReader).set({ position }).run()
  }
}

/** A UUID as its 16 bytes. */
function bytesOf(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex')
}

/** The name here of a job of the journal, and whether this database collects it. */
function nameOf(db: Database, { keyHash, job }: SharedJob) {
  return drizzle(db)
    .select({ name: sharedJobs.name, own: sharedJobs.own })
    .from(sharedJobs)
    .where(and(eq(sharedJobs.keyHash, keyHash), eq(sharedJobs.job, job)))
    .get()
}

function setName(db: Database, { keyHash, job }: SharedJob, name: string, own: boolean): void {
  drizzle(db)
    .insert(sharedJobs)
    .values({ keyHash, job, name, own })
    .onConflictDoUpdate({
      target: [sharedJobs.keyHash, sharedJobs.job],
      set: { name, own: own ? true : sharedJobs.own },
    })
    .run()
}

/** Jobs of the journal that have a name here. */
function holders(db: Database, name: string) {
  return drizzle(db)
    .select({ keyHash: sharedJobs.keyHash, own: sharedJobs.own })
    .from(sharedJobs)
    .where(eq(sharedJobs.name, name))
    .orderBy(sharedJobs.keyHash, sharedJobs.job)
    .all()
}

/** The keys whose runs have that name here; null where there are none. Runs of before jobs were known by their keys have the key that paid. */
function keysNamed(db: Database, name: string): readonly (string | null)[] | null {
  const named = holders(db, name)
  if (named.length > 0) return named.map(({ keyHash }) => keyHash)
  const run = drizzle(db)
    .select({
      key: sql<
        string | null
      >`(SELECT ${keys.hash} FROM ${calls} JOIN ${keys} ON ${keys.id} = ${calls.keyId} WHERE ${calls.runId} = ${runs.id} AND ${calls.credits} > 0 LIMIT 1)`,
      shared: sharedRuns.id,
    })
    .from(runs)
    .leftJoin(sharedRuns, eq(sharedRuns.runId, runs.id))
    .where(eq(runs.job, name))
    .orderBy(desc(runs.id))
    .get()
  // A run that came from elsewhere and has bought nothing yet is anybody's.
  if (run === undefined || (run.key === null && run.shared !== null)) return null
  return [run.key]
}

/** Whether this database collects, with other keys than that one. */
function isForeign(db: Database, keyHash: string, ownKey: string | null): boolean {
  const own = new Set([ownKey, ...jobsCollectedHere(db).map((job) => job.keyHash)])
  own.delete(null)
  return own.size > 0 && !own.has(keyHash)
}

/**
 * A name here for a job that has none yet: its own, or with its key behind it where others have that. A database that collects keeps names
 * without a key for what it collects.
 */
function newName(db: Database, of: SharedJob, ownKey: string | null): string {
  const { keyHash, job } = of
  const isTheirs = keysNamed(db, job) !== null
  if (isFree(db, job, keyHash) && (isTheirs || !isForeign(db, keyHash, ownKey))) return job
  return nameWithKey(db, of)
}

function nameWithKey(db: Database, { keyHash, job }: SharedJob): string {
  const name = `${job}@${shortKey(keyHash)}`
  return isFree(db, name, keyHash) ? name : `${job}@${keyHash}`
}

/** Whether no job of another key has that name here. */
function isFree(db: Database, name: string, keyHash: string): boolean {
  return keysNamed(db, name)?.every((key) => key === keyHash) ?? true
}

/** What was two jobs here is one: its key was replaced. The history of both goes on under one name. */
function join(db: Database, from: string, to: string): void {
  const orm = drizzle(db)
  orm
    .update(runs)
    .set({ job: to, settings: sql`json_set(${runs.settings}, '$.name', ${to})` })
    .where(eq(runs.job, from))
    .run()
  orm.update(sharedJobs).set({ name: to }).where(eq(sharedJobs.name, from)).run()
  // Its file goes with it, unless the other one has a file.
  db.prepare(raw`UPDATE OR IGNORE ${jobs} SET ${jobs.name} = ? WHERE ${jobs.name} = ?`).run(to, from)
  orm.delete(jobs).where(eq(jobs.name, from)).run()
}

/**
 * The name here of a job of the journal. Inside a transaction.
 *
 * @param ownKey the key of this host; null where it has none
 */
function nameHere(db: Database, of: SharedJob, ownKey: string | null): string {
  const known = nameOf(db, of)
  if (known !== undefined) return known.name
  const name = newName(db, of, ownKey)
  setName(db, of, name, false)
  return name
}

/**
 * A run that is known here by a name belongs to that job of the journal now: where its key was replaced, what was two jobs here is one.
 * Answers the name that is left. Inside a transaction.
 */
function followJob(db: Database, of: SharedJob, name: string, ownKey: string | null): string {
  if (name === removedJob) return name
  const isPlain = !name.startsWith(`${of.job}@`)
  const known = nameOf(db, of)
  if (known === undefined && isPlain) setName(db, of, name, false)
  const other = nameHere(db, of, ownKey)
  if (other === name) return name
  // A name that reports go by stays, unless it is the job's own from now on.
  const [kept, left] = isPlain || other !== of.job ? [name, other] : [other, name]
  join(db, left, kept)
  return kept
}

/**
 * This database collects a job with a key: the job has its own name here. One of another key that has the name, and that came from
 * elsewhere, gets its key behind it; answers its new name. Inside a transaction.
 */
function ownJob(db: Database, of: SharedJob): string | null {
  const { job } = of
  const known = nameOf(db, of)
  if (known?.own === true && known.name === job) return null
  const named = holders(db, job)
  const other = named.some(({ own }) => own) ? undefined : named.find(({ keyHash }) => keyHash !== of.keyHash)
  let moved: string | null = null
  if (other !== undefined && known?.name !== job) {
    moved = nameWithKey(db, { keyHash: other.keyHash, job })
    renameJob(db, { from: job, to: moved, file: null })
  }
  if (known !== undefined && known.name !== job) join(db, known.name, job)
  setName(db, of, job, true)
  return moved
}

/** The jobs of the journal that this database collects, or did. */
function jobsCollectedHere(db: Database): readonly SharedJob[] {
  return drizzle(db)
    .select({ keyHash: sharedJobs.keyHash, job: sharedJobs.job })
    .from(sharedJobs)
    .where(eq(sharedJobs.own, true))
    .orderBy(sharedJobs.job, sharedJobs.keyHash)
    .all()
}

/** In a database that collects: names here of jobs of keys with which it does not. */
function namesOfOthers(db: Database): readonly string[] {
  const own = new Set(jobsCollectedHere(db).map(({ keyHash }) => keyHash))
  if (own.size === 0) return []
  const all = drizzle(db)
    .select({ keyHash: sharedJobs.keyHash, name: sharedJobs.name })
    .from(sharedJobs)
    .all()
  return all.flatMap(({ keyHash, name }) => (own.has(keyHash) ? [] : [name]))
}
