import { normaliserVersion } from '../catalog/understand.ts'
import type { Outcome } from '../model/call.ts'
import type { Run } from '../model/run.ts'
import type { Task } from '../model/task.ts'
import type { AnsweredTask, Effect, NewAnswer } from '../store/answers.ts'
import { unpack } from '../store/packing.ts'
import type { Store } from '../store/store.ts'
import { followPage, pagingRules } from './follow.ts'
import { understoodOf } from './understood.ts'
import { weighStored } from './weigh-stored.ts'

/** How a task ended, once that is stored. */
export interface Settled {
  readonly end: 'done' | 'failed'
  readonly effect: Effect
}

/** A page of a query in a run. */
export type PageTask = Pick<AnsweredTask, 'taskId' | 'runId' | 'queryId' | 'page'>

/** A task whose answer is stored. */
export type ReadTask = PageTask & Pick<AnsweredTask, 'answerId' | 'operation' | 'params'>

/** A body as it came, beside the answer in which it is kept. */
export interface Arrived extends NewAnswer, Pick<Task, 'operation' | 'params'> {
  readonly plain: Uint8Array
}

/** An answer that is stored. */
export interface KeptAnswer {
  readonly answerId: number
  /** What became of its task; null where it is yet to be read. */
  readonly settled: Settled | null
}

/**
 * Keeps answers, then understands them; what follows for the query is stored with the results. Plain data goes in and
 * comes out, so that a keeper may be in a thread of its own.
 */
export interface Keeper {
  /** Keeps a body whole, and what it says with it. To be followed by `read` where that could not be stored. */
  keep(answer: Arrived): Promise<KeptAnswer>
  /** Gives a task a stored answer instead of a call. To be followed by `read`. */
  reuse(task: PageTask, answerId: number): Promise<void>
  /** Reads the answer of a task; null where it is left to whoever goes on, for the disk is full or its body is gone. */
  read(task: ReadTask): Promise<Settled | null>
  fail(task: PageTask, outcome: Outcome | 'malformed', cause: string): Promise<Settled>
  /** Reads what an earlier process stored and did not come to read, and weighs stored pages for targets that are new. */
  catchUp(runIds: readonly number[]): Promise<readonly Settled[]>
}

/** A keeper for tasks of these runs. */
export function openKeeper(store: Store, runs: readonly Run[]): Keeper {
  const rules = new Map(runs.map((run) => [run.id, pagingRules(run)]))
  const rulesOf = (runId: number) => rules.get(runId) as ReturnType<typeof pagingRules>
  /** What was just kept, or unpacked, need not be fetched again to be read. */
  const fresh = new Map<number, Pick<Arrived, 'plain' | 'fetchedAt'>>()

  const fail: Keeper['fail'] = async ({ taskId, runId, queryId, page }, outcome, cause) => {
    const effect = await store.understand({
      taskId,
      runId,
      queryId,
      outcome: { failed: cause },
      follow: (query) => followPage(query, page, { failed: outcome }, rulesOf(runId)),
    })
    return { end: 'failed', effect }
  }

  const understand = async (task: ReadTask, body: Uint8Array, fetchedAt: number): Promise<Settled | null> => {
    const understood = understoodOf(task, asBuffer(body), fetchedAt)
    if ('reason' in understood) return await fail(task, 'malformed', understood.reason)
    const { taskId, runId, queryId, page, answerId } = task
    try {
      const effect = await store.understand({
        taskId,
        runId,
        queryId,
        outcome: { done: { answerId, normaliser: normaliserVersion, understood } },
        follow: (query) => followPage(query, page, understood, rulesOf(runId)),
      })
      return { end: 'done', effect }
    } catch (error) {
      // The answer is safe, and read by whoever goes on when there is room again.
      if (!store.space.isExhausted()) throw error
      return null
    }
  }

  const read: Keeper['read'] = async (task) => {
    const known = fresh.get(task.answerId)
    fresh.delete(task.answerId)
    // What room is left is for answers that are still in the air.
    if (store.space.isExhausted()) return null
    if (known !== undefined) return await understand(task, known.plain, known.fetchedAt)
    const raw = await store.rawAnswer(task.answerId)
    return raw === null ? null : await understand(task, unpack(raw), raw.fetchedAt)
  }

  const keep: Keeper['keep'] = async ({ plain, operation, params, ...answer }) => {
    const { fetchedAt, task } = answer
    const { id: taskId, runId, queryId, page } = task
    const understood = understoodOf({ operation, params }, asBuffer(plain), fetchedAt)
    if ('reason' in understood) {
      const kept = store.keepAnswer(answer)
      // Handed over together, so that both stand in one commit.
      const failed = fail({ taskId, runId, queryId, page }, 'malformed', understood.reason)
      const [answerId, settled] = await Promise.all([kept, failed])
      return { answerId, settled }
    }
    try {
      const { answerId, effect } = await store.keepRead(answer, {
        ...{ normaliser: normaliserVersion, understood },
        follow: (query) => followPage(query, page, understood, rulesOf(runId)),
      })
      return { answerId, settled: effect === null ? null : { end: 'done', effect } }
    } catch {
      // It is paid for, and kept whatever its reading came to; who reads it next hears what was wrong.
      const answerId = await store.keepAnswer(answer)
      fresh.set(answerId, { plain, fetchedAt })
      return { answerId, settled: null }
    }
  }

  return {
    keep,
    reuse: async ({ taskId }, answerId) => {
      const raw = await store.rawAnswer(answerId)
      if (raw === null) throw new Error(`answer ${answerId} has no body`)
      await store.reuseAnswer(taskId, answerId)
      fresh.set(answerId, { plain: unpack(raw), fetchedAt: raw.fetchedAt })
    },
    read,
    fail,
    catchUp: async (runIds) => {
      const ends: Settled[] = []
      for (const task of await store.answeredTasks(runIds)) {
        const settled = await read(task)
        if (settled !== null) ends.push(settled)
      }
      await weighStored(store, runIds)
      return ends
    },
  }
}

/** Between threads a buffer becomes a plain array of bytes. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
