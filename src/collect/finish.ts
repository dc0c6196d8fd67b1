import type { OthersSpending, Unexplained } from '../ledger/verify.ts'
import {
  exitCodes,
  type FinishReason,
  isComplete,
  type Run,
  type RunTotals,
  type StopCause,
  type Suspicion,
} from '../model/run.ts'
import type { SkippedQueries } from '../store/journal.ts'
import type { Store } from '../store/sqlite/open.ts'
import type { CollectResult } from './collect.ts'

/** Exit code of a command that stopped so; 2 where the settings are wrong and nothing was bought. */
export function exitCodeOf({ reason, wrongSetting = false }: StopCause): number {
  return wrongSetting ? 2 : exitCodes[reason]
}

/** Ends the runs of a collection, each with its own reason. */
export async function finishRuns(
  store: Store,
  runs: readonly Run[],
  { stop, limits }: { readonly stop: StopCause | null; readonly limits: CollectResult['limits'] },
  now: number,
  durationOf?: (run: Run) => number,
): Promise<void> {
  for (const run of runs) {
    const { id } = run
    await store.finishRun(id, reasonOf(await store.taskCounts(id)), now, durationOf?.(run))
    function reasonOf({ pending, failed }: { pending: number; failed: number }): FinishReason {
      if (pending === 0) return failed === 0 ? 'completed' : 'completed_with_failures'
      return stop?.reason ?? limits.get(id) ?? 'balance'
    }
  }
  if (stop === null) await store.countRanks()
}

/** The document that `run --json` prints for a run. Instants are ISO 8601, credits whole numbers. */
export interface RunDocument {
  readonly run: number
  readonly job: string
  readonly status: 'finished' | 'stopped' | 'running'
  readonly finish_reason: FinishReason | null
  readonly tasks: RunTotals['tasks']
  readonly calls: RunTotals['calls']
  readonly credits: {
    readonly planned_min: number
    readonly planned_max: number
    readonly spent: number
    readonly ambiguous: number
    readonly balance_before: number | null
    readonly balance_after: number | null
    /**
     * What the service counted beyond what was billed here and what is ambiguous, as `ledger verify` has it; less than 0
     * where it counted fewer, null where a reading is missing.
     */
    readonly unexplained: number | null
  }
  /** What others spent with the key while it was collected, at least, and between which readings; only where they did. */
  readonly spent_by_others?: { readonly credits: number; readonly from: string; readonly until: string }
  /** Credits of calls that the queue lost when its server failed over; only where there are any. */
  readonly lost_by_failover?: number
  /** Calls that the service refused for their rate, which others with the key use up, too; only where there are any. */
  readonly throttled_calls?: number
  readonly results: RunTotals['results']
  /** Items of answers that were no results and are kept as they were sent; only where there are any. */
  readonly malformed_items?: number
  /** Answers that repeat another question than asked; only where there are any. */
  readonly mismatched_answers?: number
  /** Only where the run as a whole is suspect: how many of the earlier ranks are gone, and how many queries got the same list. */
  readonly suspect?: Suspicion
  /** Only where something was left out so that the balance covers the rest; credits at most. */
  readonly left_out?: { readonly queries: number; readonly credits: number }
  /** Only where the budget stopped the run in this command: the limits that it has reached. */
  readonly limits_reached?: readonly string[]
  readonly started_at: string
  readonly finished_at: string | null
  readonly duration_ms: number | null
}

/** @param balance readings around the last collection; null where there was none */
export function runDocument(
  run: Run,
  tally: RunTotals,
  balance: BalanceChange | null,
  leftOut?: SkippedQueries,
  reached: ReadonlySet<string> = new Set(),
): RunDocument {
  const { finishReason, startedAt, finishedAt, durationMs } = run
  const unexplained =
    balance === null || balance.before === null || balance.after === null ? null : balance.unexplained
  return {
    run: run.id,
    job: run.job,
    status: finishReason === null ? 'running' : isComplete(finishReason) ? 'finished' : 'stopped',
    finish_reason: finishReason,
    tasks: tally.tasks,
    calls: tally.calls,
    credits: {
      planned_min: run.plannedMin,
      planned_max: run.plannedMax,
      spent: tally.spent,
      ambiguous: tally.ambiguous,
      balance_before: balance?.before ?? null,
      balance_after: balance?.after ?? null,
      unexplained: unexplained?.credits ?? null,
    },
    ...(unexplained?.others == null ? {} : { spent_by_others: othersDocument(unexplained.others) }),
    ...(unexplained == null || unexplained.lostByFailover === 0
      ? {}
      : { lost_by_failover: unexplained.lostByFailover }),
    ...(tally.throttled === 0 ? {} : { throttled_calls: tally.throttled }),
    results: tally.results,
    ...(tally.malformed === 0 ? {} : { malformed_items: tally.malformed }),
    ...(tally.mismatched === 0 ? {} : { mismatched_answers: tally.mismatched }),
    ...(tally.suspicion === null ? {} : { suspect: tally.suspicion }),
    ...(leftOut === undefined ? {} : { left_out: { queries: leftOut.queries, credits: leftOut.credits } }),
    ...(reached.size === 0 || finishReason !== 'budget' ? {} : { limits_reached: [...reached] }),
    started_at: new Date(startedAt).toISOString(),
    finished_at: finishedAt === null ? null : new Date(finishedAt).toISOString(),
    duration_ms: finishedAt === null ? null : (durationMs ?? Math.max(0, finishedAt - startedAt)),
  }
}

function othersDocument({ credits, from, until }: OthersSpending) {
  return { credits, from: new Date(from).toISOString(), until: new Date(until).toISOString() }
}

/** The balance around a collection. */
export interface BalanceChange {
  readonly before: number | null
  readonly after: number | null
  /** What the service counted meanwhile and no call explains; null where that is not known. */
  readonly unexplained: Unexplained | null
}
