import type { Settlement } from '../model/call.ts'
import type { JobSettings } from '../model/job.ts'
import type { FinishReason, Task } from '../model/run.ts'
import type { PagingDecision } from '../rank/paging.ts'
import type { CompressedBody } from './compression.ts'
import type { UsageReading } from './journal.ts'

/** A job in the shared journal: its name and its key. Where its file lies does not count. */
export interface SharedJob {
  readonly keyHash: string
  readonly job: string
}

/** A run in the shared journal. Instants are epoch milliseconds. */
export interface SharedRun extends SharedJob {
  /** The same on all machines; local numbers of runs differ. */
  readonly id: string
  /** Runs that one command started together have the same. */
  readonly groupId: string
  /** Local day of the job, YYYY-MM-DD. */
  readonly date: string
  readonly settings: JobSettings
  readonly startedAt: number
}

/** The end of a run. */
export interface SharedRunEnd {
  readonly reason: FinishReason
  readonly finishedAt: number
  readonly durationMs: number | null
}

/** How far a reader has come; opaque, and nothing before it changes any more. */
export type JournalPosition = string

/** One page of one query of a run: what a task is on all machines. */
export interface SharedTask {
  readonly run: string
  /** Key of its query, 16 bytes. */
  readonly query: Buffer
  readonly page: number
}

/** A call in the shared ledger. Its id is made by the worker, so that writing it twice changes nothing. */
export interface NewSharedCall {
  readonly id: string
  /** Null for a free lookup that belongs to no task. */
  readonly task: SharedTask | null
  readonly operation: string
  readonly credits: number
  readonly sentAt: number
  readonly keyHash: string
}

export interface SharedCall extends NewSharedCall {
  /** Null while it is in flight. */
  readonly settlement: Settlement | null
}

/** A body as it came, and the call that brought it. */
export interface StoredAnswer extends CompressedBody {
  readonly call: string
  readonly query: Buffer
  readonly page: number
  readonly fetchedAt: number
}

/** How a task ended. The first end that is recorded counts. */
export interface TaskEnded {
  readonly task: SharedTask
  readonly end:
    | {
        /** Its answer counts; it may be one of another run. */
        readonly call: string
        readonly reused: boolean
      }
    | {
        /** The answer that was paid for and cannot be used; null where none came. */
        readonly call: string | null
        readonly cause: string
      }
  /** The page that may be bought now, or why none follows; null where nothing changed. */
  readonly paging: PagingDecision | null
}

/** What was read of the journal, in its order. */
export interface ImportBatch {
  readonly calls: readonly SharedCall[]
  readonly answers: readonly { readonly run: string; readonly answer: StoredAnswer }[]
  readonly readings: readonly { readonly reading: Omit<UsageReading, 'runId'>; readonly run: string | null }[]
  readonly steps: readonly SyncStep[]
  readonly position: JournalPosition
  /** What is kept for some time, as the queue may lose it, and since when it is: epoch milliseconds. */
  readonly read: readonly ReadChange[]
  readonly readAt: number
  readonly failovers: readonly number[]
}

/** What was read, but for bodies, with keys of queries in hexadecimal digits; and ends of runs that were written into the journal from here. */
export type ReadChange =
  | TaskStep
  | FinishStep
  | { readonly kind: 'call'; readonly call: Omit<SharedCall, 'task'>; readonly task: HexTask | null }
  | ({ readonly kind: 'answer'; readonly call: string; readonly fetchedAt: number } & HexTask)
  | { readonly kind: 'reading'; readonly reading: Omit<UsageReading, 'runId'>; readonly run: string | null }

type HexTask = Pick<TaskStep, 'run' | 'query' | 'page'>

/** A task that ended, with its query's key in hexadecimal digits. */
export interface TaskStep {
  readonly kind: 'task'
  readonly run: string
  readonly query: string
  readonly page: number
  readonly call: string | null
  readonly reused: boolean
  readonly cause: string | null
  readonly paging: PagingDecision | null
}

/** The end of a run, and the plan that it ended by. */
export type FinishStep = {
  readonly kind: 'finish'
  readonly run: string
  readonly version: number
} & SharedRunEnd

/** What is done with what was read, one after the other. */
export type SyncStep =
  | TaskStep
  | FinishStep
  | { readonly kind: 'close'; readonly run: string; readonly at: number }

export interface TaskHere {
  readonly taskId: number
  readonly runId: number
  readonly queryId: number
  readonly page: number
  readonly operation: string
  readonly text: string
  readonly params: Task['params']
  /** Whether it failed. */
  readonly hasFailed: boolean
  /** The answer of the call that was named; null where it is not here. */
  readonly answerId: number | null
}

/** The step of a task that ended. */
export function taskStep({ task, end, paging }: TaskEnded): TaskStep {
  return {
    kind: 'task',
    run: task.run,
    query: task.query.toString('hex'),
    page: task.page,
    ...('cause' in end ? { call: end.call, reused: false, cause: end.cause } : { ...end, cause: null }),
    paging,
  }
}
