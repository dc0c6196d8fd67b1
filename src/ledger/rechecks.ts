import type { AlertRule } from '../model/settings/alert.ts'

/** Queries that are looked at again in any case, where so many are suspicious. */
const always = 10
/** Of larger runs one query of so many. */
const oneOf = 10

/** How many queries of a run may be looked at again at most. */
export function mostRechecked(queries: number): number {
  return Math.min(queries, Math.max(always, Math.floor(queries / oneOf)))
}

/** A query of a run by its worth. */
export interface RecheckCandidate {
  readonly id: number
  /** Higher is more urgent. */
  readonly priority: number
  /** Searches per month, or null. */
  readonly volume: number | null
}

/** Which of the suspicious queries are looked at again: by priority, then by volume, then as they come. */
export function chooseRechecked<Query extends RecheckCandidate>(
  suspicious: readonly Query[],
  queries: number,
): readonly Query[] {
  const worth = ({ volume }: RecheckCandidate): number => volume ?? Number.NEGATIVE_INFINITY
  const inOrder = [...suspicious].sort((a, b) =>
    a.priority === b.priority && worth(a) === worth(b)
      ? a.id - b.id
      : b.priority - a.priority || (worth(b) > worth(a) ? 1 : -1),
  )
  return inOrder.slice(0, mostRechecked(queries))
}

/** Queries of one price, with all pages that may be bought, and of the same tags. */
export interface PricedQueries {
  readonly queries: number
  readonly credits: number
  readonly tags: readonly string[]
}

/** Credits that looking again may cost at most: 0 where no rule asks for it. */
export function mostRecheckCredits(
  rules: readonly Pick<AlertRule, 'recheck' | 'for'>[],
  priced: readonly PricedQueries[],
): number {
  const asking = rules.filter(({ recheck }) => recheck === true)
  const isWatched = ({ tags: own }: PricedQueries): boolean =>
    asking.some(({ for: { tags } }) => tags === null || own.some((tag) => tags.includes(tag)))
  let left = mostRechecked(priced.reduce((sum, { queries }) => sum + queries, 0))
  let credits = 0
  for (const one of priced.filter(isWatched).sort((a, b) => b.credits - a.credits)) {
    const taken = Math.min(left, one.queries)
    left -= taken
    credits += taken * one.credits
  }
  return credits
}
