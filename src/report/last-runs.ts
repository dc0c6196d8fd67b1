import type { Run, RunQuality } from '../model/run.ts'
import type { TrackingStore } from '../store/tracking.ts'

/** As many are told of, by a page as by a document. */
const mostRuns = 30

/**
 * How the last runs went, the newest last.
 * @param runs the newest first
 */
export function lastRuns(
  runs: readonly Run[],
  store: Pick<TrackingStore, 'runQuality'>,
): readonly RunQuality[] {
  return runs
    .slice(0, mostRuns)
    .map(({ id, date }) => ({ ...store.runQuality(id), date }))
    .reverse()
}
