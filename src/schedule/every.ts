import { quoted, type ReadResult } from '../model/values.ts'

/** How often a query is due: after some hours, or when local days, a weekday or a month have begun anew. */
export type Every =
  | { readonly unit: 'hours'; readonly count: number }
  | { readonly unit: 'days'; readonly count: number }
  /** 0 is Sunday. */
  | { readonly unit: 'weekdays'; readonly days: readonly number[] }
  | { readonly unit: 'month' }

export const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const

/** Reads `12h`, `1d`, `mon,thu` or `month`; weekdays come in the order of the week, each once. */
export function every(text: string): ReadResult<string> {
  const written = text.trim().toLowerCase()
  const days = written.split(/\s*,\s*/)
  const known = weekdays.filter((day) => days.includes(day))
  if (/^[1-9]\d{0,3}[hd]$/.test(written) || written === 'month') return { value: written }
  if (days.every((day) => (weekdays as readonly string[]).includes(day))) return { value: known.join(',') }
  return {
    message: `cannot be ${quoted(text)}`,
    fix: 'write hours or days such as 12h or 7d, weekdays such as mon,thu (in quotes inside braces), or month',
  }
}

/** What a text means that was read before. */
export function everyOf(text: string): Every {
  const [, count, unit] = text.match(/^(\d+)([hd])$/) ?? []
  if (count !== undefined) return { unit: unit === 'h' ? 'hours' : 'days', count: Number(count) }
  if (text === 'month') return { unit: 'month' }
  return { unit: 'weekdays', days: text.split(',').map((day) => weekdays.indexOf(day as 'sun')) }
}

const weeklyFix = 'write weekdays and a time such as "mon 08:00" or "mon,thu 08:00", or "day 08:00"'

/** Reads weekdays, or `day`, and a time of the day, such as `mon 08:00`; answers the cron pattern. */
export function weekly(text: string): ReadResult<string> {
  const [, days = '', hour = '', minute = ''] =
    text
      .trim()
      .toLowerCase()
      .match(/^([a-z]+(?: *, *[a-z]+)*) +(\d{1,2}):(\d{2})$/) ?? []
  const named = days.split(/ *, */)
  const numbers = named.map((day) => weekdays.indexOf(day as 'sun'))
  const isDaily = days === 'day'
  if (!isDaily && numbers.includes(-1)) return { message: `cannot be ${quoted(text)}`, fix: weeklyFix }
  if (Number(hour) > 23 || Number(minute) > 59)
    return { message: `cannot be ${quoted(text)}`, fix: 'write a time from 00:00 to 23:59' }
  const onDays = isDaily ? '*' : [...new Set(numbers)].sort().join(',')
  return { value: `${Number(minute)} ${Number(hour)} * * ${onDays}` }
}
