/** What all jobs of a folder share: `rankline.yaml` beside them. */
export interface Workspace {
  /** The folder that it stands in; its paths are relative to it. */
  readonly folder: string
  readonly channels: Readonly<Record<string, Channel>>
  /** Limits in credits over all jobs of the folder; null is no limit. */
  readonly budget: PeriodBudget & {
    /** The same for the queries of a tag: a client. */
    readonly byTag: Readonly<Record<string, PeriodBudget>>
  }
  /** How long answers and results are kept, in milliseconds; null is for ever. */
  readonly keep: { readonly answersMs: number | null; readonly resultsMs: number | null }
}

/** Credits for a local day and a calendar month. */
export interface PeriodBudget {
  readonly perDay: number | null
  readonly perMonth: number | null
}

/** Where messages go. Secrets are named by the variable of the environment that holds them. */
export type Channel =
  | { readonly type: 'webhook'; readonly urlEnv: string; readonly secretEnv: string | null }
  | { readonly type: 'slack' | 'discord' | 'teams'; readonly urlEnv: string }
  | { readonly type: 'email'; readonly to: readonly string[] }
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'exec'; readonly command: readonly string[] }
