import type { JobSettings } from '../model/job.ts'
import type { Store } from '../store/store.ts'
import { weigh } from './follow.ts'

/**
 * Gives targets that are new to a job their whole history, from what is stored and at no cost. Each run is done at once,
 * so that the next process goes on with what one left that died.
 *
 * @param newest a run whose queries may have targets of their own; null where none was planned
 * @returns how many queries of earlier runs were looked at again
 */
export async function lookBack(
  store: Store,
  { name, targets }: Pick<JobSettings, 'name' | 'targets'>,
  newest: number | null,
): Promise<number> {
  let looked = 0
  for (const run of store.runsToAdopt(name, targets, newest))
    looked += await store.adopt(run, targets, newest, (query) => weigh(query))
  return looked
}
