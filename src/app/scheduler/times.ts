import type { JobSettings } from '../../model/job.ts'
import { latestSlot, nextSlot } from '../../schedule/slots.ts'

/** Jobs that say how often their queries are due, and not at which time, are looked at this often. */
export const lookEveryMs = 300_000

type When = Pick<JobSettings, 'schedule' | 'timezone'>

/** The first time after an instant at which a job is looked at; null where none comes. */
export function nextTime({ schedule, timezone }: When, after: number): number | null {
  if (schedule === null) return (Math.floor(after / lookEveryMs) + 1) * lookEveryMs
  return nextSlot(schedule, timezone, after)
}

/** The latest time at or before an instant at which a job is looked at; null where there was none. */
export function latestTime({ schedule, timezone }: When, now: number): number | null {
  if (schedule === null) return Math.floor(now / lookEveryMs) * lookEveryMs
  return latestSlot(schedule, timezone, now)
}
