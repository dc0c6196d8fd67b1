import { randomUUID } from 'node:crypto'
import type { ApiClient, apiClient } from '../api/client.ts'
import type { AccountReading } from '../collect/account.ts'
import { parseStored } from '../collect/answers.ts'
import type { CallCounts } from '../collect/circuit-breaker.ts'
import { type CollectOptions, collect } from '../collect/collect.ts'
import { StopRequested, type StopSignal, stopSignal } from '../collect/stop.ts'
import { describeLimit } from '../ledger/budget.ts'
import type { NewCall } from '../model/call.ts'
import { queryKey } from '../model/query.ts'
import type { Run, Task } from '../model/run.ts'
import type { Clock } from '../model/time.ts'
import type { TargetHistory } from '../rank/paging.ts'
import { compress, decompress, orNull } from '../store/compression.ts'
import type { CollectStore, Store } from '../store/sqlite/open.ts'
import {
  type NewSharedCall,
  type SharedCall,
  type SharedTask,
  type StoredAnswer,
  taskStep,
} from '../store/sync.ts'
import { type ChunkEnd, type ChunkLease, type ChunkQuery, LeaseLost } from './journal.ts'
import type { LeasedChunk } from './postgres/chunks.ts'
import type { SharedJournal } from './postgres/open.ts'
import type { SharedLimiter } from './shared-limiter.ts'
import { applySteps } from './sync.ts'

/**
 * Collects a chunk as a run is collected that has no more queries and no more credits than it. Answers how it ended; null where the lease
 * was lost.
 */
export async function runChunk(
  options: Pick<
    CollectOptions,
    'random' | 'keyHash' | 'concurrency' | 'maxOutageMs' | 'maxThrottlingMs' | 'notice'
  > & {
    readonly journal: Pick<SharedJournal, 'calls'>
    /** An empty store for this chunk alone; it is closed by the caller. */
    readonly memory: Store
    /**
     * The service, which writes its calls into that store.
     *
     * @param job whose calls they are: jobs take turns
     * @param mayStillLeave asked right before a request leaves
     */
    readonly serviceFor: (
      store: Parameters<typeof apiClient>[0]['store'],
      job: string,
      mayStillLeave?: () => boolean,
    ) => ApiClient
    /** Whether the chunk is certainly still this worker's. A call that waited for its send time may have waited for longer than the lease. */
    readonly isHeld: () => boolean
    /** Whether calls in hand wait for their send times, or for a place among those in flight. */
    readonly isPaced: () => boolean
    /** Whether an answer can wait for those of other calls, of this chunk or another one. */
    readonly otherAnswers: SharedLimiter['otherAnswers']
    readonly clock: Clock
    /** What the calls for chunks of its run came to: the next one begins with what is known. */
    readonly counts: CallCounts
    /** Ends the work on the chunk; another worker goes on. */
    readonly stop: AbortSignal
    /** Called when everything is laid in and its calls begin. */
    readonly onBegun: () => void
  },
  chunk: LeasedChunk,
): Promise<ChunkEnd | null> {
  const { journal, memory, clock } = options
  const stop = stopSignal()
  let isLost = false
  const onLost = (): void => {
    isLost = true
    stop.request(interrupted)
  }
  stopWith(options.stop, stop)
  const run = await planHere(memory, chunk)
  const known = await layIn(memory, run, chunk, options.keyHash)
  const { calls } = journal
  const store = journaledStore({
    memory,
    calls,
    lease: chunk,
    queries: chunk.queries,
    known,
    onLost,
    isPaced: options.isPaced,
    otherAnswers: options.otherAnswers,
  })
  const { limits } = await collect(
    {
      random: options.random,
      keyHash: options.keyHash,
      concurrency: options.concurrency,
      maxOutageMs: options.maxOutageMs,
      maxThrottlingMs: options.maxThrottlingMs,
      notice: options.notice,
      store,
      clock,
      stop,
      fitBalance: false,
      onProgress: options.onBegun,
      // What is reserved for a chunk is no limit of its job.
      reported: new Set([describeLimit({ job: run.job, credits: chunk.credits, used: 0 }).key]),
      service: options.serviceFor(store, run.job, options.isHeld),
      counts: options.counts,
      readAccount: async () => ({ ...unlimitedAccount, at: clock.wall(), aheadMs: null }),
    },
    chunk.isClosed ? [] : [run],
    chunk.isClosed ? [run] : [],
  )
  if (isLost) return null
  const cause = stop.cause()
  // Chunks of a closed run are not released again: another worker polls on.
  if (cause?.reason === 'interrupted' || (cause !== null && chunk.isClosed)) return { state: 'released' }
  if (cause !== null) return { state: 'planned', stop: { reason: cause.reason, message: cause.message } }
  return limits.size > 0 ? { state: 'planned' } : { state: 'done' }
}

const interrupted = { reason: 'interrupted', message: 'The worker stops.' } as const

function stopWith(signal: AbortSignal, stop: StopSignal): void {
  if (signal.aborted) stop.request(interrupted)
  else signal.addEventListener('abort', () => stop.request(interrupted), { once: true })
}

/** What may be spent is the budget of the run here; the balance was looked at when the chunk was released. */
const unlimitedAccount: Omit<AccountReading, 'at' | 'aheadMs'> = {
  remaining: Number.MAX_SAFE_INTEGER,
  totalUsed: null,
  limits: { perSecond: null, perMinute: null },
  keyActive: null,
  keyExpires: null,
  quotas: { total: null, daily: null, weekly: null, monthly: null },
  unread: {},
}

/** Plans the run of a chunk: its queries alone, and what is reserved for them as its only limit. */
async function planHere(memory: Store, { sharedRun, queries, credits }: LeasedChunk): Promise<Run> {
  const { job, date, startedAt, settings } = sharedRun
  const { runId } = await memory.importRun(sharedRun, sharedRun.keyHash)
  const budget = { ...settings.budget, maxCredits: credits, keep: null, perDay: null, perMonth: null }
  await using draft = await memory.draft()
  await draft.add(job, queries)
  const planned = {
    settings: { ...settings, budget, freshnessMs: null },
    date,
    continues: runId,
    fresh: null,
  }
  const [run] = await draft.commit([planned], startedAt)
  return run as Run
}

/** Puts into the store of the chunk what is known already: answers, tasks that ended, asynchronous jobs that wait. */
async function layIn(memory: Store, run: Run, chunk: LeasedChunk, keyHash: string) {
  const others = chunk.reusable.filter((answer) => answer.isOfGroup || repeatsTheQuestion(chunk, answer))
  const stored = [...chunk.answers, ...others].map((answer) => ({ run: chunk.run, answer }))
  await memory.importBatch({
    calls: stored.map(({ answer }) => paidBefore(chunk, answer, keyHash)),
    answers: stored,
    readings: [],
    steps: chunk.ended.map(taskStep),
    position: '0',
    read: [],
    readAt: 0,
    failovers: [],
  })
  await applySteps(memory)
  const byAnswer = new Map<number, string>()
  const ended = new Set(chunk.ended.map(({ task }) => pageKey(task.query, task.page)))
  for (const { answer } of stored) {
    const { call, query, page } = answer
    const task = await memory.sharedTask({ run: chunk.run, query: query.toString('hex'), page, call })
    const answerId = task?.answerId ?? (await memory.sharedAnswer(call))
    if (answerId === null) continue
    byAnswer.set(answerId, call)
    // It was paid for, and the worker that bought it did not come to read it.
    const isUnread = chunk.answers.includes(answer) && !ended.has(pageKey(query, page))
    if (task !== null && isUnread) await memory.attachAnswer(task.taskId, answerId, false)
  }
  const byCall = await layInJobs(memory, run, chunk, keyHash)
  return { byCall, byAnswer }
}

/** Runs that did not ask for it have no use for an answer to another question. */
function repeatsTheQuestion(
  { queries }: LeasedChunk,
  { query, page, encoding, body, fetchedAt }: StoredAnswer,
) {
  const asked = queries.find(({ key }) => key.equals(query))
  const sound = orNull(() => decompress({ encoding, body }))
  if (asked === undefined || sound === null) return false
  const params = JSON.parse(asked.params) as Task['params']
  const says = parseStored({ ...asked, params, page }, sound, fetchedAt)
  return !('reason' in says) && says.echoMismatch === null
}

/** A call that was paid for before costs nothing now. */
function paidBefore(
  chunk: LeasedChunk,
  { call, query, page, fetchedAt }: StoredAnswer,
  keyHash: string,
): SharedCall {
  const operation = chunk.queries.find(({ key }) => key.equals(query))?.operation ?? ''
  return {
    id: call,
    task: { run: chunk.run, query, page },
    operation,
    credits: 0,
    sentAt: fetchedAt,
    keyHash,
    settlement: {
      outcome: 'answered',
      httpStatus: 200,
      billed: 0,
      finishedAt: fetchedAt,
      latencyMs: 0,
      error: null,
    },
  }
}

async function layInJobs(
  memory: Store,
  run: Run,
  chunk: LeasedChunk,
  keyHash: string,
): Promise<Map<number, NewSharedCall>> {
  const byCall = new Map<number, NewSharedCall>()
  for (const { call, query, page, jobId, sentAt, acceptedAt } of chunk.openJobs) {
    const task = await memory.sharedTask({ run: chunk.run, query: query.toString('hex'), page, call: null })
    const asked = chunk.queries.find(({ key }) => key.equals(query))
    if (task === null || asked === undefined) continue
    const { operation, credits } = asked
    const begun = { runId: run.id, taskId: task.taskId, operation, credits, sentAt, keyHash }
    const callId = await memory.beginCall(begun)
    const accepted = {
      outcome: 'accepted',
      httpStatus: 202,
      billed: 0,
      finishedAt: acceptedAt,
      latencyMs: 0,
      error: null,
    } as const
    await memory.acceptJob(callId, accepted, { taskId: task.taskId, callId, jobId })
    byCall.set(callId, {
      id: call,
      task: { run: chunk.run, query, page },
      operation,
      credits,
      sentAt,
      keyHash,
    })
  }
  return byCall
}

/** Names a page of a query. */
function pageKey(query: Buffer, page: number): string {
  return `${query.toString('hex')}:${page}`
}

/**
 * The store that a chunk is collected in: what counts for money is written into the shared journal first, or with it, and everything into
 * the store of the chunk, which plans the pages.
 */
function journaledStore({
  memory,
  calls,
  lease,
  queries,
  known,
  onLost,
  isPaced,
  otherAnswers,
}: {
  /** The store of this chunk alone. */
  readonly memory: CollectStore
  readonly calls: SharedJournal['calls']
  readonly lease: ChunkLease
  readonly queries: readonly ChunkQuery[]
  /** Shared calls that the lease brought, by the numbers that they and their answers have in the store of the chunk. */
  readonly known: {
    readonly byCall: Map<number, NewSharedCall>
    readonly byAnswer: Map<number, string>
  }
  /** Called once when the lease was lost. */
  readonly onLost: () => void
  readonly isPaced: () => boolean
  readonly otherAnswers: SharedLimiter['otherAnswers']
}): CollectStore {
  const tasks = new Map<number, SharedTask>()
  const reused = new Set<number>()
  /** The answer that a task was given last. */
  const answerOf = new Map<number, string>()
  // Answers that were laid in may be used, however old they are. Where there are none, none need be looked for.
  const fresh = known.byAnswer.size > 0 ? { from: 0, until: Number.MAX_SAFE_INTEGER } : null
  const histories = new Map(queries.map((query) => [query.key.toString('hex'), query.history]))

  const know = ({
    id,
    operation,
    text,
    params,
    page,
  }: Pick<Task, 'id' | 'operation' | 'text' | 'params' | 'page'>): SharedTask => {
    const task = { run: lease.run, query: queryKey({ operation, text, params }), page }
    tasks.set(id, task)
    return task
  }
  const sharedCall = (callId: number): NewSharedCall => known.byCall.get(callId) as NewSharedCall

  const otherEnds = () => (isPaced() ? 'coming' : undefined)

  /** Another worker has the chunk: nothing more is begun. */
  const stopWhenLost = async <T>(written: Promise<T>): Promise<T> => {
    try {
      return await written
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error
      onLost()
      throw new StopRequested()
    }
  }

  return {
    ...memory,
    lease: async (request) => {
      const tasks = await memory.lease({
        ...request,
        runs: request.runs.map((run) => ({ ...run, fresh })),
      })
      for (const task of tasks) know(task)
      return tasks
    },
    acceptedJobs: async (runIds) => {
      const jobs = await memory.acceptedJobs(runIds)
      for (const { task } of jobs) know(task)
      return jobs
    },
    answeredTasks: async (runIds) => {
      const answered = await memory.answeredTasks(runIds)
      for (const task of answered) {
        know({ ...task, id: task.taskId })
        const call = known.byAnswer.get(task.answerId)
        if (call !== undefined) answerOf.set(task.taskId, call)
      }
      return answered
    },
    beginCall: async (call: NewCall) => {
      const task = call.taskId === null ? null : (tasks.get(call.taskId) ?? null)
      const { operation, credits, sentAt, keyHash } = call
      const shared = { id: randomUUID(), task, operation, credits, sentAt, keyHash }
      // A free call is written with its end.
      if (credits > 0) await stopWhenLost(calls.begin(lease, shared))
      const callId = await memory.beginCall(call)
      known.byCall.set(callId, shared)
      return callId
    },
    settleCall: async (callId, settlement, requeue) => {
      await calls.settle(sharedCall(callId), settlement)
      await memory.settleCall(callId, settlement, requeue)
    },
    acceptJob: async (callId, settlement, job) => {
      await calls.acceptJob(sharedCall(callId), settlement, job.jobId)
      await memory.acceptJob(callId, settlement, job)
    },
    endJob: async (job, billed, now, requeue) => {
      await calls.endJob(sharedCall(job.callId), billed, now)
      await memory.endJob(job, billed, now, requeue)
    },
    saveAnswer: async (answer) => {
      const call = sharedCall(answer.callId)
      const { query, page } = call.task as SharedTask
      const { fetchedAt, encoding, settlement, task } = answer
      const packed = encoding === null ? await compress(answer.body) : { encoding, body: answer.body }
      const stored = { call: call.id, query, page, fetchedAt, ...packed }
      await calls.answer(call, settlement, stored, otherAnswers())
      const answerId = await memory.saveAnswer({ ...answer, ...packed })
      known.byAnswer.set(answerId, call.id)
      answerOf.set(task.id, call.id)
      return answerId
    },
    reuseAnswer: async (taskId, answerId) => {
      reused.add(taskId)
      answerOf.set(taskId, known.byAnswer.get(answerId) as string)
      await memory.reuseAnswer(taskId, answerId)
    },
    recordAnswer: async (change) => {
      let paging: ReturnType<typeof change.follow>['paging'] = null
      const effect = await memory.recordAnswer({
        ...change,
        follow: (query) => {
          const task = change.taskId === null ? undefined : tasks.get(change.taskId)
          const history = histories.get(task?.query.toString('hex') ?? '') ?? []
          const update = change.follow({ ...query, history: () => historyOf(query.targets, history) })
          paging = update.paging
          return update
        },
      })
      const { taskId, outcome } = change
      if (taskId === null || outcome === 'as-stored') return effect
      const task = tasks.get(taskId) as SharedTask
      const call = answerOf.get(taskId) ?? null
      const end =
        'failed' in outcome
          ? { call, cause: outcome.failed }
          : { call: call as string, reused: reused.has(taskId) }
      await stopWhenLost(calls.endTask(lease, { task, end, paging }, otherEnds()))
      return effect
    },
  }
}

/** What earlier runs saw, by the numbers that the targets have here. */
function historyOf(
  targets: readonly {
    readonly id: number
    readonly site: string
    readonly match: string
    readonly also: readonly string[]
  }[],
  history: ChunkQuery['history'],
): ReadonlyMap<number, TargetHistory> {
  return new Map(
    targets.flatMap(({ id, site, match, also }) => {
      const seen = history.find(
        ({ target }) => target.site === site && target.match === match && target.also.join() === also.join(),
      )
      return seen === undefined ? [] : [[id, seen] as const]
    }),
  )
}
