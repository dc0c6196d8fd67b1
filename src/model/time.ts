/** Time as an argument. */
export interface Clock {
  /** Epoch milliseconds: what is stored. */
  readonly wall: () => number
  /** Milliseconds that only ever grow: what waits and rates are measured with. */
  readonly monotonic: () => number
  /** Calls back after that many milliseconds; returns a function that cancels it. */
  readonly after: (ms: number, ring: () => void) => () => void
}

/** The machine's clock. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, ring) => {
    const timer = setTimeout(ring, ms)
    return () => clearTimeout(timer)
  },
}

/** Waits that long, or until the stop: then it is rejected with `Stopped`. */
export function sleep(clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stopped = (): void => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', stopped)
      resolve()
    })
    signal?.addEventListener('abort', stopped, { once: true })
  })
}

/** The day (YYYY-MM-DD) that an instant (epoch ms) falls on in a time zone, daylight saving counted. */
export function localDay(instant: number, timezone: string): string {
  // The usual zone, and many times faster than a formatter of Intl.
  if (timezone === 'UTC') return new Date(instant).toISOString().slice(0, 10)
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(instant)
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? ''
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`
}
