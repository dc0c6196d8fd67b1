import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { apiClient } from '../api/client.ts'
import { accountStop, fetchUsage } from '../collect/account.ts'
import { type CallCounts, callCounts } from '../collect/circuit-breaker.ts'
import { type StopSignal, stopCauses, UsageUnavailable } from '../collect/stop.ts'
import { RanklineError } from '../model/errors.ts'
import type { StopCause } from '../model/run.ts'
import { count } from '../model/text.ts'
import { type Clock, sleep, systemClock } from '../model/time.ts'
import { connections } from '../run/app.ts'
import { type CommandOptions, keyHash, version } from '../run/config.ts'
import { turns } from '../run/lock.ts'
import type { UsageReading } from '../store/journal.ts'
import { keyLock } from '../store/sqlite/connection/lock.ts'
import { openScratchStore, type Store } from '../store/sqlite/open.ts'
import type { NewSharedCall } from '../store/sync.ts'
import { runChunk } from './chunk-run.ts'
import { type DatabaseClock, databaseClock, syncClock } from './database-clock.ts'
import { type ChunkEnd, type ChunkLease, JournalUnreachable } from './journal.ts'
import type { LeasedChunk } from './postgres/chunks.ts'
import { openJournal, type SharedJournal } from './postgres/open.ts'
import { coldRequests, processName } from './queue.ts'
import { type SharedLimiter, sharedLimiter } from './shared-limiter.ts'
import { abandonWhenSilent, whenReachable } from './waiting.ts'

export interface WorkerOptions
  extends Pick<
    Parameters<typeof runChunk>[0],
    'serviceFor' | 'random' | 'keyHash' | 'maxOutageMs' | 'maxThrottlingMs' | 'notice'
  > {
  readonly journal: SharedJournal
  readonly limiter: SharedLimiter
  readonly clock: DatabaseClock
  /** Called when it has taken a chunk of so many queries and has no other one: calls are to come. */
  readonly onWork: (queries: number) => void
  /** Opens an empty store for one chunk. */
  readonly openMemory: () => Promise<Store>
  readonly stop: StopSignal
  /** For people: host and process. */
  readonly name: string
  readonly version: string
  /** Calls in flight at most. */
  readonly concurrency: number
  readonly leaseMs: number
  /** Ends when no chunk is left, not when it is told to. */
  readonly once: boolean
  /** Called with each change, and now and then without one. */
  readonly onState: (state: WorkerState) => void
}

/** How a worker is doing. */
export interface WorkerState {
  /** Chunks that it has. */
  readonly chunks: number
  /** Chunks that it has brought to their end since it was started. */
  readonly done: number
  /** Whether the journal can be reached. */
  readonly isConnected: boolean
}

/** So many chunks at most are collected side by side, so that no send time waits at the end of one. */
const mostChunks = 4
/** So many more of jobs of which nothing is under way: a job waits for none that is larger. */
const mostOfOthers = 8
/** So many tasks for each call in flight are at work: the next chunk is taken while some of them wait for their call. */
const tasksForCall = 2
/** How often a worker looks whether it has room, and, where there was no chunk to take, for chunks again. */
const roomEveryMs = 20
const pollEveryMs = 200
/**
 * How often the workers of a key that have no room look for jobs of which nothing is under way. They take turns, by chance. None waits for its
 * turn so long that a small job could wait for two seconds: the others may have been killed, or hold all that they can.
 */
const othersEveryMs = 500
const mostInTurn = 4
const longestTurnMs = 1_800
/** How long at most between two looks for chunks of workers that were lost. */
const longestPauseMs = 5_000
/** A chunk whose lease ran out this often is left alone: it may be what kills its workers. */
const mostTakeovers = 10
/** How long a worker that has nothing left waits until the journal knows that it is gone. */
const goodbyeMs = 1_000
/** Runs of which a worker counts what their calls came to. */
const mostRunsCounted = 20
/** How long a chunk that the service refused keeps a worker from asking for the next one. */
const afterStopMs = 5_000
/** How often it is tried to take the lock of the key. */
const lockEveryMs = 200

/** Runs a worker of the queue with the key of this process. Answers why it cannot go on; null where it has nothing left, or was told to stop. */
export async function runWorker(
  command: CommandOptions,
  settings: {
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
  },
  local: Clock = systemClock,
): Promise<StopCause | null> {
  const { stop, notice } = settings
  const { http, service } = await connections.ofWorker(command)
  const life = new AbortController()
  try {
    using key = await shareKey(keyHash(service), stop.signal, notice)
    if (key === null) return null
    await using journal = await openPatiently(settings.url, stop, notice)
    if (journal === null) return null
    const clock = databaseClock(local)
    const hash = keyHash(service)
    const limiter = sharedLimiter({
      rates: journal.rates,
      keyHash: hash,
      clock,
      concurrency: settings.concurrency,
      coldRequests: http.openAhead === null ? coldRequests : 0,
      firstAlone: true,
      // To connect takes the way there and back, and with https more: half of it is no less than the way.
      wayMs: () => http.quickestConnectMs() / 2,
      signal: life.signal,
      onError: (error) => stop.request({ reason: 'crashed', message: String(error) }),
    })
    const serviceDelays = { throttledMs: settings.maxThrottlingMs, unavailableMs: settings.maxOutageMs }
    const serviceFor: WorkerOptions['serviceFor'] = (store, job, mayStillLeave) =>
      apiClient({
        baseUrl: service.baseUrl,
        http,
        rateLimiter: { ...limiter, acquire: limiter.ofJob(job) },
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
      // One that cannot be opened is left to the call that needs it.
      onWork: (queries: number) =>
        void http.openAhead?.(Math.min(coldRequests, settings.concurrency, queries)),
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
    const lock = turns.tryCollector(path, 'shared')
    if (lock !== null) return lock
    if (!isSaid)
      notice(
        `A process on this machine collects with this key, and without the queue. Waiting for it (${turns.ownerOf(path)}).`,
      )
    await pause(lockEveryMs, undefined, { signal }).catch(() => {})
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

/**
 * Takes chunks and collects them until it is told to stop, or, with `once`, until no chunk is left. Answers why it cannot go on, or null.
 */
export async function work(options: WorkerOptions): Promise<StopCause | null> {
  const { journal, clock, limiter, stop, leaseMs, keyHash } = options
  const id = randomUUID()
  const startedAt = clock.wall()
  const mostTasks = options.concurrency * tasksForCall
  const held = new Map<string, HeldChunk>()
  /** Chunks of them that have no call yet: how much room they leave is not known. */
  const beginning = new Set<string>()
  /** How many workers take turns in looking for other jobs. */
  let inTurn = 1
  let done = 0
  let refusal: StopCause | null = null
  const countsOf = countsByRun()
  const state = connectionState(options, () => ({ chunks: held.size, done }))
  const wait = (ms: number): Promise<void> => sleep(clock, ms, stop.signal).catch(() => {})
  const ask = <T>(question: () => Promise<T>, signal?: AbortSignal): Promise<T> =>
    whenReachable(question, { signal, onWait: state.lost, onBack: state.back })
  let heardAt = clock.monotonic()
  let calledAt = clock.monotonic()
  using farewell = abandonWhenSilent({
    journal,
    clock,
    signal: stop.signal,
    // It hears of the journal, and has calls whose answers are to be written down.
    lastSign: () => {
      if (limiter.busy() > 0) calledAt = clock.monotonic()
      return Math.min(heardAt, calledAt)
    },
  })
  const failed = (error: unknown): void => {
    if (!farewell.isOver()) stop.request(crashed(error))
  }

  const isHeld = (chunk: string): boolean => {
    const one = held.get(chunk)
    if (one !== undefined && hasRunOut(one)) one.lost.abort()
    return one?.lost.signal.aborted === false
  }
  /** By the clock on the wall, too: the monotonic one stands still while a machine sleeps. */
  const hasRunOut = ({ renewed }: HeldChunk): boolean =>
    clock.monotonic() > renewed.monotonic + leaseMs || machineWall() > renewed.wall + leaseMs
  const machineWall = (): number => clock.wall() + clock.aheadMs()
  const instant = () => ({ monotonic: clock.monotonic(), wall: machineWall() })

  const end = async (chunk: LeasedChunk, how: ChunkEnd): Promise<void> => {
    await journal.calls.flush()
    await ask(() => journal.chunks.end(id, chunk, how))
    if (how.state === 'done') done += 1
    if (!('stop' in how)) return
    options.notice(how.stop.message)
    if (how.stop.reason === 'auth') refusal ??= { reason: 'auth', message: how.stop.message }
  }

  const collectChunk = async (chunk: LeasedChunk, lost: AbortController): Promise<void> => {
    const onBegun = (): void => {
      beginning.delete(chunk.chunk)
    }
    await using memory = await options.openMemory()
    const stopped = AbortSignal.any([stop.signal, lost.signal])
    const own = { concurrency: mostTasks, memory, stop: stopped, onBegun, counts: countsOf(chunk.run) }
    const { isPaced, otherAnswers } = limiter
    const holds = { isHeld: () => isHeld(chunk.chunk), isPaced, otherAnswers }
    const how = await runChunk({ ...options, ...own, ...holds }, chunk)
    if (how === null || lost.signal.aborted) return
    await end(chunk, how)
    if ('stop' in how || (chunk.isClosed && how.state === 'released')) await wait(afterStopMs)
  }

  const take = async (which: 'any' | 'others'): Promise<boolean> => {
    let asked = instant()
    const [chunk] = await ask(() => {
      asked = instant()
      return journal.chunks.take(id, [keyHash], 1, leaseMs, { name: options.name, which })
    }, stop.signal)
    if (chunk === undefined) return false
    if (held.size === 0) options.onWork(chunk.queries.length)
    const lost = new AbortController()
    const work = collectChunk(chunk, lost)
      .catch(failed)
      .finally(() => {
        held.delete(chunk.chunk)
        beginning.delete(chunk.chunk)
        state.changed()
      })
    beginning.add(chunk.chunk)
    held.set(chunk.chunk, { lease: chunk, lost, work, renewed: asked })
    state.changed()
    return true
  }

  /** Renews what it has. A lease that could not be renewed in its time may be another's: no call is begun under it. */
  const renew = async (): Promise<void> => {
    const leases = [...held.values()].map(({ lease }) => lease)
    const asked = instant()
    const gone = await journal.chunks.renew(id, leases, leaseMs)
    for (const { chunk } of gone) held.get(chunk)?.lost.abort()
    for (const { chunk } of leases) if (held.has(chunk)) (held.get(chunk) as HeldChunk).renewed = asked
    heardAt = clock.monotonic()
    state.back()
    state.changed()
  }

  /** Says that it is here, and gives out again the chunks of workers that were lost. */
  const lookAround = async (): Promise<void> => {
    const about = { id, name: options.name, version: options.version, keys: [keyHash], startedAt }
    const { tooNew, workers } = await journal.operations.seen({ ...about, clockOffsetMs: clock.aheadMs() })
    inTurn = Math.min(workers, mostInTurn)
    if (tooNew !== null) refusal ??= { reason: 'unavailable', message: tooNew, wrongSetting: true }
    const back = await journal.chunks.takeBack(mostTakeovers)
    if (back.released > 0)
      options.notice(`${count(back.released, 'chunk')} of workers that were lost can be taken again.`)
  }

  /** Looking around may take long, or wait for a lock: leases are renewed meanwhile. */
  let looking: Promise<void> | null = null
  const keep = async (): Promise<void> => {
    try {
      await renew()
      looking ??= lookAround()
        .catch((error: unknown) => {
          // Whether the queue can be reached is told by renewals.
          if (!(error instanceof JournalUnreachable)) failed(error)
        })
        .finally(() => {
          looking = null
        })
    } catch (error) {
      if (error instanceof JournalUnreachable) state.lost(error)
      else failed(error)
    }
    for (const one of held.values()) if (hasRunOut(one)) one.lost.abort()
  }

  const ended = new AbortController()
  const heartbeat = (async () => {
    while (!ended.signal.aborted) {
      await keep()
      await sleep(clock, Math.min(leaseMs / 3, longestPauseMs), ended.signal).catch(() => {})
    }
    await looking
  })()

  try {
    let looksAgainAt = clock.monotonic()
    while (!stop.signal.aborted && refusal === null) {
      const hasRoom = held.size < mostChunks && beginning.size === 0 && limiter.busy() < mostTasks
      const looksForOthers =
        !hasRoom &&
        held.size < mostChunks + mostOfOthers &&
        beginning.size === 0 &&
        clock.monotonic() >= looksAgainAt
      if (hasRoom || looksForOthers)
        looksAgainAt =
          clock.monotonic() + Math.min(longestTurnMs, othersEveryMs * inTurn * (0.5 + options.random()))
      if ((hasRoom && (await take('any'))) || (looksForOthers && (await take('others')))) continue
      if (
        options.once &&
        held.size === 0 &&
        !(await ask(() => journal.chunks.hasWork([keyHash]), stop.signal))
      )
        break
      await wait(hasRoom ? pollEveryMs : roomEveryMs)
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error
  }
  await Promise.all([...held.values()].map(({ work }) => work))
  ended.abort()
  const cancelGoodbye = farewell.isOver() ? () => {} : clock.after(goodbyeMs, journal.abandon)
  await heartbeat
  await journal.operations.gone(id).catch(() => {})
  cancelGoodbye()
  if (farewell.isOver()) return queueIsGone
  return refusal ?? (stop.cause()?.reason === 'crashed' ? stop.cause() : null)
}

/**
 * Asks the service with the free usage call whether it takes the key: why it does not; null where it does. A service that is down is waited
 * for later, with chunks in hand.
 */
export async function refusalOfKey(options: WorkerOptions): Promise<StopCause | null> {
  const { journal, serviceFor, stop } = options
  const calls: NewSharedCall[] = []
  const service = serviceFor(
    {
      beginCall: async ({ operation, credits, sentAt, keyHash }) =>
        calls.push({ id: randomUUID(), task: null, operation, credits, sentAt, keyHash }) - 1,
      settleCall: (call, settlement) => journal.calls.settle(calls[call] as NewSharedCall, settlement),
    },
    '',
  )
  const store = {
    saveUsage: (reading: UsageReading) =>
      whenReachable(() => journal.calls.saveUsage({ ...reading, run: null }), { signal: stop.signal }),
  }
  try {
    const usage = await fetchUsage({ ...options, service, store, signal: stop.signal }, null)
    return ofKey(accountStop(usage, usage.at))
  } catch (error) {
    if (error instanceof UsageUnavailable) return ofKey(error.stop)
    if (stop.signal.aborted) return null
    throw error
  }
}

function ofKey(cause: StopCause | null): StopCause | null {
  return cause?.reason === 'auth' ? cause : null
}

/** The counts of each run; of the newest runs only, for a worker stays up for long. */
function countsByRun(): (run: string) => CallCounts {
  const counts = new Map<string, CallCounts>()
  return (run) => {
    const ofRun = counts.get(run) ?? callCounts()
    counts.delete(run)
    counts.set(run, ofRun)
    for (const oldest of counts.keys()) {
      if (counts.size <= mostRunsCounted) break
      counts.delete(oldest)
    }
    return ofRun
  }
}

const queueIsGone: StopCause = {
  reason: 'unavailable',
  message:
    'Stopped: the queue could not be reached. Calls whose answers are not in it will be listed as possibly billed.',
}

interface HeldChunk {
  readonly lease: ChunkLease
  readonly lost: AbortController
  readonly work: Promise<void>
  /** When it was last asked to be renewed, by the two clocks of this machine. */
  renewed: { readonly monotonic: number; readonly wall: number }
}

function crashed(error: unknown): StopCause {
  if (error instanceof RanklineError) return stopCauses.thrown(error)
  const said = error instanceof Error ? error.message : String(error)
  return { reason: 'crashed', message: `Stopped: an error in rankline itself (${said}).` }
}

/** Says once that the journal cannot be reached, and once that it can again. */
function connectionState(
  { notice, onState }: Pick<WorkerOptions, 'notice' | 'onState'>,
  counts: () => Omit<WorkerState, 'isConnected'>,
) {
  let isConnected = true
  const changed = (): void => onState({ ...counts(), isConnected })
  const set = (now: boolean, line: string): void => {
    if (isConnected === now) return
    isConnected = now
    notice(line)
    changed()
  }
  return {
    changed,
    lost: ({ message }: JournalUnreachable) =>
      set(
        false,
        `The queue cannot be reached: ${message}. Waiting for it; calls that were sent are written down when it is back.`,
      ),
    back: () => set(true, 'The queue is back.'),
  }
}
