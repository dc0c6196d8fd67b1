import type { Task } from '../model/task.ts'
import type { TaskEnd } from './task-end.ts'

interface Buyer {
  buy(task: Task): Promise<TaskEnd>
  reuse(task: Task, answerId: number): Promise<void>
  /** The answer to the same call that a run of the same group has by now. */
  stored(task: Task): Promise<number | null>
}

/**
 * The same call asked for by several runs is bought once: whoever comes second waits for the first and takes its
 * answer. Within one run no two tasks are the same call.
 */
export function inFlightTwins(several: boolean, { buy, reuse, stored }: Buyer) {
  const inFlight = new Map<string, Promise<void>>()

  const take = async (task: Task, answerId: number): Promise<TaskEnd> => {
    await reuse(task, answerId)
    return { answerId }
  }

  const buyOrTake = async (task: Task): Promise<TaskEnd> => {
    // What was bought after the task was let through.
    const answerId = await stored(task)
    return answerId === null ? await buy(task) : await take(task, answerId)
  }

  const run = async (task: Task): Promise<TaskEnd> => {
    if (task.reusable !== null) return await take(task, task.reusable)
    if (!several) return await buy(task)
    const call = `${task.queryId}:${task.page}`
    const twin = inFlight.get(call)
    if (twin !== undefined) {
      await twin
      // Whatever became of the first, the second looks for itself: it may find the answer, or has tries of its own.
      return 'open'
    }
    let end = (): void => {}
    inFlight.set(
      call,
      new Promise<void>((resolve) => {
        end = resolve
      }),
    )
    const forget = (): void => {
      inFlight.delete(call)
      end()
    }
    try {
      const first = await buyOrTake(task)
      if (typeof first === 'object' && 'follows' in first) return { follows: first.follows.finally(forget) }
      forget()
      return first
    } catch (error) {
      forget()
      throw error
    }
  }
  return { run }
}
