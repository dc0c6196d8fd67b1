import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { UsageError } from '../../model/errors.ts'
import { areTooLong, type Run } from '../../model/run.ts'
import { dayMs, hourMs, periodAt } from '../../model/time.ts'
import { latestKnown } from '../../model/trusted-time.ts'
import { databaseSetting, type SettingFlags } from '../../run/config.ts'
import { openWhatIsStored } from '../../run/connect/open-stored.ts'
import { searchJob } from '../../run/job-files.ts'
import { nextSlot } from '../../schedule/slots.ts'
import type { MessageState } from '../../store/outbox.ts'
import type { Store } from '../../store/store.ts'
import type {
  DatabaseFacts,
  JobFacts,
  JobFileFacts,
  MessageFacts,
  MoneyFacts,
  RunFacts,
  StatusFacts,
} from '../../unattended/status/facts.ts'
import { countedSince, missedSlots } from '../../unattended/status/missed.ts'
import { recentSpending, unexplainedSince } from '../../unattended/status/spending.ts'
import { isChangedSince, type KnownJob, knownJobs, mistakeInQueries } from './jobs.ts'

/** Credits that nothing explains, and messages that were given up, are told for so long. */
const recentMs = 7 * dayMs
/** A message that was not tried is late after that. */
const soonMs = hourMs

/** Reads what is known of all jobs. Calls nothing, and changes nothing. */
export async function gatherStatus(flags: SettingFlags, now: number): Promise<StatusFacts> {
  const { path } = databaseSetting(flags)
  const isMissing = !existsSync(path)
  await using store = await openWhatIsStored(flags)
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
  const { databaseLock, isHeld } = await import('../../store/sqlite/connection/lock.ts')
  return isHeld(databaseLock(path))
}

interface Around {
  readonly store: Store
  readonly now: number
  readonly isCollecting: boolean
  readonly spending: Spending
}

async function jobFacts(
  { name, file, settings: described, changedAt }: KnownJob,
  { store, now, isCollecting, spending }: Around,
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
  file: JobFileFacts,
  { last, missed }: { readonly last: Run | null; readonly missed: readonly number[] },
): Promise<JobFileFacts> {
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
  { now, jobs, spending }: Pick<Around, 'now' | 'spending'> & { readonly jobs: readonly JobFacts[] },
): Promise<MoneyFacts> {
  const reading = await store.newestUsage()
  const all = [...jobs, await spending(searchJob, 'UTC')]
  const remaining = reading?.remaining ?? null
  return {
    balance: reading === null || remaining === null ? null : { credits: remaining, readAt: reading.readAt },
    spent: await recentSpending(store, now),
    spentToday: sum(all.map(({ spentToday }) => spentToday)),
    spentThisMonth: sum(all.map(({ spentThisMonth }) => spentThisMonth)),
    unexplained: reading === null ? null : await unexplainedSince(store, reading.keyHash, now - recentMs),
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
): Promise<MessageFacts> {
  const messages = (await store.messages({ state })).filter(counts)
  return {
    messages: messages.length,
    channels: [...new Set(messages.map(({ channel }) => channel))].sort(),
    error: messages.find(({ lastError }) => lastError !== null)?.lastError ?? null,
  }
}

async function databaseFacts(store: Store, path: string, isMissing: boolean): Promise<DatabaseFacts> {
  if (isMissing) return { path, isMissing, damage: null, freeBytes: Number.POSITIVE_INFINITY }
  const damage = await store.rejectDamaged().then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof UsageError)) throw error
      return `The database ${path} is damaged. Restore it from a backup; what is wrong shows: rankline db check`
    },
  )
  const { freeBytes } = await import('../../store/sqlite/connection/disk-space.ts')
  return { path, isMissing, damage, freeBytes: freeBytes(dirname(path)) }
}
