import type { Clock } from '../model/clock.ts'
import { type Guard, learnedGuard } from './guard.ts'
import type { Departure } from './lateness.ts'
import { refusalPauses } from './refusals.ts'
import { type RateLimits, slidingWindows } from './windows.ts'

/** Leave to send one request. Each token ends with exactly one of `released` or `over`. */
export interface Token {
  /** The request leaves now: from here the windows count. */
  sent(): void
  /** It was never sent. */
  released(): void
  /**
   * Its answer came, or never will; `refused` where the service said that the rate is exceeded.
   *
   * @param namedMs the delay that the service named with a refusal
   */
  over(refused: boolean, namedMs?: number | null): void
}

/** Stands in front of every request and keeps both windows. */
export interface Gate {
  /** Fulfilled, in the order asked but `first` before all, when the windows have room; rejected with the signal's reason when it is aborted. */
  acquire(options?: Asking): Promise<Token>
  setLimits(limits: RateLimits): void
  /** Counts requests that other processes sent, as ages in milliseconds. */
  seed(ages: readonly number[]): void
  /** Milliseconds since the service began to refuse and has not passed a call since; null while it passes them. */
  refusedFor(): number | null
}

export interface Asking {
  readonly signal?: AbortSignal | undefined
  /** A free lookup: it goes before all that wait. */
  readonly first?: boolean
  /** Calls of one kind take a similar time to be answered. */
  readonly kind?: string
}

export interface GateOptions {
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  readonly limits?: RateLimits
  readonly guard?: Guard
}

interface Waiting {
  readonly first: boolean
  readonly kind: string
  readonly grant: (token: Token) => void
  readonly gone: () => boolean
}

/** A gate for one key in one process. */
export function openGate({ clock, limits, guard = learnedGuard(clock) }: GateOptions): Gate {
  const windows = slidingWindows(clock, guard)
  if (limits !== undefined) windows.setLimits(limits)
  const refusals = refusalPauses(clock)
  const waiting: Waiting[] = []
  let cancel: (() => void) | null = null

  const roomAfter = (): number => Math.max(refusals.wait(), windows.wait())

  const admit = (): void => {
    cancel?.()
    cancel = null
    while (waiting.length > 0) {
      const first = waiting[0] as Waiting
      if (first.gone()) {
        waiting.shift()
        continue
      }
      const wait = roomAfter()
      if (wait > 0) {
        // What ends an endless wait calls `admit` itself.
        if (Number.isFinite(wait)) cancel = clock.after(Math.ceil(wait), admit)
        return
      }
      waiting.shift()
      first.grant(newToken(first))
    }
  }

  const newToken = ({ kind, first: free }: Pick<Waiting, 'kind' | 'first'>): Token => {
    let held = true
    let departure: Departure | null = null
    const probes = refusals.granted()
    windows.reserve()
    const giveBack = (): void => {
      if (held) windows.unreserve()
      held = false
    }
    return {
      sent: () => {
        if (!held) return
        held = false
        departure = windows.depart(kind)
        admit()
      },
      released: () => {
        giveBack()
        if (probes) refusals.probeGone()
        admit()
      },
      over: (refused, namedMs = null) => {
        giveBack()
        if (departure !== null) windows[refused ? 'refused' : 'answered'](departure)
        if (refused && refusals.since() === null) guard.refused()
        refusals.over({ refused, probe: probes, free, namedMs })
        admit()
      },
    }
  }

  const wait = ({ signal, first = false, kind = '' }: Asking): Promise<Token> =>
    new Promise((resolve, reject) => {
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
      waiting.splice(behind < 0 ? waiting.length : behind, 0, { first, kind, grant, gone: () => gone })
      if (waiting.length === 1) admit()
    })

  return {
    acquire: async (asking = {}) => {
      const { signal, first = false, kind = '' } = asking
      if (signal?.aborted) throw signal.reason
      // Without a limit nobody ever waits, and nothing is made ready for it.
      return waiting.length === 0 && roomAfter() <= 0 ? newToken({ first, kind }) : wait(asking)
    },
    setLimits: (changed) => {
      windows.setLimits(changed)
      admit()
    },
    seed: (ages) => windows.seed(ages),
    refusedFor: () => refusals.since(),
  }
}
