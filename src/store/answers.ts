import type { Outcome, Settlement } from '../model/call.ts'
import type { Observation } from '../model/observation.ts'
import type { Target } from '../model/target.ts'
import type { QueryPaging, Task } from '../model/task.ts'
import type { Page } from '../rank/pages.ts'
import type { PagingDecision, PagingEnd } from '../rank/paging.ts'
import type { Sightings } from '../rank/smart.ts'
import type { AnswerRows } from './answer-rows.ts'
import type { Packed } from './packing.ts'

/** Bodies as they came, and what follows from what they say. */
export interface AnswerStore {
  /** Keeps a body whole and settles its call as billed, or the submission of the job that brought it; answers the id of the answer. */
  keepAnswer(answer: NewAnswer): Promise<number>
  /** The answer of a call for that page, where it is stored. */
  answerOfCall(callId: number, task: Pick<Task, 'queryId' | 'page'>): Promise<number | null>
  /** Gives a task a stored answer instead of a call. */
  reuseAnswer(taskId: number, answerId: number): Promise<void>
  /** Notes that the answer that a task was to have is damaged: no task uses it any more; one that had it waits to be bought. */
  noteDamaged(taskId: number, answerId: number): Promise<void>
  /** Tasks of these runs whose answer is stored and not yet understood. */
  answeredTasks(runIds: readonly number[]): Promise<readonly AnsweredTask[]>
  /** A stored body; null where retention has dropped it. */
  rawAnswer(answerId: number): Promise<RawAnswer | null>
  /**
   * The next queries of a run, so many at most, after the one of that number (0 for the first ones), that have answers, but
   * no observation of some target that is new to them.
   */
  unobserved(runId: number, after: number, most: number): Promise<readonly number[]>
  /** Stores what an answer says (unless it is stored already) and what follows for its query. */
  understand(change: Understanding): Promise<Effect>
}

export interface NewAnswer extends Packed {
  /** The call that is billed for it. */
  readonly callId: number
  readonly task: Pick<Task, 'id' | 'runId' | 'queryId' | 'page'>
  /** How that call ended; null where it was settled before, as the submission of a job. */
  readonly settlement: (Settlement & { readonly outcome: Extract<Outcome, 'answered'> }) | null
  readonly fetchedAt: number
}

export interface AnsweredTask {
  readonly taskId: number
  readonly runId: number
  readonly queryId: number
  readonly page: number
  readonly operation: string
  readonly text: string
  readonly params: Task['params']
  readonly answerId: number
}

/** What an answer says, with the answer that says it and the normaliser that read it. */
export interface ReadAnswer {
  readonly answerId: number
  readonly normaliser: number
  readonly rows: AnswerRows
}

export interface RawAnswer extends Packed {
  readonly fetchedAt: number
}

/** A target that a query of a run is watched for. */
export interface WatchedTarget extends Target {
  readonly id: number
  /** It came when the query had its pages: it is seen on them, and none is bought for it. */
  readonly adopted?: true
}

/** A query of a run: how it is paged, whom it is watched for, and its pages as far as they are tasks. */
export interface StoredQuery extends QueryPaging {
  readonly targets: readonly WatchedTarget[]
  readonly pages: readonly Page[]
  /** Its job takes no answer that repeats another question than asked. */
  readonly strictEcho?: true
  /** Why no page follows any more; null while pages may follow. */
  readonly end: PagingEnd | null
  /** What runs before this one saw of each target for the same query; read when it is asked for. */
  readonly sightings: () => ReadonlyMap<number, Sightings>
}

/** Everything that follows from one understood answer, from the failure of one page, or from what is stored already. */
export interface Understanding {
  /** The task that was answered or failed; null where nothing new came. */
  readonly taskId: number | null
  readonly runId: number
  readonly queryId: number
  readonly outcome: { readonly done: ReadAnswer } | { readonly failed: string } | 'as-stored'
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
  /** The page that may be sent now; or why no further page is; or null where nothing changes. */
  readonly paging: PagingDecision | null
}

/** How the number of tasks changed by what followed from a page. */
export interface Effect {
  readonly added: number
  readonly skipped: number
}
