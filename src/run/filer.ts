import { type NotUnderstood, normaliserVersion } from '../catalog/understand.ts'
import type { Outcome } from '../model/call.ts'
import type { Run } from '../model/run.ts'
import type { AnsweredTask, Effect, NewAnswer } from '../store/answers.ts'
import { unpackSound } from '../store/packing.ts'
import type { Store } from '../store/store.ts'
import { followPage, pagingRules } from './follow.ts'
import { type Reading, readingOf } from './understood.ts'
import { weighStored } from './weigh-stored.ts'

/** How a task ended, once that is stored. */
export interface Settled {
  readonly end: 'done' | 'failed'
  readonly effect: Effect
}

/** A page of a query in a run. */
export type PageTask = Pick<AnsweredTask, 'taskId' | 'runId' | 'queryId' | 'page'>

/** A task whose answer is stored. */
export type ReadTask = PageTask & Pick<AnsweredTask, 'answerId' | 'operation' | 'text' | 'params'>

/** A task whose answer was read: what that says, or why it says nothing. */
export interface ReadAnswerOf extends PageTask, Pick<AnsweredTask, 'answerId'> {
  readonly says: Reading | NotUnderstood
}

/**
 * Files answers, then what they say, with what follows for their queries. Plain data goes in and comes out, so that a filer
 * may be in a thread of its own.
 */
export interface Filer {
  /** Keeps a body whole; answers the id of the answer. To be followed by `note` or `read`, once it is safe. */
  file(answer: NewAnswer): Promise<number>
  /** Stores what an answer says; null where it is left to whoever goes on, for the disk is full. */
  note(read: ReadAnswerOf): Promise<Settled | null>
  /** Gives a task a stored answer instead of a call. To be followed by `read`; false where that answer is damaged or gone, and no task uses it any more. */
  reuse(task: PageTask, answerId: number): Promise<boolean>
  /** Reads the answer of a task; null where it is left to whoever goes on, for the disk is full or its body is damaged. */
  read(task: ReadTask): Promise<Settled | null>
  fail(task: PageTask, outcome: Outcome | 'malformed', cause: string): Promise<Settled>
  /** Reads what an earlier process stored and did not come to read, and weighs stored pages for targets that are new. */
  catchUp(runIds: readonly number[]): Promise<CaughtUp>
}

/** What came of the answers of an earlier process. */
export interface CaughtUp {
  readonly settled: readonly Settled[]
  /** Answers that are damaged, or gone; their pages are bought again, unless their run is closed. */
  readonly damaged: readonly number[]
}

/** A filer for tasks of these runs. */
export function openFiler(store: Store, runs: readonly Run[]): Filer {
  const rules = new Map(runs.map((run) => [run.id, pagingRules(run)]))
  const rulesOf = (runId: number) => rules.get(runId) as ReturnType<typeof pagingRules>
  const closed = new Set(runs.filter(({ closedAt }) => closedAt !== null).map(({ id }) => id))
  /** Bodies of answers that were just given to a task: what is dropped from the store meanwhile is read all the same. */
  const fetched = new Map<number, Plain>()

  /** A stored body as it came; null where it is damaged, or gone. */
  const fetch = async (answerId: number): Promise<Plain | null> => {
    const raw = await store.rawAnswer(answerId)
    const body = raw === null ? null : unpackSound(raw)
    return raw === null || body === null ? null : { body, fetchedAt: raw.fetchedAt }
  }

  const fail: Filer['fail'] = async ({ taskId, runId, queryId, page }, outcome, cause) => {
    const effect = await store.understand({
      taskId,
      runId,
      queryId,
      outcome: { failed: cause },
      follow: (query) => followPage(query, page, { failed: outcome }, rulesOf(runId)),
    })
    return { end: 'failed', effect }
  }

  const note: Filer['note'] = async ({ taskId, runId, queryId, page, answerId, says }) => {
    // What room is left is for answers that are still in the air.
    if (store.space.isExhausted()) return null
    if ('reason' in says) return await fail({ taskId, runId, queryId, page }, 'malformed', says.reason)
    try {
      const effect = await store.understand({
        taskId,
        runId,
        queryId,
        outcome: { done: { answerId, normaliser: normaliserVersion, rows: says.rows } },
        follow: (query) => followPage(query, page, says, rulesOf(runId)),
      })
      return { end: 'done', effect }
    } catch (error) {
      // The answer is safe, and read by whoever goes on when there is room again.
      if (!store.space.isExhausted()) throw error
      return null
    }
  }

  /** What a task waited for cannot be had; nothing is bought for a closed run any more. */
  const withoutAnswer = async (task: ReadTask): Promise<Settled | null> => {
    if (closed.has(task.runId)) return await fail(task, 'malformed', 'its stored answer is damaged')
    await store.noteDamaged(task.taskId, task.answerId)
    return null
  }

  const understood = async (task: ReadTask, plain: Plain | null): Promise<Settled | null> => {
    if (plain === null) return await withoutAnswer(task)
    return await note({ ...task, says: readingOf(task, plain.body, plain.fetchedAt) })
  }

  return {
    file: async (answer) => await store.keepAnswer(answer),
    note,
    reuse: async ({ taskId }, answerId) => {
      const plain = await fetch(answerId)
      if (plain === null) {
        await store.noteDamaged(taskId, answerId)
        return false
      }
      await store.reuseAnswer(taskId, answerId)
      fetched.set(answerId, plain)
      return true
    },
    read: async (task) => {
      const plain = fetched.get(task.answerId) ?? (await fetch(task.answerId))
      fetched.delete(task.answerId)
      return await understood(task, plain)
    },
    fail,
    catchUp: async (runIds) => {
      const settled: Settled[] = []
      const damaged: number[] = []
      for (const task of await store.answeredTasks(runIds)) {
        const plain = await fetch(task.answerId)
        if (plain === null) damaged.push(task.answerId)
        const end = await understood(task, plain)
        if (end !== null) settled.push(end)
      }
      await weighStored(store, runIds)
      return { settled, damaged }
    },
  }
}

/** A stored body as it came. */
interface Plain {
  readonly body: Buffer
  readonly fetchedAt: number
}
