import { endOf, type Run } from '../../model/run.ts'
import { hourMs } from '../../model/time.ts'
import { slotsBetween } from '../../schedule/slots.ts'
import type { Slot } from '../../store/unattended.ts'

interface Past {
  readonly last: Run | null
  readonly good: Run | null
  readonly slot: Slot | null
  /** When the job file was last changed; null where there is none. */
  readonly changedAt: number | null
  /** When its last pause ended; null where it had none. */
  readonly resumedAt: number | null
}

interface Times {
  readonly schedule: string | null
  readonly timezone: string
}

/** The instant from which on scheduled times can have been missed; null where none can. */
export function countedSince(
  { last, good, slot, changedAt, resumedAt }: Past,
  { schedule, timezone }: Times,
): number | null {
  const ran = good === null ? (last?.startedAt ?? null) : endOf(good)
  const settled = slot?.outcome === 'ran' || slot?.outcome === 'nothing-due' ? slot.slotAt : null
  const isNew = last?.settings.schedule !== schedule || last.settings.timezone !== timezone
  // Other times were meant before the file was changed.
  const known = [ran, settled, isNew ? changedAt : null].filter((instant) => instant !== null)
  return known.length === 0 ? null : Math.max(...known, resumedAt ?? 0)
}

/** A scheduled time is missed when nothing came of it for so long: runs take their time, and one waits for another. */
const graceMs = hourMs

/** More than these say no more. */
const mostMissed = 2

/** Times of a cron pattern after an instant that are missed by now, the oldest first: two at most. */
export function missedSlots({ schedule, timezone }: Times, since: number, now: number): readonly number[] {
  const missed: number[] = []
  if (schedule === null) return missed
  for (const slot of slotsBetween(schedule, timezone, since + 1, now - graceMs)) {
    missed.push(slot)
    if (missed.length === mostMissed) break
  }
  return missed
}
