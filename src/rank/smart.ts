import { distinctResults, type Page, unbrokenPages } from './pages.ts'

/** A target that a query is asked for, as far as paging goes. */
export interface Sought {
  /** It was seen on one of the pages. */
  readonly found: boolean
  /** Page on which it ranked last; null where it never did. */
  readonly lastPage: number | null
  /** Not found for weeks, and not due to be looked for in depth. */
  readonly dormant: boolean
}

/** What earlier observations say of a target, as epoch milliseconds; null where there are none. */
export interface Sightings {
  readonly lastPage: number | null
  readonly lastRankedAt: number | null
  /** The oldest observation. */
  readonly firstAt: number | null
  /** The newest one that looked at every page which is asked for now. */
  readonly lastDeepAt: number | null
}

/** Whoever was not found for that long is looked for in depth only now and then. */
const dormantAfterMs = 14 * 86_400_000
/** The hour of a daily job wanders a little. */
const leewayMs = 12 * 3_600_000
/** Results that are looked at in any case, however short the pages are. */
const alwaysLookedAt = 10

/**
 * Whether a target can be left alone below the first results for today.
 *
 * @param now when the run started, so that it decides the same after an interruption
 */
export function isDormant(
  { lastRankedAt, firstAt, lastDeepAt }: Sightings,
  now: number,
  deepEveryMs: number,
): boolean {
  if (firstAt === null || lastDeepAt === null) return false
  const leeway = Math.min(leewayMs, deepEveryMs / 2)
  return now - (lastRankedAt ?? firstAt) >= dormantAfterMs && now - lastDeepAt < deepEveryMs - leeway
}

/**
 * The page most worth buying: the first results always; then the page on which a missing target ranked last, and its
 * neighbours outward, the lower page first; one that never ranked is looked for from the first page on.
 *
 * @param end no page behind it is asked for
 * @returns null where no page is left, `dormant` where the missing targets are to be left alone
 */
export function smartPage(
  pages: readonly Page[],
  end: number,
  sought: readonly Sought[],
): number | 'dormant' | null {
  const asked = new Set(pages.flatMap(({ page, state }) => (state === 'passed' ? [] : [page])))
  const left = Array.from({ length: end }, (_, index) => index + 1).filter((page) => !asked.has(page))
  const [lowest] = left
  if (lowest === undefined) return null
  const whole = unbrokenPages(pages)
  if (lowest === whole.length + 1 && distinctResults(whole) < alwaysLookedAt) return lowest
  const anchors = sought.flatMap(({ found, dormant, lastPage }) => (found || dormant ? [] : [lastPage ?? 1]))
  if (anchors.length === 0) return 'dormant'
  const distance = (page: number): number => Math.min(...anchors.map((anchor) => Math.abs(page - anchor)))
  return left.reduce((best, page) => (distance(page) < distance(best) ? page : best), lowest)
}
