import { distinctResults, type Page, unbrokenPages } from './pages.ts'

/** A target that a query is asked for, as far as paging goes. */
export interface Sought {
  /** It was seen on one of the pages. */
  readonly found: boolean
  /** Page on which it ranked last; null where it never did. */
  readonly lastPage: number | null
  /** Not found for a while, and not due to be looked for in depth. */
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

/** The hour of a daily job wanders a little. */
const leewayMs = 12 * 3_600_000
/** Results that are looked at in any case, however short the pages are. */
const alwaysLookedAt = 10

/**
 * Whether a target can be left alone below the first results for today: the longer it was not found, the more rarely it
 * is looked for in depth, at intervals that double up to `deepEveryMs`.
 *
 * @param now when the run started, so that it decides the same after an interruption
 */
export function isDormant(
  { lastRankedAt, firstAt, lastDeepAt }: Sightings,
  now: number,
  deepEveryMs: number,
): boolean {
  if (firstAt === null || lastDeepAt === null) return false
  const notFoundFor = now - (lastRankedAt ?? firstAt)
  const every = Math.min(deepEveryMs, notFoundFor / 2)
  return now - lastDeepAt < every - Math.min(leewayMs, every / 2)
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
