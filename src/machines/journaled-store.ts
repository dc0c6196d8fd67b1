import { randomUUID } from 'node:crypto'
import { StopRequested } from '../collect/stop.ts'
import type { NewCall } from '../model/call.ts'
import { queryKey } from '../model/query.ts'
import type { Task } from '../model/run.ts'
import type { TargetHistory } from '../rank/paging.ts'
import type { CollectStore } from '../store/journal.ts'
import {
  type ChunkLease,
  LeaseLost,
  type NewSharedCall,
  type SharedCalls,
  type SharedTask,
} from '../store/shared/calls.ts'
import type { ChunkQuery } from '../store/shared/plans.ts'

export interface JournaledStoreOptions {
  /** The store of this chunk alone. */
  readonly memory: CollectStore
  readonly calls: SharedCalls
  readonly lease: ChunkLease
  readonly queries: readonly ChunkQuery[]
  /** Calls and answers that the lease brought: by their numbers in the store of the chunk. */
  readonly known: KnownCalls
  /** Called once when the lease was lost. */
  readonly onLost: () => void
}

/** Shared calls by the numbers that they and their answers have in the store of a chunk. */
export interface KnownCalls {
  readonly byCall: Map<number, NewSharedCall>
  readonly byAnswer: Map<number, string>
}

/** Names a page of a query. */
export function pageKey(query: Buffer, page: number): string {
  return `${query.toString('hex')}:${page}`
}

/**
 * The store that a chunk is collected in: what counts for money is written into the shared journal first, or with it, and everything into
 * the store of the chunk, which plans the pages.
 */
export function journaledStore(options: JournaledStoreOptions): CollectStore {
  const { memory, calls, lease, known } = options
  const tasks = new Map<number, SharedTask>()
  const reused = new Set<number>()
  /** The answer that a task was given last. */
  const answerOf = new Map<number, string>()
  // Answers that were laid in may be used, however old they are. Where there are none, none need be looked for.
  const fresh = known.byAnswer.size > 0 ? { from: 0, until: Number.MAX_SAFE_INTEGER } : null
  const histories = new Map(options.queries.map((query) => [query.key.toString('hex'), query.history]))

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

  /** Another worker has the chunk: nothing more is begun. */
  const stopWhenLost = async <T>(written: Promise<T>): Promise<T> => {
    try {
      return await written
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error
      options.onLost()
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
      const { fetchedAt, encoding, body, settlement, task } = answer
      await calls.answer(call, settlement, { call: call.id, query, page, fetchedAt, encoding, body })
      const answerId = await memory.saveAnswer(answer)
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
      await stopWhenLost(calls.endTask(lease, { task, end, paging }))
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
