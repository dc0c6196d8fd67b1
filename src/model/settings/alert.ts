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
  readonly for: { readonly tags: readonly string[] | null; readonly targets: readonly string[] | null }
  /** Of the last three observations as many must say it: 1, 2 or 3. */
  readonly confirm: number
  /** What one more observation would confirm is looked at again at once. Missing in older runs. */
  readonly recheck?: boolean
  /** Names of channels; null is all of the workspace. */
  readonly to: readonly string[] | null
}

/** What makes two rules the same: what they watch, not how often it must be seen or when, nor who is told. */
export function ruleIdentity({ when, by, top, below, for: only }: AlertRule): string {
  const sorted = (list: readonly string[] | null) => (list === null ? null : [...new Set(list)].sort())
  return JSON.stringify([when, by, top, below, sorted(only.tags), sorted(only.targets)])
}

/** One alert as messages tell it. */
export interface AlertNews {
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
}

/** All alerts of one run for one channel: the `data` of the webhook's body. */
export interface AlertMessage {
  readonly job: string
  readonly run: number | null
  readonly alerts: readonly AlertNews[]
}
