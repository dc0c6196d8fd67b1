import { asFields, boolean, integer, number, text } from '../catalog/normalise/fields.ts'
import { parseJson } from '../catalog/normalise/json.ts'
import type { RateLimits } from './windows.ts'

/** What a usage record says, in both of its shapes. Credits are whole; null is "not said" or "no limit". */
export interface Account {
  /** Left across subscription, packs and credits. */
  readonly remaining: number | null
  readonly totalUsed: number | null
  readonly limits: RateLimits
  readonly keyActive: boolean | null
  /** When the key expires, as sent. */
  readonly keyExpires: string | null
  readonly quotas: Readonly<Record<'total' | 'daily' | 'weekly' | 'monthly', number | null>>
}

/** Why the service would pass no call of this account, whatever its balance. */
export type Obstacle = 'key-inactive' | 'key-expired' | 'no-calls-per-second' | 'no-calls-per-minute'

/** What stands in the way of every call at `now` (epoch ms), or null. */
export function obstacleTo(account: Account, now: number): Obstacle | null {
  if (account.keyActive === false) return 'key-inactive'
  if ((keyExpiry(account) ?? Number.POSITIVE_INFINITY) <= now) return 'key-expired'
  if (account.limits.perSecond === 0) return 'no-calls-per-second'
  return account.limits.perMinute === 0 ? 'no-calls-per-minute' : null
}

/** When the key stops working, epoch ms: a date without a time lasts to its end. Null where it never does, or is not understood. */
export function keyExpiry({ keyExpires }: Pick<Account, 'keyExpires'>): number | null {
  if (keyExpires === null || !/^\d{4}-\d{2}-\d{2}/.test(keyExpires)) return null
  const instant = Date.parse(keyExpires)
  if (Number.isNaN(instant)) return null
  return /^\d{4}-\d{2}-\d{2}$/.test(keyExpires) ? instant + 86_400_000 : instant
}

/** Reads a usage record; null where the body is none. */
export function readAccount(body: Buffer): Account | null {
  const record = asFields(parseJson(body))
  if (record === null) return null
  const limit = asFields(record.rate_limit) ?? {}
  const key = asFields(record.api_key) ?? {}
  const quotas = asFields(key.quotas) ?? {}
  return {
    remaining: integer(record.remaining),
    totalUsed: integer(record.total_used),
    limits: { perSecond: allowed(limit.per_second), perMinute: allowed(limit.per_minute) },
    keyActive: boolean(key.active),
    keyExpires: text(key.expires),
    quotas: {
      total: integer(quotas.total),
      daily: integer(quotas.daily),
      weekly: integer(quotas.weekly),
      monthly: integer(quotas.monthly),
    },
  }
}

/** Whole calls of a window: less than one is one, and nothing is nothing. */
function allowed(value: unknown): number | null {
  const limit = number(value)
  if (limit === null || limit <= 0) return limit === null ? null : 0
  return Math.max(Math.floor(limit), 1)
}
