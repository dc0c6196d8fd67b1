import { memoized } from '../model/memo.ts'
import { hourMs } from '../model/time.ts'

/** A stretch of time in which the clocks of a zone are one and the same distance ahead of UTC; `until` is not in it. */
export interface ZoneStretch {
  readonly from: number
  readonly until: number
  /** Milliseconds that clocks are ahead of UTC; negative is behind. */
  readonly offset: number
}

const secondMs = 1_000
/** Instants are looked at this far apart: no zone moves its clocks and back within half a day. */
const stepMs = 12 * hourMs

/** Stretches of a zone without a gap between them, from at most half a day before the instant (epoch ms) on, without end. */
export function* stretches(zone: string, from: number): Generator<ZoneStretch> {
  const offsetAt = offsets(zone)
  let at = Math.floor(from / stepMs) * stepMs
  let offset = offsetAt(at)
  for (let end = at + stepMs; ; end += stepMs) {
    const later = offsetAt(end)
    while (offset !== later && at < end) {
      const change = endOf(offset, at, end, offsetAt)
      yield { from: at, until: change, offset }
      at = change
      offset = offsetAt(at)
    }
    if (at < end) yield { from: at, until: end, offset }
    at = end
  }
}

/** The first second after `from` at which the offset is another one; at `to` it is. */
function endOf(offset: number, from: number, to: number, offsetAt: (instant: number) => number): number {
  let before = from / secondMs
  let after = to / secondMs
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (offsetAt(middle * secondMs) === offset) before = middle
    else after = middle
  }
  return after * secondMs
}

/** How far a zone's clocks are ahead of UTC at an instant of whole seconds. */
function offsets(zone: string): (instant: number) => number {
  if (zone === 'UTC') return () => 0
  const format = clockOf(zone)
  return (instant) => {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
    for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second) - instant
  }
}

const clockOf = memoized(
  (zone) =>
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }),
)

/** An instant as clocks of a zone show it, with their distance from UTC: `2026-03-29T03:00:00+02:00`. */
export function localTime(instant: number, zone: string): string {
  const seconds = Math.floor(instant / secondMs) * secondMs
  const offset = offsets(zone)(seconds)
  const distance = new Date(Math.abs(offset)).toISOString().slice(11, 16)
  return `${new Date(seconds + offset).toISOString().slice(0, 19)}${offset < 0 ? '-' : '+'}${distance}`
}
