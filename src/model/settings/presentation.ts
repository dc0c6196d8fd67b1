import { quoted, type ReadResult } from '../values.ts'

/** Languages of reports. */
export const languages = ['en', 'de'] as const
export type Language = (typeof languages)[number]

/** Who reads a report: a client is shown no runs, no credits and no names of operations. */
export const audiences = ['team', 'client'] as const
export type Audience = (typeof audiences)[number]

/** `report:` of a job file: how its report looks, and what it is of. Null is not given. */
export interface ReportSettings {
  readonly title: string | null
  /** For whom the report is. */
  readonly client: string | null
  /** Who sends it. */
  readonly agency: string | null
  /** Absolute path of a PNG or SVG file. */
  readonly logo: string | null
  /** A CSS colour such as #0a5. */
  readonly accent: string | null
  readonly footer: string | null
  /** Such as 28d, month or 2026-10-01..2026-10-31. */
  readonly period: string | null
  readonly compare: string | null
  readonly language: Language | null
}

/** One entry of `views:`: a tab of the page. An empty list restricts nothing. */
export interface SavedView {
  readonly name: string
  readonly tags: readonly string[]
  /** Sites or labels of targets. */
  readonly targets: readonly string[]
  /** Kinds of results, such as organic. */
  readonly kinds: readonly string[]
  /** Of which this is true, as `--where` reads it; missing where no keyword is left out by it. */
  readonly where?: string
}

/** One entry of `notes:`: what happened on a day, marked in charts. */
export interface ReportNote {
  /** YYYY-MM-DD */
  readonly date: string
  readonly text: string
  readonly url: string | null
  /** The keyword that it is about; missing where it is about all. */
  readonly query?: string
}

/** The period of a report that names none. */
export const usualPeriod = '28d'

/** Periods with a name. They count from the last day of the job, so that the same database gives the same report. */
const namedPeriods = ['month', 'last-month', 'quarter', 'all'] as const

/** Comparisons with a name: the same point of the period before, and the same day of the year before. */
const namedComparisons = ['previous-period', 'year'] as const

/** A century: dates stay dates. */
const mostDays = 36_525
/** Whether a text names a period: `28d`, `4w`, `month`, `last-month`, `quarter`, `all` or `2026-10-01..2026-10-31`. */
export function isPeriod(text: string): boolean {
  const range = rangeIn(text)
  if (range !== null) return range.from <= range.until
  return namedPeriods.some((name) => name === text) || lengthIn(text) !== null
}

/** Whether a text names a comparison: `previous-period`, `year`, a day, or so long before the last day: `7d`, `4w`. */
export function isComparison(text: string): boolean {
  return namedComparisons.some((name) => name === text) || isDay(text) || lengthIn(text) !== null
}

/** The days that a text such as 2026-10-01..2026-10-31 names; null for other texts. */
export function rangeIn(text: string): { readonly from: string; readonly until: string } | null {
  const [from = '', until = '', more] = text.split('..')
  return more === undefined && isDay(from) && isDay(until) ? { from, until } : null
}

/** The number of days that a text such as 28d or 4w names; null for other texts. */
export function lengthIn(text: string): number | null {
  const [, digits, unit] = /^(\d{1,5})([dw])$/.exec(text) ?? []
  if (digits === undefined) return null
  const days = Number(digits) * (unit === 'w' ? 7 : 1)
  return days >= 1 && days <= mostDays ? days : null
}

/** Whether YYYY-MM-DD is a day: the 30th of February is none. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const at = Date.parse(text)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}

/** Reads a period, see {@link isPeriod}. */
export function period(text: string): ReadResult<string> {
  if (isPeriod(text)) return { value: text }
  return {
    message: `cannot be ${quoted(text)}`,
    fix: 'write a period such as 28d, month, last-month, quarter or 2026-10-01..2026-10-31',
  }
}

/** Reads what a period is compared with, see {@link isComparison}. */
export function comparison(text: string): ReadResult<string> {
  if (isComparison(text)) return { value: text }
  return {
    message: `cannot be ${quoted(text)}`,
    fix: 'write previous-period, year, a day such as 2026-01-31, or how long ago, such as 7d or 4w',
  }
}
