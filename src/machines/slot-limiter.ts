import type { AcquireOptions, Permit, RateLimiter } from '../api/rate-limiter.ts'
import { patiently } from '../store/shared/patience.ts'
import type { SharedRates } from '../store/shared/rates.ts'
import type { DatabaseClock } from './database-clock.ts'

/** The rate limiter of one process among several that share a key. */
export interface SlotLimiter extends RateLimiter {
  /** Calls that wait or are in flight. */
  busy(): number
}

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

/** Slots that are leased at once: few are lost with a process, and a lease is one statement for several calls. */
const slotsAtOnce = 5
/** A slot is used at its time, or this much later; then it is lost. */
const graceMs = 5
/** Without a limit it is asked so often whether there is one, or a refusal. */
const unlimitedForMs = 500
/** What writing a call takes at first; then it is learned. */
const firstLeadMs = 4
const longestLeadMs = 200
const weightOfLast = 0.2

interface WaitingSlot {
  readonly urgent: boolean
  /** How long before the slot it is handed out, so that the call can be written. */
  readonly early: boolean
  readonly signal: AbortSignal | undefined
  readonly take: (slot: number | null) => void
}

/**
 * Calls leave in slots that are leased in the time of the database. A call is let through shortly before its slot, so that it can be
 * written, and leaves in it; where writing took too long, it takes another slot.
 */
export function slotLimiter(options: SlotLimiterOptions): SlotLimiter {
  const { rates, keyHash, clock, concurrency, coldRequests = 0, onError, signal: over } = options
  /** Monotonic instants, the next one first. */
  let slots: number[] = []
  let unlimitedUntil = Number.NEGATIVE_INFINITY
  const waiting: WaitingSlot[] = []
  /** Calls that wait until one of those in flight ends. */
  const outside: (() => void)[] = []
  let inFlight = 0
  let granted = 0
  let leasing = false
  let leadMs = firstLeadMs
  let cancelTimer: (() => void) | null = null
  /** Since when the service refuses calls; null while it lets them pass. */
  let refusedSince: number | null = null
  let paidRefused = false

  const patient = <T>(work: () => Promise<T>): Promise<T> => patiently(work, { signal: over })
  const failed = (error: unknown): void => {
    if (over?.aborted !== true) onError(error)
  }

  const pump = (): void => {
    cancelTimer?.()
    cancelTimer = null
    while (waiting.length > 0) {
      const next = waiting[0] as WaitingSlot
      const now = clock.monotonic()
      if (now < unlimitedUntil) {
        waiting.shift()
        next.take(null)
        continue
      }
      while (slots.length > 0 && (slots[0] as number) < now - graceMs) slots.shift()
      const slot = slots[0]
      if (slot === undefined) break
      const waitMs = slot - now - (next.early ? leadMs : 0)
      if (waitMs > 0) {
        cancelTimer = clock.after(Math.ceil(waitMs), pump)
        break
      }
      slots.shift()
      waiting.shift()
      if (granted++ < coldRequests) slots.shift()
      next.take(slot)
    }
    if (slots.length < Math.min(waiting.length, slotsAtOnce) && !leasing) void lease()
  }

  const lease = async (): Promise<void> => {
    leasing = true
    try {
      const answer = await patient(async () => {
        const askedAt = clock.monotonic()
        const count = Math.min(slotsAtOnce, Math.max(1, waiting.length - slots.length))
        const answer = await rates.lease(keyHash, count, leadMs * 2)
        clock.note(answer.now, askedAt, clock.monotonic())
        return answer
      })
      if ('unlimited' in answer) unlimitedUntil = clock.monotonic() + unlimitedForMs
      else {
        unlimitedUntil = Number.NEGATIVE_INFINITY
        const first = clock.monotonicAt(answer.firstAt)
        const leased = Array.from({ length: answer.slots }, (_, index) => first + index * answer.spacingMs)
        slots = [...slots, ...leased].sort((a, b) => a - b)
      }
    } catch (error) {
      failed(error)
      return
    } finally {
      leasing = false
    }
    pump()
  }

  /** The next slot; null where there is no limit. Rejected with the reason of an aborted signal. */
  const nextSlot = (
    how: Pick<WaitingSlot, 'urgent' | 'early' | 'signal'>,
    first: boolean,
  ): Promise<number | null> =>
    new Promise((resolve, reject) => {
      const { signal } = how
      const abort = (): void => {
        const place = waiting.indexOf(entry)
        if (place >= 0) waiting.splice(place, 1)
        reject(signal?.reason)
      }
      const entry: WaitingSlot = {
        ...how,
        take: (slot) => {
          signal?.removeEventListener('abort', abort)
          resolve(slot)
        },
      }
      if (signal?.aborted) return reject(signal.reason)
      signal?.addEventListener('abort', abort, { once: true })
      const firstPatient = waiting.findIndex(({ urgent }) => !urgent)
      if (first) waiting.unshift(entry)
      else if (how.urgent && firstPatient >= 0) waiting.splice(firstPatient, 0, entry)
      else waiting.push(entry)
      pump()
    })

  const until = (instant: number): Promise<void> =>
    new Promise((resolve) => {
      const ms = instant - clock.monotonic()
      if (ms <= 0) resolve()
      else clock.after(ms, resolve)
    })

  const enter = async (signal: AbortSignal | undefined): Promise<void> => {
    while (inFlight >= concurrency) {
      await new Promise<void>((resolve, reject) => {
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
      })
    }
    inFlight += 1
  }

  const leave = (): void => {
    inFlight -= 1
    outside.shift()?.()
  }

  const noteEnd = (slotAt: number, throttled: boolean, free: boolean, namedMs: number | null): void => {
    if (throttled) {
      if (!free) paidRefused = true
      refusedSince ??= clock.monotonic()
      // Slots that are left would be refused as well.
      slots = []
      unlimitedUntil = Number.NEGATIVE_INFINITY
      patient(() => rates.refused(keyHash, slotAt, namedMs)).catch(failed)
    } else if (refusedSince !== null && !(free && paidRefused)) {
      // A free lookup that passes does not mean that paid calls pass.
      refusedSince = null
      paidRefused = false
      patient(() => rates.passed(keyHash, slotAt)).catch(failed)
    }
  }

  const acquire = async ({ signal, urgent = false }: AcquireOptions = {}): Promise<Permit> => {
    if (signal?.aborted) throw signal.reason
    if (!urgent) await enter(signal)
    const slot = await nextSlot({ urgent, early: true, signal }, false).catch((error: unknown) => {
      if (!urgent) leave()
      throw error
    })
    let instant = slot
    let isOver = false
    const grantedAt = clock.monotonic()
    const end = (): void => {
      if (!isOver && !urgent) leave()
      isOver = true
    }
    return {
      departure: async () => {
        const took = clock.monotonic() - grantedAt
        leadMs = Math.min(longestLeadMs, leadMs + (took * 1.5 - leadMs) * weightOfLast)
        while (instant !== null) {
          await until(instant)
          if (clock.monotonic() <= instant + graceMs) return
          instant = await nextSlot({ urgent, early: false, signal: undefined }, true)
        }
      },
      sent: () => {},
      cancel: end,
      finish: (throttled, namedMs = null) => {
        end()
        const at = instant ?? clock.monotonic()
        noteEnd(at - clock.monotonicAt(0), throttled, urgent, namedMs)
      },
    }
  }

  return {
    acquire,
    setLimits: (limits) => {
      patient(() => rates.setLimits(keyHash, limits)).then(() => {
        unlimitedUntil = Number.NEGATIVE_INFINITY
        pump()
      }, failed)
    },
    // Calls of other processes have slots of their own.
    countEarlierCalls: () => {},
    throttledFor: () => (refusedSince === null ? null : clock.monotonic() - refusedSince),
    busy: () => inFlight + outside.length,
  }
}
