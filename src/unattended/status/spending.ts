import { unexplained } from '../../ledger/others.ts'
import { dayMs } from '../../model/time.ts'
import { latestKnown } from '../../model/trusted-time.ts'
import type { Store } from '../../store/store.ts'
import type { MoneyFacts } from './facts.ts'

/** The spending of so many days says how long the balance lasts. */
const spendingDays = 14

/** What calls of the last days cost, of all jobs. */
export async function recentSpending(store: Store, now: number): Promise<MoneyFacts['spent']> {
  const begin = now - spendingDays * dayMs
  const days = (await store.sums('day', { from: begin, until: latestKnown(now) })).filter(
    ({ credits }) => credits > 0,
  )
  return {
    credits: days.reduce((total, { credits }) => total + credits, 0),
    since: Math.max(begin, Date.parse(String(days[0]?.group ?? new Date(begin).toISOString()))),
  }
}

/** Credits that the service counted since an instant beyond what calls explain; null where that is not known. */
export async function unexplainedSince(
  store: Store,
  keyHash: string,
  instant: number,
): Promise<number | null> {
  const { earlier, readings, charges } = await store.ledgerSince(keyHash, await store.markAt(instant))
  return unexplained(earlier, readings, charges, await store.queueFailovers())?.credits ?? null
}
