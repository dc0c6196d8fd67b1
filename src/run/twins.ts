import type { Task } from '../model/task.ts'
import type { TaskEnd } from './task-end.ts'

interface Buyer {
  buy(task: Task): Promise<TaskEnd>
  /** False where the answer cannot be used. */
  reuse(task: Task, answerId: number): Promise<boolean>
  /** The answer to the same call that a run of the same group has by now. */
  stored(task: Task): Promise<number | null>
}

/**
 * The same call asked for by several runs is bought once: whoever comes second waits for the first and takes its
 * answer. Within one run no two tasks are the same call.
 */
export function inFlightTwins(several: boolean, { buy, reuse, stored }: Buyer) {
  const inFlight = new Map<string, Promise<void>>()

  /** A task whose answer cannot be used is let through again, to be bought. */
  const take = async (task: Task, answerId: number): Promise<TaskEnd> =>
    (await reuse(task, answerId)) ? { answerId } : 'open'

  const buyOrTake = async (task: Task): Promise<TaskEnd> => {
    // What was bought after the task was let through.
    const answerId = await stored(task)
    return answerId === null ? await buy(task) : await take(task, answerId)
  }

  /** Notes that somebody is at this call; answers what ends that. */
  const begin = (call: string): (() => void) => {
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    inFlight.set(call, ended)
    return () => {
      if (inFlight.get(call) === ended) inFlight.delete(call)
      end()
    }
  }

  const run = async (task: Task): Promise<TaskEnd> => {
    if (task.reusable !== null) return await take(task, task.reusable)
    if (!several) return await buy(task)
    const twin = inFlight.get(callOf(task))
    if (twin !== undefined) {
      await twin
      // Whatever became of the first, the second looks for itself: it may find the answer, or has tries of its own.
      return 'open'
    }
    const end = begin(callOf(task))
    try {
      const first = await buyOrTake(task)
      if (typeof first === 'object' && 'follows' in first) return { follows: first.follows.finally(end) }
      end()
      return first
    } catch (error) {
      end()
      throw error
    }
  }

  return {
    run,
    /** Goes on with a call that an earlier process had begun. */
    goOn: async (task: Task, follow: () => Promise<TaskEnd>): Promise<TaskEnd> => {
      const end = begin(callOf(task))
      return await follow().finally(end)
    },
  }
}

function callOf({ queryId, page }: Task): string {
  return `${queryId}:${page}`
}
