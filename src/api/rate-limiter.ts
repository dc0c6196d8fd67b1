import type { RateLimits } from '../model/call.ts'
import type { Clock } from '../model/time.ts'

/** Permission to send one request. Each ends with either `cancel` or `finish`. */
export interface Permit {
  /** Fulfilled when the request may leave, after its call was written; at once where it is not given. Rejected where it never may. */
  departure?(): Promise<void>
  /** The request leaves now; the windows count from here. */
  sent(): void
  /** The request was never sent. */
  cancel(): void
  /**
   * The response came, or never will; `throttled` if the service said that the rate is exceeded.
   *
   * @param namedMs the delay that the service named with it
   */
  finish(throttled: boolean, namedMs?: number | null): void
}

/** Delays requests so that they stay within the limits of a second and of a minute. */
export interface RateLimiter {
  /** Fulfilled when the windows have room, urgent calls first, others in order; rejected with the reason of an aborted signal. */
  acquire(options?: AcquireOptions): Promise<Permit>
  setLimits(limits: RateLimits): void
  /** Counts earlier requests of other processes, by their ages in milliseconds. */
  countEarlierCalls(ages: readonly number[]): void
  /** Milliseconds since the service began to throttle every call; null while it lets calls pass. */
  throttledFor(): number | null
}

export interface AcquireOptions {
  readonly signal?: AbortSignal | undefined
  /** A free lookup: it goes before all others that wait. */
  readonly urgent?: boolean
}

/** The rate limiter of one key in one process. */
export function rateLimiter(options: {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  readonly limits?: RateLimits
  readonly marginMs?: number
  /** The first requests, which count from their answers: they arrive late on new connections and at a service that starts. */
  readonly coldRequests?: number
  /** Runs once, before the first permit: it may set limits and count earlier calls. */
  readonly before?: (limiter: RateLimiter) => Promise<void>
}): RateLimiter {
  const { clock, limits, marginMs = safetyMarginMs, coldRequests = 0, before } = options
  const windows = slidingWindows(clock, marginMs)
  if (limits !== undefined) windows.setLimits(limits)
  const pause = throttlePause(clock)
  const waiting: {
    readonly urgent: boolean
    readonly grant: (permit: Permit) => void
    readonly isAborted: () => boolean
  }[] = []
  let cancelTimer: (() => void) | null = null
  let prepared: Promise<void> | null = null
  let granted = 0

  const waitMs = (): number => Math.max(pause.wait(), windows.wait())

  const admit = (): void => {
    cancelTimer?.()
    cancelTimer = null
    while (waiting.length > 0) {
      const next = waiting[0] as (typeof waiting)[number]
      if (!next.isAborted()) {
        const ms = waitMs()
        // What ends an infinite wait calls `admit` itself.
        if (ms > 0 && Number.isFinite(ms)) cancelTimer = clock.after(Math.ceil(ms), admit)
        if (ms > 0) return
        next.grant(newPermit(next.urgent))
      }
      waiting.shift()
    }
  }

  const newPermit = (free: boolean): Permit => {
    let isReserved = true
    const isCold = granted++ < coldRequests
    const probe = pause.granted()
    windows.reserve()
    const giveBack = (): void => {
      if (isReserved) windows.unreserve()
      isReserved = false
    }
    return {
      sent: () => {
        if (!isReserved || isCold) return
        isReserved = false
        windows.sent()
        admit()
      },
      cancel: () => {
        giveBack()
        if (probe) pause.probeCancelled()
        admit()
      },
      finish: (throttled, namedMs = null) => {
        if (isCold && isReserved) {
          isReserved = false
          windows.sent()
        }
        giveBack()
        pause.finished({ throttled, probe, free, namedMs })
        admit()
      },
    }
  }

  const wait = ({ signal, urgent = false }: AcquireOptions): Promise<Permit> =>
    new Promise((resolve, reject) => {
      let isAborted = false
      const abort = (): void => {
        isAborted = true
        reject(signal?.reason)
        // The timer may have been for this request only.
        admit()
      }
      signal?.addEventListener('abort', abort, { once: true })
      const grant = (permit: Permit): void => {
        signal?.removeEventListener('abort', abort)
        resolve(permit)
      }
      const firstPatient = urgent ? waiting.findIndex((one) => !one.urgent) : -1
      const position = firstPatient < 0 ? waiting.length : firstPatient
      waiting.splice(position, 0, { urgent, grant, isAborted: () => isAborted })
      if (waiting.length === 1) admit()
    })

  const limiter: RateLimiter = {
    acquire: async (asked = {}) => {
      prepared ??= before?.(limiter) ?? null
      if (prepared !== null) await prepared
      if (asked.signal?.aborted) throw asked.signal.reason
      // Without limits most calls need no place in the queue.
      return waiting.length === 0 && waitMs() <= 0 ? newPermit(asked.urgent ?? false) : wait(asked)
    },
    setLimits: (changed) => {
      windows.setLimits(changed)
      admit()
    },
    countEarlierCalls: windows.countEarlierCalls,
    throttledFor: pause.lastedMs,
  }
  return limiter
}

/** Added to each window, because the service counts requests when they arrive, and their travel time varies. */
const safetyMarginMs = 50
const longestWindowMs = 60_000

/** Requests of the last second and minute. Requests that are about to leave count as if they left now. */
function slidingWindows(clock: Pick<Clock, 'monotonic'>, marginMs: number) {
  let limits: RateLimits = { perSecond: null, perMinute: null }
  let reserved = 0
  /** When requests left, the oldest first. */
  let sent: number[] = []

  const waitFor = (limit: number | null, windowMs: number): number => {
    if (limit === null) return 0
    const room = limit - reserved
    if (room <= 0) return Number.POSITIVE_INFINITY
    const blocking = sent[sent.length - room]
    return blocking === undefined ? 0 : Math.max(0, blocking + windowMs + marginMs - clock.monotonic())
  }

  return {
    setLimits: ({ perSecond, perMinute }: RateLimits): void => {
      // A window of 0 calls would never open. The run stops for it, but the free lookups that find it out must pass.
      limits = { perSecond: perSecond || null, perMinute: perMinute || null }
    },
    /** Milliseconds until there is room; infinite while requests that are about to leave take all room. */
    wait: (): number => Math.max(waitFor(limits.perSecond, 1000), waitFor(limits.perMinute, longestWindowMs)),
    reserve: (): void => {
      reserved += 1
    },
    unreserve: (): void => {
      reserved -= 1
    },
    sent: (): void => {
      reserved -= 1
      // Also counted without a limit, because one may be set within the minute. Old ones are dropped rarely, as that copies the rest.
      if (sent.push(clock.monotonic()) % 8_192 !== 0) return
      const oldest = clock.monotonic() - longestWindowMs - marginMs
      sent = sent.filter((at) => at > oldest)
    },
    countEarlierCalls: (ages: readonly number[]): void => {
      const now = clock.monotonic()
      sent = [...sent, ...ages.map((age) => now - age)].sort((a, b) => a - b)
    },
  }
}

const firstPauseMs = 500
const longestPauseMs = 30_000

/**
 * After a throttled request all others wait. Then one probes, and the others follow when it passes. Requests that were under
 * way when the first one was throttled do not lengthen the pause if they are throttled as well.
 */
function throttlePause(clock: Pick<Clock, 'monotonic'>) {
  let pauseMs = 0
  let until = 0
  let probing = false
  let paidThrottled = false
  let since: number | null = null

  /** A delay that the service named replaces ours, except 0, which would ask the service without a pause. */
  const pause = (namedMs: number | null): void => {
    pauseMs = pauseMs === 0 ? firstPauseMs : Math.min(pauseMs * 2, longestPauseMs)
    until = clock.monotonic() + (namedMs || pauseMs)
    since ??= clock.monotonic()
  }

  return {
    wait: (): number => {
      if (since === null) return 0
      return probing ? Number.POSITIVE_INFINITY : until - clock.monotonic()
    },
    /** Call for each permit that is given; returns whether its request is the probe. */
    granted: (): boolean => {
      if (since !== null) probing = true
      return since !== null
    },
    probeCancelled: (): void => {
      probing = false
    },
    finished: ({
      throttled,
      probe,
      free,
      namedMs,
    }: {
      readonly throttled: boolean
      readonly probe: boolean
      readonly free: boolean
      readonly namedMs: number | null
    }): void => {
      if (probe) probing = false
      if (throttled && !free) paidThrottled = true
      if (throttled && (probe || since === null)) pause(namedMs)
      else if (throttled && namedMs !== null) until = Math.max(until, clock.monotonic() + namedMs)
      // A free lookup that passes does not mean that paid calls pass.
      if (throttled || !probe || (free && paidThrottled)) return
      paidThrottled = false
      pauseMs = 0
      since = null
    },
    lastedMs: (): number | null => (since === null ? null : clock.monotonic() - since),
  }
}
