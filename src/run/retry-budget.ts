/** How many calls may be repeated: half as many as tasks were sent for the first time, and a few in any case. */
export interface RetryBudget {
  first(): void
  /** Takes leave for one repeated call; false where there is none. */
  take(): boolean
}

/** A run of few tasks may repeat this many calls all the same. */
const always = 10
const shareOfFirst = 0.5

export function retryBudget(): RetryBudget {
  let first = 0
  let repeated = 0
  return {
    first: () => {
      first += 1
    },
    take: () => {
      if (repeated >= Math.max(always, Math.floor(first * shareOfFirst))) return false
      repeated += 1
      return true
    },
  }
}
