import type { Charge, UsageCount } from '../model/call.ts'
import { explainSpans, settled, type UsageInterval } from './verify.ts'

/** What others spent with a key, as far as no call of ours explains it: so many credits at least. */
export interface OthersSpending {
  readonly credits: number
  /** Epoch ms of the readings between which it was spent. */
  readonly from: number
  readonly until: number
}

/** Credits that the service counted and no call of ours explains; less than 0 where it counted fewer. */
export interface Unexplained {
  readonly credits: number
  /** Null where it counted no more than our calls explain. */
  readonly others: OthersSpending | null
  /** Credits of calls that the queue lost when its server failed over. */
  readonly lostByFailover: number
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
  const spans = settled(known.map(({ span }) => span)).filter((_, index) => {
    const end = known[index]?.end
    return end !== undefined && later.has(end)
  })
  return spans.length === 0 ? null : unexplainedIn(spans)
}

/** What no call of ours explains in spans, with what is counted late put right. */
export function unexplainedIn(spans: readonly UsageInterval[]): Unexplained {
  const credits = spans.reduce((sum, span) => sum + span.spentByOthers - span.notCounted, 0)
  const foreign = spans.filter(({ spentByOthers }) => spentByOthers > 0)
  const [first, last] = [foreign[0], foreign.at(-1)]
  const others =
    credits <= 0 || first === undefined || last === undefined
      ? null
      : { credits, from: first.from, until: last.until }
  return { credits, others, lostByFailover: spans.reduce((sum, span) => sum + span.lostByFailover, 0) }
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
