import { count, duration } from './text.ts'
import { dayMs, daysBetween, type TimeSpan } from './time.ts'

// Clocks are wrong at times: set by hand, without a battery, restored with a virtual machine. What was stored meanwhile lies in the
// future for all who come after. Here stands what such instants may decide, and when a clock is not believed.

/** Clocks that differ by no more agree. */
export const agreeingMs = 300_000
/** Rankline does not work with a clock that differs more than this from the service's: days, slots and ages would be wrong. */
export const refusedMs = dayMs

/** The latest instant that can be true at `now`. What is stored as later was stored by a wrong clock, and is not the latest event. */
export function latestKnown(now: number): number {
  return now + agreeingMs
}

/** The span in which a fresh answer was stored: not older than `freshnessMs`, and not in the future. Null where none is wanted. */
export function freshSpan(freshnessMs: number | null, now: number): TimeSpan | null {
  return freshnessMs === null ? null : { from: now - freshnessMs, until: latestKnown(now) }
}

/**
 * The latest instant up to which what is stored as done or paid counts: a day ahead. With more, a clock that was far ahead would
 * leave nothing due, and nothing covered, for long. With less, a clock that was some hours ahead would make rankline pay twice.
 */
export function latestCounted(now: number): number {
  return now + dayMs
}

/** Whether what is stored as done counts as done. */
export function countsAsDone(instant: number, now: number): boolean {
  return instant <= latestCounted(now)
}

/**
 * The time from which ages of what is removed count, where nothing confirms the clock. A clock that is more than a day ahead of the last
 * known time is not believed: ages then count from that time, and what is newer is kept.
 *
 * @param lastKnown when the last run was made; null where none was
 */
export function timeForAges(now: number, lastKnown: number | null): number {
  return lastKnown !== null && now - lastKnown > refusedMs ? lastKnown : now
}

/** How far the clock is off, as the beginning of a sentence. */
export function clockOff(aheadMs: number): string {
  const days = Math.round(Math.abs(aheadMs) / dayMs)
  const off = days < 2 ? duration(Math.round(Math.abs(aheadMs) / 1000)) : count(days, 'day')
  return `The clock of this machine is ${off} ${aheadMs > 0 ? 'behind' : 'ahead of'} that of the service`
}

/** Two time zones never name days that are further apart. */
const mostBetweenZones = 2

/**
 * Runs with days in the order in which they ran. Where the time zone of a job was changed, or a clock was set a little, an earlier
 * run may stand on a later day: it counts to the day of the run after it. A run whose day contradicts those of most others was
 * made while the clock was wrong, and is left out: it is never the last one, and nothing is compared with it.
 *
 * @param runs the newest first
 */
export function inOrderOfRuns<T extends { readonly date: string }>(runs: readonly T[]): readonly T[] {
  let next: string | null = null
  return agreeing(runs).map((run) => {
    const ahead: number = next === null ? 0 : daysBetween(next, run.date)
    if (next !== null && ahead > 0) return { ...run, date: next }
    next = run.date
    return run
  })
}

interface Chain<T> {
  readonly length: number
  readonly last: T
  readonly before: Chain<T> | null
}

/** As many runs as possible of which none lies further ahead of a later one than zones explain; the newest first. */
function agreeing<T extends { readonly date: string }>(newestFirst: readonly T[]): readonly T[] {
  const isAhead = (day: string, later: string): boolean => daysBetween(later, day) > mostBetweenZones
  let latest = ''
  const runs = newestFirst.toReversed()
  const agree = runs.every(({ date }) => {
    if (latest !== '' && isAhead(latest, date)) return false
    latest = date > latest ? date : latest
    return true
  })
  if (agree) return newestFirst
  /** The longest chain so far, by its latest day. */
  const chains = new Map<string, Chain<T>>()
  for (const run of runs) {
    const longer = new Map<string, Chain<T>>([[run.date, { length: 1, last: run, before: null }]])
    for (const [day, chain] of chains) {
      if (isAhead(day, run.date)) continue
      const latest = day > run.date ? day : run.date
      if (chain.length >= (longer.get(latest)?.length ?? 0))
        longer.set(latest, { length: chain.length + 1, last: run, before: chain })
    }
    for (const [day, chain] of longer)
      if (chain.length > (chains.get(day)?.length ?? 0)) chains.set(day, chain)
  }
  // Of two that are as long, the one that ends earlier: a clock is more often ahead.
  const [longest] = [...chains].sort(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1))
  const kept: T[] = []
  for (let chain = longest?.[1] ?? null; chain !== null; chain = chain.before) kept.push(chain.last)
  return kept
}
