import { UsageError } from '../errors.ts'
import { isComplete, type Run } from '../model/run.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from '../terminal.ts'
import { count } from '../words.ts'
import { type CollectFlags, collectRuns } from './collecting.ts'
import { collectorLock, type LockFlags } from './collector-lock.ts'
import { connect, wholeNumber } from './wire.ts'

export interface ResumeFlags extends CollectFlags, LockFlags {
  readonly run?: string
}

/** `rankline resume`: goes on with an unfinished run as it was planned. */
export async function resume(flags: ResumeFlags, terminal: Terminal): Promise<number> {
  await using connection = await connect(flags)
  const { store } = connection
  using lock = collectorLock(flags, connection, terminal)
  await lock.acquire()
  const run = await chosenRun(store, flags.run, isOpen)
  if (run === null) {
    terminal.say('No run is unfinished.')
    return 0
  }
  if (!isOpen(run))
    throw new UsageError(`Run ${run.id} is finished. To buy what failed in it: rankline retry ${run.id}`)
  await store.reopenRun(run.id)
  return await collectRuns(connection, [{ run, show: 'collect' }], flags, terminal)
}

/** `rankline retry`: buys again what failed in a run, and only that. */
export async function retry(flags: ResumeFlags, terminal: Terminal): Promise<number> {
  await using connection = await connect(flags)
  const { store } = connection
  using lock = collectorLock(flags, connection, terminal)
  await lock.acquire()
  const run = await chosenRun(
    store,
    flags.run,
    ({ finishReason }) => finishReason === 'completed_with_failures',
  )
  if (run === null) {
    terminal.say('No run has failed tasks.')
    return 0
  }
  const failed = await store.retryFailed(run.id)
  if (failed === 0) {
    terminal.say(`Run ${run.id} has no failed tasks.`)
    return 0
  }
  terminal.say(`Trying ${count(failed, 'failed task')} of run ${run.id} again.`)
  await store.reopenRun(run.id)
  return await collectRuns(connection, [{ run, show: 'collect' }], flags, terminal)
}

function isOpen({ finishReason }: Run): boolean {
  return !isComplete(finishReason)
}

/** The run that was named, or the newest that fits; null where none does. */
async function chosenRun(
  store: Store,
  named: string | undefined,
  fits: (run: Run) => boolean,
): Promise<Run | null> {
  const id = wholeNumber('The run', named, { min: 1 })
  if (id === undefined) return (await store.runs({ closed: false })).find(fits) ?? null
  const run = await store.run(id)
  if (run === null) throw new UsageError(`There is no run ${id}. List them with: rankline runs`)
  return run
}
