import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { apiClient, type ServiceDelays } from '../api/client.ts'
import type { HttpClient } from '../api/http.ts'
import { busyExitCode, RanklineError, UsageError } from '../model/errors.ts'
import { exitCodes, isComplete, type Run } from '../model/run.ts'
import { duration, shellWord, shortKey } from '../model/text.ts'
import { type Clock, systemClock } from '../model/time.ts'
import { type App, clocks, connections, type Machines, outgoing } from '../run/app.ts'
import { type CommandOptions, keyHash, type ServiceSettings } from '../run/config.ts'
import type { Turn } from '../run/lock.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { FinishStep } from '../store/sync.ts'
import { collectOnMachines } from './coordinator.ts'
import { databaseClock, syncClock } from './database-clock.ts'
import { CoordinationLost, JournalAbandoned, JournalUnreachable } from './journal.ts'
import type { SharedJournal } from './postgres/open.ts'
import { coldRequests, processName, sharedQueue } from './queue.ts'
import { sharedLimiter } from './shared-limiter.ts'
import { type SyncResult, syncAll } from './sync.ts'
import { abandonWhenSilent, whenReachable } from './waiting.ts'

const pollEveryMs = 500
/** How long a coordinator waits for a queue that cannot be reached, and to tell it at its end how runs ended. */
const longestWaitMs = 900_000
const farewellMs = 60_000
/** How long between two renewals of the right to coordinate. */
const longestPauseMs = 5_000
/** How long a process that ends waits until others know that its right is free. */
const goodbyeMs = 2_000
/** Free lookups that a coordinator makes side by side. */
const lookupsAtOnce = 4

/** Opens the app of a process that has its calls made by workers. Its own free calls pass the limit of all machines. */
export async function openWithMachines({
  store,
  database,
  http,
  service,
  queue,
  leaseMs,
  turn,
  clock: ownClock,
  checked,
}: {
  readonly store: Store
  readonly database: string
  readonly http: HttpClient
  readonly service: ServiceSettings
  /** Address of the queue. */
  readonly queue: string
  /** A coordinator that says nothing for so long has died: another may take its jobs. */
  readonly leaseMs: number
  readonly turn: Turn
  readonly clock: Clock
  /** What was said of the clock; null where it is not compared with the service's. */
  readonly checked: CommandOptions | null
}): Promise<App> {
  const reached = await sharedQueue.reachable(queue)
  const life = new AbortController()
  const said = sayings(turn.notify)
  const waitingFor = (signal: AbortSignal, mostMs: number): SharedJournal =>
    waitingJournal(reached, { ...said, signal, mostMs })
  const journal = waitingFor(life.signal, longestWaitMs)
  const clock = databaseClock(ownClock)
  await explained(syncClock(journal, clock, {}), leaseMs)
  const hash = keyHash(service)
  const limiter = sharedLimiter({
    rates: journal.rates,
    keyHash: hash,
    clock,
    concurrency: lookupsAtOnce,
    coldRequests,
    signal: life.signal,
    onError: (error) => turn.notify(`The queue refuses a send time (${error})`),
  })
  const coordinator = { id: randomUUID(), name: processName(), leaseMs }
  const { baseUrl } = service
  const serviceWith = (serviceDelays: ServiceDelays) =>
    apiClient({ baseUrl, http, rateLimiter: limiter, store, clock, keyHash: hash, serviceDelays })
  const read = (from: SharedJournal) => sharedQueue.read(from, { store, database, clock, ownKey: hash })
  const sync = (signal: AbortSignal): Promise<SyncResult> =>
    whenReachable(() => read(journal), { ...said, signal, mostMs: longestWaitMs })
  // Reading writes into the database.
  await turn.acquire()
  await explained(sync(life.signal), leaseMs)
  const coordination = coordinate({ journal, reached }, { key: hash, coordinator }, turn)
  const lookups = serviceWith(connections.lookupDelays)
  return {
    store,
    database,
    serviceWith,
    service: lookups,
    keyHash: hash,
    clock,
    clockCheck:
      checked === null
        ? clocks.unchecked
        : clocks.check({ service: lookups, store, clock, options: checked }),
    outgoing: outgoing(service.allowHttp === true),
    machines: machinesOf({
      store,
      clock,
      reached,
      waitingFor,
      read,
      sync,
      coordination,
      coordinator,
      key: hash,
      life: life.signal,
      notify: turn.notify,
    }),
    [Symbol.asyncDispose]: async () => {
      life.abort()
      await coordination.leave()
      await reached[Symbol.asyncDispose]()
      await http.close()
      await store[Symbol.asyncDispose]()
    },
  }
}

function machinesOf({
  store,
  clock,
  reached,
  waitingFor,
  read,
  sync,
  coordination,
  coordinator: { id, leaseMs },
  key,
  notify,
  life,
}: {
  readonly store: Store
  readonly clock: Clock
  readonly reached: SharedJournal
  /** The same journal, whose questions wait for its database: until the signal, and so long at most. */
  readonly waitingFor: (signal: AbortSignal, mostMs: number) => SharedJournal
  /** Brings what is in the journal into the store. */
  readonly read: (from: SharedJournal) => Promise<SyncResult>
  /** The same, and waits for the database of the journal until the signal. */
  readonly sync: (signal: AbortSignal) => Promise<SyncResult>
  readonly coordination: ReturnType<typeof coordinate>
  readonly coordinator: Parameters<SharedJournal['plans']['coordinate']>[1]
  /** Hash of the key. */
  readonly key: string
  readonly notify: Turn['notify']
  /** Aborted when the app is closed. */
  readonly life: AbortSignal
}): Machines {
  /** Plan, chunks and the right to coordinate may be lost with a server that failed over: begins again with what is known here. */
  const throughFailovers = async <T>(
    work: () => Promise<T>,
    runs: readonly Run[],
    signal: AbortSignal,
  ): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      const hasFailedOver =
        error instanceof FailedOver || (error instanceof CoordinationLost && (await sync(signal)).failedOver)
      if (!hasFailedOver) throw error
      notify(
        'The server of the queue failed over to another one. What is known here and was lost there has been written again; the run goes on.',
      )
      await coordination.take(runs.map(({ job }) => job))
      return await throughFailovers(work, runs, signal)
    }
  }

  return {
    begin: async (jobs) => {
      const taken = async (): Promise<void> => {
        await coordination.take(jobs)
        for (const job of jobs) {
          const moved = await store.ownJob(key, job)
          if (moved !== null)
            notify(
              `${job} of another key, which came from another host, is called ${moved} here from now on.`,
            )
        }
        // A run that another process has begun goes on; one that is not known here would be begun anew.
        await syncAll(() => sync(life), clock, { notice: notify, signal: life })
      }
      await explained(taken(), leaseMs)
    },
    refuseOtherKeys: async (runs) => {
      for (const run of runs) {
        const shared = await store.sharedRunId(run.id)
        const begunWith = shared === null ? null : await waitingFor(life, longestWaitMs).plans.keyOf(shared)
        if (begunWith === null || begunWith === key) continue
        const isOfOthers = (await store.jobsOfOthers()).includes(run.job)
        throw new UsageError(begunWithOtherKey(run, begunWith, isOfOthers))
      }
    },
    collect: (options, runs) => {
      const signal = AbortSignal.any([life, options.stop.signal])
      const journal = waitingFor(signal, longestWaitMs)
      const syncHere = async (): Promise<SyncResult> => {
        const came = await sync(signal)
        if (came.failedOver) throw new FailedOver('the server of the queue failed over')
        return came
      }
      const shared = { store, journal, coordinator: id, sync: syncHere }
      coordination.giveUpAfter(options.stop.signal)
      const collected = async () => {
        await noteEnds({ ...shared, keyHash: key }, runs)
        return await collectOnMachines({ ...options, ...shared }, runs)
      }
      return explained(throughFailovers(collected, runs, signal), leaseMs)
    },
    finished: (runs) => {
      const journal = waitingFor(life, farewellMs)
      const finished = () => finishOnMachines({ store, journal, coordinator: id, notify }, runs, clock.wall())
      return explained(throughFailovers(finished, runs, life), leaseMs)
    },
    knowsAllCalls: async (since) => {
      try {
        await read(reached)
        return await knowsAllCalls({ store, journal: reached, coordinator: id }, key, since)
      } catch (error) {
        if (error instanceof JournalUnreachable) return false
        throw error
      }
    },
  }
}

function begunWithOtherKey({ id, job }: Run, keyHash: string, isOfOthers: boolean): string {
  const former = shortKey(keyHash)
  const begun = `Run ${id} of ${job} was begun with another key (${former}) and goes on with none but that`
  return isOfOthers
    ? `${begun}: continue it on the host that has that key`
    : `${begun}; if the key of this host took its place, move the job to it: rankline queue rekey --job ${shellWord(job)} --from ${former} (or begin anew with --fresh)`
}

/** Thrown where the server of the journal has failed over since it was read before. */
class FailedOver extends Error {
  override readonly name = 'FailedOver'
}

/** What is said where the journal cannot be reached for a while. */
function sayings(notify: Turn['notify']) {
  let isSaid = false
  return {
    onWait: ({ message }: JournalUnreachable) => {
      if (!isSaid)
        notify(`The queue cannot be reached: ${message}. Waiting for it; workers go on when it is back.`)
      isSaid = true
    },
    onBack: () => {
      if (isSaid) notify('The queue is back.')
      isSaid = false
    },
  }
}

/** Errors that end a run, for people. */
async function explained<T>(work: Promise<T>, leaseMs: number): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof CoordinationLost)
      throw new RanklineError(
        `Another process coordinates this job now, because this one could not be reached for ${duration(leaseMs / 1000)}. The run goes on there`,
        busyExitCode,
        { cause: error },
      )
    if (error instanceof JournalAbandoned)
      throw new RanklineError(
        'The queue could not be reached. Workers finish what was released; run the same command again to go on',
        exitCodes.unavailable,
        { cause: error },
      )
    if (error instanceof JournalUnreachable)
      throw new RanklineError(
        `The queue could not be reached for ${duration(longestWaitMs / 1000)}: ${error.message}. Workers finish what was released; run the same command again to go on`,
        exitCodes.unavailable,
        { cause: error },
      )
    throw error
  }
}

/** The right to coordinate jobs, kept as long as this process lives. */
function coordinate(
  { journal, reached }: { readonly journal: SharedJournal; readonly reached: SharedJournal },
  {
    key,
    coordinator,
  }: { readonly key: string; readonly coordinator: Parameters<SharedJournal['plans']['coordinate']>[1] },
  { waitMs, notify }: Turn,
) {
  const taken = new Set<string>()
  const left = new AbortController()
  const shared = (jobs: Iterable<string>) => [...jobs].map((job) => ({ keyHash: key, job }))
  let renewing: Promise<void> | null = null
  let heardAt = systemClock.monotonic()
  let farewell: Disposable | null = null

  const renew = async (): Promise<void> => {
    while (!left.signal.aborted) {
      const pauseMs = Math.min(coordinator.leaseMs / 3, longestPauseMs)
      await pause(pauseMs, undefined, { signal: left.signal }).catch(() => {})
      if (left.signal.aborted) return
      // A right that was lost meanwhile is noticed by the next change.
      const isRenewed = await journal.plans.coordinate(shared(taken), coordinator).then(
        () => true,
        () => false,
      )
      if (isRenewed) heardAt = systemClock.monotonic()
    }
  }

  return {
    take: async (jobs: readonly string[]): Promise<void> => {
      const until = performance.now() + waitMs
      for (let isSaid = false; ; isSaid = true) {
        const held = await journal.plans.coordinate(shared(jobs), coordinator)
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
        await pause(pollEveryMs)
      }
      for (const job of jobs) taken.add(job)
      renewing ??= renew()
    },
    /** Once the run is told to stop, a queue that says nothing is not waited for any longer. */
    giveUpAfter: (signal: AbortSignal): void => {
      farewell?.[Symbol.dispose]()
      farewell = abandonWhenSilent({ journal: reached, signal, clock: systemClock, lastSign: () => heardAt })
    },
    leave: async (): Promise<void> => {
      farewell?.[Symbol.dispose]()
      left.abort()
      const cancel = systemClock.after(goodbyeMs, reached.abandon)
      await renewing
      if (taken.size > 0) await reached.plans.leave(shared(taken), coordinator.id).catch(() => {})
      cancel()
    },
  }
}

interface EndsOptions {
  readonly store: Store
  readonly journal: SharedJournal
  readonly coordinator: string
}

/**
 * Runs of these jobs that were closed here are closed for all; not where another process goes on with one by a former key. Ends that the queue
 * was not told, for their process was killed or could not reach it, are told.
 */
export async function noteEnds(
  { store, journal, coordinator, keyHash }: EndsOptions & { readonly keyHash: string },
  runs: readonly Run[],
): Promise<void> {
  const ends: FinishStep[] = []
  for (const job of new Set(runs.map((run) => run.job)))
    for (const run of await store.runs({ job, limit: 5 })) {
      const shared = runs.some(({ id }) => id === run.id) ? null : await store.sharedRunId(run.id)
      if (shared === null) continue
      if (run.closedAt === null) ends.push(...(await endOf(store, run, shared)))
      else
        await journal.plans.close(coordinator, shared, run.closedAt).catch(async (error: unknown) => {
          const isElsewhere =
            error instanceof CoordinationLost && (await journal.plans.keyOf(shared)) !== keyHash
          if (!isElsewhere) throw error
        })
    }
  await journal.changes.putBackEnds(ends)
}

/** The end of a run by its plan; none for one that goes on. */
async function endOf(store: Store, run: Run, shared: string): Promise<readonly FinishStep[]> {
  const { finishReason: reason, finishedAt, durationMs } = run
  if (reason === null || finishedAt === null) return []
  const version = (await store.localRun(shared))?.planVersion ?? 0
  return [{ kind: 'finish', run: shared, version, reason, finishedAt, durationMs }]
}

/**
 * Tells all machines how runs ended. A queue that cannot be reached hears of runs that are through when their jobs run next: to run them again
 * only for that would buy them again. Rejected with `JournalUnreachable` where a run is to go on.
 */
export async function finishOnMachines(
  { store, journal, coordinator, notify }: EndsOptions & Pick<Turn, 'notify'>,
  runs: readonly Run[],
  now: number,
): Promise<void> {
  const ended = await Promise.all(runs.map(({ id }) => store.run(id)))
  try {
    for (const run of ended) {
      const shared = run === null ? null : await store.sharedRunId(run.id)
      if (run === null || shared === null) continue
      for (const end of await endOf(store, run, shared)) {
        await journal.plans.finish(coordinator, shared, end)
        // The queue may lose it when this process, which knows it without reading it there, is gone.
        await store.keepEnd(end, now)
      }
    }
  } catch (error) {
    const isThrough = ended.every((run) => run !== null && isComplete(run.finishReason))
    if (!(error instanceof JournalUnreachable && isThrough)) throw error
    notify(
      `The queue could not be reached (${error.message}) to tell other hosts that the run has ended here. The next run of the job tells them.`,
    )
  }
}

/**
 * Whether every call of all machines since an instant, as far as it may be billed, is known in the local database, and none may follow for
 * what is reserved. Without that, what other machines buy would look like another program's.
 */
async function knowsAllCalls(
  {
    store,
    journal,
    coordinator,
  }: { readonly store: Store; readonly journal: SharedJournal; readonly coordinator: string },
  keyHash: string,
  since: number,
): Promise<boolean> {
  const span = { from: since, until: Number.MAX_SAFE_INTEGER }
  let all = Number.POSITIVE_INFINITY
  await journal.spending.release(coordinator, keyHash, [], 0, async (_, standings) => {
    all = await standings.chargedCalls(span)
    return []
  })
  return (await store.chargedCalls(keyHash, span)) >= all
}

/** The same journal, whose questions and changes wait for the database. Its ledger does so in any case; a plan is read without waiting. */
function waitingJournal(journal: SharedJournal, options: Parameters<typeof whenReachable>[1]): SharedJournal {
  const { plans, chunks, calls, rates, spending, changes, operations } = journal
  const waiting = <Port extends object>(port: Port): Port => waitingPort(port, options)
  return {
    plans: waiting(plans),
    chunks: waiting(chunks),
    calls: { ...calls, saveUsage: waiting({ saveUsage: calls.saveUsage }).saveUsage },
    rates: waiting(rates),
    spending: waiting(spending),
    changes: { ...waiting(changes), plan: changes.plan },
    operations: waiting(operations),
    abandon: () => journal.abandon(),
    [Symbol.asyncDispose]: () => journal[Symbol.asyncDispose](),
  }
}

/** All methods of a port answer with a promise, and bear to be called twice with the same arguments. */
function waitingPort<Port extends object>(port: Port, options: Parameters<typeof whenReachable>[1]): Port {
  const methods = Object.entries(port) as [string, (...given: unknown[]) => Promise<unknown>][]
  return Object.fromEntries(
    methods.map(([name, method]) => [
      name,
      (...given: unknown[]) => whenReachable(() => method(...given), options),
    ]),
  ) as Port
}
