import type { SharedJournal } from '../store/shared/journal.ts'
import type { Store } from '../store/store.ts'

interface Known {
  readonly store: Store
  readonly journal: SharedJournal
  readonly coordinator: string
}

/**
 * Whether every call of all machines since an instant, as far as it may be billed, is known in the local database, and none may follow for
 * what is reserved. Without that, what other machines buy would look like another program's.
 */
export async function knowsAllCalls(
  { store, journal, coordinator }: Known,
  keyHash: string,
  since: number,
): Promise<boolean> {
  const span = { from: since, until: Number.MAX_SAFE_INTEGER }
  let all = Number.POSITIVE_INFINITY
  await journal.spending.release(coordinator, keyHash, [], 0, async (_, standings) => {
    all = await standings.chargedCalls(span)
    return []
  })
  return (await store.chargedCalls(keyHash, span)) >= all
}
