import type { Task } from '../model/task.ts'
import type { TaskEnd } from './work.ts'

interface Buyer {
  buy(task: Task): Promise<TaskEnd>
  reuse(task: Task, answerId: number): Promise<void>
}

/**
 * The same call asked for by several runs is bought once: whoever comes second waits for the first and takes its
 * answer. Within one run no two tasks are the same call.
 */
export function inFlightTwins(several: boolean, { buy, reuse }: Buyer) {
  const inFlight = new Map<string, Promise<TaskEnd>>()

  const take = async (task: Task, answerId: number): Promise<TaskEnd> => {
    await reuse(task, answerId)
    return { answerId }
  }

  const run = async (task: Task): Promise<TaskEnd> => {
    if (task.reusable !== null) return await take(task, task.reusable)
    if (!several) return await buy(task)
    const call = `${task.queryId}:${task.page}`
    const twin = inFlight.get(call)
    if (twin !== undefined) {
      const end = await twin
      // What failed for the first may still be had for the second, by its own tries.
      return end !== 'open' && 'answerId' in end ? await take(task, end.answerId) : 'open'
    }
    const bought = buy(task)
    inFlight.set(call, bought)
    try {
      return await bought
    } finally {
      inFlight.delete(call)
    }
  }
  return { run }
}
