/** The world's wall clock: it runs with another one until it is stopped at an instant; it can be moved by whole days. */
export interface WorldClock {
  /** Epoch ms. */
  now(): number
  /** Stops at an instant, or runs again for null; either takes back what it was moved by. */
  stopAt(instant: number | null): void
  advance(days: number): void
}

/** A world clock that runs with `now`. */
export function worldClock(now: () => number): WorldClock {
  let stopped: number | null = null
  let ahead = 0
  return {
    now: () => (stopped ?? now()) + ahead,
    stopAt(instant) {
      stopped = instant
      ahead = 0
    },
    advance(days) {
      ahead += days * 86_400_000
    },
  }
}
