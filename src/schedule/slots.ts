import { createRequire } from 'node:module'
import type { QueryHistory } from '../model/query.ts'
import { memoized } from '../model/text.ts'
import { addDays, countsAsDone, dayMs, hourMs, localDay, type TimeSpan } from '../model/time.ts'
import { quoted, type ReadResult } from '../model/values.ts'

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
  { from, offset }: { readonly from: number; readonly offset: number },
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

// Only the schedule of a job file needs it.
let loaded: typeof import('croner') | undefined
function croner(): typeof import('croner') {
  loaded ??= createRequire(import.meta.url)('croner') as typeof import('croner')
  return loaded
}

const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const fieldsOfCron: readonly {
  readonly unit: string
  readonly least: number
  readonly greatest: number
  readonly names?: readonly string[]
}[] = [
  { unit: 'second', least: 0, greatest: 59 },
  { unit: 'minute', least: 0, greatest: 59 },
  { unit: 'hour', least: 0, greatest: 23 },
  { unit: 'day of the month', least: 1, greatest: 31 },
  { unit: 'month', least: 1, greatest: 12, names: months },
  { unit: 'day of the week', least: 0, greatest: 7, names: weekdays },
]

type CronField = (typeof fieldsOfCron)[number]

/** Reads a cron pattern; single spaces separate its fields. */
export function schedule(text: string): ReadResult<string> {
  const mistake = cronMistake(text)
  if (mistake === null) return { value: text.trim().split(/\s+/).join(' ') }
  const why = mistake.why === null ? '' : `: ${mistake.why}`
  return { message: `cannot be ${quoted(text)}${why}`, fix: mistake.fix }
}

/**
 * Why a pattern of five or six fields (seconds first) cannot be run; null where it can. Day of month and day of
 * week, both given, are either-or; 7 is Sunday.
 */
function cronMistake(pattern: string): {
  /** Null where the text is not a pattern at all. */
  readonly why: string | null
  /** What to write instead. */
  readonly fix: string
} | null {
  const written = pattern.trim().split(/\s+/)
  const general = {
    why: null,
    fix: 'write five or six cron fields in quotes, such as "0 6 * * *"',
  }
  if (written.length < 5 || written.length > 6 || !/^[\w*,/?#-]+$/.test(written.join(''))) return general
  const fields = fieldsOfCron.slice(-written.length)
  for (const [index, field] of fields.entries())
    for (const part of (written[index] as string).split(',')) {
      const mistake = partMistake(part, field)
      if (mistake !== null) return mistake
    }
  const first = firstOf(written.join(' '))
  if (first === 'unreadable') return general
  return first === null ? { why: 'that day never comes', fix: 'write a day that the month has' } : null
}

/** The first time of a pattern on a clock that no daylight saving moves; null where there is none. */
function firstOf(pattern: string): number | null | 'unreadable' {
  try {
    // Nothing of a pattern depends on where in the calendar the search begins.
    return matchesOf(pattern)(Date.UTC(2024, 0, 1))
  } catch {
    return 'unreadable'
  }
}

/** The hours of a pattern of five or six fields. */
function hourOf(pattern: string): string {
  return pattern.split(' ').at(-4) as string
}

/**
 * Finds the times of a pattern on a clock that no daylight saving moves, read as if they were UTC: the first at or after a time,
 * epoch ms, or null where none comes. Throws where the pattern cannot be read.
 */
function matchesOf(pattern: string): (from: number) => number | null {
  const cron = new (croner().Cron)(pattern, {
    utcOffset: 0,
    mode: '5-or-6-parts',
    domAndDow: false,
    paused: true,
  })
  // Most questions are asked again a little later, with the same answer.
  let asked = Number.POSITIVE_INFINITY
  let found: number | null = null
  return (from) => {
    if (from < asked || (found !== null && from > found)) {
      found = cron.nextRun(new Date(Math.ceil(from / 1_000) * 1_000 - 1))?.getTime() ?? null
      asked = from
    }
    return found
  }
}

/** What is wrong with one part of a list, such as `1-5/2`; the rest is left to the parser. */
function partMistake(part: string, field: CronField): ReturnType<typeof cronMistake> {
  const [range = '', step] = part.split('/')
  const [from = '', to] = range.split('-')
  const ends = to === undefined ? [from] : [from, to]
  for (const end of ends) {
    const mistake = endMistake(end, field)
    if (mistake !== null) return mistake
  }
  // 7 is Sunday once more.
  const span = field.unit === 'day of the week' ? 7 : field.greatest - field.least + 1
  if (step !== undefined && !(Number(step) >= 1 && Number(step) <= span))
    return { why: `${step} is not a valid step`, fix: `write a step from 1 to ${span}` }
  if (step !== undefined && to === undefined && /^\w+$/.test(from))
    return {
      why: `${part} has no range to step through`,
      fix: `write ${from}-${lastFor(from, field)}/${step}`,
    }
  // `sat-sun` ends on the Sunday that is 7.
  const toSunday = field.unit === 'day of the week' && to?.toLowerCase() === 'sun'
  if (to !== undefined && !toSunday && numberOf(from, field) > numberOf(to, field))
    return {
      why: `${range} ends before it begins`,
      fix: `write ${from}-${lastFor(from, field)},${firstFor(to, field)}-${to}`,
    }
  return null
}

/** What is wrong with one number or name. */
function endMistake(
  end: string,
  { unit, least, greatest, names }: CronField,
): ReturnType<typeof cronMistake> {
  // The parser reads signs for the last day, a weekday near a day, and the n-th weekday of a month.
  if (/^[*?]$|^\d*[LW]+$|#/i.test(end)) return null
  const known = /^\d+$/.test(end)
    ? Number(end) >= least && Number(end) <= greatest
    : names?.includes(end.toLowerCase())
  if (known === true) return null
  const words = names === undefined ? '' : `, or ${names[0]} to ${names.at(-1)}`
  return {
    why: end === '' ? `the ${unit} is missing` : `${end} is not a valid ${unit}`,
    fix: `write ${least} to ${greatest}${words}`,
  }
}

function numberOf(end: string, { least, names }: CronField): number {
  const place = names?.indexOf(end.toLowerCase()) ?? -1
  return place >= 0 ? place + least : Number(end)
}

function lastFor(end: string, { unit, greatest, names }: CronField): string {
  if (!/^\d+$/.test(end)) return names?.at(-1) ?? ''
  return String(unit === 'day of the week' ? 6 : greatest)
}

function firstFor(end: string, { least, names }: CronField): string {
  return /^\d+$/.test(end) ? String(least) : (names?.[0] ?? '')
}

const secondMs = 1_000
/** Instants are looked at this far apart: no zone moves its clocks and back within half a day. */
const stepMs = 12 * hourMs

/**
 * Stretches of time in which the clocks of a zone are one and the same distance ahead of UTC: without a gap between them, from at most half
 * a day before the instant (epoch ms) on, without end.
 */
function* stretches(
  zone: string,
  from: number,
): Generator<
  TimeSpan & {
    /** Milliseconds that clocks are ahead of UTC; negative is behind. */
    readonly offset: number
  }
> {
  const offsetAt = offsets(zone)
  let at = Math.floor(from / stepMs) * stepMs
  let offset = offsetAt(at)
  for (let end = at + stepMs; ; end += stepMs) {
    const later = offsetAt(end)
    while (offset !== later && at < end) {
      const change = changeAfter(offset, at, end, offsetAt)
      yield { from: at, until: change, offset }
      at = change
      offset = offsetAt(at)
    }
    if (at < end) yield { from: at, until: end, offset }
    at = end
  }
}

/** The first second after `from` at which the offset is another one; at `to` it is. */
function changeAfter(
  offset: number,
  from: number,
  to: number,
  offsetAt: (instant: number) => number,
): number {
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
