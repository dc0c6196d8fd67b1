import type { CollectStore } from '../store/store.ts'

/** Tasks of the runs in work. */
export interface Counters {
  planned: number
  done: number
  failed: number
}

/** Counts what the store holds of these runs. */
export async function openCounters(store: CollectStore, runIds: readonly number[]): Promise<Counters> {
  const counts = await Promise.all(runIds.map((id) => store.taskCounts(id)))
  const sum = (of: keyof Counters): number => counts.reduce((total, tasks) => total + tasks[of], 0)
  return { planned: sum('planned'), done: sum('done'), failed: sum('failed') }
}
