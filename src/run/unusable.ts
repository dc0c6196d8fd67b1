/** Answers of an operation that were paid for and cannot be used. */
export interface UnusableAnswers {
  readonly calls: number
  /** Among so many that were paid for in this process. */
  readonly of: number
  /** Why the last one cannot be; null where there is none. */
  readonly problem: string | null
}

const fewestUnusable = 3
const fewestCalls = 20
const toleratedShare = 0.01
/** Answers looked back at: one percent of them is what may be wasted at most, however long a run is. */
const lookedBackAt = fewestCalls / toleratedShare

/** Whether so many answers that cannot be used, of so many that were paid for, are too many to go on. */
export function areTooMany(unusable: number, calls: number): boolean {
  return unusable >= fewestUnusable && calls >= fewestCalls && unusable > calls * toleratedShare
}

/** Whether the operation is trusted no more: for now, or for the rest of this process. */
export type Verdict = false | 'for-now' | 'for-good'

interface Count {
  calls: number
  unusable: number
  problem: string | null
  /** Since it was trusted again: the calls, and the numbers of those whose answers cannot be used, as far as they are looked back at. */
  callsSince: number
  unusableSince: number[]
}

/** Counts, for each operation, the answers that were paid for and cannot be used. */
export function unusableAnswers() {
  const counts = new Map<string, Count>()
  const countOf = (operation: string): Count => {
    const known = counts.get(operation)
    if (known !== undefined) return known
    const begun: Count = { calls: 0, unusable: 0, problem: null, callsSince: 0, unusableSince: [] }
    counts.set(operation, begun)
    return begun
  }

  return {
    /** Notes an answer: why it cannot be used, or null where it can. */
    note: (operation: string, problem: string | null): Verdict => {
      const count = countOf(operation)
      count.calls += 1
      count.callsSince += 1
      if (problem === null) return false
      count.unusable += 1
      count.problem = problem
      const from = count.callsSince - lookedBackAt
      count.unusableSince = [...count.unusableSince.filter((call) => call > from), count.callsSince]
      if (!areTooMany(count.unusableSince.length, Math.min(count.callsSince, lookedBackAt))) return false
      // Trusted again once, it has wasted what may be wasted.
      const isRelapse = count.callsSince < count.calls
      return isRelapse && count.unusable > Math.max(fewestCalls, count.calls * toleratedShare)
        ? 'for-good'
        : 'for-now'
    },
    /** Trusts an operation again. */
    forgive: (operation: string): void => {
      const count = countOf(operation)
      count.callsSince = 0
      count.unusableSince = []
    },
    of: (operation: string): UnusableAnswers => {
      const { calls, unusable, problem } = countOf(operation)
      return { calls: unusable, of: calls, problem }
    },
  }
}
