import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { mistakeLines } from '../../../jobfile/source.ts'
import { openApp } from '../../../machines/open-app.ts'
import { busyExitCode, RanklineError, UsageError, WrongClock } from '../../../model/errors.ts'
import { noFile, type Problem } from '../../../model/job.ts'
import { exitCodes, isComplete, type Run } from '../../../model/run.ts'
import { count } from '../../../model/text.ts'
import { type Clock, systemClock } from '../../../model/time.ts'
import { numberOption, type OptionSpecs, switchOption } from '../../../model/values.ts'
import { isScreen, note, type Terminal } from '../../../output/terminal.ts'
import type { App } from '../../../run/app.ts'
import { outgoing } from '../../../run/app.ts'
import { type CommandOptions, databaseFile, queueSettings } from '../../../run/config.ts'
import { type DueOptions, dueWork } from '../../../run/due-work.ts'
import { searchJob } from '../../../run/job-files.ts'
import { turns } from '../../../run/lock.ts'
import { storedData } from '../../../run/open-stored.ts'
import { type ListedRun, planning } from '../../../run/run-jobs.ts'
import { prices, sharedLimits } from '../../../run/spending.ts'
import { requireDatabase } from '../../../store/sqlite/connection/database.ts'
import type { Store } from '../../../store/sqlite/open.ts'
import { type Hindrance, skippedJobs } from '../../../unattended/alerts/judge-runs.ts'
import { sendWithoutRun } from '../../../unattended/messages/digest.ts'
import { pings, reasonOf } from '../../../unattended/messages/ping.ts'
import { type Command, sharedFlags, type TypedOptions, usualExits } from '../../flags.ts'
import { runLines } from '../../progress.ts'
import { type CollectFlags, collecting, jobArguments, type SchedulerWork } from './collect-runs.ts'
import { plan } from './plan.ts'

const flags = {
  ...jobArguments.flags,
  ...sharedFlags.service,
  ...sharedFlags.clock,
  ...sharedFlags.collect,
  ...sharedFlags.log,
  ...sharedFlags.confirm,
  ...sharedFlags.wait,
  ...sharedFlags.fit,
  ...sharedFlags.queue,
  ...sharedFlags.lease,
  'dry-run': switchOption('The same as plan'),
  'skip-bad': switchOption('Leave out job files with mistakes, and end with exit code 2 after the others'),
} satisfies OptionSpecs

type RunFlags = TypedOptions<typeof flags> & { readonly job?: readonly string[] | undefined }

export const runCommand = {
  flags,
  exits: usualExits.collecting,
  docs: 'jobs/README.md',
  examples: [
    ['run keywords.csv --target acme.com --depth 30', 'ranks among the first 30 results'],
    ['run --skip-bad acme.yaml umbrella.yaml', 'several jobs, for cron'],
    ['run --due', 'what is due of the jobs of this folder, for cron'],
    ['cat keywords.csv | rankline run - --name keywords --target acme.com', 'a job through a pipe'],
  ],
  readsStdin: true,
  run,
} satisfies Command

/** `rankline run`: collects jobs, or goes on with what an earlier command did not finish. */
export async function run(flags: RunFlags, terminal: Terminal): Promise<number> {
  if (flags.dryRun === true) return await plan(flags, terminal)
  if (flags.due === true) return await runDue(flags, terminal)
  const named = await jobArguments.named(flags, terminal)
  const starts = startsOf(named.job, terminal)
  return await reportNotStarted(runNamed(named, starts), starts, named)
}

async function runNamed(
  flags: RunFlags & { readonly job: readonly string[] },
  starts: JobStarts,
): Promise<number> {
  const { terminal } = starts
  collecting.readFlags(flags)
  using lock = turns.ofCollector(flags, (line) => note(terminal, line))
  await using app = await openApp(flags, lock)
  const planned = await planning.runs(app, flags, runLines.planEvents(terminal, onMistakesIn(starts)), lock)
  if (planned === null) return 2
  noteBegun(starts, planned.listed)
  const code = await collecting.runs(app, planned.listed, flags, terminal)
  await noteStopped(starts, app, planned.listed)
  return planned.isLeftOut && (code === 0 || code === 3) ? 2 : code
}

type DueRunFlags = DueOptions & CollectFlags & CommandOptions

/**
 * `rankline run --due`: collects what is due and no more. Under cron it prints nothing where nothing is due, or where another process
 * collects.
 */
async function runDue(
  given: Omit<DueRunFlags, 'job'> & { readonly job?: readonly string[] | undefined },
  terminal: Terminal,
): Promise<number> {
  collecting.readFlags(given)
  const flags = await jobArguments.due(given, terminal)
  try {
    const file = isScreen(terminal) || terminal.event ? null : `${databaseFile.path(flags)}.mistakes`
    const starts = startsOf(flags.job, terminal)
    return await reportNotStarted(
      runDueJobs(flags, starts, { printed: printedMistakes(file) }),
      starts,
      flags,
    )
  } catch (error) {
    const isBusy = error instanceof RanklineError && error.exitCode === busyExitCode
    if (!isBusy || flags.wait !== undefined) throw error
    return noteOnScreen(
      terminal,
      'Another process on this machine is collecting. What is due waits for the next rankline run --due.',
    )
  }
}

/**
 * Collects what is due of jobs, and no more; answers the exit code. Others are not disturbed while nothing is due.
 *
 * @param scheduler the scheduler that this is a part of; without one, signals interrupt the runs
 */
async function runDueJobs(
  flags: DueRunFlags,
  starts: JobStarts,
  {
    printed,
    clock = systemClock,
    scheduler,
  }: {
    readonly printed: PrintedMistakes
    readonly clock?: Clock
    readonly scheduler?: SchedulerWork
  },
): Promise<number> {
  const { terminal } = starts
  const events = runLines.planEvents(terminal, onMistakesIn(starts))
  // Files are read twice: before the turn is taken, and in it.
  const logMistake = (line: string): void => (printed.isNew(line) ? events.logMistake(line) : undefined)
  const eventsOnce = { ...events, logMistake }
  // Standard input can be read only once.
  if (!flags.job.includes(noFile)) {
    await using store = await storedData.read(flags, 'may be missing')
    const found = await dueWork.find(store, flags, eventsOnce, clock.wall())
    printed.keep()
    if (found === null) return 2
    if (!found.isDue) {
      await sendWaitingMessages(flags, terminal)
      noteOnScreen(terminal, 'Nothing is due.')
      for (const file of found.sound) starts.begun.add(resolve(file))
      return found.isLeftOut ? 2 : 0
    }
  }
  using lock = turns.ofCollector({ ...flags, wait: flags.wait ?? '0' }, (line) => note(terminal, line))
  await using app = await openApp(flags, lock, clock)
  const planned = await dueWork.plan(app, flags, eventsOnce, lock, scheduler?.stop.signal)
  if (planned === null) return 2
  const { listed, isLeftOut, refused, stoppedBefore, slots } = planned
  noteBegun(starts, listed)
  for (const [file, reason] of refused) starts.refused.set(resolve(file), reason)
  const code =
    listed.length === 0 ? 0 : await collecting.again(app, listed, stoppedBefore, flags, terminal, scheduler)
  await dueWork.endSlots(app.store, slots)
  await noteStopped(starts, app, listed)
  if (listed.length === 0) await sendWaitingMessages(flags, terminal)
  if (listed.length === 0 && refused.size === 0) noteOnScreen(terminal, 'Nothing is due.')
  if (code !== 0 && code !== 3) return code
  return refused.size > 0 ? exitCodes.budget : isLeftOut ? 2 : code
}

/** Tries failed messages again though nothing runs. What is wrong with their channels was printed by the run, and cron stays quiet. */
async function sendWaitingMessages(flags: DueRunFlags, terminal: Terminal): Promise<void> {
  const send = sendWithoutRun({
    database: databaseFile.path(flags),
    clock: systemClock,
    outgoing: () => outgoing(flags.allowHttp === true),
    log: (line) => void noteOnScreen(terminal, line),
  })
  await send([])
}

function noteOnScreen(terminal: Terminal, line: string): number {
  if (isScreen(terminal)) note(terminal, line)
  return 0
}

/**
 * Lines about mistakes in job files: one that stays is printed once.
 *
 * @param file keeps them for the next process; null where this process alone prints. Where it cannot be written, all are printed again
 */
function printedMistakes(file: string | null) {
  const known = new Set(file !== null && existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])
  const found = new Set<string>()
  return {
    /** Whether a line was not printed before. */
    isNew: (line: string): boolean => {
      const isNew = !known.has(line)
      known.add(line)
      found.add(line)
      return isNew
    },
    /** Called when all files were read: a mistake that was not found this time is mended, and would be printed again. */
    keep: (): void => {
      if (file === null) return
      try {
        if (found.size > 0) writeFileSync(file, [...found].join('\n'))
        else rmSync(file, { force: true })
      } catch {
        // The folder of a database that is not there yet, for instance.
      }
    },
  }
}

export type PrintedMistakes = ReturnType<typeof printedMistakes>

/** What became of the job files of a command before anything of them was collected; files by their whole path. */
interface JobStarts {
  readonly files: readonly string[]
  /** Keeps every line that it prints. */
  readonly terminal: Terminal
  readonly printed: readonly string[]
  /** The runs of these files began, or need not. */
  readonly begun: Set<string>
  /** Whether an open alert says that one of those was stopped before; null where that is not known. */
  isStoppedBefore: boolean | null
  /** The price of these was not agreed to; the sentence that was printed. */
  readonly refused: Map<string, string>
  /** These have mistakes, or `rankline.yaml` beside them. */
  readonly mistaken: Map<string, readonly Problem[]>
}

function startsOf(jobFiles: readonly string[], terminal: Terminal): JobStarts {
  const printed: string[] = []
  return {
    files: [...new Set(jobFiles)].filter((file) => file !== noFile),
    terminal: {
      ...terminal,
      log: (line, about) => {
        printed.push(line)
        terminal.log(line, about)
      },
    },
    printed,
    begun: new Set(),
    isStoppedBefore: null,
    refused: new Map(),
    mistaken: new Map(),
  }
}

function onMistakesIn({ mistaken }: JobStarts) {
  return (file: string, mistakes: readonly Problem[]): void => void mistaken.set(resolve(file), mistakes)
}

function noteBegun({ begun }: JobStarts, listed: readonly ListedRun[]): void {
  for (const { run } of listed) begun.add(resolve(run.settings.file))
}

/** Asked while the database is open: to open it again takes longer. A file may have had a job of another name when it was stopped. */
async function noteStopped(starts: JobStarts, { store }: App, listed: readonly ListedRun[]): Promise<void> {
  const ran = new Set(listed.map(({ run }) => resolve(run.settings.file)))
  const ofFiles = (await store.jobFiles()).filter(({ file }) => ran.has(resolve(file)))
  starts.isStoppedBefore = await store.isAnyStopped(ofFiles.map(({ name }) => name))
}

/**
 * Sends a failure ping for jobs that could not start, and alerts where their rules ask for them; ends as the work does. A cause that
 * several jobs share is one alert, and one more when it is over. Where only another process was at work, nothing is sent.
 */
async function reportNotStarted(
  work: Promise<number>,
  starts: JobStarts,
  flags: CommandOptions,
  clock: Clock = systemClock,
): Promise<number> {
  const { begun, refused, mistaken, printed } = starts
  try {
    const code = await work
    // Without --skip-bad one mistake keeps all others from running.
    const isNothingRun = code !== 0 && begun.size + refused.size === 0
    const [first] = mistaken.values()
    const hindrance =
      first === undefined ? skippedJobs.ofSettings(printed.join('\n')) : skippedJobs.ofMistakes(first)
    const others = isNothingRun ? { reason: printed.join('\n'), hindrance } : null
    await sendNotStarted(starts, others, { flags, clock, alerts: true })
    return code
  } catch (error) {
    const isBusy = error instanceof RanklineError && error.exitCode === busyExitCode
    if (!isBusy && begun.size === 0) {
      const reason = reasonOf(error)
      const others = { reason: [...printed, reason].join('\n'), hindrance: skippedJobs.ofSettings(reason) }
      // An alert would carry the wrong time.
      await sendNotStarted(starts, others, { flags, clock, alerts: !(error instanceof WrongClock) })
    }
    throw error
  }
}

/** @param others what kept the other files from running; null where each had a reason of its own */
async function sendNotStarted(
  starts: JobStarts,
  others: ReturnType<typeof ownReason>,
  {
    flags,
    clock,
    alerts,
  }: { readonly flags: CommandOptions; readonly clock: Clock; readonly alerts: boolean },
): Promise<void> {
  const { files, begun, terminal } = starts
  const notRun = files
    .filter((file) => !begun.has(resolve(file)))
    .flatMap((file) => {
      const why = ownReason(starts, file) ?? others
      return why === null ? [] : [{ file, ...why }]
    })
  const parts = {
    outgoing: outgoing(flags.allowHttp === true),
    log: (line: string) => terminal.log(line),
  }
  try {
    await pings.notStarted(notRun, parts)
    if (!alerts) return
    // What stands on a screen was read.
    const skipped = isScreen(terminal) ? [] : notRun
    if (skipped.length === 0 && starts.isStoppedBefore === false) return
    await skippedJobs.alert(
      {
        skipped: new Map(skipped.map(({ file, hindrance }) => [file, hindrance])),
        running: files.filter((file) => begun.has(resolve(file))),
      },
      { ...parts, database: databaseFile.path(flags), clock },
    )
  } catch (error) {
    // Where not even the settings can be read, that was printed already.
    if (!(error instanceof RanklineError)) throw error
  }
}

/** Why a file was not run: what its ping says, and what alerts name; null where it had no reason of its own. */
function ownReason(
  { refused, mistaken }: JobStarts,
  file: string,
): { readonly reason: string; readonly hindrance: Hindrance } | null {
  const price = refused.get(resolve(file))
  if (price !== undefined) return { reason: price, hindrance: { kind: 'price', text: price } }
  const mistakes = mistaken.get(resolve(file))
  return mistakes === undefined
    ? null
    : { reason: mistakes.map(mistakeLines.format).join('\n'), hindrance: skippedJobs.ofMistakes(mistakes) }
}

const resumeFlags = {
  ...sharedFlags.service,
  ...sharedFlags.clock,
  ...sharedFlags.collect,
  ...sharedFlags.confirm,
  ...sharedFlags.wait,
  ...sharedFlags.log,
  ...sharedFlags.queue,
  ...sharedFlags.lease,
} satisfies OptionSpecs

type ResumeFlags = TypedOptions<typeof resumeFlags> & { readonly run?: string }

export const resumeCommand = {
  flags: resumeFlags,
  exits: usualExits.collecting,
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
    refusal: ({ id, closedAt, finishReason }) => {
      if (closedAt !== null)
        return `A later run took the place of run ${id}, so it cannot be continued. List runs with: rankline runs`
      return finishReason === 'completed'
        ? `Run ${id} is finished, and nothing in it failed. List runs with: rankline runs`
        : `Run ${id} is finished. To buy what failed in it: rankline retry ${id}`
    },
    failed: 'ignore',
    prepare: (store, run) => store.reopenRun(run.id),
  })
}

export const retryCommand = {
  flags: resumeFlags,
  exits: usualExits.collecting,
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
  collecting.readFlags(flags)
  const id = numberOption('The run', flags.run, { min: 1 })
  using lock = turns.ofCollector(flags, (line) => note(terminal, line))
  const { path, isNamed } = databaseFile.setting(flags)
  if (isNamed) requireDatabase(path)
  if (!existsSync(path) && queueSettings.url(flags) === null) {
    terminal.log(none, { level: 'info' })
    return 0
  }
  await using app = await openApp(flags, lock)
  const { store } = app
  await planning.takeTurn(lock, store)
  const run = await chosenRun(store, id, fits)
  if (run === null) {
    terminal.log(none, { level: 'info' })
    return 0
  }
  if (!fits(run)) throw new UsageError(refusal(run))
  // A mistake in rankline.yaml changes nothing of the run.
  await sharedLimits(store, [run.settings])
  if (flags.yes !== true)
    await prices.confirm(await prices.dearToGoOn(store, run, failed), terminal.ask ?? null)
  await app.clockCheck.check(terminal.log)
  await app.machines?.refuseOtherKeys([run])
  await app.machines?.begin([run.job])
  await prepare(store, run)
  return await collecting.runs(app, [{ run, show: 'collect' }], flags, terminal)
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

/** What became of jobs before they were collected. */
export const jobStarts = {
  of: startsOf,
  reportNotStarted,
  printedMistakes,
  runDue: runDueJobs,
}
