import { createRequire } from 'node:module'
import { quoted, type ReadResult } from '../model/values.ts'
import { weekdays } from './every.ts'

// Only the schedule of a job file needs it.
let loaded: typeof import('croner') | undefined
function croner(): typeof import('croner') {
  loaded ??= createRequire(import.meta.url)('croner') as typeof import('croner')
  return loaded
}

interface CronField {
  readonly unit: string
  readonly least: number
  readonly greatest: number
  readonly names?: readonly string[]
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']

const fieldsOfCron: readonly CronField[] = [
  { unit: 'second', least: 0, greatest: 59 },
  { unit: 'minute', least: 0, greatest: 59 },
  { unit: 'hour', least: 0, greatest: 23 },
  { unit: 'day of the month', least: 1, greatest: 31 },
  { unit: 'month', least: 1, greatest: 12, names: months },
  { unit: 'day of the week', least: 0, greatest: 7, names: weekdays },
]

/** Why a pattern cannot be run, null where the text is not a pattern at all, and what to write instead. */
interface CronMistake {
  readonly why: string | null
  readonly fix: string
}

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
function cronMistake(pattern: string): CronMistake | null {
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
export function hourOf(pattern: string): string {
  return pattern.split(' ').at(-4) as string
}

/**
 * Finds the times of a pattern on a clock that no daylight saving moves, read as if they were UTC: the first at or after a time,
 * epoch ms, or null where none comes. Throws where the pattern cannot be read.
 */
export function matchesOf(pattern: string): (from: number) => number | null {
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
function partMistake(part: string, field: CronField): CronMistake | null {
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
      fix: `write ${from}-${endOf(from, field)}/${step}`,
    }
  // `sat-sun` ends on the Sunday that is 7.
  const toSunday = field.unit === 'day of the week' && to?.toLowerCase() === 'sun'
  if (to !== undefined && !toSunday && numberOf(from, field) > numberOf(to, field))
    return {
      why: `${range} ends before it begins`,
      fix: `write ${from}-${endOf(from, field)},${beginOf(to, field)}-${to}`,
    }
  return null
}

/** What is wrong with one number or name. */
function endMistake(end: string, { unit, least, greatest, names }: CronField): CronMistake | null {
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

function endOf(end: string, { unit, greatest, names }: CronField): string {
  if (!/^\d+$/.test(end)) return names?.at(-1) ?? ''
  return String(unit === 'day of the week' ? 6 : greatest)
}

function beginOf(end: string, { least, names }: CronField): string {
  return /^\d+$/.test(end) ? String(least) : (names?.[0] ?? '')
}
