import type { Outcome } from '../model/call.ts'
import type { Task } from '../model/task.ts'
import type { NewAnswer } from '../store/answers.ts'
import { pack } from '../store/packing.ts'
import type { Keeper, PageTask, Settled } from './keeper.ts'

export interface ReadingParts {
  readonly keeper: Keeper
  /** Told what became of a task, once that is stored. */
  readonly onSettled: (settled: Settled) => void
  /** Takes over what goes on when a slot is free again. */
  readonly background: (work: Promise<void>) => void
}

/** Has answers kept and read. */
export function reader({ keeper, onSettled, background }: ReadingParts) {
  const read = async (task: Task, answerId: number): Promise<void> => {
    const settled = await keeper.read({ ...pageOf(task), answerId })
    if (settled !== null) onSettled(settled)
  }

  return {
    fail: async (task: Task, outcome: Outcome, cause: string): Promise<void> =>
      onSettled(await keeper.fail(pageOf(task), outcome, cause)),
    /** Keeps a body whole, and what it says; answers the id of the answer. */
    keep: async (
      task: Task,
      body: Buffer,
      answer: Pick<NewAnswer, 'callId' | 'settlement' | 'fetchedAt'>,
    ): Promise<number> => {
      const { id, runId, queryId, page, operation, params } = task
      const { answerId, settled } = await keeper.keep({
        ...answer,
        task: { id, runId, queryId, page },
        ...{ operation, params },
        ...(await pack(body)),
        plain: body,
      })
      if (settled === null) background(read(task, answerId))
      else onSettled(settled)
      return answerId
    },
    /** Gives a task a stored answer instead of a call. */
    reuse: async (task: Task, answerId: number): Promise<void> => {
      await keeper.reuse(pageOf(task), answerId)
      background(read(task, answerId))
    },
  }
}

/** What a keeper needs to know of a task. */
function pageOf({
  id: taskId,
  runId,
  queryId,
  page,
  operation,
  params,
}: Task): PageTask & Pick<Task, 'operation' | 'params'> {
  return { taskId, runId, queryId, page, operation, params }
}

export type Reader = ReturnType<typeof reader>
