import type { Store } from '../store/store.ts'
import { weigh } from './follow.ts'

/** Changes that are handed over together share a commit. */
const portion = 200

/** Weighs the stored pages of these runs for targets that are new to them. */
export async function weighStored(store: Store, runIds: readonly number[]): Promise<void> {
  for (const runId of runIds)
    for (let after = 0; ; ) {
      const queries = await store.unobserved(runId, after, portion)
      const last = queries.at(-1)
      if (last === undefined) break
      await Promise.all(queries.map((queryId) => weighQuery(store, runId, queryId)))
      after = last
    }
}

async function weighQuery(store: Store, runId: number, queryId: number): Promise<void> {
  await store.understand({
    taskId: null,
    runId,
    queryId,
    outcome: 'as-stored',
    follow: (query) => ({ ...weigh(query), paging: null }),
  })
}
