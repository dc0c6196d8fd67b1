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
    limits: { perSecond: positive(limit.per_second), perMinute: positive(limit.per_minute) },
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

/** A limit of nothing at all would wait for ever; it is taken as one. */
function positive(value: unknown): number | null {
  const limit = number(value)
  return limit === null ? null : Math.max(Math.floor(limit), 1)
}
