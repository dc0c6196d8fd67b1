import type { RunReads } from '../store.ts'
import type { TrackingStore } from '../tracking.ts'
import { newestMigration } from './applied.ts'
import { openToRead, refuseEmpty } from './inspect.ts'
import { shadowViews } from './migrate.ts'
import { runReads } from './run-reads.ts'
import { qualityReader } from './tracking.ts'
import { explained, explaining } from './troubles.ts'

/** What a list of runs is made of. */
export interface RunList extends RunReads, Pick<TrackingStore, 'runQuality'>, AsyncDisposable {}

/** Opens the database at that path as `openReader` does, for runs alone: all the rest would take longer to get ready than they to read. */
export async function openRuns(path: string): Promise<RunList> {
  const { db, close } = openToRead(path)
  try {
    if (refuseEmpty(db, path) === newestMigration) {
      shadowViews(db)
      const list: RunList = {
        ...runReads(db),
        runQuality: qualityReader(db),
        [Symbol.asyncDispose]: async () => close(),
      }
      return explaining(list, path)
    }
  } catch (error) {
    close()
    throw explained(error, path)
  }
  close()
  const { openCopy } = await import('./open.ts')
  return await openCopy(path)
}
