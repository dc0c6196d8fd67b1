import { type Charge, type Reading, settlingMs } from '../model/ledger.ts'

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
  /** As much of that, and of what was lost shortly before, as the service did count. */
  readonly ambiguousBilled: number
  /** What none of our calls explains: spent by others with the same key. */
  readonly byOthers: number
  /** What we booked and the service did not count (yet). */
  readonly notCounted: number
}

/** The books of one key set against the service's own count. */
export interface Verification {
  readonly spans: readonly Span[]
  /** All spans together; what one counts late and a later one makes good cancels out. Null without any. */
  readonly total: Span | null
  /** Credits of calls before the first reading, and since the last one that no call of ours straddles. */
  readonly unverified: { readonly before: number; readonly after: number }
}

interface Sums {
  billed: number
  ambiguous: number
}

/** Ambiguous credits, and when the call ended. */
interface Unsettled {
  readonly until: number
  readonly credits: number
}

/**
 * Explains every credit between the readings of one key. A reading that was taken while a call of ours was in the
 * air cannot say on which side of it that call was counted, nor can one that was asked for before the last had come
 * say which of the two counted first; they are passed over, so that every span is exact.
 *
 * @param readings in the order in which they were taken
 * @param charges in the order in which they were sent
 */
export function verifyBooks(readings: Iterable<Reading>, charges: Iterable<Charge>): Verification {
  const next = peekable(charges)
  const spans: Span[] = []
  let start: Reading | null = null
  let before = 0
  let sums: Sums = { billed: 0, ambiguous: 0 }
  let unsettled: Unsettled[] = []
  /** Ambiguous credits of before `start`, not counted by then, that the service may still count. */
  let carried = 0
  let latestEnd = Number.NEGATIVE_INFINITY

  const take = ({ certain, credits, until }: Charge): void => {
    latestEnd = Math.max(latestEnd, until ?? Number.POSITIVE_INFINITY)
    sums[certain ? 'billed' : 'ambiguous'] += credits
    if (!certain && until !== null) unsettled.push({ until, credits })
    next.skip()
  }

  for (const reading of readings) {
    for (let charge = next.peek(); charge !== null && charge.from < reading.readAt; charge = next.peek())
      take(charge)
    if (latestEnd > reading.askedAt) continue
    let open = sums.ambiguous + carried
    if (start === null) before = sums.billed + sums.ambiguous
    else {
      const span = explain(start, reading, sums, carried)
      spans.push(span)
      open -= span.ambiguousBilled
    }
    unsettled = unsettled.filter(({ until }) => until > reading.askedAt - settlingMs)
    carried = Math.min(
      open,
      unsettled.reduce((sum, { credits }) => sum + credits, 0),
    )
    latestEnd = reading.readAt
    start = reading
    sums = { billed: 0, ambiguous: 0 }
  }
  for (let charge = next.peek(); charge !== null; charge = next.peek()) take(charge)
  return { spans, total: together(spans), unverified: { before, after: sums.billed + sums.ambiguous } }
}

/**
 * Credits that the service counted from the first to the last of the readings, and that no call of ours explains; less
 * than 0 where it counted fewer. Null where no two of them can be compared.
 *
 * @param earlier readings before them, which tell what was counted late
 */
export function unexplained(
  earlier: readonly Reading[],
  readings: readonly Reading[],
  charges: () => Iterable<Charge>,
): number | null {
  const before = verifyBooks([...earlier, ...readings.slice(0, 1)], charges()).spans.length
  const total = together(verifyBooks([...earlier, ...readings], charges()).spans.slice(before))
  return total === null ? null : total.byOthers - total.notCounted
}

/** @param carried ambiguous credits of before, which the service may have counted only now */
function explain(start: Reading, end: Reading, { billed, ambiguous }: Sums, carried: number): Span {
  const used = usedBetween(start, end)
  const rest = used === null ? 0 : used - billed
  const ambiguousBilled = Math.min(Math.max(rest, 0), ambiguous + carried)
  return {
    from: start.shownAt ?? start.readAt,
    until: end.shownAt ?? end.readAt,
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

/** What a span counts too much makes good what one before it lacked, never one after it: nothing is counted early. */
function together(spans: readonly Span[]): Span | null {
  const [first, ...others] = spans.filter(({ used }) => used !== null)
  if (first === undefined) return null
  return others.reduce((total, span) => {
    const late = Math.min(total.notCounted, span.byOthers + span.ambiguousBilled)
    const fromOthers = Math.min(late, span.byOthers)
    return {
      from: total.from,
      until: span.until,
      used: (total.used ?? 0) + (span.used ?? 0),
      billed: total.billed + span.billed,
      ambiguous: total.ambiguous + span.ambiguous,
      ambiguousBilled: total.ambiguousBilled + span.ambiguousBilled - (late - fromOthers),
      byOthers: total.byOthers + span.byOthers - fromOthers,
      notCounted: total.notCounted + span.notCounted - late,
    }
  }, first)
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
