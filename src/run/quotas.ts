import type { Account } from '../api/account.ts'
import type { LedgerStore } from '../store/ledger.ts'
import { grouped } from '../words.ts'

type Period = keyof Account['quotas']

/** One quota of the key: what it allows, and what is known to have been used of it. In calls that cost. */
export interface QuotaUse {
  readonly period: Period
  readonly limit: number
  /** By calls in our ledger, those counted that may have been billed. */
  readonly ours: number
  /** By anybody, at most: as much as the service counted in all since before the period began. */
  readonly atMost: number
}

/**
 * When the periods that hold an instant began, epoch ms. Where the service draws its lines is not documented; they
 * are taken as UTC days, weeks from Monday and calendar months.
 */
export function periodStarts(now: number): Readonly<Record<Period, number>> {
  const day = new Date(now).setUTCHours(0, 0, 0, 0)
  const date = new Date(day)
  return {
    total: 0,
    daily: day,
    weekly: day - ((date.getUTCDay() + 6) % 7) * 86_400_000,
    monthly: Date.UTC(date.getUTCFullYear(), date.getUTCMonth()),
  }
}

/** The quotas of a key that has any, against the ledger. */
export async function quotaUses(
  store: Pick<LedgerStore, 'chargedCalls' | 'lastUsage'>,
  keyHash: string,
  { quotas, totalUsed }: Pick<Account, 'quotas' | 'totalUsed'>,
  now: number,
): Promise<readonly QuotaUse[]> {
  const starts = periodStarts(now)
  const limited = (Object.keys(quotas) as Period[]).flatMap((period) => {
    const limit = quotas[period]
    return limit === null ? [] : [{ period, limit }]
  })
  return await Promise.all(
    limited.map(async ({ period, limit }) => {
      const since = starts[period]
      const before = (await store.lastUsage(keyHash, since))?.totalUsed ?? 0
      // The count begins anew with a billing period.
      const atMost =
        totalUsed === null ? Number.POSITIVE_INFINITY : totalUsed - (before > totalUsed ? 0 : before)
      return { period, limit, ours: await store.chargedCalls(keyHash, since), atMost }
    }),
  )
}

/** Calls that the quotas still allow, infinite without any. */
export function quotaLeft(uses: readonly QuotaUse[]): number {
  return Math.max(0, Math.min(Number.POSITIVE_INFINITY, ...uses.map(({ limit, ours }) => limit - ours)))
}

/** The quota that may be the reason why the service refuses everything, or null where none can be. */
export function explainingQuota(uses: readonly QuotaUse[]): QuotaUse | null {
  return uses.find(({ limit, atMost, ours }) => Math.max(atMost, ours) >= limit) ?? null
}

/** `daily quota of 500 calls`. */
export function quotaWords({ period, limit }: QuotaUse): string {
  return `${period} quota of ${grouped(limit)} ${limit === 1 ? 'call' : 'calls'}`
}

/** What to tell where our own calls have used up a quota. */
export function quotaReached(uses: readonly QuotaUse[]): string {
  const [least] = [...uses].sort((a, b) => a.limit - a.ours - (b.limit - b.ours))
  return least === undefined
    ? ''
    : `The key's ${quotaWords(least)} is used up by the calls in the ledger. The same command goes on when it begins anew or is raised.`
}
