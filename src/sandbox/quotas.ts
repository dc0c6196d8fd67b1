import type { Quotas } from './options.ts'

/** Counts the charged calls of the key by day, week and month (UTC; weeks begin on Monday). */
export interface QuotaCounter {
  count(now: number): void
  /** True where one of the limits is reached at `now` (epoch ms). */
  isReached(quotas: Quotas, now: number): boolean
}

/** A counter at zero. */
export function quotaCounter(): QuotaCounter {
  const counts = new Map<string, number>()
  return {
    count(now) {
      for (const name of Object.values(spansAt(now))) counts.set(name, (counts.get(name) ?? 0) + 1)
    },
    isReached(quotas, now) {
      const spans = spansAt(now)
      return (Object.keys(spans) as (keyof Quotas)[]).some((span) => {
        const limit = quotas[span]
        return limit !== null && (counts.get(spans[span]) ?? 0) >= limit
      })
    },
  }
}

function spansAt(now: number): Record<keyof Quotas, string> {
  const day = Math.floor(now / 86_400_000)
  // 1970-01-01 was a Thursday.
  const week = Math.floor((day + 3) / 7)
  const month = new Date(now).toISOString().slice(0, 7)
  return { total: 'total', daily: `day ${day}`, weekly: `week ${week}`, monthly: `month ${month}` }
}
