import { billableOperations } from '../catalog/index.ts'
import type { Task } from '../model/task.ts'
import type { Batches } from './batches.ts'
import type { Breaker } from './breaker.ts'
import type { Pool } from './pool.ts'
import type { Stop } from './stop.ts'
import { diskFull, givenUp } from './stop-causes.ts'

export interface FeedParts {
  readonly batches: Batches
  readonly breaker: Breaker
  readonly pool: Pool
  readonly stop: Stop
  readonly hasPending: () => Promise<boolean>
  /** Whether what is bought could hardly be kept. */
  readonly isDiskFull: () => Promise<boolean>
  readonly perform: (task: Task) => void
}

/** Hands tasks to the pool as they are let through, never far ahead of what it can take; ends when nothing more is. */
export async function feed(parts: FeedParts): Promise<void> {
  const { batches, breaker, pool, stop, hasPending, isDiskFull, perform } = parts
  while (stop.cause() === null) {
    if (await isDiskFull()) return stop.request(diskFull)
    const changes = pool.changes()
    const probe = await letProbe()
    if (probe !== null) perform(probe)
    const tasks = await batches.next(operationsOf(breaker.paused(), false), pool.busy)
    for (const task of tasks ?? []) perform(task)
    if (tasks === null && !(await enginesMayReturn())) return
    if (tasks === null || tasks.length === 0)
      await pool.changeAfter(changes, breaker.nextProbeIn() ?? Number.POSITIVE_INFINITY)
    await pool.room()
  }

  /** One task alone finds out whether an engine or operation that was down is back. */
  async function letProbe(): Promise<Task | null> {
    const name = breaker.due()
    if (name === null) return null
    // An operation whose answers cannot be used does not find out about its engine.
    const operations = operationsOf([name], true).filter((one) => one === name || !breaker.isOpen(one))
    const task = await batches.one(operations)
    if (task === null) breaker.postpone(name)
    // A stored answer is free, and tells nothing.
    else if (task.reusable === null) breaker.probing(name, task.id)
    return task
  }

  /** Where nothing is left but the tasks of engines that are down: whether those are still waited for. */
  async function enginesMayReturn(): Promise<boolean> {
    if (breaker.paused().length === 0 || !(await hasPending())) return false
    if (pool.busy() || breaker.nextProbeIn() !== null) return true
    stop.request(givenUp(breaker.givenUp().map((name) => ({ name, unusable: breaker.unusable(name) }))))
    return false
  }
}

/** Operations that are among those named, or whose engine is; or all others. */
function operationsOf(named: readonly string[], included: boolean): readonly string[] {
  return billableOperations
    .filter(({ engine, name }) => (named.includes(engine) || named.includes(name)) === included)
    .map(({ name }) => name)
}
