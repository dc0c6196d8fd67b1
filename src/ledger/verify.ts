import { type Charge, settlingMs, type UsageCount } from '../model/call.ts'
import { hourMs } from '../model/time.ts'

/** What the service counted between two readings of its usage record, explained by our ledger. In credits. */
export interface UsageInterval {
  /** Epoch ms of the two readings. */
  readonly from: number
  readonly until: number
  /** What the service counted; null where it started to count again from 0, or does not say. */
  readonly used: number | null
  /** Of calls that were billed. */
  readonly billed: number
  /** Of calls that may have been billed. */
  readonly ambiguous: number
  /** How much of that, and of ambiguous credits shortly before, the service did count. */
  readonly ambiguousBilled: number
  /** What none of our calls explains: spent by others with the same key. */
  readonly spentByOthers: number
  /** What none of our calls explains where the queue failed over meanwhile: spent in calls that it lost. */
  readonly lostByFailover: number
  /** What we booked and the service did not count (yet). */
  readonly notCounted: number
  /**
   * Of that: what no later reading made good, the last of them an hour or more later. The service gave it back, or never
   * counted it.
   */
  readonly refunded: number
}

/** What the service counts late, it has counted after this time. */
const countedLateMs = hourMs

/**
 * Explains every credit between the readings of one key. A reading that was taken while a call of ours was in flight may
 * have been counted before or after that call, and one that was asked for before the last one came may be the older of
 * the two: these readings are skipped, so that every span is exact.
 *
 * @param readings in the order in which they were taken
 * @param charges in the order in which they were sent
 * @param failovers when the server of the queue failed over, and may have lost calls of shortly before
 */
export function verifyLedger(
  readings: Iterable<UsageCount>,
  charges: Iterable<Charge>,
  failovers: readonly number[] = [],
): {
  readonly spans: readonly UsageInterval[]
  /** All spans together; what one counts late and a later one makes good cancels out. Null without any. */
  readonly total: UsageInterval | null
  /** Credits of calls before the first reading, and since the last one that no call of ours straddles. */
  readonly unverified: { readonly before: number; readonly after: number }
} {
  const { spans, unverified } = explainSpans(readings, charges, failovers)
  const explained = spans.map(({ span }) => span)
  return { spans: explained, total: together(explained), unverified }
}

/** The spans between readings, each with the reading that ends it. */
function explainSpans(
  readings: Iterable<UsageCount>,
  charges: Iterable<Charge>,
  failovers: readonly number[] = [],
) {
  const next = peekable(charges)
  const spans: { readonly end: UsageCount; readonly span: UsageInterval }[] = []
  let start: UsageCount | null = null
  let before = 0
  let sums = { billed: 0, ambiguous: 0 }
  let unsettled: {
    readonly until: number
    readonly credits: number
  }[] = []
  /** Ambiguous credits from before `start` that the service had not counted by then and may still count. */
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
      const span = withoutLost(explain(start, reading, sums, carried), failovers)
      spans.push({ end: reading, span })
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
  return { spans, unverified: { before, after: sums.billed + sums.ambiguous } }
}

/** A failover may lose calls that are up to this much older than the moment it was noticed. */
const lostBeforeMs = 60_000

/** Where the queue failed over, what no call explains counts as lost by that, and not as spent by others: the failover is a fact. */
function withoutLost(span: UsageInterval, failovers: readonly number[]): UsageInterval {
  const isLost = failovers.some((at) => span.from <= at && span.until >= at - lostBeforeMs)
  return isLost ? { ...span, spentByOthers: 0, lostByFailover: span.spentByOthers } : span
}

/** @param carried earlier ambiguous credits, which the service may have counted only now */
function explain(
  start: UsageCount,
  end: UsageCount,
  { billed, ambiguous }: { readonly billed: number; readonly ambiguous: number },
  carried: number,
): UsageInterval {
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
    spentByOthers: Math.max(0, rest - ambiguousBilled),
    lostByFailover: 0,
    notCounted: Math.max(0, -rest),
    refunded: 0,
  }
}

/** Top-ups do not change the count of what was used; where the service does not give it, the balance is compared. */
function usedBetween(start: UsageCount, end: UsageCount): number | null {
  if (start.totalUsed !== null && end.totalUsed !== null)
    return end.totalUsed >= start.totalUsed ? end.totalUsed - start.totalUsed : null
  if (start.remaining === null || end.remaining === null) return null
  return start.remaining >= end.remaining ? start.remaining - end.remaining : null
}

/**
 * The spans of which it is known what the service counted. What one counts too much makes up for what earlier ones lacked, never a
 * later one: nothing is counted early.
 */
export function corrected(all: readonly UsageInterval[]): readonly UsageInterval[] {
  const spans = all.filter(({ used }) => used !== null)
  const lacking = spans.map(({ notCounted }) => notCounted)
  let oldest = 0
  const madeGood = (most: number, before: number): number => {
    let sum = 0
    while (oldest < before && sum < most) {
      const part = Math.min(lacking[oldest] ?? 0, most - sum)
      lacking[oldest] = (lacking[oldest] ?? 0) - part
      sum += part
      if (lacking[oldest] === 0) oldest += 1
    }
    return sum
  }
  return spans
    .map((span, index) => {
      const late = madeGood(span.spentByOthers + span.ambiguousBilled, index)
      const fromOthers = Math.min(late, span.spentByOthers)
      return {
        ...span,
        spentByOthers: span.spentByOthers - fromOthers,
        ambiguousBilled: span.ambiguousBilled - (late - fromOthers),
      }
    })
    .map((span, index) => {
      const notCounted = lacking[index] ?? 0
      const lastAt = spans.at(-1)?.until ?? span.until
      return { ...span, notCounted, refunded: lastAt - span.until >= countedLateMs ? notCounted : 0 }
    })
}

function together(spans: readonly UsageInterval[]): UsageInterval | null {
  const [first, ...others] = corrected(spans)
  if (first === undefined) return null
  return others.reduce(
    (total, span) => ({
      from: total.from,
      until: span.until,
      used: (total.used ?? 0) + (span.used ?? 0),
      billed: total.billed + span.billed,
      ambiguous: total.ambiguous + span.ambiguous,
      ambiguousBilled: total.ambiguousBilled + span.ambiguousBilled,
      spentByOthers: total.spentByOthers + span.spentByOthers,
      lostByFailover: total.lostByFailover + span.lostByFailover,
      notCounted: total.notCounted + span.notCounted,
      refunded: total.refunded + span.refunded,
    }),
    first,
  )
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

/**
 * What no call of ours explains from the first to the last of the readings. Null where no two of them can be compared.
 *
 * @param earlier readings before them, which show what was counted late
 */
export function unexplained(
  earlier: readonly UsageCount[],
  readings: readonly UsageCount[],
  charges: () => Iterable<Charge>,
  failovers: readonly number[] = [],
): Unexplained | null {
  const later = new Set(readings.slice(1))
  const known = explainSpans([...earlier, ...readings], charges(), failovers).spans.filter(
    ({ span }) => span.used !== null,
  )
  const spans = corrected(known.map(({ span }) => span)).filter((_, index) => {
    const end = known[index]?.end
    return end !== undefined && later.has(end)
  })
  return spans.length === 0 ? null : unexplainedIn(spans)
}

/** Credits that the service counted and no call of ours explains; less than 0 where it counted fewer. */
export type Unexplained = ReturnType<typeof unexplainedIn>

/**
 * What others spent with a key at least: the credits that no call of ours explains, and the readings between which they were spent, epoch
 * ms.
 */
export type OthersSpending = NonNullable<Unexplained['others']>

/** What no call of ours explains in spans, with what is counted late put right. */
export function unexplainedIn(spans: readonly UsageInterval[]) {
  const credits = spans.reduce((sum, span) => sum + span.spentByOthers - span.notCounted, 0)
  const foreign = spans.filter(({ spentByOthers }) => spentByOthers > 0)
  const [first, last] = [foreign[0], foreign.at(-1)]
  const others =
    credits <= 0 || first === undefined || last === undefined
      ? null
      : { credits, from: first.from, until: last.until }
  return {
    credits,
    /** Null where it counted no more than our calls explain. */
    others,
    /** Credits of calls that the queue lost when its server failed over. */
    lostByFailover: spans.reduce((sum, span) => sum + span.lostByFailover, 0),
  }
}

/** In less time hardly anything is spent; after more it is not known whether it goes on. */
const shortestMs = 1_000
const longestMs = 60_000

/**
 * How many credits a minute others spend now: between the newest readings without a call of ours between them. Null where these
 * readings do not tell it, and newer ones have to be taken.
 *
 * @param spans in the order of their readings, with what is counted late put right
 */
export function paceOfOthers(spans: readonly UsageInterval[], now: number): number | null {
  const newest = [...spans].reverse()
  const until = newest[0]?.until ?? Number.NEGATIVE_INFINITY
  let [credits, ms] = [0, 0]
  for (const span of newest) {
    if (ms >= shortestMs || span.billed + span.ambiguous > 0) break
    credits += span.spentByOthers
    ms = until - span.from
  }
  if (ms < shortestMs || now - until > longestMs) return null
  return credits > 0 && ms > longestMs ? null : Math.ceil((credits * 60_000) / ms)
}
