import type { JobSettings } from '../model/job.ts'
import type { PlannedQuery, PlanSummary } from '../model/plan.ts'
import type { FinishReason, Run, Tally } from '../model/run.ts'
import type { FitMeans } from '../plan/fit.ts'
import type { AnswerStore } from './answers.ts'
import type { CallStore, FitRest } from './calls.ts'
import type { HistoryStore } from './history.ts'
import type { LedgerStore } from './ledger.ts'
import type { ReportStore } from './rows.ts'
import type { TrackingStore } from './tracking.ts'

/**
 * Everything that rankline remembers. Methods are whole changes: each is durable, entirely, when its promise is
 * fulfilled, and leaves nothing behind when it is rejected. Instants are epoch milliseconds.
 */
export interface Store
  extends AsyncDisposable,
    RunStore,
    CallStore,
    LedgerStore,
    AnswerStore,
    ReportStore,
    TrackingStore,
    HistoryStore {
  readonly space: Space
  /** Rejected with a sentence where the file is damaged; large files are only looked at as far as they are read. */
  refuseDamage(): Promise<void>
  /** Starts a plan that nothing else sees until it is committed. */
  draft(): Promise<PlanDraft>
}

/** The room that the database has on its disk. */
export interface Space {
  /** Keeps room in reserve for so many answers; it makes way for them when the disk is full. */
  hold(answers: number): Promise<void>
  letGo(): Promise<void>
  /** Fulfilled at once when the disk is full, before any change is rejected for it. */
  whenFull(): Promise<void>
  /** Whether nothing new should be bought, for there is hardly room to keep it. */
  isLow(): Promise<boolean>
  /** Whether the disk was full and the reserve had to make way: what remains is for answers alone. */
  isExhausted(): boolean
}

/** What a collection asks of the store: plain data goes in and comes out, so that the store may be in a thread of its own. */
export type CollectStore = CallStore &
  Pick<
    LedgerStore,
    'ambiguousSince' | 'chargedCalls' | 'creditsOf' | 'keepUsage' | 'lastUsage' | 'openJobsBeside'
  > &
  Pick<RunStore, 'groupSize' | 'taskCounts'>

/** Plans of the jobs of one command, in the making. */
export interface PlanDraft extends AsyncDisposable {
  /** Adds queries of a job; the same query again joins the first. */
  add(job: string, queries: readonly PlannedQuery[]): Promise<void>
  /** What the plan comes to beside what is stored; `continues` as given. */
  summary(job: PlannedJob): Promise<PlanSummary>
  /** What would be left out of the jobs so that the rest is covered; `runs` of the means are jobs here. */
  fit(jobs: readonly PlannedJob[], means: FitMeans): Promise<ReadonlyMap<string, FitRest>>
  /** Makes the runs, or plans the continued ones anew, in one change. */
  commit(jobs: readonly PlannedJob[], now: number): Promise<readonly Run[]>
}

/** A job of a draft with the run that it goes on with. */
export interface PlannedJob {
  readonly settings: JobSettings
  /** Local day of the job. */
  readonly date: string
  readonly continues: number | null
  /** Stored answers fetched since then are used; null where none are. */
  readonly freshSince: number | null
}

/** What calls without an end are: still in the air, or lost with the process that sent them, and then ambiguous. */
export type OpenCalls = 'in-the-air' | 'lost'

/** What is told of runs. */
export interface RunReads {
  /** The file that a job name stands for, or null. */
  jobFile(name: string): Promise<string | null>
  jobNames(): Promise<readonly string[]>
  /** The newest run of a job that is not closed, or null. */
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
  leftovers(jobs: readonly string[]): Promise<readonly Run[]>
  /** Everything that a run comes to; takes seconds where there are millions of results. */
  tally(runId: number, open?: OpenCalls): Promise<Tally>
  taskCounts(runId: number): Promise<Tally['tasks']>
  failures(runId: number): Promise<readonly TaskFailure[]>
  /** Why tasks of a run failed: so many kinds of causes at most, the most frequent first. */
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
  /** Sets a run aside for good: its calls in the air are ambiguous, and what has no observation yet is `unknown`. */
  closeRun(id: number, now: number): Promise<void>
  /**
   * Puts right what dead processes left: all calls in the air, of any run, are ambiguous, and the tasks of these runs
   * wait again; answers how many calls there were. For whoever holds the right to collect: nobody else is alive.
   */
  recover(runIds: readonly number[], now: number): Promise<number>
  /**
   * Adds up what runs that are over observed, the newest first, until that much time has passed: two seconds, unless
   * it is said. What was not added up is read query by query, so this makes questions about the past quicker and changes no
   * answer.
   */
  countRanks(withinMs?: number): Promise<void>
  /** What was added up of the runs of a job, or of all, is to be added up anew. */
  forgetRankCounts(job: string | null): Promise<void>
}

/** A task that failed, with its cause. */
export interface TaskFailure {
  readonly taskId: number
  readonly operation: string
  readonly query: string
  readonly page: number
  readonly cause: string
}

/** What made so many tasks fail. */
export interface FailureCause {
  /** The cause, without what only tells one answer from another. */
  readonly kind: string
  readonly tasks: number
  /** Of these tasks: those whose answers were paid for, are stored and cannot be used. */
  readonly answered: number
}
