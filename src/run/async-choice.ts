import type { AsyncPolicy } from '../model/job.ts'

/** Decides whether a call is made as an asynchronous job. */
export interface AsyncChoice {
  /** Notes how long a synchronous answer took. */
  note(operation: string, latencyMs: number): void
  wanted(operation: string, policy: AsyncPolicy): boolean
}

/** Answers that `auto` looks back at. */
const samples = 10
/** A connection that is held longer than this is worth a job and its polls. */
const slowMs = 5_000

/** `auto` begins with plain calls, for a job takes polls that count against the rate, and changes where answers are slow. */
export function asyncChoice(): AsyncChoice {
  const recent = new Map<string, readonly number[]>()
  return {
    note: (operation, latencyMs) => {
      recent.set(operation, [...(recent.get(operation) ?? []), latencyMs].slice(-samples))
    },
    wanted: (operation, policy) => {
      if (policy !== 'auto') return policy === 'always'
      const latencies = recent.get(operation) ?? []
      const mean = latencies.reduce((sum, one) => sum + one, 0) / latencies.length
      return latencies.length === samples && mean > slowMs
    },
  }
}
