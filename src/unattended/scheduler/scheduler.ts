import { StopRequested, type StopSignal, stopSignal } from '../../collect/stop.ts'
import { busyExitCode, RanklineError } from '../../model/errors.ts'
import type { JobSettings } from '../../model/job.ts'
import type { FinishReason } from '../../model/run.ts'
import { firstNames } from '../../model/text.ts'
import { type Clock, dayMs, hourMs, sleep } from '../../model/time.ts'
import type { Terminal } from '../../output/terminal.ts'
import { nextSlot } from '../../schedule/slots.ts'
import type { JobFiles, JobForm } from './job-files.ts'

/** What a look at a job came to. */
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
  jobs: readonly JobForm[],
  stop: StopSignal,
  isTrial: boolean,
) => Promise<ReadonlyMap<string, CheckResult>>

/** Where one job stands. */
export interface ScheduledJobState {
  readonly job: string
  readonly file: string
  readonly zone: string
  /** When it is looked at next; null where its pattern never comes again. */
  readonly next: number | null
  readonly last: CheckResult | null
  /** Why it was not looked at the last time, or has mistakes; null where all is well. */
  readonly problem: string | null
}

export interface SchedulerParts {
  readonly clock: Clock
  readonly jobFiles: JobFiles
  readonly collect: CollectDue
  /** Asks for free whether the service takes calls again, before runs that it stopped are continued. */
  readonly probe?: () => Promise<boolean>
  readonly log: Terminal['log']
  /** Ends the scheduler; what is in flight is awaited. */
  readonly stop: AbortSignal
  /** Whether the clock can be worked with: while it cannot, nothing is looked at and nothing done beside. */
  readonly mayWork?: () => Promise<boolean>
  /** What is done beside runs, called whenever it has looked at the clock; nothing is thrown. */
  readonly besides?: (jobs: readonly JobForm[]) => Promise<void>
  /** Called whenever it has looked at the clock, with all jobs. */
  readonly onLook?: (jobs: readonly ScheduledJobState[]) => void
  /** Longest sleep between two looks at the clock. */
  readonly longestSleepMs?: number
}

/** A timer does not notice that the machine was suspended, nor that its clock was set: none is longer than this. */
const defaultSleepMs = 30_000

/** A job with what the scheduler knows of it. */
interface ScheduledJob {
  readonly form: JobForm
  readonly lookedAt: number | null
  readonly next: number | null
  /** Its next time of its own, without what is retried. */
  readonly slot: number | null
  /** Looks in a row that something stopped which may pass. */
  readonly tries: number
  readonly retry: Retry | null
  readonly last: CheckResult | null
  readonly failure: string | null
}

/**
 * Looks at each job when its time comes, until it is stopped. Nothing that goes wrong at one time ends it: the job is looked at again
 * at its next time, and sooner where the service or the disk was unavailable. Which slots were taken stands in the database, so that a
 * job is caught up once after downtime, and a slot that cron has run is not run again.
 */
export async function runScheduler(parts: SchedulerParts): Promise<void> {
  const { clock, jobFiles, log, stop, besides, onLook = () => {}, longestSleepMs = defaultSleepMs } = parts
  const { mayWork = async () => true, probe = async () => true } = parts
  let entries: ReadonlyMap<string, ScheduledJob> = new Map()
  // Another process that collects is waited for, and told of once.
  let isWaiting = false
  while (!stop.aborted) {
    const now = clock.wall()
    entries = updated(entries, await jobFiles.refresh(), now)
    const works = await mayWork()
    if (stop.aborted) return
    const due = [...entries].filter(([, { next }]) => works && next !== null && next <= now)
    const asked = due.filter(([, entry]) => isProbed(entry, now))
    const isAnswered = asked.length > 0 && (await probe())
    if (stop.aborted) return
    // Whatever the same cause has stopped is continued together, and only then: a time of its own needs no asking.
    const stopped = isAnswered ? [...entries].filter(([, entry]) => isProbed(entry, now)) : []
    const looks = [...due.filter(([, entry]) => !isProbed(entry, now)), ...stopped]
    if (!isAnswered)
      entries = new Map([...entries, ...asked.map(([path, entry]) => [path, retried(entry, now)] as const)])
    const looking = looks.map(([, entry]) => entry)
    const end = looking.length > 0 ? await lookAt(parts, looking) : null
    if (end === 'busy') {
      if (!isWaiting)
        log('Another process on this machine is collecting; what is due waits for it.', { level: 'info' })
      isWaiting = true
    } else if (end !== null) {
      isWaiting = false
      entries = new Map([
        ...entries,
        ...looks.map(([path, entry]) => [path, looked(entry, end, now)] as const),
      ])
    }
    onLook([...entries.values()].map(stateOf))
    if (works) await besides?.([...entries.values()].map(({ form }) => form))
    const waitMs = end === 'busy' || !works ? longestSleepMs : untilNext(entries, clock.wall())
    await sleep(clock, Math.min(waitMs, longestSleepMs), stop).catch((reason: unknown) => {
      if (!(reason instanceof StopRequested)) throw reason
    })
  }
}

/** Where the jobs stand after their files were read again. */
function updated(
  entries: ReadonlyMap<string, ScheduledJob>,
  forms: readonly JobForm[],
  now: number,
): ReadonlyMap<string, ScheduledJob> {
  return new Map(
    forms.map((form) => {
      const before = entries.get(form.path)
      const { last = null, failure = null, tries = 0, retry = null } = before ?? {}
      // Clocks can be set back: a look that lies ahead of now counts as one made now.
      const lookedAt = before?.lookedAt == null ? null : Math.min(before.lookedAt, now)
      const isSame = before?.lookedAt === lookedAt && sameTimes(before.form.settings, form.settings)
      // A time may have passed while the file could not be read: the database says whether it was run.
      const isMended = before?.form.isBroken === true && !form.isBroken
      const slot = isSame ? before.slot : nextLook(form.settings, lookedAt, now)
      const next = isMended ? now : isSame ? before.next : slot
      return [form.path, { form, lookedAt, next, slot, tries, retry, last, failure }]
    }),
  )
}

function sameTimes(a: When, b: When): boolean {
  return a.schedule === b.schedule && a.timezone === b.timezone
}

type LookEnd = ReadonlyMap<string, CheckResult> | { readonly failure: string; readonly retry: Retry | null }

/** Looks at jobs whose time has come. Of all that can go wrong, nothing is thrown. */
async function lookAt(
  { collect, log, stop }: SchedulerParts,
  entries: readonly ScheduledJob[],
): Promise<LookEnd | 'busy'> {
  const forms = entries.map(({ form }) => form)
  // The cause of a stop is that of one look; a signal stops the next ones, too.
  const own = stopSignal()
  const interrupt = (): void => own.request({ reason: 'interrupted', message: 'Interrupted.' })
  stop.addEventListener('abort', interrupt)
  try {
    return await collect(
      forms,
      own,
      entries.some(({ retry }) => retry === 'paid'),
    )
  } catch (error) {
    if (error instanceof RanklineError && error.exitCode === busyExitCode) return 'busy'
    const message = error instanceof Error ? error.message : String(error)
    const failure = error instanceof RanklineError ? message : `internal error: ${message}`
    const names = forms.map(({ settings }) => settings.name)
    // The same is said once, however often it is tried again.
    if (entries.some((entry) => entry.failure !== failure))
      log(`${failure.replace(/\.$/, '')}. Not run: ${firstNames(names)}.`, { level: 'error', jobs: names })
    // A bug would only be met again.
    return { failure, retry: error instanceof RanklineError ? 'free' : null }
  } finally {
    stop.removeEventListener('abort', interrupt)
  }
}

function looked(entry: ScheduledJob, end: LookEnd, now: number): ScheduledJob {
  const { settings } = entry.form
  const isFailed = 'failure' in end
  const last = isFailed ? entry.last : (end.get(settings.name) ?? entry.last)
  const retry = isFailed ? end.retry : (end.get(settings.name)?.retry ?? null)
  const slot = nextLook(settings, now, now)
  const failure = isFailed ? end.failure : null
  return retried({ ...entry, lookedAt: now, slot, retry, last, failure, tries: retry ? entry.tries : 0 }, now)
}

/** The job is looked at again at its next time, or sooner where that is retried: later each time. */
function retried(entry: ScheduledJob, now: number): ScheduledJob {
  const { slot, retry } = entry
  if (retry === null) return { ...entry, next: slot }
  const tries = entry.tries + 1
  const again = now + pauseBefore(tries, retry)
  return { ...entry, tries, next: slot === null ? again : Math.min(slot, again) }
}

/** Whether a job is looked at only to find out if what stopped it has passed, which can be asked for free. */
function isProbed({ slot, retry, failure }: ScheduledJob, now: number): boolean {
  return retry === 'free' && failure === null && (slot === null || slot > now)
}

function untilNext(entries: ReadonlyMap<string, ScheduledJob>, now: number): number {
  const next = [...entries.values()].flatMap((entry) => entry.next ?? [])
  return next.reduce((least, one) => Math.min(least, Math.max(0, one - now)), Number.POSITIVE_INFINITY)
}

function stateOf({ form, next, last, failure }: ScheduledJob): ScheduledJobState {
  const { name, timezone } = form.settings
  const problem = form.isBroken ? `${form.path} has mistakes` : failure
  return { job: name, file: form.path, zone: timezone, next, last, problem }
}

/** Jobs that say how often their queries are due, and not at which time, are looked at this often. */
const lookEveryMs = 300_000

/** When a job is looked at. */
export type When = Pick<JobSettings, 'schedule' | 'timezone'>

/**
 * When a job is looked at next: at once where it was not looked at yet, for a slot may have passed while nothing ran; null where its
 * pattern never comes again.
 */
export function nextLook({ schedule, timezone }: When, lookedAt: number | null, now: number): number | null {
  if (lookedAt === null) return now
  if (schedule === null) return (Math.floor(lookedAt / lookEveryMs) + 1) * lookEveryMs
  return nextSlot(schedule, timezone, lookedAt)
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
