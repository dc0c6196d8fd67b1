import { type UsageInterval, verifyLedger } from '../../src/ledger/verify.ts'
import type { Charge, UsageCount } from '../../src/model/call.ts'

/** Seconds, as instants are written in the tables of tests. */
export const s = (seconds: number): number => seconds * 1_000

/** A reading that was counted at once. */
export function read(at: number, totalUsed: number | null, remaining: number | null = null): UsageCount {
  return { askedAt: s(at), readAt: s(at), totalUsed, remaining }
}

/** A reading that took its time. */
export function slowRead(askedAt: number, readAt: number, totalUsed: number): UsageCount {
  return { askedAt: s(askedAt), readAt: s(readAt), totalUsed, remaining: null }
}

export function billed(from: number, until: number, credits = 1): Charge {
  return { from: s(from), until: s(until), credits, certain: true }
}

/** A call of which nobody knows whether it was billed; null while it is in the air. */
export function lost(from: number, until: number | null, credits = 1): Charge {
  return { from: s(from), until: until === null ? null : s(until), credits, certain: false }
}

/** A span with its instants in seconds, and without what is 0. */
export function short({ from, until, used, ...numbers }: UsageInterval): Record<string, unknown> {
  const told = Object.entries(numbers).filter(([, value]) => value !== 0)
  return { from: from / 1_000, until: until / 1_000, used, ...Object.fromEntries(told) }
}

export function verified(readings: readonly UsageCount[], charges: readonly Charge[]) {
  const { spans, total, unverified } = verifyLedger(readings, charges)
  return { spans: spans.map(short), total: total === null ? null : short(total), unverified }
}
