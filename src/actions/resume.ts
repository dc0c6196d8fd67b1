import { databaseSetting } from '../config.ts'
import { UsageError } from '../errors.ts'
import { isComplete, type Run } from '../model/run.ts'
import { refuseMissing } from '../store/sqlite/inspect.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from '../terminal.ts'
import { count } from '../words.ts'
import { type CollectFlags, collectRuns, readCollectFlags } from './collecting.ts'
import { collectorLock, type LockFlags } from './collector-lock.ts'
import { beginDesk } from './desk.ts'
import { searchJob } from './search-job.ts'
import { keepHeapSmall } from './small-heap.ts'
import { wholeNumber } from './whole-number.ts'
import { connect } from './wire.ts'

export interface ResumeFlags extends CollectFlags, LockFlags {
  readonly run?: string
}

/** `rankline resume`: goes on with an unfinished run as it was planned. */
export async function resume(flags: ResumeFlags, terminal: Terminal): Promise<number> {
  return await goOn(flags, terminal, {
    fits: isOpen,
    none: 'No run is unfinished.',
    refusal: ({ id, closedAt }) =>
      closedAt === null
        ? `Run ${id} is finished. To buy what failed in it: rankline retry ${id}`
        : `A later run took the place of run ${id}, so it cannot be continued. List runs with: rankline runs`,
    prepare: (store, run) => store.reopenRun(run.id),
  })
}

/** `rankline retry`: buys again what failed in a run, and only that. */
export async function retry(flags: ResumeFlags, terminal: Terminal): Promise<number> {
  return await goOn(flags, terminal, {
    fits: ({ finishReason }) => finishReason === 'completed_with_failures',
    none: 'No run has failed tasks.',
    refusal: (run) =>
      isOpen(run)
        ? `Run ${run.id} is not finished. Go on with it first: rankline resume ${run.id}`
        : `Run ${run.id} has no failed tasks.`,
    prepare: async (store, run) => {
      const failed = await store.retryFailed(run.id)
      terminal.say(`Trying ${count(failed, 'failed task')} of run ${run.id} again.`)
    },
  })
}

/** What tells the commands apart that go on with a run. */
interface GoingOn {
  readonly fits: (run: Run) => boolean
  readonly none: string
  readonly refusal: (run: Run) => string
  readonly prepare: (store: Store, run: Run) => Promise<void>
}

async function goOn(
  flags: ResumeFlags,
  terminal: Terminal,
  { fits, none, refusal, prepare }: GoingOn,
): Promise<number> {
  readCollectFlags(flags)
  keepHeapSmall()
  using lock = collectorLock(flags, terminal)
  const { path, isNamed } = databaseSetting(flags)
  if (isNamed) refuseMissing(path)
  await using connection = await connect(flags, lock)
  const { store } = connection
  await lock.acquire()
  await store.refuseDamage()
  const run = await chosenRun(store, flags.run, fits)
  if (run === null) {
    terminal.say(none)
    return 0
  }
  if (!fits(run)) throw new UsageError(refusal(run))
  await using desk = beginDesk()
  await prepare(store, run)
  return await collectRuns(connection, [{ run, show: 'collect' }], flags, terminal, desk.open)
}

function isOpen({ finishReason, closedAt }: Run): boolean {
  return closedAt === null && !isComplete(finishReason)
}

/** The run that was named, or the newest of a job file that fits; null where none does. */
async function chosenRun(
  store: Store,
  named: string | undefined,
  fits: (run: Run) => boolean,
): Promise<Run | null> {
  const id = wholeNumber('The run', named, { min: 1 })
  if (id === undefined)
    return (await store.runs({ closed: false })).find((run) => run.job !== searchJob && fits(run)) ?? null
  const run = await store.run(id)
  if (run === null) throw new UsageError(`There is no run ${id}. List them with: rankline runs`)
  return run
}
