import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { busyExitCode, RanklineError, UsageError } from '../model/errors.ts'
import { exitCodes, type Run } from '../model/run.ts'
import { shortKey } from '../model/text.ts'
import { type Clock, dayMs, systemClock } from '../model/time.ts'
import { type CommandOptions, keyHash, queueSettings, serviceSettings } from '../run/config.ts'
import { backfillAndNotify } from '../run/derive.ts'
import { storedData } from '../run/open-stored.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { SharedJob } from '../store/sync.ts'
import { JournalUnreachable, RekeyRefused } from './journal.ts'
import { layOut, openJournal, type SharedJournal } from './postgres/open.ts'
import { type SyncResult, syncAll, syncJournal } from './sync.ts'
import { abandonWhenSilent } from './waiting.ts'

/** Address of the queue that a command needs. */
function neededQueue(options: CommandOptions): string {
  const url = queueSettings.url(options)
  if (url !== null) return url
  throw new UsageError(
    'The queue is not set. Name the Postgres database that the machines share with --queue postgres://…, or put it into RANKLINE_QUEUE',
  )
}

/** Who this process is, for people. */
export function processName(): string {
  return `${hostname()}, process ${process.pid}`
}

/** The first requests of a process, which open connections; so many are opened ahead at most. */
export const coldRequests = 16

/** Does one thing with a journal that is there. Where it cannot be reached, nothing happens. */
async function queueWork<T>(url: string, work: (journal: SharedJournal) => Promise<T>): Promise<T> {
  return await withoutPatience(async () => {
    await using journal = await openJournal(url, 'operate')
    return await work(journal)
  })
}

/** Lays out the journal, or brings it up to date; its version before and now. */
async function migrateQueue(url: string): ReturnType<typeof layOut> {
  return await withoutPatience(() => layOut(url))
}

/** Moves jobs to the key of this host. */
async function rekeyJobs(
  options: CommandOptions,
  url: string,
  {
    job,
    from,
  }: {
    /** Only the job of that name. */
    readonly job: string | undefined
    /** The key that they have, or how it begins; those that this database has begun where it is not given. */
    readonly from: string | undefined
  },
) {
  const to = keyHash(serviceSettings(options))
  return await queueWork(url, async ({ operations }) => {
    const all = (await operations.jobs()).filter(({ keyHash }) => keyHash !== to)
    const named = all.filter((one) => job === undefined || one.job === job)
    const wanted = from === undefined ? await begunHere(options, named) : withKey(all, named, from)
    return { to, moved: wanted.length === 0 ? [] : await operations.rekey(wanted, to).catch(explainRefusal) }
  })
}

/** Of these jobs, those that this database collected with the key that they have. */
async function begunHere(options: CommandOptions, jobs: readonly SharedJob[]): Promise<readonly SharedJob[]> {
  await using store = await storedData.read(options, 'may be missing')
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
async function reachableJournal(url: string): Promise<SharedJournal> {
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

/** For how long answers are kept, and readers waited for, where nothing else is said. */
export const keptAnswers = { keepMs: 90 * dayMs, forgetAfterMs: 30 * dayMs }

/** Brings the journal into a database, and drops from it what is old and all its readers have. */
async function syncDatabase(
  {
    url,
    database,
    keepMs,
    forgetAfterMs,
    ownKey,
    notice,
    signal,
  }: {
    readonly url: string
    readonly database: string
    /** What was bought stays in the journal for so long, and until all readers have it. */
    readonly keepMs: number
    /** Readers that were not seen for so long do not count. */
    readonly forgetAfterMs: number
    /** The key of this host; null where it has none. */
    readonly ownKey: string | null
    readonly notice: (line: string) => void
    /** Ends it early; the next sync goes on. */
    readonly signal?: AbortSignal | undefined
  },
  clock: Clock = systemClock,
): Promise<Omit<SyncResult, 'unread' | 'failedOver' | 'isIncomplete'>> {
  await using journal = await reachableJournal(url)
  await using store = await openStore(database)
  using _ = abandonWhenSilent({ journal, signal, clock, lastSign: () => 0 })
  const total = { runs: 0, calls: 0, answers: 0, tasks: 0 }
  let isIncomplete = false
  const read = async (): Promise<SyncResult> => {
    const came = await readJournal(journal, { store, database, clock, signal, ownKey })
    for (const what of ['runs', 'calls', 'answers', 'tasks'] as const) total[what] += came[what]
    isIncomplete ||= came.isIncomplete
    return came
  }
  await withoutPatience(async () => {
    await syncAll(read, clock, { notice, signal, givesUp: true })
    if (isIncomplete) notice(cameTooLate)
    if (!(await journal.changes.isNoted())) notice(notNoted)
    await journal.changes.dropRead(keepMs, forgetAfterMs)
  })
  return total
}

const cameTooLate =
  'This database was not synced for so long that the queue has dropped what it had not read: its calls and answers of that time are missing here. A database that was synced has them; sync more often, or set --forget-readers and --keep-answers higher.'

const notNoted =
  'This user may not note in the queue how far this database is, so the queue does not wait for it when it drops old answers. Sync at least once a month, or have someone grant the rights of a reader that rankline queue migrate --print shows.'

/** Brings what is in a journal into an open database. */
async function readJournal(
  journal: SharedJournal,
  {
    database,
    ...into
  }: Pick<Parameters<typeof syncJournal>[0], 'store' | 'clock' | 'ownKey' | 'signal'> & {
    readonly database: string
  },
): Promise<SyncResult> {
  const name = `${hostname()}: ${resolve(database)}`
  const onPlanned = (run: Run) => backfillAndNotify(into.store, run.settings, run.id, () => {})
  return await syncJournal({ ...into, journal, name, onPlanned })
}

/** The queue that machines share, as commands and coordinators use it. */
export const sharedQueue = {
  needed: neededQueue,
  work: queueWork,
  migrate: migrateQueue,
  rekey: rekeyJobs,
  reachable: reachableJournal,
  sync: syncDatabase,
  read: readJournal,
}
