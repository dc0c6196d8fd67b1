import type { Clock } from '../model/clock.ts'

/** Calls per second and per minute; null is unlimited. */
export interface RateLimits {
  readonly perSecond: number | null
  readonly perMinute: number | null
}

/** Leave to send one request. Each token ends with exactly one of `released` or `over`. */
export interface Token {
  /** The request leaves now: from here the windows count. */
  sent(): void
  /** It was never sent. */
  released(): void
  /** Its answer came, or never will; `refused` where the service said that the rate is exceeded. */
  over(refused: boolean): void
}

/** Stands in front of every request and keeps both windows. */
export interface Gate {
  /** Fulfilled, in the order asked but `first` before all, when the windows have room; rejected with the signal's reason when it is aborted. */
  acquire(options?: { readonly signal?: AbortSignal | undefined; readonly first?: boolean }): Promise<Token>
  setLimits(limits: RateLimits): void
  /** Counts requests that other processes sent, as ages in milliseconds. */
  seed(ages: readonly number[]): void
  /** Milliseconds since the service began to refuse and has not passed a call since; null while it passes them. */
  refusedFor(): number | null
}

export interface GateOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  readonly limits?: RateLimits
  /** Milliseconds added to each window, for a request needs a varying time to arrive. */
  readonly guardMs?: number
}

const defaultGuardMs = 50
const firstPauseMs = 500
const longestPauseMs = 30_000

interface Waiting {
  readonly first: boolean
  readonly grant: (token: Token) => void
  readonly gone: () => boolean
}

/** A gate for one key in one process. */
export function openGate({ clock, limits, guardMs = defaultGuardMs }: GateOptions): Gate {
  const windows = slidingWindows(clock, guardMs)
  if (limits !== undefined) windows.setLimits(limits)
  const refusals = refusalPauses(clock)
  const waiting: Waiting[] = []
  let timer: NodeJS.Timeout | null = null

  const admit = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    while (waiting.length > 0) {
      const first = waiting[0] as Waiting
      if (first.gone()) {
        waiting.shift()
        continue
      }
      const wait = Math.max(refusals.wait(), windows.wait())
      if (wait > 0) {
        // What ends an endless wait calls `admit` itself.
        if (Number.isFinite(wait)) timer = setTimeout(admit, Math.ceil(wait))
        return
      }
      waiting.shift()
      first.grant(newToken())
    }
  }

  const newToken = (): Token => {
    let held = true
    const probes = refusals.granted()
    windows.reserve()
    const leave = (count: () => void): void => {
      if (!held) return
      held = false
      count()
      admit()
    }
    return {
      sent: () => leave(windows.count),
      released: () => {
        leave(windows.unreserve)
        if (probes) refusals.probeGone()
        admit()
      },
      over: (refused) => {
        leave(windows.unreserve)
        refusals.over(refused, probes)
        admit()
      },
    }
  }

  return {
    acquire: ({ signal, first = false } = {}) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        let gone = false
        const abort = (): void => {
          gone = true
          reject(signal?.reason)
          // Nobody may be left to wake a timer for.
          admit()
        }
        signal?.addEventListener('abort', abort, { once: true })
        const grant = (token: Token): void => {
          signal?.removeEventListener('abort', abort)
          resolve(token)
        }
        const behind = first ? waiting.findIndex((one) => !one.first) : -1
        waiting.splice(behind < 0 ? waiting.length : behind, 0, { first, grant, gone: () => gone })
        if (waiting.length === 1) admit()
      }),
    setLimits: (changed) => {
      windows.setLimits(changed)
      admit()
    },
    seed: (ages) => windows.seed(ages),
    refusedFor: () => refusals.since(),
  }
}

/** Requests of the last second and minute; those about to leave count as if they left now. */
function slidingWindows(clock: Pick<Clock, 'monotonic'>, guardMs: number) {
  let limits: RateLimits = { perSecond: null, perMinute: null }
  let reserved = 0
  /** When requests left, oldest first. */
  let sent: number[] = []

  const waitFor = (limit: number | null, windowMs: number): number => {
    if (limit === null) return 0
    const room = limit - reserved
    if (room <= 0) return Number.POSITIVE_INFINITY
    const blocking = sent[sent.length - room]
    return blocking === undefined ? 0 : blocking + windowMs + guardMs - clock.monotonic()
  }

  const forget = (): void => {
    const oldest = clock.monotonic() - 60_000 - guardMs
    const kept = sent.findIndex((at) => at > oldest)
    if (kept > 1000 || kept < 0) sent = kept < 0 ? [] : sent.slice(kept)
  }

  return {
    setLimits: (changed: RateLimits): void => {
      limits = changed
    },
    /** Milliseconds until there is room; infinite while only requests about to leave stand in the way. */
    wait: (): number => Math.max(waitFor(limits.perSecond, 1000), waitFor(limits.perMinute, 60_000)),
    reserve: (): void => {
      reserved += 1
    },
    unreserve: (): void => {
      reserved -= 1
    },
    count: (): void => {
      reserved -= 1
      sent.push(clock.monotonic())
      if (sent.length % 1024 === 0) forget()
    },
    seed: (ages: readonly number[]): void => {
      const now = clock.monotonic()
      sent = [...sent, ...ages.map((age) => now - age)].sort((a, b) => a - b)
    },
  }
}

/**
 * After a refusal everybody waits; then one request alone probes, and the others follow when it passes.
 * Refusals of requests that were already under way say nothing new.
 */
function refusalPauses(clock: Pick<Clock, 'monotonic'>) {
  let pauseMs = 0
  let until = 0
  let probing = false
  let refusedSince: number | null = null

  const hold = (): void => {
    pauseMs = pauseMs === 0 ? firstPauseMs : Math.min(pauseMs * 2, longestPauseMs)
    until = clock.monotonic() + pauseMs
    refusedSince ??= clock.monotonic()
  }

  return {
    wait: (): number => {
      if (refusedSince === null) return 0
      return probing ? Number.POSITIVE_INFINITY : until - clock.monotonic()
    },
    /** Notes that a request was let through; answers whether it is the probe. */
    granted: (): boolean => {
      if (refusedSince === null) return false
      probing = true
      return true
    },
    probeGone: (): void => {
      probing = false
    },
    over: (refused: boolean, probe: boolean): void => {
      if (probe) probing = false
      if (refused && (probe || refusedSince === null)) hold()
      if (!refused && probe) {
        pauseMs = 0
        refusedSince = null
      }
    },
    since: (): number | null => (refusedSince === null ? null : clock.monotonic() - refusedSince),
  }
}
