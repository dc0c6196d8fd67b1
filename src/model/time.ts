import { memoized } from './maps.ts'

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
