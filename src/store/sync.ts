import type { PlannedQuery } from '../model/query.ts'
import type { Task } from '../model/run.ts'
import type { PagingDecision } from '../rank/paging.ts'
import type { UsageReading } from './ledger.ts'
import type { SharedCall, StoredAnswer, TaskEnded } from './shared/calls.ts'
import type { JournalPosition } from './shared/changes.ts'
import type { SharedJob, SharedRun, SharedRunEnd } from './shared/plans.ts'

/** What a database knows of the shared journal that it follows. */
export interface SyncStore {
  /** Names this database as a reader; made when it is first asked for. */
  readerId(): Promise<string>
  /** Which journal it follows; null where it follows none yet. */
  followedJournal(): Promise<string | null>
  followJournal(journal: string): Promise<void>
  /** How far it has read; null where it never did. */
  journalPosition(): Promise<JournalPosition | null>
  /** The id that a run has on all machines; null where it is no shared one. */
  sharedRunId(runId: number): Promise<string | null>
  /** The number that a shared run has here, and the version of its plan, 0 for none; null where it is not known yet. */
  localRun(id: string): Promise<LocalRun | null>
  /** Notes that a run of this database is that shared one, and which plan of it stands here. */
  linkRun(runId: number, shared: Pick<SharedRun, 'id' | 'groupId'>, planVersion: number): Promise<void>
  /** The shared group of a group of runs; null where none of them is shared. */
  sharedGroupId(groupId: number): Promise<string | null>
  /** Keeps the former spellings by which the journal names queries that stand here in their one spelling. */
  linkSpellings(former: readonly Pick<PlannedQuery, 'key' | 'operation' | 'text' | 'params'>[]): Promise<void>
  /**
   * The number of a shared run here and the version of its plan, 0 for none; a run that is new here is made, without a plan. Its job has
   * its own name here, or that with its key where a job of another key has the name, and on a host with another key.
   *
   * @param ownKey the key of this host; null where it has none
   */
  importRun(run: SharedRun, ownKey: string | null): Promise<LocalRun>
  /**
   * Notes that this database collects a job with a key, so that the job has its own name here. One of another key that came from elsewhere
   * and had the name gets another, which is answered; null where there was none.
   */
  ownJob(keyHash: string, job: string): Promise<string | null>
  /** The jobs that this database collects with a queue, or did, and their keys. */
  ownJobs(): Promise<readonly SharedJob[]>
  /** In a database that collects: names here of jobs of keys with which it does not. */
  jobsOfOthers(): Promise<readonly string[]>
  /** Writes what was read, what is still to be done with it, and how far that is, in one change. */
  importBatch(batch: ImportBatch): Promise<void>
  /** The number of the last change that was read. */
  lastChange(): Promise<number>
  /** The next changes after that number that are kept, in order. */
  changesRead(after: number, most: number): Promise<readonly NumberedChange[]>
  /** When the server of the queue failed over, epoch milliseconds. */
  queueFailovers(): Promise<readonly number[]>
  /** The next steps that were read and not applied, in order. */
  syncSteps(most: number): Promise<readonly NumberedStep[]>
  /** Forgets steps up to this one: they are applied. */
  stepsApplied(upTo: number): Promise<void>
  /** A task of a shared run with its query, and its answer where one is named. */
  sharedTask(task: Pick<TaskStep, 'run' | 'query' | 'page' | 'call'>): Promise<TaskHere | null>
  /** The number here of the answer that a shared call brought; null where it is not here. */
  sharedAnswer(call: string): Promise<number | null>
  /** Gives a task the answer that counts for it. */
  attachAnswer(taskId: number, answerId: number, reused: boolean): Promise<void>
}

/** A shared run as it stands here. */
interface LocalRun {
  readonly runId: number
  readonly planVersion: number
  /** The name of its job here. */
  readonly job: string
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

/** What was read, but for bodies, with keys of queries in hexadecimal digits. */
export type ReadChange =
  | TaskStep
  | { readonly kind: 'call'; readonly call: Omit<SharedCall, 'task'>; readonly task: HexTask | null }
  | ({ readonly kind: 'answer'; readonly call: string; readonly fetchedAt: number } & HexTask)
  | { readonly kind: 'reading'; readonly reading: Omit<UsageReading, 'runId'>; readonly run: string | null }

interface HexTask {
  readonly run: string
  readonly query: string
  readonly page: number
}

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

/** What is done with what was read, one after the other. */
export type SyncStep =
  | TaskStep
  | ({ readonly kind: 'finish'; readonly run: string; readonly version: number } & SharedRunEnd)
  | { readonly kind: 'close'; readonly run: string; readonly at: number }

interface NumberedStep {
  readonly number: number
  readonly step: SyncStep
}

interface NumberedChange {
  readonly number: number
  readonly change: ReadChange
}

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

/** The end of a task that a step was made of. */
export function taskEnded({ run, query, page, call, reused, cause, paging }: TaskStep): TaskEnded {
  return {
    task: { run, query: Buffer.from(query, 'hex'), page },
    end: cause === null ? { call: call as string, reused } : { call, cause },
    paging,
  }
}
