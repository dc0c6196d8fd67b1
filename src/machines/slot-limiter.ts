import type { AcquireOptions, Permit, RateLimiter } from '../api/rate-limiter.ts'
import type { SharedRates } from '../store/shared/rates.ts'
import { whenReachable } from '../store/shared/waiting.ts'
import type { DatabaseClock } from './database-clock.ts'
import { firstState, type LimiterEffect, type LimiterEvent, slotsToLease, stepOf } from './slot-states.ts'

export interface SlotLimiterOptions {
  readonly rates: Pick<SharedRates, 'lease' | 'refused' | 'passed' | 'setLimits'>
  readonly keyHash: string
  readonly clock: DatabaseClock
  /** Calls in flight at most; free lookups come on top. */
  readonly concurrency: number
  /** The first requests, which take two slots each: they arrive late on new connections, and would meet those behind them. */
  readonly coldRequests?: number
  /** Called with an error of the database that no waiting helps against. */
  readonly onError: (error: unknown) => void
  /** Ends waiting for a database that cannot be reached. */
  readonly signal?: AbortSignal
}

/** The rate limiter of one process among several that share a key. */
export type SlotLimiter = ReturnType<typeof slotLimiter>

/**
 * Calls leave in slots that are leased in the time of the database. A call is let through shortly before a slot, so that it can be written;
 * whichever is written first leaves in the next slot, so that none is lost over one that takes long. What follows from what happens is
 * decided in `slot-states`; here it is done.
 */
export function slotLimiter(options: SlotLimiterOptions) {
  const { rates, keyHash, clock, concurrency, coldRequests = 0, onError, signal: over } = options
  let state = firstState(coldRequests)
  const places = placesInFlight(concurrency)
  /** What a call waits for, by its number: to be let through (with whether it needs a slot), or to leave (with its slot). */
  const lettingThrough = new Map<number, (needsSlot: boolean) => void>()
  const leaving = new Map<
    number,
    { readonly leave: (slot: number | null) => void; readonly reject: (error: unknown) => void }
  >()
  let calls = 0
  let cancelWake: (() => void) | null = null
  /** Slots that are asked for before the last refusal is noted would be refused as well. */
  let refusalNoted: Promise<unknown> = Promise.resolve()

  const happen = (event: LimiterEvent): void => {
    const step = stepOf(state, event, clock.monotonic())
    state = step.state
    for (const effect of step.effects) perform(effect)
  }
  const goOn = (): void => happen({ kind: 'woken' })
  const fail = (error: unknown, wasLeasing = false): void => {
    happen({ kind: 'failed', error, wasLeasing })
    if (over?.aborted !== true) onError(error)
  }
  const patient = <T>(work: () => Promise<T>): Promise<T> => whenReachable(work, { signal: over })

  const perform = (effect: LimiterEffect): void => {
    switch (effect.kind) {
      case 'let-through':
        taken(lettingThrough, effect.id)?.(effect.needsSlot)
        break
      case 'leave':
        taken(leaving, effect.id)?.leave(effect.slot)
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
        refusalNoted = patient(() => rates.refused(keyHash, effect.slotAt, effect.namedMs)).then(goOn, fail)
        break
      case 'note-pass':
        patient(() => rates.passed(keyHash, effect.slotAt)).then(goOn, fail)
        break
    }
  }

  const lease = async (): Promise<void> => {
    let leased: LimiterEvent
    try {
      await refusalNoted
      const refusedBefore = state.refusedAt
      const count = slotsToLease(state)
      const answer = await patient(async () => {
        const askedAt = clock.monotonic()
        const answer = await rates.lease(keyHash, count, state.leadMs * 2)
        clock.note(answer.now, askedAt, clock.monotonic())
        return answer
      })
      if ('unlimited' in answer) leased = { kind: 'leased', slots: null, isProbe: false, refusedBefore }
      else {
        const { slots: given, spacingMs, isProbe } = answer
        const first = clock.monotonicAt(answer.firstAt)
        const slots = Array.from({ length: given }, (_, index) => first + index * spacingMs)
        leased = { kind: 'leased', slots, isProbe, refusedBefore }
      }
    } catch (error) {
      fail(error, true)
      return
    }
    happen(leased)
  }

  /** Fulfilled when a call may be written: with whether it needs a slot. Rejected with the reason of an aborted signal. */
  const mayBegin = (id: number, urgent: boolean, signal: AbortSignal | undefined): Promise<boolean> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const call = { id, urgent }
      const abort = (): void => {
        lettingThrough.delete(id)
        reject(signal?.reason)
        happen({ kind: 'aborted', call })
      }
      signal?.addEventListener('abort', abort, { once: true })
      lettingThrough.set(id, (needsSlot) => {
        signal?.removeEventListener('abort', abort)
        resolve(needsSlot)
      })
      happen({ kind: 'asked', call })
    })

  const acquire = async ({ signal, urgent = false }: AcquireOptions = {}): Promise<Permit> => {
    if (signal?.aborted) throw signal.reason
    if (!urgent) await places.enter(signal)
    const id = calls++
    const needsSlot = await mayBegin(id, urgent, signal).catch((error: unknown) => {
      if (!urgent) places.leave()
      throw error
    })
    let leftAt = clock.monotonic()
    let isWriting = needsSlot
    let isOver = false
    const grantedAt = clock.monotonic()
    const end = (): void => {
      if (!isOver && !urgent) places.leave()
      isOver = true
    }
    return {
      departure: async () => {
        if (!isWriting) return
        isWriting = false
        const slot = await new Promise<number | null>((leave, reject) => {
          leaving.set(id, { leave, reject })
          happen({ kind: 'written', call: { id, urgent }, tookMs: clock.monotonic() - grantedAt })
        })
        leftAt = slot ?? clock.monotonic()
      },
      sent: () => {},
      cancel: () => {
        const wasWriting = isWriting
        isWriting = false
        end()
        happen({ kind: 'cancelled', wasWriting })
      },
      finish: (throttled, namedMs = null) => {
        end()
        const slotAt = leftAt - clock.monotonicAt(0)
        happen(
          throttled
            ? { kind: 'throttled', free: urgent, slotAt, namedMs }
            : { kind: 'passed', free: urgent, slotAt, leftAt },
        )
      },
    }
  }

  return {
    acquire,
    setLimits: (limits) => {
      patient(() => rates.setLimits(keyHash, limits)).then(() => happen({ kind: 'limits' }), fail)
    },
    // Calls of other processes have slots of their own.
    countEarlierCalls: () => {},
    throttledFor: () => (state.refusedSince === null ? null : clock.monotonic() - state.refusedSince),
    /** Calls that wait or are in flight; free lookups do not count. */
    busy: () => places.busy(),
  } satisfies RateLimiter & { busy(): number }
}

/** The calls in flight, at most so many. Who leaves hands its place over, so that all come in their order. */
function placesInFlight(most: number) {
  let inFlight = 0
  const outside: (() => void)[] = []
  return {
    /** Fulfilled when there is room for one more; rejected with the reason of an aborted signal. */
    enter: (signal: AbortSignal | undefined): Promise<void> =>
      new Promise((resolve, reject) => {
        if (inFlight < most) {
          inFlight += 1
          return resolve()
        }
        const enterNow = (): void => {
          signal?.removeEventListener('abort', abort)
          resolve()
        }
        const abort = (): void => {
          outside.splice(outside.indexOf(enterNow), 1)
          reject(signal?.reason)
        }
        signal?.addEventListener('abort', abort, { once: true })
        outside.push(enterNow)
      }),
    leave: (): void => {
      const next = outside.shift()
      if (next === undefined) inFlight -= 1
      else next()
    },
    busy: (): number => inFlight + outside.length,
  }
}

/** The entry of a number, which has it no longer. */
function taken<T>(entries: Map<number, T>, id: number): T | undefined {
  const entry = entries.get(id)
  entries.delete(id)
  return entry
}
