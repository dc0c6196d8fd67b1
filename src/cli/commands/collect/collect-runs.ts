import type { Progress } from '../../../collect/collect.ts'
import { defaultThrottlingMs, exitCodeOf, type RunDocument } from '../../../collect/stop.ts'
import { jobPlaces } from '../../../jobfile/files.ts'
import { peek } from '../../../jobfile/peek.ts'
import { isWorkspaceFile } from '../../../jobfile/workspace.ts'
import { UsageError } from '../../../model/errors.ts'
import { jobOptions, noFile } from '../../../model/job.ts'
import {
  areTooLong,
  exitCodes,
  type FinishReason,
  isComplete,
  type Run,
  type StopCause,
} from '../../../model/run.ts'
import { count, duration, grouped, parseDuration, shellWord } from '../../../model/text.ts'
import { type Clock, utcBetween } from '../../../model/time.ts'
import {
  listOption,
  numberOption,
  type OptionSpecs,
  type OptionsOf,
  switchOption,
  textOption,
} from '../../../model/values.ts'
import { wrapLines } from '../../../output/table.ts'
import {
  about,
  isScreen,
  type LogFields,
  liveEveryMs,
  note,
  sanitize,
  statusLine,
  type Terminal,
} from '../../../output/terminal.ts'
import { type App, connections } from '../../../run/app.ts'
import type { MetricsFile } from '../../../run/config.ts'
import { dueWork } from '../../../run/due-work.ts'
import { type CollectRequest, collections, type ListedRun } from '../../../run/run-jobs.ts'
import { shareQueue } from '../../../store/sqlite/ledger/sums.ts'
import type { Store } from '../../../store/sqlite/open.ts'
import { afterRuns, metrics } from '../../../unattended/after-run.ts'
import { pings, reasonOf } from '../../../unattended/messages/ping.ts'
import type { sharedFlags, TypedOptions } from '../../flags.ts'
import { listenForInterrupts } from '../../interrupts.ts'
import { outFile } from '../../output.ts'
import { runLines } from '../../progress.ts'

// What the commands that collect share: their jobs, and what they do with planned runs.

/** What a job file says can be said, and overruled, on the command line; and which part of jobs is meant. */
const jobFileFlags = {
  ...jobOptions,
  tag: listOption('Only queries with this tag'),
  query: listOption('Only the query with this text'),
  engine: listOption('Only queries of this engine: alpha, beta or gamma'),
  where: listOption("Only queries of which this is true, for instance 'volume>1000' or 'team=red'"),
  limit: textOption('At most so many queries of each job, in the order of its file'),
  due: switchOption(
    'Only what is due; without a job: of every job file of this folder that says when it is due',
  ),
  fresh: switchOption('Begin a new run, also where one is unfinished'),
} satisfies OptionSpecs

interface JobArguments {
  readonly job?: readonly string[] | undefined
  readonly maxCredits?: string | undefined
}

type WithJobs<F> = F & { readonly job: readonly string[] }

/** Throws a sentence where no job was named. */
async function withNamedJobs<F extends JobArguments>(flags: F, terminal: Terminal): Promise<WithJobs<F>> {
  refuseNothing(flags)
  const { job = [] } = flags
  if (job.length > 0) return { ...flags, job: await meantJobs(job, terminal) }
  throw new UsageError('Name a job file, or add --due for what is due of the jobs of this folder')
}

/** The jobs that were named, or those of the working folder that say when they are due. */
async function withDueJobs<F extends JobArguments>(flags: F, terminal: Terminal): Promise<WithJobs<F>> {
  refuseNothing(flags)
  const { job = [] } = flags
  return { ...flags, job: job.length > 0 ? await meantJobs(job, terminal) : await dueWork.jobFiles('.') }
}

/** A run that may cost nothing would end where it begins. */
function refuseNothing({ maxCredits: most }: JobArguments): void {
  if (most !== undefined && /^\s*0+\s*$/.test(most))
    throw new UsageError(
      "--max-credits cannot be '0', which buys nothing; write at least 1, or look at the price with: rankline plan",
    )
}

/**
 * The job files that were meant: a name without its ending is that file, a folder is its jobs, and `rankline.yaml` among other files is
 * left out, which is said.
 */
async function meantJobs(named: readonly string[], terminal: Terminal): Promise<readonly string[]> {
  const jobs: string[] = []
  for (const one of named) {
    const path = one === noFile ? one : (jobPlaces.named(one) ?? one)
    const inFolder = path !== noFile && jobPlaces.isFolder(path) ? peek.jobFiles(path) : []
    if (named.length > 1 && isWorkspaceFile(path))
      note(terminal, `${path} is left out: it holds what the jobs share, and no job.`)
    else jobs.push(...(inFolder.length > 0 ? inFolder : [path]))
  }
  return jobs.length > 0 ? jobs : named
}

export type CollectFlags = TypedOptions<typeof sharedFlags.collect> & OptionsOf<typeof sharedFlags.fit>

/** What a scheduler that stays up adds to its runs: what interrupts them, and what it has reported before. */
export type SchedulerWork = Interrupts &
  Pick<CollectRequest, 'reported' | 'isTrial'> & { readonly reportedPings: Set<string> }

/**
 * Collects runs, shows the progress, ends them and prints what came of all that are listed; answers the exit code.
 *
 * @param scheduler the scheduler that these runs are a part of; without one, signals interrupt the runs
 */
async function collectRuns(
  app: App,
  listed: readonly ListedRun[],
  flags: CollectFlags,
  given: Terminal,
  scheduler?: SchedulerWork,
): Promise<number> {
  const terminal = about(given, runsOf(listed))
  using own = scheduler === undefined ? listenForInterrupts(terminal) : null
  const interrupts = scheduler ?? (own as Interrupts)
  const jobs = listed.flatMap(({ run, show }) => (show === 'collect' ? [run.settings] : []))
  const runPings = pings.starts(jobs, {
    outgoing: app.outgoing,
    log: (line) => terminal.log(line),
    reported: scheduler?.reportedPings,
  })
  try {
    return await collectAndReport(app, listed, flags, { terminal, interrupts, runPings, scheduler })
  } catch (error) {
    await runPings.failed(reasonOf(error))
    // Where that fails, too, the error before says why.
    await metrics.write({ app, metricsFile: metrics.file(flags.metricsFile) }).catch(() => {})
    throw error
  }
}

/**
 * Collects runs that cron starts every few minutes. Where each of them had stopped before, and stops again for the same reason
 * without any progress, nothing is printed: the exit code says it.
 *
 * @param stoppedBefore why continued runs had stopped, by run
 */
async function collectAgain(
  app: App,
  listed: readonly ListedRun[],
  stoppedBefore: ReadonlyMap<number, FinishReason | null>,
  flags: CollectFlags,
  terminal: Terminal,
  scheduler?: SchedulerWork,
): Promise<number> {
  const isRepeated = listed.every(({ run }) => (stoppedBefore.get(run.id) ?? null) !== null)
  if (!isRepeated || isScreen(terminal) || terminal.event !== undefined)
    return await collectRuns(app, listed, flags, terminal, scheduler)
  const before = await progressOf(app.store, listed, stoppedBefore)
  const held: (() => Promise<void> | void)[] = []
  const holding: Terminal = {
    ...terminal,
    log: (...line) => void held.push(() => terminal.log(...line)),
    write: async (...data) => void held.push(() => terminal.write(...data)),
  }
  let isSame = false
  try {
    const code = await collectRuns(app, listed, flags, holding, scheduler)
    const reasons = new Map<number, FinishReason | null>()
    for (const { run } of listed) reasons.set(run.id, (await app.store.run(run.id))?.finishReason ?? null)
    isSame = (await progressOf(app.store, listed, reasons)) === before
    return code
  } finally {
    if (!isSame) for (const print of held) await print()
  }
}

/** How far runs are, as text: the same twice where a command changed nothing. */
async function progressOf(
  store: Pick<Store, 'taskCounts' | 'creditsOf'>,
  listed: readonly ListedRun[],
  reasons: ReadonlyMap<number, FinishReason | null>,
): Promise<string> {
  const runs = listed.map(async ({ run: { id } }) => {
    const { done, failed } = await store.taskCounts(id)
    const { spent, ambiguous } = await store.creditsOf([id])
    return [id, reasons.get(id) ?? null, done, failed, spent, ambiguous]
  })
  return JSON.stringify(await Promise.all(runs))
}

async function collectAndReport(
  app: App,
  listed: readonly ListedRun[],
  flags: CollectFlags,
  {
    terminal,
    interrupts,
    runPings,
    scheduler,
  }: {
    readonly terminal: Terminal
    readonly interrupts: Interrupts
    readonly runPings: RunPings
    readonly scheduler: SchedulerWork | undefined
  },
): Promise<number> {
  for (const { run, show } of listed)
    if (show === 'collect') terminal.event?.('Run started', { level: 'info', run: run.id, job: run.job })
  const { metricsFile, ...settings } = readCollectFlags(flags)
  const display = runStatusLine(terminal, app.clock)
  const collection = {
    ...settings,
    stop: interrupts.stop,
    reported: scheduler?.reported,
    isTrial: scheduler?.isTrial,
    onProgress: display.show,
    notice: (message: string) => terminal.log(message),
  }
  const collected = await collections.finish(app, listed, collection)
  const cause = interrupts.stop.cause()
  const documents = await collections.documents(app, listed, collected, cause)
  display.end()
  const ended = listed.map((one, index) => ({ ...one, document: documents[index] as RunDocument }))
  const reason = worstReason(documents.map(({ finish_reason }) => finish_reason ?? 'completed'))
  const isSuspect = documents.some(({ suspect }) => suspect !== undefined)
  // The log of a command that stays up is read from the top.
  const isStayingUp = scheduler !== undefined
  await printEnds(
    app,
    ended,
    { cause, reason, isSuspect, asJson: flags.json === true, isStayingUp },
    terminal,
  )
  const finished = ended.filter(({ show }) => show === 'collect')
  const ends = finished.map(({ document }) => ({
    job: document.job,
    isGood: isComplete(document.finish_reason),
    summary: async () => (await summaryLines(app.store, [document])).join('\n'),
  }))
  await runPings.ended(ends)
  await afterRuns({ app, finished, cause, metricsFile, log: (line) => terminal.log(line) })
  if (reason === 'interrupted') return interrupts.exitCode()
  // All may be done, and nothing of it kept.
  if (app.store.file.loss() !== null) return exitCodes.unavailable
  if (cause?.reason === reason) return exitCodeOf(cause)
  return isSuspect && reason === 'completed' ? exitCodes.completed_with_failures : exitCodes[reason]
}

/** Prints what came of runs, and why they were stopped. */
async function printEnds(
  { store }: App,
  ended: readonly (ListedRun & { readonly document: RunDocument })[],
  {
    cause,
    reason,
    isSuspect,
    asJson,
    isStayingUp,
  }: {
    readonly cause: StopCause | null
    readonly reason: FinishReason
    /** One of the runs is suspect as a whole. */
    readonly isSuspect: boolean
    readonly asJson: boolean
    readonly isStayingUp: boolean
  },
  terminal: Terminal,
): Promise<void> {
  const onScreen = isScreen(terminal)
  const logCause = (): void => {
    if (cause !== null && cause.reason !== 'interrupted')
      terminal.log(cause.message, { level: 'error', code: exitCodeOf(cause) })
  }
  if (onScreen || isStayingUp) logCause()
  for (const { show, document } of ended) if (show === 'collect') logEnd(terminal, document)
  const documents = ended.map(({ document }) => document)
  const shownAgain = new Set(ended.flatMap(({ run, show }) => (show === 'as-stored' ? [run.id] : [])))
  if (asJson || terminal.quiet !== true || reason !== 'completed' || isSuspect)
    await outFile.printBestEffort(
      asJson
        ? `${JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)}\n`
        : wrapLines(
            `${(await summaryLines(store, documents, { shownAgain, onScreen })).join('\n')}\n`,
            terminal.columns,
          ),
      terminal,
    )
  // The mail of cron begins with the line that says how it ended.
  if (!onScreen && !isStayingUp) logCause()
  if (!onScreen) return
  if (!asJson) for (const line of nextCommands(ended)) note(terminal, line)
}

/** What lines about these runs name. */
function runsOf(listed: readonly ListedRun[]): LogFields {
  const runs = listed.filter(({ show }) => show === 'collect').map(({ run }) => run)
  const [first, second] = runs
  if (first === undefined) return {}
  if (second === undefined) return { run: first.id, job: first.job }
  return { runs: runs.map(({ id }) => id), jobs: runs.map(({ job }) => job) }
}

/** Says to programs how a run ended; a person reads its summary. */
function logEnd(
  terminal: Terminal,
  { run, job, finish_reason, tasks, credits, duration_ms, suspect }: RunDocument,
): void {
  const isQuiet = finish_reason === 'completed' && suspect === undefined
  const level = isQuiet ? 'info' : isComplete(finish_reason) ? 'warn' : 'error'
  const more = suspect === undefined ? {} : { suspect }
  terminal.event?.('Run ended', { level, run, job, finish_reason, tasks, credits, duration_ms, ...more })
}

type CollectSettings = Pick<
  CollectRequest,
  'concurrency' | 'maxOutageMs' | 'maxThrottlingMs' | 'fitBalance'
> & { readonly metricsFile: MetricsFile | null }

/** How the user wants to collect. To be asked before anything is planned, for it may be refused. */
function readCollectFlags(flags: CollectFlags): CollectSettings {
  const outage = flags.maxOutage
  const maxOutageMs = outage === undefined ? collections.usualOutageMs : parseDuration(outage, 'smhd')
  if (maxOutageMs === null)
    throw new UsageError(`--max-outage cannot be '${outage}'; write a time such as 90s, 30m or 2h`)
  return {
    concurrency: numberOption('--concurrency', flags.concurrency, { min: 1, max: connections.most }) ?? null,
    maxOutageMs,
    maxThrottlingMs: outage === undefined ? defaultThrottlingMs : maxOutageMs,
    fitBalance: flags.fitBalance === true,
    metricsFile: metrics.file(flags.metricsFile),
  }
}

/** For several runs of one command: the first of these reasons decides the exit code. */
const worst: readonly FinishReason[] = [
  'crashed',
  'interrupted',
  'auth',
  'unavailable',
  'quota',
  'balance',
  'budget',
  'completed_with_failures',
  'completed',
]

/** The reason that decides the exit code. */
export function worstReason(reasons: readonly FinishReason[]): FinishReason {
  return worst.find((reason) => reasons.includes(reason)) ?? 'completed'
}

/** Pings around the collection of runs. */
type RunPings = ReturnType<typeof pings.starts>

/** Rates are taken over this long. */
const rateWindowMs = 10_000

/** Shows how far a collection is. */
function runStatusLine(terminal: Terminal, clock: Pick<Clock, 'monotonic'>) {
  const rate = slidingRate(clock)
  const line = statusLine<Progress>(terminal, clock, (progress) => progressLine(progress, rate.perSecond()))
  return {
    show: (progress: Progress): void => {
      rate.note(progress.done + progress.failed)
      line.show(progress)
    },
    end: line.end,
  }
}

/** One line: done, rate, credits, balance, time left. */
function progressLine(progress: Progress, perSecond: number | null): string {
  const { planned, done, failed, spent, balance } = progress
  const settled = done + failed
  const percent = planned === 0 ? 100 : Math.floor((settled / planned) * 100)
  const left = perSecond === null || perSecond === 0 ? null : (planned - settled) / perSecond
  return [
    `${grouped(settled)}/${grouped(planned)} tasks (${percent} %)`,
    failed === 0 ? null : `${grouped(failed)} failed`,
    perSecond === null ? null : `${perSecond.toFixed(1)}/s`,
    `${grouped(spent)} credits`,
    balance === null ? null : `balance ${grouped(balance)}`,
    left === null ? null : `${duration(left)} left`,
  ]
    .filter((part) => part !== null)
    .join(' · ')
}

function slidingRate(clock: Pick<Clock, 'monotonic'>) {
  let marks: { readonly at: number; readonly settled: number }[] = []
  return {
    note: (settled: number): void => {
      const at = clock.monotonic()
      const last = marks.at(-1)
      if (last !== undefined && at - last.at < liveEveryMs) return
      marks.push({ at, settled })
      marks = marks.filter((mark) => at - mark.at <= rateWindowMs)
    },
    perSecond: (): number | null => {
      const [first] = marks
      const last = marks.at(-1)
      if (first === undefined || last === undefined || last.at === first.at) return null
      return ((last.settled - first.settled) / (last.at - first.at)) * 1000
    },
  }
}

const causesShown = 3

/**
 * What came of each run in one line, and under it why tasks failed and how to go on. Without a screen, as in the mail of cron, the
 * first line says what to do, too.
 *
 * @param shownAgain runs that were finished before the command
 */
export async function summaryLines(
  store: Pick<Store, 'failureCauses'>,
  documents: readonly RunDocument[],
  {
    shownAgain = new Set(),
    onScreen = false,
  }: {
    readonly shownAgain?: ReadonlySet<number>
    readonly onScreen?: boolean
  } = {},
): Promise<readonly string[]> {
  const blocks = documents.map(async (one) => {
    const causes = one.tasks.failed === 0 ? [] : await store.failureCauses(one.run, causesShown)
    const again = shownAgain.has(one.run) ? ' (finished before; nothing was bought now)' : ''
    const next = [whatToDo(one, causes)].flatMap((line) => line ?? [])
    return [
      ...runLines.suspicion(one),
      `${runLines.summary(one)}${again}${onScreen ? '' : next.map((line) => `. ${line}`).join('')}`,
      ...leftOut(one),
      ...runLines.malformed(one.malformed_items),
      ...runLines.mismatch(one.mismatched_answers),
      ...causeLines(one, causes),
      ...(onScreen ? next.map((line) => `  ${line}`) : []),
    ]
  })
  return [
    ...(await Promise.all(blocks)).flat(),
    ...otherPrograms(documents),
    ...lostByFailover(documents),
    ...balanceNotRead(documents),
  ]
}

/** The last reading is not waited for, where the service does not answer it soon. */
function balanceNotRead(documents: readonly RunDocument[]): readonly string[] {
  const isMissing = ({ credits }: RunDocument): boolean =>
    credits.balance_before !== null && credits.balance_after === null
  return documents.some(isMissing)
    ? [
        '  The balance was not read at the end. The next reading settles what was spent: rankline usage, then rankline ledger verify',
      ]
    : []
}

/** What no lock of this machine keeps out: another one that spends with the same key. Runs of one command share what is known of it. */
function otherPrograms(documents: readonly RunDocument[]): readonly string[] {
  const others = documents.find(({ spent_by_others: spent }) => spent !== undefined)?.spent_by_others
  if (others === undefined) return []
  const when = utcBetween(Date.parse(others.from), Date.parse(others.until))
  const throttled = documents.reduce((sum, one) => sum + (one.throttled_calls ?? 0), 0)
  const refused =
    throttled === 0
      ? ''
      : ` It uses up the rate limit, too: ${count(throttled, 'call')} ${throttled === 1 ? 'was' : 'were'} refused for it.`
  return [
    `  Another program uses this key: ${count(others.credits, 'credit')} ${when} ${others.credits === 1 ? 'is' : 'are'} in no call of this database.${refused} ${shareQueue}`,
  ]
}

/** What was paid while the queue failed over and is in no call. Runs of one command share what is known of it. */
function lostByFailover(documents: readonly RunDocument[]): readonly string[] {
  const lost = documents.find(({ lost_by_failover: credits }) => credits !== undefined)?.lost_by_failover
  return lost === undefined
    ? []
    : [
        `  ${count(lost, 'credit')} ${lost === 1 ? 'was' : 'were'} spent in calls that the queue lost when its server failed over.`,
      ]
}

type FailureCause = Awaited<ReturnType<Store['failureCauses']>>[number]

function causeLines({ run }: RunDocument, causes: readonly FailureCause[]): readonly string[] {
  if (causes.length === 0) return []
  const lines = causes.map(({ kind, tasks }) => `  ${count(tasks, 'task')}: ${sanitize(kind)}`)
  return [
    ...lines,
    ...(unusable(causes) === 0
      ? []
      : [
          `  The answers are stored. After an update of rankline, read them again at no cost with: rankline renormalise`,
        ]),
    `  Each: rankline runs ${run}`,
  ]
}

function unusable(causes: readonly FailureCause[]): number {
  return causes.reduce((sum, { answered }) => sum + answered, 0)
}

function leftOut({ left_out: left }: RunDocument): readonly string[] {
  return left === undefined
    ? []
    : [
        `  Left out, because the balance does not cover them: ${count(left.queries, 'query', 'queries')} (${count(left.credits, 'credit')} at most)`,
      ]
}

/** How to get what is missing; null where nothing is. */
function whatToDo(document: RunDocument, causes: readonly FailureCause[]): string | null {
  const { run, status, finish_reason: reason, tasks, limits_reached: reached } = document
  if (status === 'finished' && areTooLong(causes, tasks.failed))
    return 'Another try cannot help. Change the job as it says, then run it again'
  // What is not finished is not retried.
  if (status === 'finished' && tasks.failed > 0)
    return unusable(causes) === 0
      ? `Buy what failed again: rankline retry ${run}`
      : `When the service works again, buy what failed again: rankline retry ${run}`
  if (status !== 'stopped') return null
  const left = `${count(tasks.pending, 'task')} left.`
  const ownLimit = reached === undefined || reached.some((name) => name.startsWith('max_credits '))
  if (reason !== 'budget') return `${left} Continue with the same command, or: rankline resume ${run}`
  return ownLimit
    ? `${left} Raise max_credits (or --max-credits), then run the same command again`
    : `${left} Stopped by ${sanitize(reached.join(' and '))}; the same command continues when that begins anew, or is raised`
}

const exportOf = {
  organic: 'organic',
  news: 'news',
  video: 'videos',
  image: 'images',
  reference: 'references',
  suggestion: 'suggestions',
  related: 'related',
} as const

/** Where to look at what finished runs found. */
export function nextCommands(
  ended: readonly { readonly run: Pick<Run, 'settings'>; readonly document: RunDocument }[],
): readonly string[] {
  return ended.flatMap(({ run, document: { job, status, results } }) => {
    if (status !== 'finished') return []
    const name = sanitize(shellWord(job))
    if (run.settings.targets.length > 0) return [`Next: rankline report ${name}`]
    const kinds = Object.keys(exportOf) as (keyof typeof exportOf)[]
    const kind = kinds.find((one) => (results[one] ?? 0) > 0)
    return kind === undefined ? [] : [`Next: rankline export ${exportOf[kind]} --job ${name}`]
  })
}

/** A stop that the signals of the terminal and of the system ask for. */
type Interrupts = Omit<ReturnType<typeof listenForInterrupts>, typeof Symbol.dispose>

/** The jobs that a command was given. */
export const jobArguments = {
  flags: jobFileFlags,
  named: withNamedJobs,
  due: withDueJobs,
  meant: meantJobs,
}

/** How commands collect runs. */
export const collecting = {
  runs: collectRuns,
  again: collectAgain,
  readFlags: readCollectFlags,
}
