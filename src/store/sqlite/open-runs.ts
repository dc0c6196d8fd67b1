import { openToRead, refuseEmpty } from './connection/database.ts'
import { describeError, describingErrors } from './connection/errors.ts'
import { newestMigration, shadowViews } from './migrate.ts'
import { runQuality, type TrackingStore } from './rankings/tracking.ts'
import { type RunReads, runReads } from './runs.ts'

/** What a list of runs reads. */
export interface RunList extends RunReads, Pick<TrackingStore, 'runQuality'>, AsyncDisposable {}

/** Opens the database as `openReader` does, for runs alone: to load the rest would take longer than to read them. */
export async function openRuns(path: string): Promise<RunList> {
  const { db, close } = openToRead(path)
  try {
    if (refuseEmpty(db, path) === newestMigration) {
      shadowViews(db)
      const list: RunList = {
        ...runReads(db),
        runQuality: (run) => runQuality(db, run),
        [Symbol.asyncDispose]: async () => close(),
      }
      return describingErrors(list, path)
    }
  } catch (error) {
    close()
    throw describeError(error, path)
  }
  close()
  const { openCopy } = await import('./open.ts')
  return await openCopy(path)
}
