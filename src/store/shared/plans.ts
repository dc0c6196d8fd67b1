import type { JobSettings } from '../../model/job.ts'
import type { PlannedQuery } from '../../model/query.ts'
import type { FinishReason } from '../../model/run.ts'
import type { Target } from '../../model/target.ts'
import type { TargetHistory } from '../../rank/paging.ts'

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

/** A part of the plan of a run, in the order of the file. */
export interface PlanPart {
  readonly queries: readonly PlannedQuery[]
  /** Keys of queries that the job asks and that this run leaves out, because they are not due. */
  readonly leftOut: readonly Buffer[]
}

/** A page of a query, which is named by its key. */
export interface SharedPage {
  readonly query: Buffer
  readonly page: number
}

/** What one worker takes at a time: some queries of a run, with all that their paging needs. */
export interface NewChunk {
  /** Higher is bought first. */
  readonly priority: number
  /** Limited tags that all of its queries have. */
  readonly tags: readonly string[]
  readonly queries: readonly ChunkQuery[]
  /** Credits for every page that may be bought. */
  readonly mostCredits: number
  /** Credits of its cheapest page. */
  readonly leastCredits: number
}

export interface ChunkQuery extends PlannedQuery {
  /** What earlier runs saw of its targets; empty where the policy of the job does not ask. */
  readonly history: readonly (TargetHistory & { readonly target: Pick<Target, 'site' | 'match' | 'also'> })[]
}

/** Chunks that are added together. Written twice under the same id, they are there once. */
interface ChunkGroup {
  readonly id: string
  readonly chunks: readonly NewChunk[]
}

/** How far a run is. */
export interface SharedProgress {
  readonly chunks: Readonly<Record<ChunkState, number>>
  /** Credits billed, possibly billed, and reserved for chunks that are released. */
  readonly spent: number
  readonly inDoubt: number
  readonly reserved: number
}

/**
 * `planned`: nothing is reserved for it. `released`: its credits are reserved, any worker may take it. `leased`: a worker has it.
 * `done`: no page is left to buy. `cancelled`: a newer plan took its place. `dead`: workers that had it died too often.
 */
export type ChunkState = 'planned' | 'released' | 'leased' | 'done' | 'cancelled' | 'dead'

/** Thrown where another process coordinates the job now: nothing was written. */
export class CoordinationLost extends Error {
  override readonly name = 'CoordinationLost'
}

/**
 * Runs and their plans, written by the one process that coordinates a job: it names itself by its id, and is refused with
 * `CoordinationLost` when another one has taken over.
 */
export interface SharedPlans {
  /**
   * Takes or renews the right to coordinate these jobs, for so long; the jobs that another process has, with its name. All or none
   * are taken.
   */
  coordinate(
    jobs: readonly SharedJob[],
    coordinator: { readonly id: string; readonly name: string; readonly leaseMs: number },
  ): Promise<readonly (SharedJob & { readonly heldBy: string })[]>
  /** Gives that right back. */
  leave(jobs: readonly SharedJob[], coordinator: string): Promise<void>
  /**
   * Writes a run with its whole plan, or a newer plan of it, and opens it; chunks that no worker has are cancelled. Answers the version of
   * the plan. Rejected with `CoordinationLost` where the run has another key.
   */
  publish(coordinator: string, run: SharedRun, plan: () => AsyncIterable<PlanPart>): Promise<number>
  /** Adds chunks to a run; nothing is reserved for them. */
  addChunks(coordinator: string, run: string, group: ChunkGroup): Promise<void>
  /** Cancels chunks of these runs that no worker has; what was reserved for them is free again. */
  cancelChunks(coordinator: string, runs: readonly string[]): Promise<void>
  /** Keys of queries in chunks of these runs that workers may buy or are buying. */
  queriesInWork(runs: readonly string[]): Promise<readonly Buffer[]>
  /** Pages of a run that failed. */
  failedPages(run: string): Promise<readonly SharedPage[]>
  /** Forgets that these pages failed, so that they are bought again; answers that could not be used are not read again. */
  buyAgain(coordinator: string, run: string, pages: readonly SharedPage[]): Promise<void>
  progress(run: string): Promise<SharedProgress>
  finish(coordinator: string, run: string, end: SharedRunEnd): Promise<void>
  /** The key of a run; null where it was never published. */
  keyOf(run: string): Promise<string | null>
  /** A later run took its place. Nobody need coordinate its job, which may have another key; another process must not. */
  close(coordinator: string, run: string, now: number): Promise<void>
}
