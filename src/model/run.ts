import type { JobSettings } from './job.ts'
import { count, grouped } from './text.ts'

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

/** Whether a run that ended so has nothing left to do. */
export function isComplete(reason: FinishReason | null): boolean {
  return reason === 'completed' || reason === 'completed_with_failures'
}

/** Whether a run stopped for something outside of it, which may pass or be mended: key, balance, quota, service or disk. */
export function isStoppedFromOutside(reason: FinishReason | null): boolean {
  return reason === 'auth' || reason === 'balance' || reason === 'quota' || reason === 'unavailable'
}

/** A failed task's cause begins with this where the service found the request too long. Another try cannot help. */
export const tooLong = 'the request is too long for the service'

/** Whether all failed tasks failed because their requests were too long. */
export function areTooLong(
  causes: readonly { readonly kind: string; readonly tasks: number }[],
  failed: number,
): boolean {
  const ofThem = causes.filter(({ kind }) => kind.startsWith(tooLong))
  return failed > 0 && ofThem.reduce((sum, { tasks }) => sum + tasks, 0) === failed
}

/** The part of the planned tasks that is done, from 0 to 1; null where nothing was planned. */
export function coverageOf({ planned, done }: Pick<RunTotals['tasks'], 'planned' | 'done'>): number | null {
  return planned === 0 ? null : done / planned
}

/** From this coverage on a run that ended with failures counts as a good one. */
const goodCoverage = 0.9

/** Whether a run gave what it was made for: it has nothing left to do, and all or nearly all of its tasks are done. */
export function isGoodRun(
  reason: FinishReason | null,
  tasks: Pick<RunTotals['tasks'], 'planned' | 'done'>,
): boolean {
  return (
    reason === 'completed' ||
    (reason === 'completed_with_failures' && (coverageOf(tasks) ?? 1) >= goodCoverage)
  )
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
  /** By the monotonic clock, until the run ended; null where nothing was measured. */
  readonly durationMs: number | null
  readonly finishReason: FinishReason | null
  /** When a later run took its place; it is never continued. */
  readonly closedAt: number | null
  readonly plannedMin: number
  readonly plannedMax: number
}

/** When a run ended, or began where it has no end. */
export function endOf({ finishedAt, startedAt }: Pick<Run, 'finishedAt' | 'startedAt'>): number {
  return finishedAt ?? startedAt
}

/** Totals of a run so far, counted from the store. */
export interface RunTotals {
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
  /** Calls that the service refused for their rate. */
  readonly throttled: number
  /** In credits. */
  readonly spent: number
  readonly ambiguous: number
  /** Results by kind, kinds without any left out. */
  readonly results: Readonly<Record<string, number>>
  /** Items of its answers that were no results and are kept as they were sent. */
  readonly malformed: number
  /** Its answers that repeat a different query than asked. */
  readonly mismatched: number
  /** Why it is suspect as a whole; null where it is not. */
  readonly suspicion: Suspicion | null
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
  /** Its answers that repeat a different query than asked; only where there are any. */
  readonly mismatched?: number
}

/** Totals of a plan, for one job. */
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

/** One page of one query of one run, let through to be sent. */
export interface Task {
  readonly id: number
  readonly runId: number
  readonly queryId: number
  readonly operation: string
  readonly text: string
  readonly params: Readonly<Record<string, string | number>>
  readonly page: number
  /** Higher is sent first. */
  readonly priority: number
  /** Credits that a call for it costs. */
  readonly credits: number
  /** Calls that failed for it so far and count as tries. */
  readonly tries: number
  /** Why the last call for it failed; null where none did. */
  readonly cause: string | null
  /** A stored answer to the same call that may be used instead of a call; null where there is none. */
  readonly reusable: number | null
  /** Tags of its query; only where a tag of its job has a limit. */
  readonly tags?: readonly string[]
}

/** Why nothing more is sent; calls in flight are still awaited. */
export interface StopCause {
  readonly reason: Exclude<FinishReason, 'completed' | 'completed_with_failures'>
  /** One sentence for people. */
  readonly message: string
  /** Nothing ran, and nothing will with these settings: exit 2, whatever the reason is. */
  readonly wrongSetting?: boolean
  /** What made the run stop, where it is not the service being down: a full disk, or paid answers that cannot be used. */
  readonly source?: 'disk' | 'answers'
}

/** Exit code of a run that ended so; 130 and 143 depend on the signal and stand for `interrupted`. */
export const exitCodes = {
  completed: 0,
  completed_with_failures: 3,
  budget: 4,
  balance: 4,
  quota: 4,
  auth: 5,
  unavailable: 6,
  interrupted: 130,
  crashed: 1,
} as const satisfies Record<FinishReason, number>

/** Exit codes of what a signal stopped. */
export const signalCodes = { SIGINT: exitCodes.interrupted, SIGTERM: 143, SIGHUP: 143 } as const

/** Why a run as a whole is suspect, compared with the observations just before it: a count is 0 where it is no reason. */
export interface Suspicion {
  /** Observations that ranked before, and of which the run knows whether they still do. */
  readonly ranked: number
  /** Those of them that are absent now. */
  readonly gone: number
  /** The most different queries whose first pages are one list of results. */
  readonly alike: number
}

/** Fewer ranks or queries say nothing about a whole job. */
const fewestSuspect = 10

/**
 * Whether a whole job changed at once: more than half of at least ten ranks are gone, or at least ten different queries share one list of
 * results. A service or a place that answers wrongly is likelier than such a day on the web.
 *
 * @param counted all of these, a reason or not
 */
function suspicionOf(counted: Suspicion): Suspicion | null {
  const { ranked, gone, alike } = counted
  const isGone = ranked >= fewestSuspect && gone * 2 > ranked
  const isAlike = alike >= fewestSuspect
  if (!isGone && !isAlike) return null
  return { ranked: isGone ? ranked : 0, gone: isGone ? gone : 0, alike: isAlike ? alike : 0 }
}

/** What is suspect, as a clause. */
function suspicionText({ ranked, gone, alike }: Suspicion): string {
  return [
    ...(gone === 0 ? [] : [`${grouped(gone)} of ${count(ranked, 'rank')} of the last run are gone at once`]),
    ...(alike === 0
      ? []
      : [`${count(alike, 'different query', 'different queries')} got one list of results`]),
  ].join(', and ')
}

/** Runs that are suspect as a whole. */
export const suspicions = {
  of: suspicionOf,
  text: suspicionText,
  fewest: fewestSuspect,
}
