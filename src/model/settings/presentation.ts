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
}

/** One entry of `notes:`: what happened on a day, marked in charts. */
export interface ReportNote {
  /** YYYY-MM-DD */
  readonly date: string
  readonly text: string
  readonly url: string | null
}
