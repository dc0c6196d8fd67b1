import type { Clock } from '../model/time.ts'
import type { SharedJournal } from './postgres/open.ts'
import { whenReachable } from './waiting.ts'

/** An older note is kept while its round trip was shorter, for so long: monotonic clocks drift apart by some milliseconds an hour. */
const keptMs = 600_000
/**
 * After that, only a note whose round trip was at most so much longer takes its place: one that waited for a connection may be wrong by half of
 * its wait. After twice that time, any does.
 */
const quickMs = 10

interface Note {
  readonly offset: number
  readonly roundTrip: number
  readonly at: number
}

/** Both cannot be right: the clock of the database was set, or another server has taken its place. */
function disagree(one: Note, other: Note): boolean {
  return Math.abs(one.offset - other.offset) > (one.roundTrip + other.roundTrip) / 2
}

/** A clock that shows the time of the database, whatever this machine's own clock says. */
export type DatabaseClock = ReturnType<typeof databaseClock>

/** Until the first note it shows the time of this machine. */
export function databaseClock(local: Clock) {
  let best: Note | null = null
  const offset = (): number => best?.offset ?? local.wall() - local.monotonic()
  const wall = (): number => Math.round(local.monotonic() + offset())
  return {
    ...local,
    wall,
    /** Notes what the clock of the database showed, between two instants of the monotonic clock here. */
    note: (databaseNow: number, askedAt: number, answeredAt: number): void => {
      const roundTrip = answeredAt - askedAt
      // The answer was made at some time between; the middle is wrong by half of the round trip at most.
      const noted = { offset: databaseNow - (askedAt + answeredAt) / 2, roundTrip, at: answeredAt }
      const isBetter =
        best === null ||
        roundTrip <= best.roundTrip ||
        (answeredAt - best.at >= keptMs && roundTrip <= best.roundTrip + quickMs) ||
        answeredAt - best.at >= 2 * keptMs
      if (isBetter || disagree(noted, best as Note)) best = noted
    },
    /** The monotonic instant here at which the database shows that time. */
    monotonicAt: (databaseTime: number): number => databaseTime - offset(),
    /** By how much it may be wrong, in milliseconds: half of the round trip that it was read in. */
    errorMs: (): number => (best?.roundTrip ?? Number.POSITIVE_INFINITY) / 2,
    /** How far the clock of this machine is ahead, in milliseconds. */
    aheadMs: (): number => local.wall() - wall(),
  }
}

/** Looks a few times at the clock of the database: the quickest answer counts. */
export async function syncClock(
  journal: SharedJournal,
  clock: DatabaseClock,
  options: Parameters<typeof whenReachable>[1],
): Promise<void> {
  for (let look = 0; look < 3; look++) {
    const askedAt = clock.monotonic()
    const now = await whenReachable(() => journal.operations.now(), options)
    clock.note(now, askedAt, clock.monotonic())
  }
}
