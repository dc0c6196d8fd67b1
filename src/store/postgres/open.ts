import type { SharedJournal } from '../shared/journal.ts'
import { sharedCalls } from './calls.ts'
import { sharedChanges } from './changes.ts'
import { sharedChunks } from './chunks.ts'
import { openPostgres } from './connection.ts'
import { migrate, versionOf } from './layout.ts'
import { queueOperations } from './operations.ts'
import { sharedPlans } from './plans.ts'
import { sharedRates } from './rates.ts'
import { sharedSpending } from './spending.ts'

/** Opens the journal of many machines, and lays it out where the database is empty. */
export async function openJournal(url: string): Promise<SharedJournal> {
  const postgres = await openPostgres(url)
  if ((await versionOf(postgres)) === null) await migrate(postgres)
  return {
    plans: sharedPlans(postgres),
    chunks: sharedChunks(postgres),
    calls: sharedCalls(postgres),
    rates: sharedRates(postgres),
    spending: sharedSpending(postgres),
    changes: sharedChanges(postgres),
    operations: queueOperations(postgres),
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  }
}
