import type { Store } from '../store/store.ts'
import { weigh } from './follow.ts'

/** Reads the answers that a dead process had stored, and weighs the stored pages for targets that are new. */
export async function catchUp(
  store: Store,
  runIds: readonly number[],
  readStored: (task: Awaited<ReturnType<Store['answeredTasks']>>[number]) => Promise<void>,
): Promise<void> {
  for (const task of await store.answeredTasks(runIds)) await readStored(task)
  for (const { runId, queryId } of await store.unobserved(runIds))
    await store.understand({
      taskId: null,
      runId,
      queryId,
      outcome: 'as-stored',
      follow: (query) => ({ ...weigh(query), paging: null }),
    })
}
