import type { FinishReason, Run } from '../model/run.ts'
import type { Store } from '../store/store.ts'
import type { Collected } from './collect.ts'
import type { StopCause } from './stop.ts'

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

/** Exit code of a command that stopped so; 2 where the settings are wrong and nothing was bought. */
export function exitCodeOf({ reason, wrongSetting = false }: StopCause): number {
  return wrongSetting ? 2 : exitCodes[reason]
}

/** Reasons of several runs of one command, the one that decides its exit code first. */
const gravest: readonly FinishReason[] = [
  'crashed',
  'interrupted',
  'auth',
  'unavailable',
  'quota',
  'balance',
  'budget',
  'completed_with_failures',
  'completed',
]

/** The reason that speaks for all of them. */
export function gravestReason(reasons: readonly FinishReason[]): FinishReason {
  return gravest.find((reason) => reasons.includes(reason)) ?? 'completed'
}

/** Ends the runs of a collection, each with its own reason. */
export async function finishRuns(
  store: Store,
  runs: readonly Run[],
  { stop, limits }: { readonly stop: StopCause | null; readonly limits: Collected['limits'] },
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
