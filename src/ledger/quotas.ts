import type { Account } from '../model/call.ts'
import { grouped } from '../model/text.ts'
import { dayMs, type TimeSpan } from '../model/time.ts'
import { latestCounted } from '../model/trusted-time.ts'

type QuotaPeriod = keyof Account['quotas']

/** One quota of the key: what it allows, and what is known to have been used of it. In calls that cost. */
export interface QuotaUsage {
  readonly period: QuotaPeriod
  readonly limit: number
  /** By calls in our ledger, those counted that may have been billed. */
  readonly ours: number
  /** By all users of the key, at most: what the service counted since before the period began. */
  readonly atMost: number
}

/**
 * When the periods that hold an instant began, epoch ms. Where the service draws its lines is not documented; they
 * are taken as UTC days, weeks from Monday and calendar months.
 */
export function periodStarts(now: number): Readonly<Record<QuotaPeriod, number>> {
  const day = new Date(now).setUTCHours(0, 0, 0, 0)
  const date = new Date(day)
  return {
    total: 0,
    daily: day,
    weekly: day - ((date.getUTCDay() + 6) % 7) * 86_400_000,
    monthly: Date.UTC(date.getUTCFullYear(), date.getUTCMonth()),
  }
}

/** The quotas of a key that has any, compared with the ledger. */
export async function quotaUsage(
  store: {
    chargedCalls(keyHash: string, span: TimeSpan): Promise<number>
    lastUsage(keyHash: string, before?: number): Promise<{ readonly totalUsed: number | null } | null>
  },
  keyHash: string,
  { quotas, totalUsed }: Pick<Account, 'quotas' | 'totalUsed'>,
  now: number,
): Promise<readonly QuotaUsage[]> {
  const starts = periodStarts(now)
  // The same all day, so that the store can keep what it counted.
  const latest = latestCounted(starts.daily + dayMs)
  const limited = (Object.keys(quotas) as QuotaPeriod[]).flatMap((period) => {
    const limit = quotas[period]
    return limit === null ? [] : [{ period, limit }]
  })
  return await Promise.all(
    limited.map(async ({ period, limit }) => {
      const since = starts[period]
      const before = (await store.lastUsage(keyHash, since))?.totalUsed ?? 0
      // The count starts again from 0 with a billing period.
      const atMost =
        totalUsed === null ? Number.POSITIVE_INFINITY : totalUsed - (before > totalUsed ? 0 : before)
      // A quota of all calls counts them whatever they are dated.
      const until = period === 'total' ? Number.MAX_SAFE_INTEGER : latest
      return { period, limit, ours: await store.chargedCalls(keyHash, { from: since, until }), atMost }
    }),
  )
}

/** Calls that the quotas still allow, infinite without any. */
export function quotaLeft(uses: readonly QuotaUsage[]): number {
  return Math.max(0, Math.min(Number.POSITIVE_INFINITY, ...uses.map(({ limit, ours }) => limit - ours)))
}

/** The quota that may be why the service throttles every call, or null where none can be. */
export function exhaustedQuota(uses: readonly QuotaUsage[]): QuotaUsage | null {
  return uses.find(({ limit, atMost, ours }) => Math.max(atMost, ours) >= limit) ?? null
}

/** `daily quota of 500 calls`. */
export function quotaName({ period, limit }: QuotaUsage): string {
  return `${period} quota of ${grouped(limit)} ${limit === 1 ? 'call' : 'calls'}`
}

/** The message where our own calls have used up a quota. */
export function quotaMessage(uses: readonly QuotaUsage[]): string {
  const [least] = [...uses].sort((a, b) => a.limit - a.ours - (b.limit - b.ours))
  return least === undefined
    ? ''
    : `The ${quotaName(least)} of the key is used up by the calls in the ledger. Run the same command again when it starts anew or is raised.`
}
