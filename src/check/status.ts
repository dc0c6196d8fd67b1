import { existsSync, statSync } from 'node:fs'
import { basename, dirname, extname, relative, resolve } from 'node:path'
import { openJob } from '../jobfile/open.ts'
import { peek } from '../jobfile/peek.ts'
import { mistakeLines } from '../jobfile/source.ts'
import { isWorkspaceMistake } from '../jobfile/workspace.ts'
import { UsageError } from '../model/errors.ts'
import { type JobSettings, noFile, type Problem } from '../model/job.ts'
import { areTooLong, coverageOf, endOf, type Run } from '../model/run.ts'
import { firstNames, groupedBy } from '../model/text.ts'
import { dayMs, hourMs, latestKnown, periodAt } from '../model/time.ts'
import { type CommandOptions, databaseFile } from '../run/config.ts'
import { searchJob } from '../run/job-files.ts'
import { storedData } from '../run/open-stored.ts'
import { nextSlot, slotsBetween } from '../schedule/slots.ts'
import type { Slot } from '../store/sqlite/jobs.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { MessageState } from '../store/sqlite/unattended/schema.ts'
import {
  accountSpending,
  isRetired,
  type JobFacts,
  type Level,
  levels,
  problemsOf,
  type RunFacts,
  type StatusFacts,
  type StatusProblem,
} from '../unattended/status.ts'

/** Credits that nothing explains, and messages that were given up, are told for so long. */
const recentMs = 7 * dayMs
/** A message that was not tried is late after that. */
const soonMs = hourMs

/** Reads what is known of all jobs. Calls nothing, and changes nothing. */
export async function gatherStatus(options: CommandOptions, now: number): Promise<StatusFacts> {
  const { path } = databaseFile.setting(options)
  const isMissing = !existsSync(path)
  await using store = await storedData.read(options)
  const spending = spendingOf(store, now)
  const isCollecting = !isMissing && (await isCollected(path))
  const { jobs: known, brokenShared } = await knownJobs(store, '.')
  const jobs: JobFacts[] = []
  for (const job of known) jobs.push(await jobFacts(job, { store, now, isCollecting, spending }))
  return {
    now,
    jobs,
    money: await moneyFacts(store, { now, jobs, spending }),
    messages: {
      waiting: await messageFacts(
        store,
        'waiting',
        ({ createdAt, lastError }) => lastError !== null || createdAt < now - soonMs,
      ),
      dead: await messageFacts(store, 'dead', ({ createdAt }) => createdAt >= now - recentMs),
    },
    database: await databaseFacts(store, path, isMissing),
    brokenShared,
  }
}

async function isCollected(path: string): Promise<boolean> {
  const { databaseLock, isHeld } = await import('../store/sqlite/connection/lock.ts')
  return isHeld(databaseLock(path))
}

async function jobFacts(
  { name, file, settings: described, changedAt }: KnownJob,
  {
    store,
    now,
    isCollecting,
    spending,
  }: {
    readonly store: Store
    readonly now: number
    readonly isCollecting: boolean
    readonly spending: Spending
  },
): Promise<JobFacts> {
  const runs = await store.newestRuns(name, latestKnown(now))
  const { last, good } = runs
  const settings = described ?? last?.settings ?? null
  const { schedule = null, every = null, timezone = 'UTC', freshnessOfRuns = null } = settings ?? {}
  const [slot = null] = await store.slots(name, 1)
  const { pausedAt, resumedAt } = await store.pauseOf(name)
  const since = countedSince({ last, good, slot, changedAt, resumedAt }, { schedule, timezone })
  const rests = file.state === 'missing' || pausedAt !== null
  const missed = rests ? [] : missedSlots({ schedule, timezone }, since ?? now, now)
  return {
    job: name,
    file: described === null ? file : await withQueries(file, { last, missed }),
    timezone,
    schedule,
    every,
    freshness: freshnessOfRuns,
    pausedAt,
    resumedAt,
    last: last === null ? null : await runFacts(store, last),
    good: good === null ? null : await runFacts(store, good),
    isRunning: isCollecting && last !== null && last.finishReason === null,
    missed,
    slot,
    nextSlot: schedule === null || rests ? null : nextSlot(schedule, timezone, now),
    ...(await spending(name, timezone)),
    alerts: await store.openAlerts(name),
  }
}

/** Where a time was missed, or files have changed since the last run, the queries are read, too. */
async function withQueries(
  file: JobFacts['file'],
  { last, missed }: { readonly last: Run | null; readonly missed: readonly number[] },
): Promise<JobFacts['file']> {
  if (file.state !== 'sound' || file.path === null) return file
  const mayBeWrong = missed.length > 0 || last === null || (await isChangedSince(file.path, last.startedAt))
  const mistake = mayBeWrong ? await mistakeInQueries(file.path) : null
  return mistake === null ? file : { ...file, state: 'broken', mistake }
}

/** Requests that are too long have few kinds of causes. */
const causesRead = 10

async function runFacts(store: Store, run: Run): Promise<RunFacts> {
  const { id, startedAt, finishedAt, finishReason } = run
  const tasks = await store.taskCounts(id)
  const { spent } = await store.creditsOf([id])
  const causes = finishReason === 'completed_with_failures' ? await store.failureCauses(id, causesRead) : []
  const facts = { run: id, startedAt, finishedAt, finishReason, tasks, spent }
  return areTooLong(causes, tasks.failed) ? { ...facts, isTooLong: true } : facts
}

/** What a job spent on its local day and in its local month. */
type Spending = (
  job: string,
  timezone: string,
) => Promise<{ readonly spentToday: number; readonly spentThisMonth: number }>

/** Each period is added up once for all jobs of a zone. */
function spendingOf(store: Store, now: number): Spending {
  const sums = new Map<number, Promise<ReadonlyMap<unknown, number>>>()
  const since = (from: number): Promise<ReadonlyMap<unknown, number>> => {
    const known = sums.get(from) ?? sumsByJob(store, from)
    sums.set(from, known)
    return known
  }
  return async (job, timezone) => {
    const [today, month] = [
      await since(periodAt('day', now, timezone).from),
      await since(periodAt('month', now, timezone).from),
    ]
    return { spentToday: today.get(job) ?? 0, spentThisMonth: month.get(job) ?? 0 }
  }
}

async function sumsByJob(store: Store, from: number): Promise<ReadonlyMap<unknown, number>> {
  return new Map((await store.sums('job', { from })).map(({ group, credits }) => [group, credits]))
}

async function moneyFacts(
  store: Store,
  {
    now,
    jobs,
    spending,
  }: { readonly now: number; readonly jobs: readonly JobFacts[]; readonly spending: Spending },
): Promise<StatusFacts['money']> {
  const reading = await store.newestUsage()
  const all = [...jobs, await spending(searchJob, 'UTC')]
  const remaining = reading?.remaining ?? null
  return {
    balance: reading === null || remaining === null ? null : { credits: remaining, readAt: reading.readAt },
    spent: await accountSpending.recent(store, now),
    spentToday: sum(all.map(({ spentToday }) => spentToday)),
    spentThisMonth: sum(all.map(({ spentThisMonth }) => spentThisMonth)),
    unexplained:
      reading === null
        ? null
        : await accountSpending.unexplainedSince(store, reading.keyHash, now - recentMs),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

type StoredMessageRow = Awaited<ReturnType<Store['messages']>>[number]

async function messageFacts(
  store: Store,
  state: MessageState,
  counts: (message: StoredMessageRow) => boolean,
): Promise<StatusFacts['messages']['dead']> {
  const messages = (await store.messages({ state })).filter(counts)
  return {
    messages: messages.length,
    channels: [...new Set(messages.map(({ channel }) => channel))].sort(),
    error: messages.find(({ lastError }) => lastError !== null)?.lastError ?? null,
  }
}

async function databaseFacts(
  store: Store,
  path: string,
  isMissing: boolean,
): Promise<StatusFacts['database']> {
  if (isMissing) return { path, isMissing, damage: null, freeBytes: Number.POSITIVE_INFINITY }
  const damage = await store.rejectDamaged().then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof UsageError)) throw error
      return `The database ${path} is damaged. Restore it from a backup; what is wrong shows: rankline db check`
    },
  )
  const { freeBytes } = await import('../store/sqlite/connection/watch.ts')
  return { path, isMissing, damage, freeBytes: freeBytes(dirname(path)) }
}

/** A job of the working folder or of the database. */
export interface KnownJob {
  readonly name: string
  readonly file: JobFacts['file']
  /** What its file says now; null where that cannot be read, or says it only with the options of a run. */
  readonly settings: JobSettings | null
  /** When its file was last changed, epoch ms; null where there is none. */
  readonly changedAt: number | null
}

/** A job with the mistake of the file that its folder shares; null where there is none. */
type FoundJob = KnownJob & Pick<OpenedJob, 'shared'>

/** Every job, by name: those that YAML files of the folder describe, and those that ran. */
export async function knownJobs(store: Store, folder: string) {
  const stored = await storedFiles(store)
  const jobs = new Map<string, FoundJob>()
  for (const path of peek.jobFiles(folder)) {
    const job = await describedBy(path, stored)
    if (!jobs.has(job.name)) jobs.set(job.name, job)
  }
  for (const [name, path] of stored) if (!jobs.has(name)) jobs.set(name, await storedJob(name, path))
  const all = [...jobs.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const waiting = new Map<string, number>()
  for (const { shared } of all) if (shared !== null) waiting.set(shared, (waiting.get(shared) ?? 0) + 1)
  return { jobs: all, brokenShared: [...waiting].map(([mistake, jobs]) => ({ mistake, jobs })) }
}

/** Names of the jobs of the database, and their files; null is a job that came through standard input. */
async function storedFiles(store: Store): Promise<ReadonlyMap<string, string | null>> {
  const names = new Set([...(await store.jobNames()), ...(await store.jobsThatRan())])
  names.delete(searchJob)
  const files = new Map<string, string | null>()
  for (const name of names) {
    const file = await store.jobFile(name)
    files.set(name, file === noFile ? null : file)
  }
  return files
}

/** The job of a YAML file; one with mistakes has the name under which it ran. */
async function describedBy(path: string, stored: ReadonlyMap<string, string | null>): Promise<FoundJob> {
  const opened = await openedJob(path)
  if (opened.settings !== null) return known(opened.settings.name, path, opened)
  const [name = basename(path, extname(path))] = [...stored].find(([, file]) => file === resolve(path)) ?? []
  return known(name, path, opened)
}

/** A job of the database whose file does not stand in the folder, or names no settings. */
async function storedJob(name: string, path: string | null): Promise<FoundJob> {
  const none = { name, settings: null, changedAt: null, shared: null }
  if (path === null) return { ...none, file: { path, state: 'sound', mistake: null } }
  if (!existsSync(path)) return { ...none, file: { path: shown(path), state: 'missing', mistake: null } }
  if (!/\.ya?ml$/i.test(path))
    return {
      ...known(name, path, { settings: null, mistake: null, shared: null }),
      file: { path: shown(path), state: 'sound', mistake: null },
    }
  const opened = await openedJob(path)
  // A file that names another job by now.
  if (opened.settings !== null && opened.settings.name !== name)
    return { ...none, file: { path: shown(path), state: 'missing', mistake: null } }
  return known(name, path, opened)
}

function known(name: string, path: string, opened: OpenedJob): FoundJob {
  const { settings, mistake, shared } = opened
  return {
    name,
    settings,
    shared,
    file: {
      path: shown(path),
      state: shared !== null ? 'waiting' : settings === null ? 'broken' : 'sound',
      mistake,
    },
    changedAt: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null,
  }
}

/** What can be said of a job file without its queries. */
async function openedJob(path: string) {
  const mistakes: Problem[] = []
  const job = await openJob(path, {}, (mistake) => mistakes.push(mistake))
  /** The mistake where it stands in the file that jobs of the folder share; null where there is none. */
  const shared = mistakeLines.first(mistakes.filter(isWorkspaceMistake))
  return { settings: job?.settings ?? null, mistake: mistakeLines.first(mistakes), shared }
}

type OpenedJob = Awaited<ReturnType<typeof openedJob>>

/** The first mistake in the queries of a job, its CSV files included; null where there is none. */
async function mistakeInQueries(path: string): Promise<string | null> {
  const mistakes: Problem[] = []
  const job = await openJob(path, {}, (mistake) => mistakes.push(mistake))
  if (job !== null) for await (const _ of job.queries());
  return mistakeLines.first(mistakes)
}

/** Whether a job file, or a CSV file that it names, was changed after an instant. */
async function isChangedSince(path: string, instant: number): Promise<boolean> {
  const files = [path, ...peek.csvFiles(path)]
  return files.some((file) => {
    const found = statSync(file, { throwIfNoEntry: false })
    return found === undefined || found.mtimeMs > instant
  })
}

/** A path as a user would type it here. */
function shown(path: string): string {
  const short = relative('.', path)
  return short.startsWith('..') ? path : short
}

export type StatusDocument = ReturnType<typeof statusDocument>
/** What `status --json` prints. Instants are ISO 8601 in UTC, credits whole numbers, coverage a part of 1. */
export function statusDocument(facts: StatusFacts) {
  const { now, money, messages, database } = facts
  const problems = problemsOf(facts)
  const levelOf = (job: string) => worstLevel(problems.filter((one) => one.job === job))
  const jobs = facts.jobs
    .filter((job) => !isRetired(job, now))
    .map((job) => ({ job: job.job, level: levelOf(job.job), ...jobPart(job) }))
  const days = accountSpending.daysLeft(money, now)
  return {
    at: instant(now),
    level: worstLevel(problems),
    database: database.isMissing ? null : database.path,
    jobs: levels.flatMap((level) => jobs.filter((one) => one.level === level)),
    problems: oncePerCause(problems).map(({ level, job, kind, text, jobs: stopped }) => ({
      level,
      job,
      kind,
      text,
      ...(stopped === undefined ? {} : { jobs: stopped }),
    })),
    balance:
      money.balance === null
        ? null
        : {
            credits: money.balance.credits,
            read_at: instant(money.balance.readAt),
            per_day: Math.round(accountSpending.perDay(money, now)),
            days_left: days === null ? null : Math.floor(days),
          },
    spent_today: money.spentToday,
    spent_this_month: money.spentThisMonth,
    unexplained: money.unexplained,
    messages: { waiting: messages.waiting.messages, dead: messages.dead.messages },
  }
}

function jobPart(job: JobFacts) {
  const { file, timezone, schedule, every, freshness, last, good, isRunning, nextSlot, slot, alerts } = job
  const { pausedAt } = job
  return {
    file: file.path,
    timezone,
    schedule,
    every,
    running: isRunning,
    paused_at: pausedAt === null ? null : instant(pausedAt),
    last_good_run: good === null ? null : runPart(good),
    last_run: last === null ? null : { ...runPart(last), finish_reason: last.finishReason },
    next_slot: nextSlot === null ? null : instant(nextSlot),
    last_slot:
      slot === null
        ? null
        : { at: instant(slot.slotAt), outcome: slot.outcome, reason: slot.reason, run: slot.runId },
    freshness_of_runs:
      freshness === null
        ? null
        : { warn_after_ms: freshness.warnAfterMs, error_after_ms: freshness.errorAfterMs },
    spent_today: job.spentToday,
    spent_this_month: job.spentThisMonth,
    open_alerts: alerts.map(({ id, when, text, openedAt, mutedUntil }) => ({
      id,
      when,
      text,
      opened_at: instant(openedAt),
      muted_until: mutedUntil === null ? null : instant(mutedUntil),
    })),
  }
}

function runPart(run: RunFacts) {
  const { planned, done, failed, pending } = run.tasks
  return {
    run: run.run,
    started_at: instant(run.startedAt),
    ended_at: run.finishedAt === null ? null : instant(endOf(run)),
    coverage: coverageOf(run.tasks),
    tasks: { planned, done, failed, pending },
    credits: run.spent,
  }
}

function instant(ms: number): string {
  return new Date(ms).toISOString()
}

/** The same problems, but one for each cause that stops several jobs. That they are late is said with it. */
function oncePerCause(problems: readonly StatusProblem[]): readonly StatusProblem[] {
  const caused = problems.filter(({ cause }) => cause !== undefined)
  const groups = [...groupedBy(caused, ({ kind, cause }) => `${kind} ${cause?.what}`).values()]
  const shared = groups.filter(({ length }) => length > 1)
  const stopped = new Set(shared.flat().map(({ job }) => job))
  const members = new Set(shared.flat())
  const said = new Map(shared.map((group) => [group[0], causeProblem(group)]))
  return problems.flatMap((one) => {
    const together = said.get(one)
    if (together !== undefined) return [together]
    return members.has(one) || (one.kind === 'stale' && stopped.has(one.job)) ? [] : [one]
  })
}

function causeProblem(group: readonly StatusProblem[]): StatusProblem {
  const [{ level, kind, cause }] = group as readonly [StatusProblem, ...StatusProblem[]]
  const jobs = group.flatMap(({ job }) => job ?? [])
  const text = `${cause?.what}; that stops ${jobs.length} jobs: ${firstNames(jobs)}. ${cause?.advice}`
  return { level, job: null, kind, text, jobs }
}

/** The worst of the levels; ok where there is no problem. */
export function worstLevel(problems: readonly StatusProblem[]): Level {
  return problems[0]?.level ?? 'ok'
}

/** The instant from which on scheduled times can have been missed; null where none can. */
function countedSince(
  {
    last,
    good,
    slot,
    changedAt,
    resumedAt,
  }: {
    readonly last: Run | null
    readonly good: Run | null
    readonly slot: Slot | null
    /** When the job file was last changed; null where there is none. */
    readonly changedAt: number | null
    /** When its last pause ended; null where it had none. */
    readonly resumedAt: number | null
  },
  { schedule, timezone }: Pick<JobSettings, 'schedule' | 'timezone'>,
): number | null {
  const ran = good === null ? (last?.startedAt ?? null) : endOf(good)
  const settled = slot?.outcome === 'ran' || slot?.outcome === 'nothing-due' ? slot.slotAt : null
  const isNew = last?.settings.schedule !== schedule || last.settings.timezone !== timezone
  // Other times were meant before the file was changed.
  const known = [ran, settled, isNew ? changedAt : null].filter((instant) => instant !== null)
  return known.length === 0 ? null : Math.max(...known, resumedAt ?? 0)
}

/** A scheduled time is missed when nothing came of it for so long: runs take their time, and one waits for another. */
const graceMs = hourMs

/** More than these say no more. */
const mostMissed = 2

/** Times of a cron pattern after an instant that are missed by now, the oldest first: two at most. */
export function missedSlots(
  { schedule, timezone }: Pick<JobSettings, 'schedule' | 'timezone'>,
  since: number,
  now: number,
): readonly number[] {
  const missed: number[] = []
  if (schedule === null) return missed
  for (const slot of slotsBetween(schedule, timezone, since + 1, now - graceMs)) {
    missed.push(slot)
    if (missed.length === mostMissed) break
  }
  return missed
}
