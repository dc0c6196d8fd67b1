import type { RunReads } from '../store.ts'
import type { TrackingStore } from '../tracking.ts'
import { openDatabase } from './database.ts'
import { runReads } from './run-reads.ts'
import { qualityReader } from './tracking.ts'
import { explaining } from './troubles.ts'

/** What a list of runs is made of. */
export interface RunList extends RunReads, Pick<TrackingStore, 'runQuality'>, AsyncDisposable {}

/** Opens the database at that path as `openStore` does, for runs alone: all the rest would take longer to get ready than they to read. */
export async function openRuns(path: string): Promise<RunList> {
  const db = await openDatabase(path)
  const list: RunList = {
    ...runReads(db),
    runQuality: qualityReader(db),
    [Symbol.asyncDispose]: async () => {
      db.close()
    },
  }
  return explaining(list, path)
}
