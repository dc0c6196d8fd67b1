import { count, duration, memoized } from './text.ts'

/** Time as an argument. */
export interface Clock {
  /** Epoch milliseconds: what is stored. */
  readonly wall: () => number
  /** Milliseconds that only ever grow: what waits and rates are measured with. */
  readonly monotonic: () => number
  /** Calls back after that many milliseconds; returns a function that cancels it. */
  readonly after: (ms: number, ring: () => void) => () => void
}

/** The machine's clock. */
export const systemClock: Clock = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, ring) => {
    const timer = setTimeout(ring, ms)
    return () => clearTimeout(timer)
  },
}

/** Waits that long, or until the stop: then it is rejected with `Stopped`. */
export function sleep(clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stopped = (): void => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', stopped)
      resolve()
    })
    signal?.addEventListener('abort', stopped, { once: true })
  })
}

/** The day (YYYY-MM-DD) that an instant (epoch ms) falls on in a time zone, daylight saving counted. */
export function localDay(instant: number, timezone: string): string {
  // The usual zone, and many times faster than a formatter.
  if (timezone === 'UTC') return new Date(instant).toISOString().slice(0, 10)
  const parts = dayFormat(timezone).formatToParts(instant)
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? ''
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`
}

/** A formatter takes a hundred times longer to make than to use. */
const dayFormat = memoized(
  (timezone) =>
    new Intl.DateTimeFormat('en-CA', {
      timeZone: timezone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    }),
)

export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** An instant in UTC, to the minute: `2026-12-31 06:00`. */
export function utcMinute(instant: number): string {
  return new Date(instant).toISOString().slice(0, 16).replace('T', ' ')
}

/** The time between two instants in UTC, to the minute: `between 2026-12-31 06:00 and 06:05 UTC`, or `at 2026-12-31 06:00 UTC`. */
export function utcBetween(from: number, until: number): string {
  const [start, end] = [utcMinute(from), utcMinute(until)]
  if (start === end) return `at ${start} UTC`
  const isSameDay = start.slice(0, 10) === end.slice(0, 10)
  return `between ${start} and ${isSameDay ? end.slice('yyyy-mm-dd '.length) : end} UTC`
}

/** A day as the number of days since 1970-01-01; null where the calendar has no such day. */
export function dayNumber(year: number, month: number, day: number): number | null {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() / dayMs : null
}

/** The day of that number: `2026-08-01`. */
export function dayText(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10)
}

/** Local days from one (YYYY-MM-DD) to another: each counts one, however long daylight saving made it. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / dayMs
}

const lastDay = '9999-12-31'

/** So many days later, at most the last day of the year 9999, so that days sort as text. */
export function addDays(day: string, days: number): string {
  const at = Date.parse(day) + days * dayMs
  if (at > Date.parse(lastDay)) return lastDay
  return new Date(at).toISOString().slice(0, 10)
}

/** A time that begins anew: the local day, or the calendar month. */
export type Period = 'day' | 'month'

/** From an instant (included) until another (excluded), epoch ms. */
export interface TimeSpan {
  readonly from: number
  readonly until: number
}

/** The day or month of a time zone that an instant falls in. */
export function periodAt(period: Period, instant: number, timezone: string): TimeSpan {
  const day = localDay(instant, timezone)
  if (period === 'day')
    return { from: startOfDay(day, timezone), until: startOfDay(addDays(day, 1), timezone) }
  const first = `${day.slice(0, 8)}01`
  const next = `${addDays(first, 31).slice(0, 8)}01`
  return { from: startOfDay(first, timezone), until: startOfDay(next, timezone) }
}

/** No time zone is further from UTC. */
const furthestMs = 15 * hourMs

/** The first instant of a local day; of a day that a time zone leaves out, that of the day after. */
export function startOfDay(day: string, timezone: string): number {
  const utc = Date.parse(day)
  if (timezone === 'UTC') return utc
  let [before, from] = [utc - furthestMs, utc + furthestMs]
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2)
    if (localDay(middle, timezone) < day) before = middle
    else from = middle
  }
  return from
}

// Clocks are wrong at times: set by hand, without a battery, restored with a virtual machine. What was stored meanwhile lies in the
// future for all who come after. Here stands what such instants may decide, and when a clock is not believed.

/** Clocks that differ by no more agree. */
export const agreeingMs = 300_000
/** Rankline does not work with a clock that differs more than this from the service's: days, slots and ages would be wrong. */
export const refusedMs = 24 * hourMs

/** The latest instant that can be true at `now`. What is stored as later was stored by a wrong clock, and is not the latest event. */
export function latestKnown(now: number): number {
  return now + agreeingMs
}

/** The latest day, as a number, that it can be anywhere at `now`. */
export function latestDay(now: number): number {
  return Math.floor((latestKnown(now) + furthestMs) / dayMs)
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
