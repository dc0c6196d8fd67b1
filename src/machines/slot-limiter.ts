import type { AcquireOptions, Permit, RateLimiter } from '../api/rate-limiter.ts'
import type { SharedRates, SlotAnswer } from '../store/shared/rates.ts'
import { whenReachable } from '../store/shared/waiting.ts'
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
/** More slots are leased while those at hand last for less than this many times as long as writing a call takes. */
const leadsAhead = 3
/**
 * A slot is used at its time, or this much later, for a process may be kept from its work so long; then it is lost. Of the limit so much
 * is left unused that calls may be late by 75 ms before a second has one too many.
 */
const graceMs = 20
/** Without a limit it is asked so often whether there is one, or a refusal. */
const unlimitedForMs = 500
/** What writing a call takes at first; then the longest one lately, which decays by 2 % per call. */
const firstLeadMs = 4
const longestLeadMs = 200
const forgottenPart = 0.02

interface WaitingCall {
  readonly urgent: boolean
  /** @param limited whether it needs a slot to leave in */
  readonly letThrough: (limited: boolean) => void
}

/** A call that is written and leaves in the next slot; null where the limit has gone. */
interface Ready {
  readonly urgent: boolean
  readonly go: (slot: number | null) => void
  readonly stay: (reason: unknown) => void
}

/**
 * Calls leave in slots that are leased in the time of the database. A call is let through shortly before a slot, so that it can be written;
 * whichever is written first leaves in the next slot, so that none is lost over one that takes long.
 */
export function slotLimiter(options: SlotLimiterOptions): SlotLimiter {
  const { rates, keyHash, clock, concurrency, coldRequests = 0, onError, signal: over } = options
  /** Monotonic instants, the next one first. */
  let slots: number[] = []
  let unlimitedUntil = Number.NEGATIVE_INFINITY
  const waiting: WaitingCall[] = []
  const ready: Ready[] = []
  /** Calls that were let through and have not left. */
  let underWay = 0
  /** Calls that wait until one of those in flight ends. */
  const outside: (() => void)[] = []
  let inFlight = 0
  let departed = 0
  /** Slots that stay unused: the second ones of cold requests. */
  let unused = 0
  let leasing = false
  /** The slot of the call that probes after a refusal: more are not asked for before. */
  let probeAt = Number.NEGATIVE_INFINITY
  let leadMs = firstLeadMs
  let cancelTimer: (() => void) | null = null
  /** Since when the service refuses calls; null while it lets them pass. */
  let refusedSince: number | null = null
  /** Calls that left before say nothing of whether others pass now. */
  let refusedAt = Number.NEGATIVE_INFINITY
  let paidRefused = false
  /** The last refusal is written down: slots that are asked for before it is would be refused as well. */
  let refusalNoted: Promise<unknown> = Promise.resolve()

  const patient = <T>(work: () => Promise<T>): Promise<T> => whenReachable(work, { signal: over })
  /** No slot will come any more: what is written and waits for one does not leave. */
  const failed = (error: unknown): void => {
    underWay -= ready.length
    for (const { stay } of ready.splice(0)) stay(error)
    if (over?.aborted !== true) onError(error)
  }

  const pump = (): void => {
    cancelTimer?.()
    cancelTimer = null
    const now = clock.monotonic()
    if (now < unlimitedUntil) {
      underWay -= ready.length
      for (const { go } of ready.splice(0)) go(null)
      for (const { letThrough } of waiting.splice(0)) letThrough(false)
      return
    }
    for (
      skipSlots(now);
      ready.length > 0 && slots.length > 0 && (slots[0] as number) <= now;
      skipSlots(now)
    ) {
      ready.shift()?.go(slots.shift() as number)
      underWay -= 1
      if (departed++ < coldRequests) unused += 1
    }
    // Each call under way takes one of the next slots.
    while (waiting.length > 0 && underWay < slots.length && (slots[underWay] as number) - leadMs <= now) {
      underWay += 1
      waiting.shift()?.letThrough(true)
    }
    const nextLeaves = ready.length > 0 ? slots[0] : undefined
    const nextIsLetThrough = waiting.length > 0 ? slots[underWay] : undefined
    const wakeAt = Math.min(nextLeaves ?? Infinity, (nextIsLetThrough ?? Infinity) - leadMs)
    if (wakeAt < Infinity) cancelTimer = clock.after(Math.max(1, Math.ceil(wakeAt - now)), pump)
    if (lacksSlots(now) && !leasing) void lease()
  }

  /** Drops slots that are over, and those that stay unused. */
  const skipSlots = (now: number): void => {
    while (slots.length > 0 && (unused > 0 || (slots[0] as number) < now - graceMs)) {
      slots.shift()
      unused = Math.max(0, unused - 1)
    }
  }

  const lacksSlots = (now: number): boolean => {
    const missing = waiting.length + underWay + unused - slots.length
    if (missing <= 0 || now < probeAt) return false
    return slots.length < slotsAtOnce || (slots.at(-1) as number) < now + leadsAhead * leadMs
  }

  const lease = async (): Promise<void> => {
    leasing = true
    try {
      await refusalNoted
      const refusedBefore = refusedAt
      const wanted = waiting.length + underWay + unused - slots.length
      const count = Math.min(slotsAtOnce, Math.max(1, wanted))
      const answer = await patient(async () => {
        const askedAt = clock.monotonic()
        const answer = await rates.lease(keyHash, count, leadMs * 2)
        clock.note(answer.now, askedAt, clock.monotonic())
        return answer
      })
      // What was refused meanwhile would be refused in these slots, too.
      if (refusedAt === refusedBefore) keepSlots(answer)
    } catch (error) {
      failed(error)
      return
    } finally {
      leasing = false
    }
    pump()
  }

  const keepSlots = (answer: SlotAnswer): void => {
    noteStanding('isProbe' in answer && answer.isProbe)
    if ('unlimited' in answer) {
      unlimitedUntil = clock.monotonic() + unlimitedForMs
      return
    }
    unlimitedUntil = Number.NEGATIVE_INFINITY
    const first = clock.monotonicAt(answer.firstAt)
    const leased = Array.from({ length: answer.slots }, (_, index) => first + index * answer.spacingMs)
    slots = [...slots, ...leased].sort((a, b) => a - b)
    if (answer.isProbe) probeAt = first
  }

  /** The service refuses calls of another process, or lets them pass again. */
  const noteStanding = (isRefused: boolean): void => {
    if (isRefused === (refusedSince !== null)) return
    refusedSince = isRefused ? clock.monotonic() : null
    refusedAt = refusedSince ?? refusedAt
    paidRefused = isRefused
  }

  /** Fulfilled when a call may be written: with whether it needs a slot. Rejected with the reason of an aborted signal. */
  const mayBegin = (urgent: boolean, signal: AbortSignal | undefined): Promise<boolean> =>
    new Promise((resolve, reject) => {
      const abort = (): void => {
        const place = waiting.indexOf(entry)
        if (place >= 0) waiting.splice(place, 1)
        reject(signal?.reason)
        if (waiting.length + ready.length > 0) return
        cancelTimer?.()
        cancelTimer = null
      }
      const entry: WaitingCall = {
        urgent,
        letThrough: (limited) => {
          signal?.removeEventListener('abort', abort)
          resolve(limited)
        },
      }
      if (signal?.aborted) return reject(signal.reason)
      signal?.addEventListener('abort', abort, { once: true })
      queue(waiting, entry)
      pump()
    })

  /** Fulfilled when there is room for one more call in flight. Who leaves hands its place over, so that all come in their order. */
  const enter = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      if (inFlight < concurrency) {
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
    })

  const leave = (): void => {
    const next = outside.shift()
    if (next === undefined) inFlight -= 1
    else next()
  }

  /** Notes how a call ended that left at that monotonic instant. */
  const noteEnd = (leftAt: number, throttled: boolean, free: boolean, namedMs: number | null): void => {
    const slotAt = leftAt - clock.monotonicAt(0)
    if (throttled) {
      if (!free) paidRefused = true
      refusedAt = clock.monotonic()
      refusedSince ??= refusedAt
      // Slots that are left would be refused as well.
      slots = []
      probeAt = Number.NEGATIVE_INFINITY
      unlimitedUntil = Number.NEGATIVE_INFINITY
      refusalNoted = patient(() => rates.refused(keyHash, slotAt, namedMs)).then(pump, failed)
    } else if (refusedSince !== null && leftAt > refusedAt && !(free && paidRefused)) {
      // A free lookup that passes does not mean that paid calls pass.
      refusedSince = null
      paidRefused = false
      probeAt = Number.NEGATIVE_INFINITY
      patient(() => rates.passed(keyHash, slotAt)).then(pump, failed)
    }
  }

  const acquire = async ({ signal, urgent = false }: AcquireOptions = {}): Promise<Permit> => {
    if (signal?.aborted) throw signal.reason
    if (!urgent) await enter(signal)
    const limited = await mayBegin(urgent, signal).catch((error: unknown) => {
      if (!urgent) leave()
      throw error
    })
    let leftAt = clock.monotonic()
    let hasLeft = !limited
    let isOver = false
    const grantedAt = clock.monotonic()
    const end = (): void => {
      if (!isOver && !urgent) leave()
      isOver = true
    }
    return {
      departure: async () => {
        if (hasLeft) return
        const took = clock.monotonic() - grantedAt
        leadMs = Math.min(longestLeadMs, Math.max(took, leadMs + (took - leadMs) * forgottenPart))
        hasLeft = true
        const slot = await new Promise<number | null>((go, stay) => {
          queue(ready, { urgent, go, stay })
          pump()
        })
        leftAt = slot ?? clock.monotonic()
      },
      sent: () => {},
      cancel: () => {
        if (!hasLeft) underWay -= 1
        hasLeft = true
        end()
        pump()
      },
      finish: (throttled, namedMs = null) => {
        end()
        noteEnd(leftAt, throttled, urgent, namedMs)
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

/** Urgent ones before all others. */
function queue<Entry extends { readonly urgent: boolean }>(entries: Entry[], entry: Entry): void {
  const firstPatient = entry.urgent ? entries.findIndex(({ urgent }) => !urgent) : -1
  if (firstPatient >= 0) entries.splice(firstPatient, 0, entry)
  else entries.push(entry)
}
