import { openApp } from '../../../machines/open-app.ts'
import { UsageError } from '../../../model/errors.ts'
import type { OptionSpecs } from '../../../model/option.ts'
import { isComplete, type Run } from '../../../model/run.ts'
import { count } from '../../../model/text.ts'
import { numberOption } from '../../../model/values.ts'
import { note, type Terminal } from '../../../output/terminal.ts'
import { databaseSetting } from '../../../run/config.ts'
import { searchJob } from '../../../run/job-files.ts'
import { collectorLock } from '../../../run/lock.ts'
import { takeTurn } from '../../../run/run-jobs.ts'
import { confirmPrices, dearToGoOn, sharedLimits } from '../../../run/spending.ts'
import { requireDatabase } from '../../../store/sqlite/connection/database.ts'
import type { Store } from '../../../store/sqlite/open.ts'
import {
  type Command,
  clockFlags,
  collectFlags,
  confirmFlags,
  leaseFlags,
  logFlags,
  queueFlags,
  serviceFlags,
  type TypedOptions,
  waitFlags,
} from '../../flags.ts'
import { collectingExits } from '../../help.ts'
import { collectRuns, readCollectFlags } from './collect-runs.ts'

const flags = {
  ...serviceFlags,
  ...clockFlags,
  ...collectFlags,
  ...confirmFlags,
  ...waitFlags,
  ...logFlags,
  ...queueFlags,
  ...leaseFlags,
} satisfies OptionSpecs

type ResumeFlags = TypedOptions<typeof flags> & { readonly run?: string }

export const resumeCommand = {
  flags,
  exits: collectingExits,
  docs: 'docs/money-and-crashes.md',
  examples: [
    ['resume', 'the newest unfinished run'],
    ['resume 12', 'that run'],
  ],
  run: resume,
} satisfies Command

/** `rankline resume`: goes on with an unfinished run as it was planned. */
export async function resume(flags: ResumeFlags, terminal: Terminal): Promise<number> {
  return await continueRun(flags, terminal, {
    fits: isOpen,
    none: 'No run is unfinished.',
    refusal: ({ id, closedAt }) =>
      closedAt === null
        ? `Run ${id} is finished. To buy what failed in it: rankline retry ${id}`
        : `A later run took the place of run ${id}, so it cannot be continued. List runs with: rankline runs`,
    failed: 'ignore',
    prepare: (store, run) => store.reopenRun(run.id),
  })
}

export const retryCommand = {
  flags,
  exits: collectingExits,
  docs: 'docs/money-and-crashes.md',
  examples: [
    ['retry', 'the newest run with failed tasks'],
    ['retry 12', 'that run'],
  ],
  run: retry,
} satisfies Command

/** `rankline retry`: buys again what failed in a run, and only that. */
export async function retry(flags: ResumeFlags, terminal: Terminal): Promise<number> {
  return await continueRun(flags, terminal, {
    fits: ({ finishReason }) => finishReason === 'completed_with_failures',
    none: 'No run has failed tasks.',
    refusal: (run) =>
      isOpen(run)
        ? `Run ${run.id} is not finished. Continue it first: rankline resume ${run.id}`
        : `Run ${run.id} has no failed tasks.`,
    failed: 'count',
    prepare: async (store, run) => {
      const failed = await store.retryFailed(run.id)
      if (failed === 0)
        throw new UsageError(
          `Another try cannot help run ${run.id}: its requests are too long for the service. What to change: rankline runs ${run.id}`,
        )
      terminal.log(`Trying ${count(failed, 'failed task')} of run ${run.id} again.`, {
        level: 'info',
        run: run.id,
        job: run.job,
      })
    },
  })
}

async function continueRun(
  flags: ResumeFlags,
  terminal: Terminal,
  {
    fits,
    none,
    refusal,
    failed,
    prepare,
  }: {
    readonly fits: (run: Run) => boolean
    readonly none: string
    readonly refusal: (run: Run) => string
    /** Whether failed tasks are bought again. */
    readonly failed: 'count' | 'ignore'
    readonly prepare: (store: Store, run: Run) => Promise<void>
  },
): Promise<number> {
  readCollectFlags(flags)
  const id = numberOption('The run', flags.run, { min: 1 })
  using lock = collectorLock(flags, (line) => note(terminal, line))
  const { path, isNamed } = databaseSetting(flags)
  if (isNamed) requireDatabase(path)
  await using app = await openApp(flags, lock)
  const { store } = app
  await takeTurn(lock, store)
  const run = await chosenRun(store, id, fits)
  if (run === null) {
    terminal.log(none, { level: 'info' })
    return 0
  }
  if (!fits(run)) throw new UsageError(refusal(run))
  // A mistake in rankline.yaml changes nothing of the run.
  await sharedLimits(store, [run.settings])
  if (flags.yes !== true) await confirmPrices(await dearToGoOn(store, run, failed), terminal.ask ?? null)
  await app.clockCheck.check(terminal.log)
  await app.machines?.refuseOtherKeys([run])
  await app.machines?.begin([run.job])
  await prepare(store, run)
  return await collectRuns(app, [{ run, show: 'collect' }], flags, terminal)
}

function isOpen({ finishReason, closedAt }: Run): boolean {
  return closedAt === null && !isComplete(finishReason)
}

/** The run that was named, or the newest of a job file that fits; null where none does. */
async function chosenRun(
  store: Store,
  id: number | undefined,
  fits: (run: Run) => boolean,
): Promise<Run | null> {
  if (id === undefined) {
    const others = [searchJob, ...(await store.jobsOfOthers())]
    return (await store.runs({ closed: false })).find((run) => !others.includes(run.job) && fits(run)) ?? null
  }
  const run = await store.run(id)
  if (run === null) throw new UsageError(`There is no run ${id}. List them with: rankline runs`)
  return run
}
