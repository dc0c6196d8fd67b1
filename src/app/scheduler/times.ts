import type { JobSettings } from '../../model/job.ts'
import { nextSlot } from '../../schedule/slots.ts'

/** Jobs that say how often their queries are due, and not at which time, are looked at this often. */
const lookEveryMs = 300_000

/** When a job is looked at. */
export type When = Pick<JobSettings, 'schedule' | 'timezone'>

/**
 * When a job is looked at next: at once where it was not looked at yet, for a slot may have passed while nothing ran; null where its
 * pattern never comes again.
 */
export function nextLook({ schedule, timezone }: When, lookedAt: number | null, now: number): number | null {
  if (lookedAt === null) return now
  if (schedule === null) return (Math.floor(lookedAt / lookEveryMs) + 1) * lookEveryMs
  return nextSlot(schedule, timezone, lookedAt)
}

const firstPauseMs = 300_000
const longestPauseMs = 3_600_000

/** How long to wait before a run is continued whose service was unavailable for the n-th time in a row: twice as long each time. */
export function pauseBefore(tries: number): number {
  return Math.min(firstPauseMs * 2 ** (tries - 1), longestPauseMs)
}
