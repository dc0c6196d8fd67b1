import { promisify } from 'node:util'
import { deflate, deflateSync, inflate } from 'node:zlib'
import { normaliserVersion } from '../catalog/understand.ts'
import type { Outcome } from '../model/call.ts'
import type { Run } from '../model/run.ts'
import type { Task } from '../model/task.ts'
import type { AnsweredTask, Effect, NewAnswer } from '../store/answers.ts'
import type { Store } from '../store/store.ts'
import { followPage, pagingRules } from './follow.ts'
import { understoodOf } from './understood.ts'

export interface ReadingParts {
  readonly store: Store
  readonly runs: ReadonlyMap<number, Run>
  /** Told what became of a task, once that is stored. */
  readonly onSettled: (end: 'done' | 'failed', effect: Effect) => void
  /** Takes over what goes on when a slot is free again. */
  readonly background: (work: Promise<void>) => void
}

type PageTask = Pick<AnsweredTask, 'taskId' | 'runId' | 'queryId' | 'page'>

/** Handing a usual answer to another thread takes several times as long as compressing it; beyond this it would keep others waiting. */
const quicklyCompressed = 65_536
const compressAside = promisify<Buffer, Buffer>(deflate)
const decompress = promisify<Buffer, Buffer>(inflate)

function compress(body: Buffer): Buffer | Promise<Buffer> {
  return body.length <= quicklyCompressed ? deflateSync(body) : compressAside(body)
}

/** Keeps answers, then understands them; what follows for the query is stored with the results. */
export function reader({ store, runs, onSettled, background }: ReadingParts) {
  const rulesOf = (runId: number) => pagingRules(runs.get(runId) as Run)

  const fail = async (task: PageTask, outcome: Outcome | 'malformed', cause: string): Promise<void> => {
    const { taskId, runId, queryId, page } = task
    const effect = await store.understand({
      taskId,
      runId,
      queryId,
      outcome: { failed: cause },
      follow: (query) => followPage(query, page, { failed: outcome }, rulesOf(runId)),
    })
    onSettled('failed', effect)
  }

  const read = async (task: AnsweredTask, body: Buffer, fetchedAt: number): Promise<void> => {
    const understood = understoodOf(task, body, fetchedAt)
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
      onSettled('done', effect)
    } catch (error) {
      // The answer is safe, and read by whoever goes on when there is room again.
      if (!store.space.isExhausted()) throw error
    }
  }

  return {
    fail,
    /** Keeps a body whole; it is read when it is safe, and nobody waits for that. Answers the id of the answer. */
    keep: async (
      task: Task,
      body: Buffer,
      answer: Pick<NewAnswer, 'callId' | 'settlement' | 'fetchedAt'>,
    ) => {
      const stored = { ...answer, task, body: await compress(body), encoding: 'deflate' as const }
      const answerId = await store.keepAnswer(stored)
      // What room is left is for answers that are still in the air.
      if (!store.space.isExhausted())
        background(read({ ...task, taskId: task.id, answerId }, body, answer.fetchedAt))
      return answerId
    },
    /** Gives a task a stored answer instead of a call. */
    reuse: async (task: Task, answerId: number): Promise<void> => {
      const raw = await store.rawAnswer(answerId)
      if (raw === null) throw new Error(`answer ${answerId} has no body`)
      await store.reuseAnswer(task.id, answerId)
      background(read({ ...task, taskId: task.id, answerId }, await decompress(raw.body), raw.fetchedAt))
    },
    /** Reads an answer that an earlier process stored and did not come to read. */
    readStored: async (task: AnsweredTask): Promise<void> => {
      const raw = await store.rawAnswer(task.answerId)
      if (raw !== null) await read(task, await decompress(raw.body), raw.fetchedAt)
    },
  }
}

export type Reader = ReturnType<typeof reader>
