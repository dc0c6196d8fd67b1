import type { Outcome } from '../model/call.ts'
import type { Task } from '../model/task.ts'
import type { NewAnswer } from '../store/answers.ts'
import type { Filer, PageTask, Settled } from './filer.ts'
import type { Keeper } from './keeper.ts'

export interface ReadingParts {
  readonly keeper: Keeper
  readonly filer: Filer
  /** Told what became of a task, once that is stored. */
  readonly onSettled: (settled: Settled) => void
  /** Told of each answer that was bought, once it is safe: why it cannot be used, or null where it can. */
  readonly onBought: (task: Task, problem: string | null) => void
  /** Told of each stored answer that is damaged, or gone, and cannot be used instead of a call. */
  readonly onDamaged: (answerId: number) => void
  /** Takes over what goes on when a slot is free again. */
  readonly background: (work: Promise<void>) => void
}

/** Has answers kept, and read when they are safe; nobody waits for that. */
export function reader({ keeper, filer, onSettled, onBought, onDamaged, background }: ReadingParts) {
  const read = async (task: Task, answerId: number): Promise<void> => {
    const settled = await keeper.read({ ...pageOf(task), answerId })
    if (settled !== null) onSettled(settled)
  }

  return {
    fail: async (task: Task, outcome: Outcome, cause: string): Promise<void> =>
      onSettled(await filer.fail(pageOf(task), outcome, cause)),
    /** Keeps a body whole; answers the id of the answer. */
    keep: async (
      task: Task,
      body: Buffer,
      answer: Pick<NewAnswer, 'callId' | 'settlement' | 'fetchedAt'>,
    ): Promise<number> => {
      const { id, runId, queryId, page, operation, text, params } = task
      const { answerId, problem } = await keeper.keep({
        ...answer,
        task: { id, runId, queryId, page },
        asked: { operation, text, params, page },
        plain: body,
      })
      onBought(task, problem)
      background(read(task, answerId))
      return answerId
    },
    /** Gives a task a stored answer instead of a call; false where that cannot be used. */
    reuse: async (task: Task, answerId: number): Promise<boolean> => {
      const isSound = await filer.reuse(pageOf(task), answerId)
      if (isSound) background(read(task, answerId))
      else onDamaged(answerId)
      return isSound
    },
  }
}

/** What a filer needs to know of a task. */
function pageOf({
  id: taskId,
  runId,
  queryId,
  page,
  operation,
  text,
  params,
}: Task): PageTask & Pick<Task, 'operation' | 'text' | 'params'> {
  return { taskId, runId, queryId, page, operation, text, params }
}

export type Reader = ReturnType<typeof reader>
