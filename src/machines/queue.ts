import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { apiClient } from '../api/client.ts'
import type { StopSignal } from '../collect/stop.ts'
import { busyExitCode, RanklineError, UsageError } from '../model/errors.ts'
import { exitCodes, type Run, type StopCause } from '../model/run.ts'
import { shortKey } from '../model/text.ts'
import { type Clock, dayMs, systemClock } from '../model/time.ts'
import { connectionsFor } from '../run/app.ts'
import { type CommandOptions, keyHash, queueUrl, serviceSettings, version } from '../run/config.ts'
import { backfillAndNotify } from '../run/derive.ts'
import { ownerOf, tryCollectorLock } from '../run/lock.ts'
import { openWhatIsStored } from '../run/open-stored.ts'
import { JournalUnreachable, type SharedJournal } from '../store/shared/journal.ts'
import { type MovedJob, RekeyRefused } from '../store/shared/operations.ts'
import type { SharedJob } from '../store/shared/plans.ts'
import { abandonWhenSilent, type WaitOptions, whenReachable } from '../store/shared/waiting.ts'
import { keyLock } from '../store/sqlite/connection/lock.ts'
import { openScratchStore, openStore } from '../store/sqlite/open.ts'
import { databaseClock } from './database-clock.ts'
import { layOut, openJournal } from './postgres/open.ts'
import { slotLimiter } from './slot-limiter.ts'
import { type SyncOptions, type SyncResult, syncAll, syncJournal } from './sync.ts'
import { refusalOfKey, type WorkerOptions, type WorkerState, work } from './worker.ts'

/** Address of the queue that a command needs. */
export function neededQueue(options: CommandOptions): string {
  const url = queueUrl(options)
  if (url !== null) return url
  throw new UsageError(
    'The queue is not set. Name the Postgres database that the machines share with --queue postgres://…, or put it into RANKLINE_QUEUE',
  )
}

/** Who this process is, for people. */
export function processName(): string {
  return `${hostname()}, process ${process.pid}`
}

export interface WorkerSettings {
  readonly url: string
  readonly concurrency: number
  readonly leaseMs: number
  readonly once: boolean
  readonly maxOutageMs: number
  readonly maxThrottlingMs: number
  readonly stop: StopSignal
  readonly notice: (line: string) => void
  /** Called when it has the queue and the service takes its key: now it looks for chunks. */
  readonly onUp: () => void
  readonly onState: (state: WorkerState) => void
}

/** How often it is tried to take a lock. */
const pollEveryMs = 200
/** The first requests of a process, which open connections. */
export const coldRequests = 16

/** Runs a worker of the queue with the key of this process. Answers why it cannot go on; null where it has nothing left, or was told to stop. */
export async function runWorker(
  options: CommandOptions,
  settings: WorkerSettings,
  local: Clock = systemClock,
): Promise<StopCause | null> {
  const { stop, notice } = settings
  const { http, service } = await connectionsFor(options)
  const life = new AbortController()
  try {
    using key = await shareKey(keyHash(service), stop.signal, notice)
    if (key === null) return null
    await using journal = await openPatiently(settings.url, stop, notice)
    if (journal === null) return null
    const clock = databaseClock(local)
    const hash = keyHash(service)
    const limiter = slotLimiter({
      rates: journal.rates,
      keyHash: hash,
      clock,
      concurrency: settings.concurrency,
      coldRequests,
      signal: life.signal,
      onError: (error) => stop.request({ reason: 'crashed', message: String(error) }),
    })
    const serviceDelays = { throttledMs: settings.maxThrottlingMs, unavailableMs: settings.maxOutageMs }
    const serviceFor: WorkerOptions['serviceFor'] = (store, mayStillLeave) =>
      apiClient({
        baseUrl: service.baseUrl,
        http,
        rateLimiter: limiter,
        store,
        clock,
        keyHash: hash,
        serviceDelays,
        mayStillLeave,
      })
    const options = {
      ...settings,
      journal,
      limiter,
      clock,
      serviceFor,
      keyHash: hash,
      random: Math.random,
      name: processName(),
      version,
      openMemory: openScratchStore,
    }
    // Nothing is at stake yet: a queue that says nothing is not waited for.
    stop.signal.addEventListener('abort', journal.abandon, { once: true })
    await syncClock(journal, clock, { signal: stop.signal })
    const refusal = await refusalOfKey(options)
    stop.signal.removeEventListener('abort', journal.abandon)
    if (refusal !== null || stop.signal.aborted) return refusal
    settings.onUp()
    return await work(options)
  } catch (error) {
    if (stop.signal.aborted && error instanceof JournalUnreachable) return null
    throw error
  } finally {
    life.abort()
    await http.close()
  }
}

/**
 * Takes the lock of the key with the other processes of the queue on this machine, once no process without a queue has it; null where
 * this one is told to stop meanwhile.
 */
async function shareKey(
  hash: string,
  signal: AbortSignal,
  notice: (line: string) => void,
): Promise<Disposable | null> {
  const path = keyLock(hash)
  for (let isSaid = false; !signal.aborted; isSaid = true) {
    const lock = tryCollectorLock(path, 'shared')
    if (lock !== null) return lock
    if (!isSaid)
      notice(
        `A process on this machine collects with this key, and without the queue. Waiting for it (${ownerOf(path)}).`,
      )
    await pause(pollEveryMs, undefined, { signal }).catch(() => {})
  }
  return null
}

/** Opens the journal, and waits for a server that is not up yet; null where the process is told to stop meanwhile. */
async function openPatiently(
  url: string,
  stop: StopSignal,
  notice: (line: string) => void,
): Promise<SharedJournal | null> {
  let isSaid = false
  const say = ({ message }: JournalUnreachable): void => {
    if (!isSaid) notice(`The queue cannot be reached yet: ${message}. Waiting for it.`)
    isSaid = true
  }
  try {
    return await whenReachable(() => openJournal(url, 'collect', stop.signal), {
      signal: stop.signal,
      onWait: say,
    })
  } catch (error) {
    if (stop.signal.aborted) return null
    throw error
  }
}

/** Looks a few times at the clock of the database: the quickest answer counts. */
export async function syncClock(
  journal: SharedJournal,
  clock: ReturnType<typeof databaseClock>,
  options: WaitOptions,
): Promise<void> {
  for (let look = 0; look < 3; look++) {
    const askedAt = clock.monotonic()
    const now = await whenReachable(() => journal.operations.now(), options)
    clock.note(now, askedAt, clock.monotonic())
  }
}

/** Does one thing with a journal that is there. Where it cannot be reached, nothing happens. */
export async function queueWork<T>(url: string, work: (journal: SharedJournal) => Promise<T>): Promise<T> {
  return await withoutPatience(async () => {
    await using journal = await openJournal(url, 'operate')
    return await work(journal)
  })
}

/** Lays out the journal, or brings it up to date; its version before and now. */
export async function migrateQueue(url: string): ReturnType<typeof layOut> {
  return await withoutPatience(() => layOut(url))
}

/** Which jobs get the key of this host. */
export interface RekeyWish {
  /** Only the job of that name. */
  readonly job: string | undefined
  /** The key that they have, or how it begins; those that this database has begun where it is not given. */
  readonly from: string | undefined
}

/** Moves jobs to the key of this host. */
export async function rekeyJobs(
  options: CommandOptions,
  url: string,
  { job, from }: RekeyWish,
): Promise<{ readonly to: string; readonly moved: readonly MovedJob[] }> {
  const to = keyHash(serviceSettings(options))
  return await queueWork(url, async ({ operations }) => {
    const all = (await operations.jobs()).filter(({ keyHash }) => keyHash !== to)
    const named = all.filter((one) => job === undefined || one.job === job)
    const wanted = from === undefined ? await begunHere(options, named) : withKey(all, named, from)
    if (wanted.length === 0) return { to, moved: [] }
    return { to, moved: await operations.rekey(wanted, to).catch(explainRefusal) }
  })
}

/** Of these jobs, those that this database collected with the key that they have. */
async function begunHere(options: CommandOptions, jobs: readonly SharedJob[]): Promise<readonly SharedJob[]> {
  await using store = await openWhatIsStored(options, 'may be missing')
  const own = new Set((await store.ownJobs()).map(({ keyHash, job }) => `${keyHash} ${job}`))
  const begun = jobs.filter(({ keyHash, job }) => own.has(`${keyHash} ${job}`))
  if (begun.length === 0 && jobs.length > 0)
    throw new UsageError(
      `This database has begun no such job with another key. Name the key of before with --from: ${listedKeys(jobs)}`,
    )
  return begun
}

/** Of the jobs that were named, those of the one key that begins so. */
function withKey(all: readonly SharedJob[], named: readonly SharedJob[], from: string): readonly SharedJob[] {
  const keys = new Set(all.map(({ keyHash }) => keyHash).filter((keyHash) => keyHash.startsWith(from)))
  const found = named.filter(({ keyHash }) => keys.has(keyHash))
  if (keys.size === 1 && found.length > 0) return found
  const why =
    keys.size > 1
      ? 'fits more than one key'
      : keys.size === 1
        ? 'has no job of that name'
        : 'fits no other key'
  throw new UsageError(
    `--from ${from} ${why}. ${all.length === 0 ? 'All jobs of the queue have the key of this host' : `Other keys of the queue are ${listedKeys(all)}`}`,
  )
}

function listedKeys(jobs: readonly SharedJob[]): string {
  const keys = [...new Set(jobs.map(({ keyHash }) => keyHash))]
  const jobsOf = (key: string) => jobs.flatMap(({ keyHash, job }) => (keyHash === key ? [job] : []))
  return keys.map((key) => `${shortKey(key)} (${jobsOf(key).join(', ')})`).join('; ')
}

function explainRefusal(error: unknown): never {
  if (!(error instanceof RekeyRefused)) throw error
  const { job, heldBy } = error
  if (heldBy !== null)
    throw new RanklineError(
      `Another process coordinates ${job} now (${heldBy}). Nothing was changed; let it finish, or stop it, then run the same command again`,
      busyExitCode,
      { cause: error },
    )
  throw new UsageError(
    `${job} has an unfinished run with each of the keys. Nothing was changed; finish one of them, then run the same command again`,
    { cause: error },
  )
}

/** Opens the journal; where it cannot be reached, nothing runs. */
export async function reachableJournal(url: string): Promise<SharedJournal> {
  return await withoutPatience(() => openJournal(url))
}

async function withoutPatience<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof JournalUnreachable)) throw error
    throw new RanklineError(
      `The queue cannot be reached: ${error.message}. Nothing was sent. Check its address and the network, then run the same command again`,
      exitCodes.unavailable,
      { cause: error },
    )
  }
}

export interface SyncSettings {
  readonly url: string
  readonly database: string
  /** Bodies of answers stay in the journal for so long, and until all readers have them. */
  readonly keepMs: number
  /** Readers that were not seen for so long do not count. */
  readonly forgetAfterMs: number
  /** The key of this host; null where it has none. */
  readonly ownKey: string | null
  readonly notice: (line: string) => void
  /** Ends it early; the next sync goes on. */
  readonly signal?: AbortSignal | undefined
}

/** For how long answers are kept, and readers waited for, where nothing else is said. */
export const keptAnswers = { keepMs: 90 * dayMs, forgetAfterMs: 30 * dayMs }

/** Brings the journal into a database, and drops from it old bodies of answers that all its readers have. */
export async function syncDatabase(
  settings: SyncSettings,
  clock: Clock = systemClock,
): Promise<Omit<SyncResult, 'unread' | 'failedOver'>> {
  const { url, database, keepMs, forgetAfterMs, ownKey, notice, signal } = settings
  await using journal = await reachableJournal(url)
  await using store = await openStore(database)
  using _ = abandonWhenSilent({ journal, signal, clock, lastSign: () => 0 })
  const total = { runs: 0, calls: 0, answers: 0, tasks: 0 }
  const read = async (): Promise<SyncResult> => {
    const came = await readJournal(journal, { store, database, clock, signal, ownKey })
    for (const what of ['runs', 'calls', 'answers', 'tasks'] as const) total[what] += came[what]
    return came
  }
  await withoutPatience(async () => {
    await syncAll(read, clock, { notice, signal, givesUp: true })
    if (!(await journal.changes.isNoted())) notice(notNoted)
    await journal.changes.dropRead(keepMs, forgetAfterMs)
  })
  return total
}

const notNoted =
  'This user may not note in the queue how far this database is, so the queue does not wait for it when it drops old answers. Sync at least once a month, or have someone grant the rights of a reader that rankline queue migrate --print shows.'

/** Brings what is in a journal into an open database. */
export async function readJournal(
  journal: SharedJournal,
  {
    database,
    ...into
  }: Pick<SyncOptions, 'store' | 'clock' | 'ownKey' | 'signal'> & { readonly database: string },
): Promise<SyncResult> {
  const name = `${hostname()}: ${resolve(database)}`
  const onPlanned = (run: Run) => backfillAndNotify(into.store, run.settings, run.id, () => {})
  return await syncJournal({ ...into, journal, name, onPlanned })
}
