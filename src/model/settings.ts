import { quoted, type ReadResult } from './values.ts'

/** What an alert rule watches for. */
export const alertKinds = [
  'drop',
  'gain',
  'entered',
  'left',
  'lost',
  'new-competitor',
  'url-changed',
  'citation-lost',
  'citation-won',
  'coverage',
  'run-failed',
  'run-skipped',
  'balance',
  'days-left',
  'unexplained',
  'suspect',
] as const
export type AlertKind = (typeof alertKinds)[number]

/** One entry of `alerts:` in a job file. */
export interface AlertRule {
  readonly when: AlertKind
  /** Ranks that a drop or a gain has at least; null where the file does not say. */
  readonly by: number | null
  /** The top N that is entered, left, or looked at. */
  readonly top: number | null
  /** The limit below which coverage (percent), balance (credits) and days left are alerted. */
  readonly below: number | null
  /** Only queries with one of these tags, only these targets (site or label); null is all queries, all own targets. */
  readonly for: {
    readonly tags: readonly string[] | null
    readonly targets: readonly string[] | null
    /** Only queries of which this is true, as `--where` reads it; missing for all. */
    readonly where?: string
  }
  /** Of the last three observations as many must say it: 1, 2 or 3. */
  readonly confirm: number
  /** Names of channels; null is all of the workspace. */
  readonly to: readonly string[] | null
}

/** What makes two rules the same: what they watch, not how often it must be seen or when, nor who is told. */
export function ruleIdentity({ when, by, top, below, for: only }: AlertRule): string {
  const sorted = (list: readonly string[] | null) => (list === null ? null : [...new Set(list)].sort())
  // Rules without a condition have the identity of before there were any.
  const where = only.where === undefined ? [] : [only.where]
  return JSON.stringify([when, by, top, below, sorted(only.tags), sorted(only.targets), ...where])
}

/** What is known of the query of an alert; all of it is missing in messages of older versions. */
export interface AlertDetails {
  /** Language, country and place, as in `en-us Austin`; null where the query names none. */
  readonly locale: string | null
  /** Tags of the query. */
  readonly tags: readonly string[]
  /** The page that ranks, or that ranked before. */
  readonly url: string | null
  /** Searches a month. */
  readonly volume: number | null
  /** Clicks a month at stake; null where the volume is not known. */
  readonly clicks: number | null
  /** The site at the rank that was lost. */
  readonly there_now: string | null
}

/** One alert as messages tell it. */
export interface AlertNews extends Partial<AlertDetails> {
  readonly id: string
  readonly when: AlertKind
  readonly state: 'open' | 'over'
  readonly query: string | null
  /** Label of the target. */
  readonly target: string | null
  readonly before: number | string | null
  readonly now: number | string | null
  /** One sentence for people. */
  readonly text: string
  /** Other alerts that tell of the same event, and have no line of their own; only where there are any. */
  readonly also?: readonly Pick<AlertNews, 'id' | 'when'>[]
  /** The jobs that it has stopped; only where one cause stops several. */
  readonly jobs?: readonly string[]
}

/** All alerts of one run for one channel: the `data` of the webhook's body. */
export interface AlertMessage {
  readonly job: string
  /** For whom the job is; missing in messages of older versions. */
  readonly client?: string | null
  readonly run: number | null
  readonly alerts: readonly AlertNews[]
}

/** What all jobs of a folder share: `rankline.yaml` beside them. */
export interface Workspace {
  /** The folder that it stands in; its paths are relative to it. */
  readonly folder: string
  readonly channels: Readonly<Record<string, Channel>>
  /** Limits in credits over all jobs of the folder; null is no limit. */
  readonly budget: {
    /** For a local day, and for a calendar month. */
    readonly perDay: number | null
    readonly perMonth: number | null
    /** The same for the queries of a tag: a client. */
    readonly byTag: Readonly<Record<string, Pick<Workspace['budget'], 'perDay' | 'perMonth'>>>
  }
  /** How long answers and results are kept, in milliseconds; null is for ever. */
  readonly keep: { readonly answersMs: number | null; readonly resultsMs: number | null }
}

/** Where messages go. Secrets are named by the variable of the environment that holds them. */
export type Channel =
  | { readonly type: 'webhook'; readonly urlEnv: string; readonly secretEnv: string | null }
  | { readonly type: 'slack' | 'discord' | 'teams'; readonly urlEnv: string }
  | { readonly type: 'email'; readonly to: readonly string[] }
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'exec'; readonly command: readonly string[] }

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
