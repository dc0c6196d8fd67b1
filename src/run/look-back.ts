import type { JobSettings } from '../model/job.ts'
import type { Store } from '../store/store.ts'
import { weighStored } from './catch-up.ts'

/**
 * Gives targets that are new to a job their whole history, from what is stored and at no cost.
 *
 * @param newest a run whose queries may have targets of their own; null where none was planned
 * @returns how many queries of earlier runs were looked at again
 */
export async function lookBack(
  store: Store,
  { name, targets }: Pick<JobSettings, 'name' | 'targets'>,
  newest: number | null,
): Promise<number> {
  const adopted = await store.adoptTargets(name, targets)
  const ofQueries = newest === null ? 0 : await store.adoptQueryTargets(newest)
  if (adopted + ofQueries === 0) return 0
  const runs = await store.runs({ job: name })
  const looked = await weighStored(
    store,
    runs.map(({ id }) => id),
  )
  await store.fillUnknown(name)
  return looked
}
