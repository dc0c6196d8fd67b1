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
