import type { Store } from '../store/store.ts'
import { weigh } from './follow.ts'

/** Changes that are handed over together share a commit. */
const portion = 200

/** Weighs the stored pages of these runs for targets that are new to them; answers how many queries of runs that were. */
export async function weighStored(store: Store, runIds: readonly number[]): Promise<number> {
  const pairs = await store.unobserved(runIds)
  for (let from = 0; from < pairs.length; from += portion)
    await Promise.all(
      pairs.slice(from, from + portion).map(({ runId, queryId }) =>
        store.understand({
          taskId: null,
          runId,
          queryId,
          outcome: 'as-stored',
          follow: (query) => ({ ...weigh(query), paging: null }),
        }),
      ),
    )
  return pairs.length
}
