import type { Clock } from '../../src/model/time.ts'

/** Something that happens at an instant (epoch ms), while a program sleeps. */
export interface TimedEvent {
  readonly at: number
  readonly happens: () => void | Promise<void>
}

export interface SimulatedClock extends Clock {
  /** Does work that takes real time, as sockets and files do: meanwhile pauses are a twentieth as long. */
  readonly working: <T>(work: () => Promise<T>) => Promise<T>
  /** The clock is set, or the machine was suspended: timers do not notice. */
  readonly jump: (ms: number) => void
}

/** Pauses are shorter by this while a program works. */
const quickened = 20

interface Timer {
  at: number
  readonly ring: () => void
}

/**
 * A clock on which nobody waits: as soon as a program sleeps, it is the instant at which its timer rings. What is to happen before
 * that, happens at its own instant.
 */
export function simulatedClock(start: number, events: readonly TimedEvent[] = []): SimulatedClock {
  const coming = [...events].sort((a, b) => a.at - b.at)
  const timers = new Set<Timer>()
  let now = start
  let ahead = 0
  let atWork = 0
  let workedUntil = 0
  let isStepping = false

  /** Goes on to what comes first; events that are on their way may set new timers. */
  const step = async (): Promise<void> => {
    if (isStepping || atWork > 0) return
    isStepping = true
    const [timer] = [...timers].sort((a, b) => a.at - b.at)
    const [event] = coming
    if (timer !== undefined && event !== undefined && event.at - ahead <= timer.at) {
      coming.shift()
      now = Math.max(now, event.at - ahead)
      await event.happens()
    } else if (timer !== undefined) {
      timers.delete(timer)
      now = Math.max(now, timer.at)
      timer.ring()
    }
    isStepping = false
    if (timers.size > 0) setImmediate(step)
  }

  /** While a program works, time goes on by itself, too. */
  const instant = (): number => {
    if (atWork > 0) {
      const real = performance.now()
      now += real - workedUntil
      workedUntil = real
    }
    return now
  }

  return {
    wall: () => Math.round(instant() + ahead),
    monotonic: () => instant() - start,
    after: (ms, ring) => {
      const timer: Timer = { at: instant() + ms, ring }
      if (atWork > 0) {
        const real = setTimeout(() => {
          now = Math.max(instant(), timer.at)
          ring()
        }, ms / quickened)
        return () => clearTimeout(real)
      }
      timers.add(timer)
      setImmediate(step)
      return () => timers.delete(timer)
    },
    working: async (work) => {
      workedUntil = performance.now()
      atWork += 1
      try {
        return await work()
      } finally {
        instant()
        atWork -= 1
      }
    },
    jump: (ms) => {
      ahead += ms
    },
  }
}
