import type { FitFunds, SkippedTotal } from '../ledger/budget.ts'
import type { JobSettings } from '../model/job.ts'
import type { JobQuery, PlannedQuery, QuerySource } from '../model/query.ts'
import type { FinishReason, PlanSummary, Run, RunTotals, Task } from '../model/run.ts'
import type { TimeSpan } from '../model/time.ts'

/** Plans of the jobs of one command, in the making. */
export interface PlanDraft extends AsyncDisposable {
  /** Adds queries of a job; the same query again joins the first. */
  add(job: string, queries: readonly PlannedQuery[]): Promise<void>
  /** Notes the keys of queries that the job asks, and that this plan leaves out. */
  leaveOut(job: string, keys: readonly Buffer[]): Promise<void>
  /** What an edit of the job's file made of its queries; null where there is nothing to be told. */
  edited(job: string): Promise<EditedQueries | null>
  /** Of a job that never ran: which of these jobs asked most of what it asks, in their newest run; null where none did. */
  formerJob(job: string, others: readonly string[]): Promise<FormerJob | null>
  /** The first rows of a job that ask what an earlier row asks, once it is summed up. */
  repeats(job: string): readonly RepeatedRow[]
  /** What the plan comes to beside what is stored; `continues` as given. */
  summary(job: PlannedJob): Promise<PlanSummary>
  /** What would be left out of the jobs so that the rest is covered; `runs` of the funds are jobs here. */
  fit(jobs: readonly PlannedJob[], funds: FitFunds): Promise<ReadonlyMap<string, SkippedTotal>>
  /** Makes the runs, or plans the continued ones again, in one change. */
  commit(jobs: readonly PlannedJob[], now: number): Promise<readonly Run[]>
}

type QueryParts = Pick<JobQuery, 'operation' | 'text' | 'params'>

/** Queries that a job never asked, and queries that its newest run asked and that it no longer asks. */
export interface EditedQueries {
  readonly fresh: number
  readonly gone: number
  /**
   * How gone queries may have become fresh ones: each way with the number of pairs that differ in it alone, and the text of one pair; where
   * the text is what differs, each pair is a way of its own. A query may be in several.
   */
  readonly pairs: readonly { readonly queries: number; readonly was: QueryParts; readonly now: QueryParts }[]
}

/** A job whose queries another job asks now: how many its newest run asked, and how many of them are the same. */
export interface FormerJob {
  readonly job: string
  readonly asked: number
  readonly same: number
}

/** A row whose query is that of an earlier row. */
export interface RepeatedRow {
  readonly text: string
  readonly row: QuerySource
  readonly of: QuerySource
}

/** A job of a draft with the run that it continues. */
export interface PlannedJob {
  readonly settings: JobSettings
  /** Local day of the job. */
  readonly date: string
  readonly continues: number | null
  /** Stored answers fetched in this time are used; null where none are. */
  readonly fresh: TimeSpan | null
}

/** What unsettled calls are: still in flight, or lost with the process that sent them, and then ambiguous. */
export type OpenCalls = 'in-the-air' | 'lost'

/** What reports read of runs. */
export interface RunReads {
  /** The file that a job name stands for, or null. */
  jobFile(name: string): Promise<string | null>
  jobNames(): Promise<readonly string[]>
  /** All jobs that ran, with the file that each name stands for. */
  jobFiles(): Promise<readonly { readonly name: string; readonly file: string }[]>
  /** Credits that an unfinished run may still cost, with all pages that may follow; those of failed tasks, too, where they count. */
  creditsToCome(runId: number, failed: 'count' | 'ignore'): Promise<number>
  /** The newest run of a job that is not closed, or null. One that looks again at queries of another is passed over. */
  latestRun(job: string): Promise<Run | null>
  run(id: number): Promise<Run | null>
  /** Runs of all jobs or of one, newest first; without those that were closed where `closed` is false. */
  runs(filter: {
    readonly job?: string
    readonly limit?: number
    readonly closed?: false
  }): Promise<readonly Run[]>
  /** How many runs one command started together with it, itself included. */
  groupSize(groupId: number): Promise<number>
  /** Closed runs of these jobs that still have answers to be read or asynchronous jobs to be polled. */
  runsWithOpenWork(jobs: readonly string[]): Promise<readonly Run[]>
  /** Everything that a run comes to; takes seconds where there are millions of results. */
  tally(runId: number, open?: OpenCalls): Promise<RunTotals>
  taskCounts(runId: number): Promise<RunTotals['tasks']>
  failures(runId: number): Promise<readonly TaskFailure[]>
  /** Why tasks of a run failed: the most frequent kinds of causes first, up to a number. */
  failureCauses(runId: number, most: number): Promise<readonly FailureCause[]>
}

export interface RunStore extends RunReads {
  /** Notes which file a job name stands for; answers the file that it stood for before, or null. */
  nameJob(name: string, file: string): Promise<string | null>
  /** Opens a run again that had ended. */
  reopenRun(id: number): Promise<void>
  /** Makes failed tasks of a run pending again and opens it; answers how many there were. */
  retryFailed(runId: number): Promise<number>
  /** Ends a run: what has no observation yet is `unknown`. */
  finishRun(id: number, reason: FinishReason, now: number, durationMs?: number): Promise<void>
  /** Closes a run for good: its calls in flight are ambiguous, and what has no observation yet is `unknown`. */
  closeRun(id: number, now: number): Promise<void>
  /**
   * Repairs what dead processes left: all calls in flight, of any run, are ambiguous, and the tasks of these runs are
   * pending again; answers how many calls there were. Only for the one process that holds the collector lock.
   */
  recover(runIds: readonly number[], now: number): Promise<number>
  /**
   * Adds up what runs that are over observed, the newest first, until that much time has passed: two seconds, unless
   * it is said. What was not added up is read query by query, so this makes questions about the past quicker and changes no
   * answer.
   */
  countRanks(withinMs?: number): Promise<void>
  /** Drops what was added up of the runs of a job, or of all. */
  invalidateRankCounts(job: string | null): Promise<void>
}

/** What runs plan, read in parts: a run may have a million queries. */
export interface PlannedReads {
  /** Queries of the newest plan of a run after a task (0 for the first), in the order of the file. */
  plannedQueries(runId: number, after: number, most: number): Promise<readonly PlannedRow[]>
  /** Those of them that lack a page, the most urgent first, after one of them. */
  openQueries(runId: number, after: PlannedRow | null, most: number): Promise<readonly PlannedRow[]>
  /** Keys of queries that the job asks and that the run left out, because they were not due. */
  leftOutKeys(runId: number): Promise<readonly Buffer[]>
}

export interface PlannedRow {
  readonly query: PlannedQuery
  readonly queryId: number
  /** The task of its first page. */
  readonly taskId: number
  /** Pages that are done, failed or left out. */
  readonly settledPages: number
}

/** A task that failed, with its cause. */
interface TaskFailure {
  readonly taskId: number
  readonly operation: string
  readonly query: string
  readonly page: number
  readonly cause: string
  readonly params: Task['params']
}

/** A cause of failures, and how many tasks it made fail. */
export interface FailureCause {
  /** The cause, without what only tells one answer from another. */
  readonly kind: string
  readonly tasks: number
  /** Of these tasks: those whose answers were paid for, are stored and cannot be used. */
  readonly answered: number
}
