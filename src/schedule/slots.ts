import { dayMs, hourMs } from '../model/time.ts'
import { hourOf, matchesOf } from './cron.ts'
import { stretches, type ZoneStretch } from './zone.ts'

// A slot is an instant at which a job is to run. Cron patterns speak of the clock on the wall: `cron` finds the wall times, as if
// there were no daylight saving; here they become instants, by three rules:
// - A time that does not exist runs at the end of the gap, several skipped ones together, once.
// - A time that exists twice runs the first time only.
// - A pattern whose hour is `*` follows real time: every instant at which the clock shows such a time.

/** Clocks are never set back or forward by more than this: Apia once left a whole day out. */
const greatestShiftMs = 2 * dayMs

/**
 * The slots of a pattern in a time zone in order, from an instant (included) until another (excluded), epoch ms; found one by one,
 * so that `until` may be infinite.
 */
export function* slotsBetween(pattern: string, zone: string, from: number, until: number): Generator<number> {
  const nextMatch = matchesOf(pattern)
  const followsRealTime = hourOf(pattern) === '*'
  // The latest time that clocks have shown so far.
  let shown = Number.NEGATIVE_INFINITY
  let last: number | null = null
  for (const stretch of stretches(zone, from - greatestShiftMs)) {
    if (stretch.from >= until) return
    if (stretch.until > from) {
      if (!followsRealTime && stretch.from >= from && isSkipped(stretch, shown, nextMatch)) {
        yield stretch.from
        last = stretch.from
      }
      const begin = Math.max(stretch.from, from) + stretch.offset
      let wall = nextMatch(followsRealTime ? begin : Math.max(begin, shown))
      while (wall !== null && wall < stretch.until + stretch.offset) {
        const slot = wall - stretch.offset
        if (slot >= until) return
        if (slot !== last) yield slot
        last = slot
        wall = nextMatch(wall + 1)
      }
      if (wall === null) return
    }
    shown = Math.max(shown, stretch.until + stretch.offset)
  }
}

/** Whether clocks jumped over a time of the pattern where this stretch begins. */
function isSkipped(
  { from, offset }: ZoneStretch,
  shown: number,
  nextMatch: (from: number) => number | null,
): boolean {
  if (from + offset <= shown || shown === Number.NEGATIVE_INFINITY) return false
  const match = nextMatch(shown)
  return match !== null && match < from + offset
}

/** How far back the latest slot is looked for, one after the other; 29 February may be eight years ago. */
const lookBacksMs = [hourMs, 26 * hourMs, 32 * dayMs, 400 * dayMs, 3_000 * dayMs]

/** The latest slot at or before an instant, epoch ms; null where there was none. */
export function latestSlot(pattern: string, zone: string, now: number): number | null {
  for (const lookBackMs of lookBacksMs) {
    let latest: number | null = null
    for (const slot of slotsBetween(pattern, zone, now - lookBackMs, now + 1)) latest = slot
    if (latest !== null) return latest
  }
  return null
}

/** The first slot after an instant, epoch ms; null where none comes. */
export function nextSlot(pattern: string, zone: string, after: number): number | null {
  for (const slot of slotsBetween(pattern, zone, after + 1, Number.POSITIVE_INFINITY)) return slot
  return null
}
