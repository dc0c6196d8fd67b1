import PQueue from 'p-queue'
import type { Clock } from '../model/clock.ts'
import type { Task } from '../model/task.ts'
import { type Stop, Stopped } from './stop.ts'
import { thrownCause } from './stop-causes.ts'

/** Work behind freed slots beyond which no new task is taken: answers to be read, jobs that are polled. */
const mostBehind = 1_024

export type Pool = ReturnType<typeof openPool>

/** The queue of tasks in work, and the work that goes on behind freed slots. */
export function openPool(stop: Stop, clock: Pick<Clock, 'after'>) {
  const queue = new PQueue({ concurrency: 1 })
  const waiting = new Map<number, Task>()
  const behind = new Set<Promise<void>>()
  const besides = new Set<Promise<void>>()
  let failure: { readonly error: unknown } | null = null
  /** Tasks added that did not end; the queue's own count changes only after its promises are fulfilled. */
  let inWork = 0
  let changes = 0
  let wake: () => void = () => {}

  const fail = (error: unknown): void => {
    const cause = thrownCause(error)
    if (cause.reason === 'crashed') failure ??= { error }
    stop.request(cause)
  }
  const guarded = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof Stopped)) fail(error)
    }
  }
  const changed = (): void => {
    changes += 1
    wake()
  }
  stop.signal.addEventListener('abort', changed, { once: true })

  /** Fulfilled when there was a change after that many, or after so many milliseconds. */
  const changeAfter = (seen: number, patienceMs = Number.POSITIVE_INFINITY): Promise<void> =>
    new Promise((resolve) => {
      const cancel = Number.isFinite(patienceMs) ? clock.after(patienceMs, () => wake()) : () => {}
      wake = () => {
        cancel()
        resolve()
      }
      if (changes > seen) wake()
    })

  return {
    fail,
    setConcurrency: (concurrency: number): void => {
      queue.concurrency = concurrency
    },
    add: (task: Task, work: () => Promise<void>): void => {
      waiting.set(task.id, task)
      inWork += 1
      const start = (): Promise<void> => {
        waiting.delete(task.id)
        return guarded(work)
      }
      // Everything is caught inside: the queue starts, and pays for, the next task before a handler outside would run.
      void queue.add(start, { priority: task.priority }).then(() => {
        inWork -= 1
        changed()
      })
    },
    background: (work: Promise<void>): void => {
      const watched = guarded(() => work).then(() => {
        behind.delete(watched)
        changed()
      })
      behind.add(watched)
    },
    /** For free lookups: there is nothing more to do though one is under way. */
    aside: (work: Promise<void>): void => {
      const watched = guarded(() => work).then(() => {
        besides.delete(watched)
      })
      besides.add(watched)
    },
    busy: (): boolean => inWork + behind.size > 0,
    /** Counts tasks that ended, work behind them that ended, and the stop. */
    changes: (): number => changes,
    changeAfter,
    /** Fulfilled when the queue can take more, at once when the stop is asked for. */
    room: async (): Promise<void> => {
      while (stop.cause() === null && behind.size > mostBehind) await changeAfter(changes)
      if (stop.cause() === null) await queue.onSizeLessThan(queue.concurrency + 1)
    },
    /** Waits for what is in work, and answers the tasks that it did not come to. */
    drain: async (): Promise<readonly Task[]> => {
      queue.clear()
      await queue.onIdle()
      while (behind.size > 0) await Promise.all(behind)
      await Promise.all(besides)
      return [...waiting.values()]
    },
    rethrow: (): void => {
      if (failure !== null) throw failure.error
    },
  }
}
