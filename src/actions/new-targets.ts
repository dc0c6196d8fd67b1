import { setTimeout as sleep } from 'node:timers/promises'
import type { JobSettings } from '../model/job.ts'
import { lookBack } from '../run/look-back.ts'
import type { Store } from '../store/store.ts'
import { note, type Terminal } from '../terminal.ts'
import { count } from '../words.ts'

/** After so much writing others come first, who may collect at the same time. */
const longestStretchMs = 300
/** Whoever waits looks again within that time. */
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

/** Gives targets that are new to a job their history from what is stored, and says so. */
export async function observeThePast(
  store: Store,
  settings: Pick<JobSettings, 'name' | 'targets'>,
  newest: number | null,
  terminal: Pick<Terminal, 'say' | 'quiet'>,
): Promise<void> {
  const looked = await lookBack(store, settings, newest, pauses())
  if (looked > 0)
    note(
      terminal,
      `${settings.name}: targets are new; ${count(looked, 'stored query was', 'stored queries were')} looked at again for them, at no cost.`,
    )
}
