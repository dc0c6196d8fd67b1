import type { Charge, Reading } from '../model/ledger.ts'

/** What the service counted between two readings of its usage record, explained by our ledger. In credits. */
export interface Span {
  /** Epoch ms of the two readings. */
  readonly from: number
  readonly until: number
  /** What the service counted; null where it began to count anew, or does not say. */
  readonly used: number | null
  /** Of calls that were billed. */
  readonly billed: number
  /** Of calls of which nobody knows whether they were billed. */
  readonly ambiguous: number
  /** As much of that as the service did count. */
  readonly ambiguousBilled: number
  /** What none of our calls explains: spent by others with the same key. */
  readonly byOthers: number
  /** What we booked and the service did not count (yet). */
  readonly notCounted: number
}

/** The books of one key set against the service's own count. */
export interface Verification {
  readonly spans: readonly Span[]
  /** All spans together; what one counts late and the next makes good cancels out. Null without any. */
  readonly total: Span | null
  /** Credits of calls before the first reading, and since the last one that no call of ours straddles. */
  readonly unverified: { readonly before: number; readonly after: number }
}

/** A connection that was lost may still be billed this long after. */
const settlingMs = 120_000

interface Sums {
  billed: number
  ambiguous: number
  /** Part of `ambiguous` that ended too late to be settled when it was read. */
  readonly unsettled: { readonly until: number; readonly credits: number }[]
}

/**
 * Explains every credit between the readings of one key. Readings that were taken while a call of ours was in the
 * air cannot say on which side of it that call was counted; they are passed over, so that every span is exact.
 *
 * @param readings in the order in which they were taken
 * @param charges in the order in which they were sent
 */
export function verifyBooks(readings: Iterable<Reading>, charges: Iterable<Charge>): Verification {
  const next = peekable(charges)
  const spans: Span[] = []
  let start: Reading | null = null
  let before = 0
  let sums = noSums()
  let carried = 0
  let latestEnd = Number.NEGATIVE_INFINITY

  for (const reading of readings) {
    for (let charge = next.peek(); charge !== null && charge.from < reading.readAt; charge = next.peek()) {
      latestEnd = Math.max(latestEnd, charge.until ?? Number.POSITIVE_INFINITY)
      add(sums, charge)
      next.skip()
    }
    if (latestEnd > reading.askedAt) continue
    if (start === null) before = sums.billed + sums.ambiguous
    else {
      const span = explain(start, reading, { ...sums, carried })
      spans.push(span)
      carried = Math.max(0, unsettledAt(reading, sums) - span.ambiguousBilled)
    }
    start = reading
    sums = noSums()
  }
  for (let charge = next.peek(); charge !== null; charge = next.peek()) {
    add(sums, charge)
    next.skip()
  }
  return { spans, total: together(spans), unverified: { before, after: sums.billed + sums.ambiguous } }
}

function noSums(): Sums {
  return { billed: 0, ambiguous: 0, unsettled: [] }
}

function add(sums: Sums, { credits, certain, until }: Charge): void {
  if (certain) {
    sums.billed += credits
    return
  }
  sums.ambiguous += credits
  if (until !== null) sums.unsettled.push({ until, credits })
}

function unsettledAt({ askedAt }: Reading, { unsettled }: Sums): number {
  return unsettled.reduce((sum, { until, credits }) => sum + (until > askedAt - settlingMs ? credits : 0), 0)
}

function explain(
  start: Reading,
  end: Reading,
  { billed, ambiguous, carried }: Pick<Sums, 'billed' | 'ambiguous'> & { readonly carried: number },
): Span {
  const used = usedBetween(start, end)
  return { from: start.readAt, until: end.readAt, ...classify(used, billed, ambiguous, carried) }
}

/** @param carried ambiguous credits of before, which the service may have counted only now */
function classify(used: number | null, billed: number, ambiguous: number, carried = 0) {
  const rest = used === null ? 0 : used - billed
  const ambiguousBilled = Math.min(Math.max(rest, 0), ambiguous + carried)
  return {
    used,
    billed,
    ambiguous,
    ambiguousBilled,
    byOthers: Math.max(0, rest - ambiguousBilled),
    notCounted: Math.max(0, -rest),
  }
}

/** The count of what was used is not touched by top-ups; where the service does not give it, the balance has to do. */
function usedBetween(start: Reading, end: Reading): number | null {
  if (start.totalUsed !== null && end.totalUsed !== null)
    return end.totalUsed >= start.totalUsed ? end.totalUsed - start.totalUsed : null
  if (start.remaining === null || end.remaining === null) return null
  return start.remaining >= end.remaining ? start.remaining - end.remaining : null
}

function together(spans: readonly Span[]): Span | null {
  const counted = spans.filter(({ used }) => used !== null)
  const [first] = counted
  const last = counted.at(-1)
  if (first === undefined || last === undefined) return null
  const sum = (of: 'used' | 'billed' | 'ambiguous'): number =>
    counted.reduce((total, span) => total + (span[of] ?? 0), 0)
  return {
    from: first.from,
    until: last.until,
    ...classify(sum('used'), sum('billed'), sum('ambiguous')),
  }
}

function peekable<T>(items: Iterable<T>) {
  const iterator = items[Symbol.iterator]()
  let current = iterator.next()
  return {
    peek: (): T | null => (current.done === true ? null : current.value),
    skip: (): void => {
      current = iterator.next()
    },
  }
}
