import { hourMs } from '../model/time.ts'
import { slotsBetween } from '../schedule/slots.ts'

/** A scheduled time is missed when nothing came of it for so long: runs take their time, and one waits for another. */
const graceMs = hourMs

/** More than these say no more. */
const mostMissed = 2

/** Times of a cron pattern after an instant that are missed by now, the oldest first: two at most. */
export function missedSlots(
  { schedule, timezone }: { readonly schedule: string | null; readonly timezone: string },
  since: number,
  now: number,
): readonly number[] {
  const missed: number[] = []
  if (schedule === null) return missed
  for (const slot of slotsBetween(schedule, timezone, since + 1, now - graceMs)) {
    missed.push(slot)
    if (missed.length === mostMissed) break
  }
  return missed
}
