import type { JobSettings } from './job.ts'

/** Why a run ended. All but the first two can be continued. */
export type FinishReason =
  | 'completed'
  | 'completed_with_failures'
  | 'budget'
  | 'balance'
  | 'quota'
  | 'auth'
  | 'unavailable'
  | 'interrupted'
  | 'crashed'

/** Whether nothing is left to do in a run that ended so. */
export function isComplete(reason: FinishReason | null): boolean {
  return reason === 'completed' || reason === 'completed_with_failures'
}

/** One execution of a job. Instants are epoch milliseconds. */
export interface Run {
  readonly id: number
  readonly groupId: number
  readonly job: string
  readonly settings: JobSettings
  /** Local day of the job on which it started, YYYY-MM-DD. */
  readonly date: string
  readonly startedAt: number
  readonly finishedAt: number | null
  /** What its clock measured until it ended; null where nothing was measured. */
  readonly durationMs: number | null
  readonly finishReason: FinishReason | null
  /** When a later run took its place; it is never continued. */
  readonly closedAt: number | null
  readonly plannedMin: number
  readonly plannedMax: number
}

/** What a run comes to so far, counted from the store. */
export interface Tally {
  readonly tasks: {
    readonly planned: number
    readonly done: number
    readonly failed: number
    readonly pending: number
    /** Done at no cost from a stored answer; part of `done`. */
    readonly reused: number
  }
  readonly calls: {
    readonly sent: number
    readonly billed: number
    readonly free: number
    readonly ambiguous: number
  }
  /** In credits. */
  readonly spent: number
  readonly ambiguous: number
  /** Results by kind, kinds without any left out. */
  readonly results: Readonly<Record<string, number>>
  /** Items of its answers that were no results and are kept as they were sent. */
  readonly malformed: number
  /** Its answers that repeat another question than asked. */
  readonly mismatched: number
}

/** How a run went, and what it cost. */
export interface RunQuality {
  readonly run: number
  /** Local day of the job. */
  readonly date: string
  readonly finishReason: FinishReason | null
  readonly tasks: { readonly planned: number; readonly done: number; readonly failed: number }
  /** In credits. */
  readonly spent: number
  readonly ambiguous: number
  /** Its answers that repeat another question than asked; only where there are any. */
  readonly mismatched?: number
}
