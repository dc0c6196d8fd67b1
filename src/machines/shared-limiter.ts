import type { AcquireOptions, Permit, RateLimiter } from '../api/rate-limiter.ts'
import type { DatabaseClock } from './database-clock.ts'
import type { SharedJournal } from './postgres/open.ts'
import {
  firstState,
  inTurns,
  type LimiterEffect,
  type LimiterEvent,
  leaseLeadMs,
  type QueuedCall,
  stepOf,
  timesToLease,
  usedPart,
} from './send-times.ts'
import { whenReachable } from './waiting.ts'

/**
 * The first call of a process goes alone. The others wait for its answer, no longer than this after it has left: a service that starts may keep
 * all calls waiting over its first one, and they would arrive together with those behind them.
 */
const aloneMs = 500

/** The rate limiter of one process among several that share a key. */
export type SharedLimiter = ReturnType<typeof sharedLimiter>

/**
 * Calls leave at send times that are leased in the time of the database. A call is let through shortly before a send time, so that it can be written;
 * whichever is written first leaves at the next send time, so that none is lost over one that takes long. What follows from what happens is
 * decided in send-times.ts; here it is done.
 */
export function sharedLimiter({
  rates,
  keyHash,
  clock,
  concurrency,
  coldRequests = 0,
  firstAlone = false,
  wayMs = () => Number.POSITIVE_INFINITY,
  onError,
  signal: over,
}: {
  readonly rates: Pick<SharedJournal['rates'], 'lease' | 'refused' | 'passed' | 'setLimits'>
  readonly keyHash: string
  readonly clock: DatabaseClock
  /** Calls in flight at most; free lookups come on top. */
  readonly concurrency: number
  /** The first requests, which take two send times each: they arrive late on new connections, and would meet those behind them. */
  readonly coldRequests?: number
  /** The first paid call goes alone: the others follow when it has come back, or a little later. */
  readonly firstAlone?: boolean
  /** How long a call travels to the service: by so much later than calls of a nearer process it may arrive. Infinite where it is not known. */
  readonly wayMs?: () => number
  /** Called with an error of the database that no waiting helps against. */
  readonly onError: (error: unknown) => void
  /** Ends waiting for a database that cannot be reached. */
  readonly signal?: AbortSignal
}) {
  let state = firstState(coldRequests)
  const places = placesInFlight(concurrency, firstAlone)
  /** What a call waits for, by its number: to be let through (with whether it needs a send time), or to leave (with its send time). */
  const lettingThrough = new Map<number, (needsTime: boolean) => void>()
  const leaving = new Map<
    number,
    { readonly leave: (sendTime: number | null) => void; readonly reject: (error: unknown) => void }
  >()
  let calls = 0
  /** Calls and lookups that have left and are not answered. */
  let away = 0
  let cancelWake: (() => void) | null = null
  let cancelAlone: (() => void) | null = null
  /** Send times that are asked for before the last refusal is noted would be refused as well. */
  let refusalNoted: Promise<unknown> = Promise.resolve()

  const happen = (event: LimiterEvent): void => {
    const step = stepOf(state, event, clock.monotonic())
    state = step.state
    for (const effect of step.effects) perform(effect)
  }
  const goOn = (): void => happen({ kind: 'woken' })
  const openAll = (): void => {
    cancelAlone?.()
    cancelAlone = null
    places.openAll()
  }
  const fail = (error: unknown, wasLeasing = false): void => {
    happen({ kind: 'failed', error, wasLeasing })
    if (over?.aborted !== true) onError(error)
  }
  const patient = <T>(work: () => Promise<T>): Promise<T> => whenReachable(work, { signal: over })

  const perform = (effect: LimiterEffect): void => {
    switch (effect.kind) {
      case 'let-through':
        taken(lettingThrough, effect.id)?.(effect.needsTime)
        break
      case 'leave':
        taken(leaving, effect.id)?.leave(effect.sendTime)
        break
      case 'reject':
        taken(leaving, effect.id)?.reject(effect.error)
        break
      case 'wake':
        cancelWake?.()
        cancelWake = effect.inMs === null ? null : clock.after(effect.inMs, goOn)
        break
      case 'lease':
        void lease()
        break
      case 'note-refusal':
        refusalNoted = patient(() => rates.refused(keyHash, effect.sentAt, effect.namedMs)).then(goOn, fail)
        break
      case 'note-pass':
        patient(() => rates.passed(keyHash, effect.sentAt)).then(goOn, fail)
        break
    }
  }

  const lease = async (): Promise<void> => {
    let leased: LimiterEvent
    try {
      await refusalNoted
      const refusedBefore = state.refusedAt
      const count = timesToLease(state)
      const answer = await patient(async () => {
        const askedAt = clock.monotonic()
        const answer = await rates.lease(keyHash, count, {
          leadMs: leaseLeadMs(state),
          usedPart: usedPart(state, clock.errorMs() + wayMs()),
        })
        clock.note(answer.now, askedAt, clock.monotonic())
        return answer
      })
      if ('unlimited' in answer) leased = { kind: 'leased', sendTimes: null, isProbe: false, refusedBefore }
      else {
        const { given, spacingMs, isProbe } = answer
        const first = clock.monotonicAt(answer.firstAt)
        const sendTimes = Array.from({ length: given }, (_, index) => first + index * spacingMs)
        leased = { kind: 'leased', sendTimes, isProbe, refusedBefore }
      }
    } catch (error) {
      fail(error, true)
      return
    }
    happen(leased)
  }

  /** Fulfilled when a call may be written: with whether it needs a send time. Rejected with the reason of an aborted signal. */
  const mayBegin = (call: QueuedCall, signal: AbortSignal | undefined): Promise<boolean> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const { id } = call
      const abort = (): void => {
        lettingThrough.delete(id)
        reject(signal?.reason)
        happen({ kind: 'aborted', call })
      }
      signal?.addEventListener('abort', abort, { once: true })
      lettingThrough.set(id, (needsTime) => {
        signal?.removeEventListener('abort', abort)
        resolve(needsTime)
      })
      happen({ kind: 'asked', call })
    })

  const acquire = async ({
    signal,
    urgent = false,
    job,
  }: AcquireOptions & Pick<QueuedCall, 'job'> = {}): Promise<Permit> => {
    if (signal?.aborted) throw signal.reason
    if (!urgent) await places.enter(signal, job)
    const id = calls++
    const needsTime = await mayBegin({ id, urgent, job }, signal).catch((error: unknown) => {
      if (!urgent) places.leave()
      throw error
    })
    if (!needsTime && !urgent) openAll()
    let leftAt = clock.monotonic()
    let isWriting = needsTime
    let isAway = false
    let isOver = false
    const grantedAt = clock.monotonic()
    const leave = (): void => {
      isAway = true
      away += 1
    }
    const end = (): void => {
      if (!isOver && !urgent) places.leave()
      if (isAway) away -= 1
      isAway = false
      isOver = true
    }
    return {
      departure: async () => {
        if (!isWriting) return leave()
        isWriting = false
        const sendTime = await new Promise<number | null>((leave, reject) => {
          leaving.set(id, { leave, reject })
          happen({ kind: 'written', call: { id, urgent }, tookMs: clock.monotonic() - grantedAt })
        })
        leftAt = sendTime ?? clock.monotonic()
        leave()
        if (!urgent && !places.areAllOpen()) cancelAlone = clock.after(aloneMs, places.openAll)
      },
      sent: () => {},
      cancel: () => {
        end()
        if (isWriting) happen({ kind: 'cancelled' })
        isWriting = false
      },
      finish: (throttled, namedMs = null) => {
        end()
        if (!urgent) openAll()
        const sentAt = leftAt - clock.monotonicAt(0)
        happen(
          throttled
            ? { kind: 'throttled', free: urgent, sentAt, namedMs }
            : { kind: 'passed', free: urgent, sentAt, leftAt },
        )
      },
    }
  }

  /**
   * Whether an answer can be written with others at no loss: calls in hand wait. Where the rate limit spaces calls, answers come one by one, and none
   * is waited for when all that have left are there. They come `soon` where a place among those in flight is all that calls wait for.
   */
  const otherAnswers = (): 'coming' | 'soon' | undefined => {
    if (state.waiting.length > 0) return away > 0 ? 'coming' : undefined
    return places.areAwaited() ? 'soon' : undefined
  }

  return {
    acquire,
    /** The same for the calls of one job: jobs take turns. */
    ofJob:
      (job: string): RateLimiter['acquire'] =>
      (asked) =>
        acquire({ ...asked, job }),
    setLimits: (limits) => {
      patient(() => rates.setLimits(keyHash, limits)).then(() => happen({ kind: 'limits' }), fail)
    },
    // Calls of other processes have send times of their own.
    countEarlierCalls: () => {},
    throttledFor: () => (state.refusedSince === null ? null : clock.monotonic() - state.refusedSince),
    /** Calls that wait or are in flight; free lookups do not count. */
    busy: () => places.busy(),
    /** Whether calls in hand wait for send times or for a place: nothing is lost where another one ends a little later. */
    isPaced: () => state.waiting.length > 0 || places.areAwaited(),
    otherAnswers,
  } satisfies RateLimiter & {
    busy(): number
    isPaced(): boolean
    otherAnswers: typeof otherAnswers
    ofJob(job: string): RateLimiter['acquire']
  }
}

/**
 * The calls in flight, at most so many; one until all places are opened, where the first one goes alone. Who leaves hands its place over, so that all
 * come in their turn.
 */
function placesInFlight(most: number, firstAlone: boolean) {
  let open = firstAlone ? 1 : most
  let inFlight = 0
  let outside: readonly { readonly enterNow: () => void; readonly job: string | undefined }[] = []
  return {
    /** Fulfilled when there is room for one more; rejected with the reason of an aborted signal. */
    enter: (signal: AbortSignal | undefined, job: string | undefined): Promise<void> =>
      new Promise((resolve, reject) => {
        if (inFlight < open) {
          inFlight += 1
          return resolve()
        }
        const enterNow = (): void => {
          signal?.removeEventListener('abort', abort)
          resolve()
        }
        const abort = (): void => {
          outside = outside.filter((one) => one.enterNow !== enterNow)
          reject(signal?.reason)
        }
        signal?.addEventListener('abort', abort, { once: true })
        outside = inTurns(outside, { enterNow, job })
      }),
    leave: (): void => {
      const [next] = outside
      outside = outside.slice(1)
      if (next === undefined) inFlight -= 1
      else next.enterNow()
    },
    areAllOpen: (): boolean => open === most,
    openAll: (): void => {
      const entering = outside.slice(0, most - inFlight)
      outside = outside.slice(entering.length)
      open = most
      inFlight += entering.length
      for (const one of entering) one.enterNow()
    },
    busy: (): number => inFlight + outside.length,
    areAwaited: (): boolean => outside.length > 0,
  }
}

/** The entry of a number, which has it no longer. */
function taken<T>(entries: Map<number, T>, id: number): T | undefined {
  const entry = entries.get(id)
  entries.delete(id)
  return entry
}
