import { StopRequested, type StopSignal, stopSignal } from '../../collect/stop.ts'
import { busyExitCode, RanklineError } from '../../model/errors.ts'
import type { JobSettings } from '../../model/job.ts'
import type { FinishReason } from '../../model/run.ts'
import { firstNames } from '../../model/text.ts'
import { type Clock, dayMs, hourMs, sleep } from '../../model/time.ts'
import type { Terminal } from '../../output/terminal.ts'
import { nextSlot } from '../../schedule/slots.ts'
import type { LastValidJob } from './job-files.ts'

/** The result of one check of a job for due work. */
export interface CheckResult {
  /** The job's latest run; null where it has none. */
  readonly run: number | null
  readonly finishReason: FinishReason | null
  readonly finishedAt: number | null
  /** How the run is continued before the job's next time; null where it is not. */
  readonly retry: Retry | null
}

/**
 * How it is found out whether what stopped a run has passed: `free` where asking costs nothing (a refused key, no balance, a service that
 * was down), `paid` where only a call that may be billed shows it (answers that cannot be used).
 */
export type Retry = 'free' | 'paid'

/**
 * Collects what is due of jobs; what it came to, by name. Rejected with one sentence where nothing could be done.
 *
 * @param isTrial whether answers that could not be used have stopped some of them: one call finds out if that has passed
 */
export type CollectDue = (
  jobs: readonly LastValidJob[],
  stop: StopSignal,
  isTrial: boolean,
) => Promise<ReadonlyMap<string, CheckResult>>

/** Where one job stands. */
export type ScheduledJobState = ReturnType<typeof stateOf>

/** A timer does not notice that the machine was suspended, nor that its clock was set: none is longer than this. */
const defaultSleepMs = 30_000

/** A job with what the scheduler knows of it. */
interface ScheduledJob {
  readonly job: LastValidJob
  readonly checkedAt: number | null
  readonly next: number | null
  /** Its next time of its own, without what is retried. */
  readonly slot: number | null
  /** How many checks in a row were stopped by something that may pass. */
  readonly tries: number
  readonly retry: Retry | null
  readonly last: CheckResult | null
  readonly failure: string | null
}

interface SchedulerParts {
  readonly clock: Clock
  /** The last valid job of each file, read again where it has changed. */
  readonly jobFiles: { readonly refresh: () => Promise<readonly LastValidJob[]> }
  readonly collect: CollectDue
  /** Asks for free whether the service takes calls again, before runs that it stopped are continued. */
  readonly askService?: () => Promise<boolean>
  readonly log: Terminal['log']
  /** Ends the scheduler; what is in flight is awaited. */
  readonly stop: AbortSignal
  /** Whether the clock can be trusted: until then no job is checked and nothing else is done. */
  readonly mayWork?: () => Promise<boolean>
  /** Called each time that the scheduler wakes up, after the due jobs, with all jobs. It never throws. */
  readonly onWake?: (jobs: readonly LastValidJob[]) => Promise<void>
  /** Called each time that the scheduler wakes up, with the state of all jobs. */
  readonly onChecked?: (jobs: readonly ScheduledJobState[]) => void
  /** The longest sleep. */
  readonly longestSleepMs?: number
}

/**
 * Checks each job for due work when its time comes, until it is stopped. Nothing that goes wrong ends it: the job is checked again
 * at its next time, and sooner where the service or the disk was unavailable. Which slots were taken stands in the database, so that a
 * job is caught up once after downtime, and a slot that cron has run is not run again.
 */
export async function runScheduler(parts: SchedulerParts): Promise<void> {
  const { clock, jobFiles, log, stop, onWake, onChecked = () => {}, longestSleepMs = defaultSleepMs } = parts
  const { mayWork = async () => true, askService = async () => true } = parts
  let entries: ReadonlyMap<string, ScheduledJob> = new Map()
  // Another process that collects is waited for, and told of once.
  let isWaiting = false
  while (!stop.aborted) {
    const now = clock.wall()
    entries = updated(entries, await jobFiles.refresh(), now)
    const works = await mayWork()
    if (stop.aborted) return
    const due = [...entries].filter(([, { next }]) => works && next !== null && next <= now)
    const stoppedDue = due.filter(([, entry]) => isStoppedByService(entry, now))
    const isAnswered = stoppedDue.length > 0 && (await askService())
    if (stop.aborted) return
    // Whatever the same cause has stopped is continued together, and only then: a time of its own needs no asking.
    const stopped = isAnswered ? [...entries].filter(([, entry]) => isStoppedByService(entry, now)) : []
    const toCheck = [...due.filter(([, entry]) => !isStoppedByService(entry, now)), ...stopped]
    if (!isAnswered)
      entries = new Map([
        ...entries,
        ...stoppedDue.map(([path, entry]) => [path, retried(entry, now)] as const),
      ])
    const jobs = toCheck.map(([, entry]) => entry)
    const end = jobs.length > 0 ? await check(parts, jobs) : null
    if (end === 'busy') {
      if (!isWaiting)
        log('Another process on this machine is collecting; what is due waits for it.', { level: 'info' })
      isWaiting = true
    } else if (end !== null) {
      isWaiting = false
      entries = new Map([
        ...entries,
        ...toCheck.map(([path, entry]) => [path, checked(entry, end, now)] as const),
      ])
    }
    onChecked([...entries.values()].map(stateOf))
    if (works) await onWake?.([...entries.values()].map(({ job }) => job))
    const waitMs = end === 'busy' || !works ? longestSleepMs : untilNext(entries, clock.wall())
    await sleep(clock, Math.min(waitMs, longestSleepMs), stop).catch((reason: unknown) => {
      if (!(reason instanceof StopRequested)) throw reason
    })
  }
}

/** Where the jobs stand after their files were read again. */
function updated(
  entries: ReadonlyMap<string, ScheduledJob>,
  jobs: readonly LastValidJob[],
  now: number,
): ReadonlyMap<string, ScheduledJob> {
  return new Map(
    jobs.map((job) => {
      const before = entries.get(job.path)
      const { last = null, failure = null, tries = 0, retry = null } = before ?? {}
      // Clocks can be set back: a check in the future counts as one made now.
      const checkedAt = before?.checkedAt == null ? null : Math.min(before.checkedAt, now)
      const isSame = before?.checkedAt === checkedAt && sameTimes(before.job.settings, job.settings)
      // A time may have passed while the file could not be read: the database says whether it was run.
      const isMended = before?.job.isBroken === true && !job.isBroken
      const slot = isSame ? before.slot : nextCheck(job.settings, checkedAt, now)
      const next = isMended ? now : isSame ? before.next : slot
      return [job.path, { job, checkedAt, next, slot, tries, retry, last, failure }]
    }),
  )
}

function sameTimes(a: When, b: When): boolean {
  return a.schedule === b.schedule && a.timezone === b.timezone
}

type CheckResults =
  | ReadonlyMap<string, CheckResult>
  | { readonly failure: string; readonly retry: Retry | null }

/** Checks jobs whose time has come, and runs what is due. It never throws. */
async function check(
  { collect, log, stop }: Pick<SchedulerParts, 'collect' | 'log' | 'stop'>,
  entries: readonly ScheduledJob[],
): Promise<CheckResults | 'busy'> {
  const jobs = entries.map(({ job }) => job)
  // The cause of a stop is that of one check; a signal stops the next ones, too.
  const own = stopSignal()
  const interrupt = (): void => own.request({ reason: 'interrupted', message: 'Interrupted.' })
  stop.addEventListener('abort', interrupt)
  try {
    return await collect(
      jobs,
      own,
      entries.some(({ retry }) => retry === 'paid'),
    )
  } catch (error) {
    if (error instanceof RanklineError && error.exitCode === busyExitCode) return 'busy'
    const message = error instanceof Error ? error.message : String(error)
    const failure = error instanceof RanklineError ? message : `internal error: ${message}`
    const names = jobs.map(({ settings }) => settings.name)
    // The same is said once, however often it is tried again.
    if (entries.some((entry) => entry.failure !== failure))
      log(`${failure.replace(/\.$/, '')}. Not run: ${firstNames(names)}.`, { level: 'error', jobs: names })
    // A bug would only be met again.
    return { failure, retry: error instanceof RanklineError ? 'free' : null }
  } finally {
    stop.removeEventListener('abort', interrupt)
  }
}

function checked(entry: ScheduledJob, end: CheckResults, now: number): ScheduledJob {
  const { settings } = entry.job
  const isFailed = 'failure' in end
  const last = isFailed ? entry.last : (end.get(settings.name) ?? entry.last)
  const retry = isFailed ? end.retry : (end.get(settings.name)?.retry ?? null)
  const slot = nextCheck(settings, now, now)
  const failure = isFailed ? end.failure : null
  return retried(
    { ...entry, checkedAt: now, slot, retry, last, failure, tries: retry ? entry.tries : 0 },
    now,
  )
}

/** Sets when the job is checked next: at its next time, or sooner where a retry is due; each retry waits longer. */
function retried(entry: ScheduledJob, now: number): ScheduledJob {
  const { slot, retry } = entry
  if (retry === null) return { ...entry, next: slot }
  const tries = entry.tries + 1
  const again = now + pauseBefore(tries, retry)
  return { ...entry, tries, next: slot === null ? again : Math.min(slot, again) }
}

/** Whether a job is checked only to find out if what stopped it has passed, and asking is free. */
function isStoppedByService({ slot, retry, failure }: ScheduledJob, now: number): boolean {
  return retry === 'free' && failure === null && (slot === null || slot > now)
}

function untilNext(entries: ReadonlyMap<string, ScheduledJob>, now: number): number {
  const next = [...entries.values()].flatMap((entry) => entry.next ?? [])
  return next.reduce((least, one) => Math.min(least, Math.max(0, one - now)), Number.POSITIVE_INFINITY)
}

function stateOf({ job, next, last, failure }: ScheduledJob) {
  const { name, timezone } = job.settings
  return {
    job: name,
    file: job.path,
    zone: timezone,
    /** When it is checked next; null where its pattern never comes again. */
    next,
    last,
    /** Why its last check failed, or that its file has mistakes; null where all is well. */
    problem: job.isBroken ? `${job.path} has mistakes` : failure,
  }
}

/** How often jobs are checked that say how often their queries are due, but not at which time. */
const checkEveryMs = 300_000

/** What decides when a job is checked. */
export type When = Pick<JobSettings, 'schedule' | 'timezone'>

/**
 * When a job is checked next: at once where it was not checked yet, for a slot may have passed while nothing ran; null where its
 * pattern never comes again.
 */
export function nextCheck(
  { schedule, timezone }: When,
  checkedAt: number | null,
  now: number,
): number | null {
  if (checkedAt === null) return now
  if (schedule === null) return (Math.floor(checkedAt / checkEveryMs) + 1) * checkEveryMs
  return nextSlot(schedule, timezone, checkedAt)
}

/** The pauses before a run is continued: what is free is asked often, what may be billed rarely. */
const pauses: Readonly<Record<Retry, { readonly firstMs: number; readonly longestMs: number }>> = {
  free: { firstMs: 300_000, longestMs: hourMs },
  paid: { firstMs: hourMs, longestMs: dayMs },
}

/** How long to wait before a run is continued that was stopped for the n-th time in a row: twice as long each time. */
export function pauseBefore(tries: number, retry: Retry): number {
  const { firstMs, longestMs } = pauses[retry]
  return Math.min(firstMs * 2 ** (tries - 1), longestMs)
}
