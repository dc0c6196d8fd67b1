import type { JobSettings } from '../model/job.ts'
import { lookBack } from '../run/look-back.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from '../terminal.ts'
import { count } from '../words.ts'

/** Gives targets that are new to a job their history from what is stored, and says so. */
export async function observeThePast(
  store: Store,
  settings: Pick<JobSettings, 'name' | 'targets'>,
  newest: number | null,
  { say }: Pick<Terminal, 'say'>,
): Promise<void> {
  const looked = await lookBack(store, settings, newest)
  if (looked > 0)
    say(
      `${settings.name}: targets are new; ${count(looked, 'stored query was', 'stored queries were')} looked at again for them, at no cost.`,
    )
}
