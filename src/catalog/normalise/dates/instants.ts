import type { Precision } from '../../../model/result.ts'

export const dayMs = 86_400_000

const lengths: Partial<Record<Precision, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: dayMs,
  week: 7 * dayMs,
}

/** A day of the calendar, months from 1; its midnight in UTC, or null where there is no such day. */
export function midnight(year: number, month: number, day: number): number | null {
  // Date.UTC takes a year of two digits for one of the last century.
  if (year < 1000 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return null
  return Date.UTC(year, month - 1, day)
}

/** The instant so many units before another; a month ends early rather than run into the next one. */
export function before(instant: number, amount: number, unit: Precision): number | null {
  const length = lengths[unit]
  if (length !== undefined) return instant - amount * length
  const date = new Date(instant)
  const months = date.getUTCFullYear() * 12 + date.getUTCMonth() - amount * (unit === 'year' ? 12 : 1)
  const year = Math.floor(months / 12)
  const month = months - year * 12 + 1
  const start = midnight(year, month, Math.min(date.getUTCDate(), daysIn(year, month)))
  return start === null ? null : start + (((instant % dayMs) + dayMs) % dayMs)
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}
