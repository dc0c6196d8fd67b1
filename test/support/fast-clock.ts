import type { Clock } from '../../src/model/time.ts'

/** A clock of its own; it stands still when it is disposed. */
export interface FastClock extends Clock, Disposable {}

/** In the morning, so that no job's day ends while a test goes on. */
const start = Date.UTC(2026, 5, 15, 6)
const tickMs = 4
/** Where the machine was busy for longer than this, time did not go on: nobody could have used it. */
const longestStepMs = 3 * tickMs

/** Runs faster than real time: pauses of seconds cost milliseconds, while sockets work as ever. */
export function fastClock(factor: number): FastClock {
  let seen = performance.now()
  let passed = 0
  const now = (): number => {
    const real = performance.now()
    passed += Math.min(real - seen, longestStepMs) * factor
    seen = real
    return passed
  }
  const ticking = setInterval(now, tickMs)
  return {
    wall: () => start + Math.floor(now()),
    monotonic: now,
    // By this clock: the machine's timers may ring a little early, and this clock stands still where the process does.
    after: (ms, ring) => {
      const due = now() + ms
      const look = (): void => {
        const rest = due - now()
        if (rest <= 0) ring()
        else timer = setTimeout(look, rest / factor)
      }
      let timer = setTimeout(look, ms / factor)
      return () => clearTimeout(timer)
    },
    [Symbol.dispose]: () => clearInterval(ticking),
  }
}
