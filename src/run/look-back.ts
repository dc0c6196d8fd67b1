import type { JobSettings } from '../model/job.ts'
import type { Adopted } from '../store/history.ts'
import type { Store } from '../store/store.ts'
import { weigh } from './follow.ts'

/**
 * Gives targets that are new to a job their whole history, from what is stored and at no cost. Whatever is done at once
 * stays done, so that the next process goes on with what one left that died.
 *
 * @param newest a run whose queries may have targets of their own; null where none was planned
 * @param between after each change, before the next one
 * @returns how many queries of earlier runs were looked at again
 */
export async function lookBack(
  store: Pick<Store, 'runsToAdopt' | 'adopt' | 'countRanks'>,
  { name, targets }: Pick<JobSettings, 'name' | 'targets'>,
  newest: number | null,
  between: () => Promise<void> = async () => {},
): Promise<number> {
  let looked = 0
  for (const run of store.runsToAdopt(name, targets, newest))
    for (let after: number | null = 0; after !== null; ) {
      const adopted: Adopted = await store.adopt({ run, targets, newest, after }, (query) => weigh(query))
      looked += adopted.looked
      after = adopted.next
      await between()
    }
  if (looked > 0) await store.countRanks()
  return looked
}
