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
/** Of so many, connections become the bottleneck much earlier. */
const many = 100
const slowForManyMs = 1_000

/**
 * `auto` begins with plain calls, for a job takes polls that count against the rate, and changes where answers are
 * slow: slower than five seconds, or than one second once there are many.
 */
export function asyncChoice(): AsyncChoice {
  const recent = new Map<string, readonly number[]>()
  const answered = new Map<string, number>()
  return {
    note: (operation, latencyMs) => {
      recent.set(operation, [...(recent.get(operation) ?? []), latencyMs].slice(-samples))
      answered.set(operation, (answered.get(operation) ?? 0) + 1)
    },
    wanted: (operation, policy) => {
      if (policy !== 'auto') return policy === 'always'
      const latencies = recent.get(operation) ?? []
      const mean = latencies.reduce((sum, one) => sum + one, 0) / latencies.length
      const slow = (answered.get(operation) ?? 0) >= many ? slowForManyMs : slowMs
      return latencies.length === samples && mean > slow
    },
  }
}
