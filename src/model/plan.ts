import type { Target } from './target.ts'

/** One query of a run: what is asked, what it costs and how it is to be paged. */
export interface PlannedQuery {
  /** 16 bytes that name operation, text and params. */
  readonly key: Buffer
  readonly operation: string
  readonly text: string
  /** JSON object, keys in alphabetical order. */
  readonly params: string
  /** Credits per page. */
  readonly credits: number
  /** Pages at most. */
  readonly pages: number
  readonly pageSize: number | null
  /** Results after which to stop where no page size is documented; null where `pages` says all. */
  readonly depth: number | null
  readonly priority: number
  readonly volume: number | null
  readonly url: string | null
  readonly tags: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly targets: readonly Target[]
}

/** What a plan comes to, for one job. */
export interface PlanSummary {
  readonly job: string
  /** The unfinished run that would go on, or null for a new one. */
  readonly continues: number | null
  /** Queries after duplicates were joined. */
  readonly queries: number
  readonly duplicates: number
  /** Tasks that are planned, done ones of a continued run included. */
  readonly tasks: number
  readonly done: number
  /** Tasks that a stored answer covers at no cost. */
  readonly reused: number
  /** Credits for first pages only; as the job's last finished runs of the same paging suggest; for every page that may be bought. */
  readonly credits: { readonly min: number; readonly expected: number; readonly max: number }
}
