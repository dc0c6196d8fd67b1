import type { Database } from 'better-sqlite3'

/**
 * A call is numbered before it is sent, so that numbers tell the order where the clock was set back. What is less comes
 * from processes that wrote at once.
 */
export const leastStepMs = 1_000

/** Calls from one on, up to the next time that the clock was set back. */
interface Stretch {
  readonly firstCall: number
  /** Added to what its clock said, so that what came later is later. */
  readonly addedMs: number
}

/** Puts instants into the order in which they were, though the clock was set back in between. */
export interface ClockSteps {
  /** Whether it never was: then instants are in order as they are. */
  readonly none: boolean
  /** The stretch that a call was sent in. */
  of(call: number): number
  /** An instant of a stretch, in an order with all others. */
  at(stretch: number, instant: number): number
  /** An instant not before that one (itself in order), by the clock of the same stretch or of a later one. */
  notBefore(stretch: number, earliest: number, instant: number): { at: number; stretch: number }
}

/** @param after the call from which on it is asked */
export function clockSteps(db: Database, after = 0): ClockSteps {
  const rows = db.prepare<[number, number], { id: number; back: number }>(
    `SELECT id, before + coalesce(took, 0) - sent_at AS back FROM (SELECT id, sent_at,
        lag(sent_at) OVER (ORDER BY id) AS before, lag(latency_ms) OVER (ORDER BY id) AS took FROM calls_ WHERE id > ?)
    WHERE before - sent_at >= ? ORDER BY id`,
  )
  const stretches: Stretch[] = [{ firstCall: Number.NEGATIVE_INFINITY, addedMs: 0 }]
  for (const { id, back } of rows.iterate(after, leastStepMs))
    stretches.push({ firstCall: id, addedMs: (stretches.at(-1) as Stretch).addedMs + back + 1 })
  const at = (stretch: number, instant: number): number => instant + (stretches[stretch] as Stretch).addedMs
  return {
    none: stretches.length === 1,
    of: (call) => {
      let [low, high] = [0, stretches.length - 1]
      while (low < high) {
        const middle = Math.ceil((low + high) / 2)
        if ((stretches[middle] as Stretch).firstCall <= call) low = middle
        else high = middle - 1
      }
      return low
    },
    at,
    notBefore: (stretch, earliest, instant) => {
      let found = stretch
      while (found + 1 < stretches.length && at(found, instant) < earliest) found += 1
      return { at: Math.max(earliest, at(found, instant)), stretch: found }
    },
  }
}
