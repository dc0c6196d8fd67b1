import type { QueryHistory } from '../model/query.ts'
import { addDays, dayMs, hourMs, localDay } from '../model/time.ts'
import { countsAsDone } from '../model/trusted-time.ts'
import { quoted, type ReadResult } from '../model/values.ts'

/** When a query is due: as often as that, or once after an instant (epoch ms). */
type DueRule = Every | { readonly unit: 'once'; readonly since: number }

/** How often a query that failed is due again within its period. */
const mostRetries = 3

/** Whether a query is due: its period has begun anew since its last answer, and its failures in this period leave a try. */
export function isDue(rule: DueRule, history: QueryHistory, zone: string, now: number): boolean {
  const isInPeriod = periodOf(rule, zone, now)
  if (history.answeredAt !== null && isInPeriod(history.answeredAt)) return false
  const failures = history.failures.filter(({ at }) => isInPeriod(at))
  return failures.length <= mostRetries && !failures.some(({ isFinal }) => isFinal)
}

/** Whether an instant lies in the current period of a rule, and was not stored by a wrong clock. */
function periodOf(rule: DueRule, zone: string, now: number): (instant: number) => boolean {
  const hasBegun = isAfterBegin(rule, zone, now)
  return (instant) => countsAsDone(instant, now) && hasBegun(instant)
}

/** Whether an instant lies after the beginning of the current period of a rule. */
function isAfterBegin(rule: DueRule, zone: string, now: number): (instant: number) => boolean {
  if (rule.unit === 'once') return (instant) => instant >= rule.since
  if (rule.unit === 'hours') return (instant) => instant > now - rule.count * hourMs
  const first = firstDayOf(rule, localDay(now, zone))
  return (instant) => localDay(instant, zone) >= first
}

/** The local day (YYYY-MM-DD) on which the period of a day began. */
function firstDayOf(rule: Exclude<Every, { unit: 'hours' }>, today: string): string {
  if (rule.unit === 'month') return `${today.slice(0, 7)}-01`
  if (rule.unit === 'days') return addDays(today, 1 - rule.count)
  const week = Array.from({ length: 7 }, (_, ago) => addDays(today, -ago))
  return week.find((day) => rule.days.includes(new Date(day).getUTCDay())) ?? today
}

/** An instant at or before the beginning of the current period. What happened before it does not matter. */
export function earliestBegin(rule: DueRule, now: number): number {
  switch (rule.unit) {
    case 'once':
      return rule.since
    case 'hours':
      return now - rule.count * hourMs
    case 'days':
      // Daylight saving makes a day longer by an hour, at most two; a zone that changes its date, by a day.
      return now - (rule.count + 2) * dayMs
    case 'weekdays':
      return now - 9 * dayMs
    case 'month':
      return now - 33 * dayMs
  }
}

/** How often a query is due: as it says itself, else by the shortest cadence of its tags, else as its job says; null where all are silent. */
export function everyOfQuery(
  query: { readonly every: string | null; readonly tags: readonly string[] },
  {
    every,
    cadence,
  }: {
    readonly every: string | null
    /** By tag. */
    readonly cadence: Readonly<Record<string, string>> | null
  },
): Every | null {
  if (query.every !== null) return everyOf(query.every)
  const tagged = query.tags.flatMap((tag) =>
    cadence !== null && Object.hasOwn(cadence, tag) ? [everyOf(cadence[tag] as string)] : [],
  )
  const [shortest] = tagged.sort((a, b) => hoursOf(a) - hoursOf(b))
  return shortest ?? (every === null ? null : everyOf(every))
}

/** About how many hours a period has. */
function hoursOf(rule: Every): number {
  switch (rule.unit) {
    case 'hours':
      return rule.count
    case 'days':
      return rule.count * 24
    case 'weekdays':
      return (7 * 24) / rule.days.length
    case 'month':
      return 30.4 * 24
  }
}

/** How often a query is due: after some hours, or when local days, a weekday or a month have begun anew. */
type Every =
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

/** The rule of a text that `every` has read. */
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
