import { billableOperations } from '../catalog/index.ts'
import type { Task } from '../model/task.ts'
import type { Batches } from './batches.ts'
import type { Breaker } from './breaker.ts'
import type { Pool } from './pool.ts'
import type { Stop } from './stop.ts'
import { diskFull, enginesDown } from './stop-causes.ts'

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

  /** One task alone finds out whether an engine that was down is back. */
  async function letProbe(): Promise<Task | null> {
    const engine = breaker.due()
    if (engine === null) return null
    const task = await batches.one(operationsOf([engine], true))
    if (task === null) breaker.postpone(engine)
    else breaker.probing(engine, task.id)
    return task
  }

  /** Where nothing is left but the tasks of engines that are down: whether those are still waited for. */
  async function enginesMayReturn(): Promise<boolean> {
    if (breaker.paused().length === 0 || !(await hasPending())) return false
    if (pool.busy() || breaker.nextProbeIn() !== null) return true
    stop.request(enginesDown(breaker.givenUp()))
    return false
  }
}

function operationsOf(engines: readonly string[], included: boolean): readonly string[] {
  return billableOperations
    .filter(({ engine }) => engines.includes(engine) === included)
    .map(({ name }) => name)
}
