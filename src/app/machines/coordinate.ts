import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { apiClient, type Patience } from '../../api/client.ts'
import type { HttpClient } from '../../api/http.ts'
import { collectOnMachines, finishOnMachines } from '../../machines/coordinator.ts'
import { databaseClock } from '../../machines/database-clock.ts'
import { slotLimiter } from '../../machines/slot-limiter.ts'
import { syncJournal } from '../../machines/sync.ts'
import { busyExitCode, RanklineError } from '../../model/errors.ts'
import type { Run } from '../../model/run.ts'
import { duration } from '../../model/text.ts'
import type { Clock } from '../../model/time.ts'
import { patiently } from '../../store/postgres/patience.ts'
import type { SharedJournal } from '../../store/shared/journal.ts'
import type { Store } from '../../store/store.ts'
import { backfillAndNotify } from '../backfill.ts'
import { keyHash, type ServiceSettings } from '../config.ts'
import type { App, Turn } from '../connect/app.ts'
import { lookupPatience } from '../connect/service.ts'
import { outgoing } from '../messages/outgoing.ts'
import { coldRequests, processName, reachableJournal, readerName, syncClock } from './queue.ts'

interface Opened {
  readonly store: Store
  readonly database: string
  readonly http: HttpClient
  readonly service: ServiceSettings
  /** Address of the queue. */
  readonly queue: string
  readonly turn: Turn
  readonly clock: Clock
}

/** A coordinator that says nothing for so long has died: another may take its jobs. */
const coordinatorLeaseMs = 60_000
const lookEveryMs = 500
/** Free lookups that a coordinator makes side by side. */
const lookupsAtOnce = 4

/** Opens the app of a process that has its calls made by workers. Its own free calls pass the limit of all machines. */
export async function openWithMachines(opened: Opened): Promise<App> {
  const { store, database, http, service, turn } = opened
  const journal = await reachableJournal(opened.queue)
  const clock = databaseClock(opened.clock)
  await syncClock(journal, clock, AbortSignal.timeout(30_000))
  const hash = keyHash(service)
  const limiter = slotLimiter({
    ...{ rates: journal.rates, keyHash: hash, clock, concurrency: lookupsAtOnce, coldRequests },
    onError: (error) => turn.notify(`The queue refuses a slot (${error})`),
  })
  const { baseUrl } = service
  const serviceWith = (patience: Patience) =>
    apiClient({ baseUrl, http, rateLimiter: limiter, store, clock, keyHash: hash, patience })
  const sync = async (): Promise<void> => {
    const onPlanned = (run: Run) => backfillAndNotify(store, run.settings, run.id, () => {})
    await patiently(() => syncJournal({ journal, store, clock, name: readerName(database), onPlanned }))
  }
  // Reading writes into the database.
  await turn.acquire()
  await sync()
  const coordination = coordinate(journal, hash, turn)
  return {
    ...{ store, database, serviceWith, service: serviceWith(lookupPatience), keyHash: hash, clock },
    outgoing: outgoing(service.allowHttp === true),
    machines: {
      begin: async (jobs) => {
        await coordination.take(jobs)
        await sync()
      },
      collect: (options, runs) => collectOnMachines({ ...options, store, journal, sync }, runs),
      finished: (runs) => finishOnMachines({ store, journal }, runs),
    },
    [Symbol.asyncDispose]: async () => {
      await coordination.leave()
      await journal[Symbol.asyncDispose]()
      await http.close()
      await store[Symbol.asyncDispose]()
    },
  }
}

/** The right to coordinate jobs, kept as long as this process lives. */
function coordinate(journal: SharedJournal, keyOf: string, { waitMs, notify }: Turn) {
  const coordinator = { id: randomUUID(), name: processName(), leaseMs: coordinatorLeaseMs }
  const taken = new Set<string>()
  const left = new AbortController()
  const shared = (jobs: Iterable<string>) => [...jobs].map((job) => ({ keyHash: keyOf, job }))
  let renewing: Promise<void> | null = null

  const renew = async (): Promise<void> => {
    while (!left.signal.aborted) {
      await pause(coordinatorLeaseMs / 3, undefined, { signal: left.signal }).catch(() => {})
      if (!left.signal.aborted)
        await patiently(() => journal.plans.coordinate(shared(taken), coordinator), left.signal).catch(
          () => {},
        )
    }
  }

  return {
    take: async (jobs: readonly string[]): Promise<void> => {
      const until = performance.now() + waitMs
      for (let isSaid = false; ; isSaid = true) {
        const held = await patiently(() => journal.plans.coordinate(shared(jobs), coordinator), left.signal)
        const [first] = held
        if (first === undefined) break
        if (performance.now() >= until)
          throw new RanklineError(
            `Another process coordinates ${first.job} (${first.heldBy}). Nothing was sent; let it finish, or set a longer --wait`,
            busyExitCode,
          )
        if (!isSaid)
          notify(
            `Waiting at most ${duration(waitMs / 1000)} for another process to finish ${first.job} (${first.heldBy}).`,
          )
        await pause(lookEveryMs)
      }
      for (const job of jobs) taken.add(job)
      renewing ??= renew()
    },
    leave: async (): Promise<void> => {
      left.abort()
      await renewing
      if (taken.size > 0) await journal.plans.leave(shared(taken), coordinator.id).catch(() => {})
    },
  }
}
