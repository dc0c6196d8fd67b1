import type { Settlement } from '../model/call.ts'
import type { Task } from '../model/task.ts'

/** Tasks on their way: let through, called for, given back, taken as asynchronous jobs. */
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
  /** Operations whose last answers, of whatever run, were paid for and could not be used. */
  operationsUnusable(): Promise<readonly string[]>
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

/** What does not fit: queries whole, and credits that they may have cost at most. */
export interface FitRest {
  readonly queries: number
  readonly credits: number
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
