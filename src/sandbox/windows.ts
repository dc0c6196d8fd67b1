/** Sliding windows over the arrivals that were let through; refused ones leave no trace. Instants are monotonic ms. */
export interface Windows {
  /** Lets an arrival through, or not, where one of the limits (null is none) is reached. Instants never decrease. */
  admit(at: number, limits: { readonly perSecond: number | null; readonly perMinute: number | null }): boolean
  /** Forgets an arrival that was refused later on. */
  withdraw(at: number): void
  /** The most arrivals that any second and any minute ever held. */
  most(): { readonly perSecond: number; readonly perMinute: number }
}

/** Windows of a second and a minute, empty. */
export function slidingWindows(): Windows {
  const second = slidingWindow(1000)
  const minute = slidingWindow(60_000)
  return {
    admit(at, { perSecond, perMinute }) {
      if (perSecond !== null && second.countAt(at) >= perSecond) return false
      if (perMinute !== null && minute.countAt(at) >= perMinute) return false
      second.add(at)
      minute.add(at)
      return true
    },
    withdraw(at) {
      second.remove(at)
      minute.remove(at)
    },
    most: () => ({ perSecond: second.most(), perMinute: minute.most() }),
  }
}

function slidingWindow(lengthMs: number) {
  let arrivals: number[] = []
  let first = 0
  let most = 0
  const countAt = (at: number) => {
    while (first < arrivals.length && (arrivals[first] as number) <= at - lengthMs) first++
    if (first > 10_000) {
      arrivals = arrivals.slice(first)
      first = 0
    }
    return arrivals.length - first
  }
  return {
    countAt,
    add(at: number) {
      arrivals.push(at)
      most = Math.max(most, countAt(at))
    },
    remove(at: number) {
      const index = arrivals.lastIndexOf(at)
      if (index >= first) arrivals.splice(index, 1)
    },
    most: () => most,
  }
}

/** The most of the ascending instants that any half-open window of this length holds. */
export function mostInWindow(instants: readonly number[], lengthMs: number): number {
  let most = 0
  let first = 0
  instants.forEach((instant, index) => {
    while (instant - (instants[first] as number) >= lengthMs) first++
    most = Math.max(most, index - first + 1)
  })
  return most
}
