import type { Clock } from '../../src/model/time.ts'

/** Time that stands still until it is moved, in whole milliseconds. */
export interface FakeTime {
  readonly now: () => number
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
  /** Moves on, timer by timer, and lets promises run after each. */
  pass(ms: number): Promise<void>
  /** Moves on from timer to timer until none is left. */
  settle(): Promise<void>
}

interface Timer {
  readonly at: number
  readonly ring: () => void
}

/** As in Node, promises run between two timers of the same instant. */
export function fakeTime(): FakeTime {
  let now = 0
  let timers: Timer[] = []
  const after: Clock['after'] = (ms, ring) => {
    const timer = { at: now + Math.max(1, Math.ceil(ms)), ring }
    timers.push(timer)
    return () => {
      timers = timers.filter((one) => one !== timer)
    }
  }

  const ringUntil = async (end: number): Promise<void> => {
    for (;;) {
      await promisesRun()
      const next = timers.reduce<Timer | null>(
        (first, one) => (one.at <= end && (first === null || one.at < first.at) ? one : first),
        null,
      )
      if (next === null) return
      now = next.at
      timers = timers.filter((one) => one !== next)
      next.ring()
    }
  }

  return {
    now: () => now,
    clock: { monotonic: () => now, after },
    pass: async (ms) => {
      const end = now + ms
      await ringUntil(end)
      now = end
    },
    settle: () => ringUntil(Number.POSITIVE_INFINITY),
  }
}

async function promisesRun(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}
