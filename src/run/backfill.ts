import { setTimeout as sleep } from 'node:timers/promises'
import type { JobSettings } from '../model/job.ts'
import { count } from '../model/text.ts'
import { scoreQuery } from '../rank/advance.ts'
import type { BackfillResult } from '../store/results.ts'
import type { Store } from '../store/store.ts'

/** After this long, other processes may write: one may be collecting. */
const longestStretchMs = 300
/** A process that waits for the database tries again within this time. */
const pauseMs = 120

/** Lets others write now and then. */
function pauses(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < longestStretchMs) return
    await sleep(pauseMs)
    since = performance.now()
  }
}

/** Gives targets that are new to a job their history from what is stored, and reports how many queries were evaluated. */
export async function backfillAndNotify(
  store: Store,
  settings: Pick<JobSettings, 'name' | 'targets'>,
  newest: number | null,
  notify: (line: string) => void,
): Promise<void> {
  const looked = await backfillTargets(store, settings, newest, pauses())
  if (looked > 0)
    notify(
      `${settings.name}: targets are new; ${count(looked, 'stored query was', 'stored queries were')} evaluated again for them, at no cost.`,
    )
}

/**
 * Gives targets that are new to a job their whole history, from what is stored and at no cost. Whatever is done at once
 * stays done, so that the next process goes on with what one left that died.
 *
 * @param newest a run whose queries may have targets of their own; null where none was planned
 * @param between after each change, before the next one
 * @returns how many queries of earlier runs were looked at again
 */
export async function backfillTargets(
  store: Pick<Store, 'runsToBackfill' | 'backfill' | 'countRanks'>,
  { name, targets }: Pick<JobSettings, 'name' | 'targets'>,
  newest: number | null,
  between: () => Promise<void> = async () => {},
): Promise<number> {
  let looked = 0
  for (const run of store.runsToBackfill(name, targets, newest))
    for (let after: number | null = 0; after !== null; ) {
      const step: BackfillResult = await store.backfill({ run, targets, newest, after }, (query) =>
        scoreQuery(query),
      )
      looked += step.looked
      after = step.next
      await between()
    }
  if (looked > 0) await store.countRanks()
  return looked
}
