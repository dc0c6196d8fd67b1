import type { Outcome, Settlement } from '../model/call.ts'
import type { JobSettings } from '../model/job.ts'
import type { Observation } from '../model/observation.ts'
import type { PlannedQuery, PlanSummary } from '../model/plan.ts'
import type { Understood } from '../model/result.ts'
import type { FinishReason, Run, Tally } from '../model/run.ts'
import type { Target } from '../model/target.ts'
import type { QueryPaging, Task } from '../model/task.ts'
import type { FitMeans } from '../plan/fit.ts'
import type { Page } from '../rank/pages.ts'
import type { PagingDecision } from '../rank/paging.ts'
import type { LedgerStore } from './ledger.ts'

/**
 * Everything that rankline remembers. Methods are whole changes: each is durable, entirely, when its promise is
 * fulfilled, and leaves nothing behind when it is rejected. Instants are epoch milliseconds.
 */
export interface Store extends AsyncDisposable, RunStore, CallStore, LedgerStore, AnswerStore, ReportStore {
  readonly space: Space
  /** Rejected with a sentence where the file is damaged; large files are only looked at as far as they are read. */
  refuseDamage(): Promise<void>
  /** Starts a plan that nothing else sees until it is committed. */
  draft(): Promise<PlanDraft>
}

/** The room that the database has on its disk. */
export interface Space {
  /** Keeps room in reserve for so many answers; it makes way for them when the disk is full. */
  hold(answers: number): void
  letGo(): void
  /** Told at once when the disk is full. */
  whenFull(told: () => void): void
  /** Whether nothing new should be bought, for there is hardly room to keep it. */
  isLow(): boolean
  /** Whether the disk was full and the reserve had to make way: what remains is for answers alone. */
  isExhausted(): boolean
}

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

/** What does not fit: queries whole, and credits that they may have cost at most. */
export interface FitRest {
  readonly queries: number
  readonly credits: number
}

export interface RunStore {
  /** Notes which file a job name stands for; answers the file that it stood for before, or null. */
  nameJob(name: string, file: string): Promise<string | null>
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
  /** Opens a run again that had ended. */
  reopenRun(id: number): Promise<void>
  /** Makes failed tasks of a run pending again and opens it; answers how many there were. */
  retryFailed(runId: number): Promise<number>
  /** Ends a run: what has no observation yet is `unknown`. */
  finishRun(id: number, reason: FinishReason, now: number): Promise<void>
  /** How many runs one command started together with it, itself included. */
  groupSize(groupId: number): Promise<number>
  /** Closed runs of these jobs that still have answers to be read or asynchronous jobs to be polled. */
  leftovers(jobs: readonly string[]): Promise<readonly Run[]>
  /** Sets a run aside for good: its calls in the air are ambiguous, and what has no observation yet is `unknown`. */
  closeRun(id: number, now: number): Promise<void>
  /**
   * Puts right what dead processes left: all calls in the air, of any run, are ambiguous, and the tasks of these runs
   * wait again; answers how many calls there were. For whoever holds the right to collect: nobody else is alive.
   */
  recover(runIds: readonly number[], now: number): Promise<number>
  tally(runId: number): Promise<Tally>
  failures(runId: number): Promise<readonly TaskFailure[]>
}

/** A task that failed, with its cause. */
export interface TaskFailure {
  readonly taskId: number
  readonly operation: string
  readonly query: string
  readonly page: number
  readonly cause: string
}

export interface CallStore {
  /** Lets tasks through, first tries before later ones, then by priority, then in file order, as far as they are covered. */
  lease(request: LeaseRequest): Promise<readonly Task[]>
  /** Leaves whole queries out of runs, the least valuable first, until the rest is covered; answers how much of each run. */
  fit(request: Means): Promise<readonly LeftOut[]>
  /** Gives back tasks that were let through and did not come to an end; accepted jobs stay what they are. */
  release(taskIds: readonly number[]): Promise<void>
  /** An answer to the same call that a run of the same group has; null where none does. */
  groupAnswer(task: Pick<Task, 'runId' | 'queryId' | 'page'>): Promise<number | null>
  /** Operations of the calls of these runs that were billed last, some dozens of each run. */
  operationsBilled(runIds: readonly number[]): Promise<readonly string[]>
  /** Whether any task may be sent. */
  hasPending(runIds: readonly number[]): Promise<boolean>
  /** Credits of the cheapest task of these operations that may be sent, or null where there is none; looks at every one of them. */
  cheapestPending(runIds: readonly number[], operations: readonly string[]): Promise<number | null>
  /** Writes a call into the ledger before it is sent; answers its id. */
  beginCall(call: NewCall): Promise<number>
  /** Settles a call that brought no answer; its task waits again where one is given. */
  settleCall(callId: number, settlement: Settlement, again: TaskAgain | null): Promise<void>
  /** Notes that the service took a call as an asynchronous job: settles the call as not billed yet. */
  acceptJob(callId: number, settlement: Settlement, job: Omit<AcceptedJob, 'acceptedAt'>): Promise<void>
  /** Ends a job without an answer: its submission was not billed, or nobody knows; its task waits again where one is given. */
  endJob(job: AcceptedJob, billed: 0 | null, now: number, again: TaskAgain | null): Promise<void>
  /** Jobs of these runs that wait for their answer. */
  acceptedJobs(runIds: readonly number[]): Promise<readonly (AcceptedJob & { readonly task: Task })[]>
}

/** What runs may spend. */
export interface Means {
  readonly runs: readonly {
    readonly runId: number
    /** What its own budget allows. */
    readonly budget: number
    /** What must be left of the balance after each of its tasks. */
    readonly keep: number
    /** Stored answers fetched since then are used; null where none are. */
    readonly freshSince: number | null
  }[]
  /** What the balance covers. */
  readonly credits: number
  /** Tasks at most that have to be bought. */
  readonly calls: number
}

export interface LeaseRequest extends Means {
  /** Tasks of these operations only. */
  readonly operations: readonly string[]
  /** Tasks at most. */
  readonly limit: number
  /** Whether other runs of their group may have answers, which are used whatever their age. */
  readonly shared: boolean
}

/** What was left out of a run because nothing covers it. */
export interface LeftOut extends FitRest {
  readonly runId: number
}

export interface NewCall {
  readonly runId: number | null
  readonly taskId: number | null
  readonly operation: string
  readonly credits: number
  readonly sentAt: number
  /** Names the key that pays for it. */
  readonly keyHash: string
}

/** A task that is to be sent again. */
export interface TaskAgain {
  readonly taskId: number
  readonly tries: number
  /** Behind all others. */
  readonly behind: boolean
}

/** An asynchronous job that the service has taken. */
export interface AcceptedJob {
  readonly taskId: number
  /** The call that submitted it. */
  readonly callId: number
  readonly jobId: string
  readonly acceptedAt: number
}

export interface AnswerStore {
  /** Keeps a body whole and settles its call as billed, or the submission of the job that brought it; answers the id of the answer. */
  keepAnswer(answer: NewAnswer): Promise<number>
  /** Gives a task a stored answer instead of a call. */
  reuseAnswer(taskId: number, answerId: number): Promise<void>
  /** Tasks of these runs whose answer is stored and not yet understood. */
  answeredTasks(runIds: readonly number[]): Promise<readonly AnsweredTask[]>
  /** A stored body; null where retention has dropped it. */
  rawAnswer(answerId: number): Promise<RawAnswer | null>
  /** Queries of these runs that have answers, but no observation of some target that is new to them. */
  unobserved(
    runIds: readonly number[],
  ): Promise<readonly { readonly runId: number; readonly queryId: number }[]>
  /** Stores what an answer says (unless it is stored already) and what follows for its query. */
  understand(change: Understanding): Promise<Effect>
}

export interface NewAnswer {
  /** The call that is billed for it. */
  readonly callId: number
  readonly task: Pick<Task, 'id' | 'runId' | 'queryId' | 'page'>
  /** How that call ended; null where it was settled before, as the submission of a job. */
  readonly settlement: (Settlement & { readonly outcome: Extract<Outcome, 'answered'> }) | null
  readonly fetchedAt: number
  /** Compressed as `encoding` says. */
  readonly body: Buffer
  readonly encoding: 'deflate'
}

export interface AnsweredTask {
  readonly taskId: number
  readonly runId: number
  readonly queryId: number
  readonly page: number
  readonly operation: string
  readonly params: Task['params']
  readonly answerId: number
}

export interface RawAnswer {
  readonly body: Buffer
  readonly encoding: string
  readonly fetchedAt: number
}

/** A query of a run: how it is paged, whom it is watched for, and its pages as far as they are tasks. */
export interface StoredQuery extends QueryPaging {
  readonly targets: readonly (Target & { readonly id: number })[]
  readonly pages: readonly Page[]
}

/** Everything that follows from one understood answer, from the failure of one page, or from what is stored already. */
export interface Understanding {
  /** The task that was answered or failed; null where nothing new came. */
  readonly taskId: number | null
  readonly runId: number
  readonly queryId: number
  readonly outcome:
    | {
        readonly done: {
          readonly answerId: number
          readonly normaliser: number
          readonly understood: Understood
        }
      }
    | { readonly failed: string }
    | 'as-stored'
  /** Computed inside the change, when the page's own results are stored. */
  readonly follow: (query: StoredQuery) => Consequences
}

/** What the pages of a query, the new one among them, come to. */
export interface Consequences {
  readonly ranks: readonly {
    readonly page: number
    readonly base: number
    readonly ranks: readonly number[]
  }[]
  readonly observations: readonly (Observation & { readonly targetId: number })[]
  /**
   * The page that may be sent now; or the reason why no further page is, `final` where a deeper plan would not
   * change it; or null where nothing changes.
   */
  readonly paging: PagingDecision | null
}

/** How the number of tasks changed by what followed from a page. */
export interface Effect {
  readonly added: number
  readonly skipped: number
}

export interface ReportStore {
  /** Rows of a public view, streamed in a stable order: the order in which tasks were planned, page and place. */
  rows(view: RowView, filter: RowFilter): Iterable<Readonly<Record<string, Cell>>>
  /** Names of the labels that queries of these runs carry, in alphabetical order. */
  labelNames(filter: RowFilter): Promise<readonly string[]>
}

export type Cell = string | number | null

/** A view that is exported row by row. */
export type RowView =
  | 'answers'
  | 'organic_results'
  | 'news_results'
  | 'video_results'
  | 'image_results'
  | 'ai_references'
  | 'suggestions'
  | 'related_searches'
  | 'calls'
  | 'rankings'

/** What rows to take; an absent field is no condition. */
export interface RowFilter {
  readonly job?: string
  readonly run?: number
  readonly query?: string
  readonly operation?: string
  /** Instants in ISO 8601, or days: from (inclusive), until (exclusive). */
  readonly from?: string
  readonly until?: string
}
