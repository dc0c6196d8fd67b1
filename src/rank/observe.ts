import type { Observation, RankedPlace } from '../model/observation.ts'
import type { Matcher } from './match.ts'
import { distinctResults, type Page, rankPages, unbrokenPages } from './pages.ts'

/** The pages of a query, as far as they were looked at. */
export interface LookedAt {
  /** In order, from page 1, without holes. */
  readonly pages: readonly Page[]
  /** Documented size of a page, or null. */
  readonly pageSize: number | null
  /** Pages that were asked for at most. */
  readonly maxPages: number
  /** Results that were asked for where no page size is documented; null where the number of pages says all. */
  readonly depth: number | null
}

/**
 * What the pages of a query say of one target. Only answers make a rank: where a page failed or is still open and
 * nothing was found, the state is `unknown`; a page that the policy passed over makes `absent` an estimate.
 */
export function observe({ pages, pageSize, maxPages, depth }: LookedAt, matches: Matcher): Observation {
  const whole = unbrokenPages(pages)
  const unbrokenDepth = distinctResults(whole)
  const isAll = pages[whole.length]?.state === 'ended' || (depth !== null && unbrokenDepth >= depth)
  const looked = {
    depth: distinctResults(pages),
    unbrokenDepth,
    unbrokenPages: isAll ? maxPages : whole.length,
    places: placesOf(pages, pageSize, matches),
  }
  const [best] = looked.places
  if (best !== undefined) {
    const exactness = best.page <= whole.length ? 'exact' : 'estimated'
    // What later pages say changes nothing of the rank.
    const suspect = pages.some((page) => page.state === 'done' && page.mismatched && page.page <= best.page)
    return { ...looked, ...marked(suspect), state: 'ranked', rank: best.rank, exactness }
  }
  const suspect = marked(pages.some(({ mismatched }) => mismatched))
  if (pages.length === 0 || pages.some(({ state }) => state === 'failed' || state === 'open'))
    return { ...looked, ...suspect, state: 'unknown', rank: null, exactness: null }
  const gap = pages.some(({ state }) => state === 'passed')
  return { ...looked, ...suspect, state: 'absent', rank: null, exactness: gap ? 'estimated' : 'exact' }
}

function marked(suspect: boolean): Pick<Observation, 'suspect'> {
  return suspect ? { suspect: true } : {}
}

/** Every result of the target once, the best first: where a later page repeats it, it has its place already. */
function placesOf(pages: readonly Page[], pageSize: number | null, matches: Matcher): readonly RankedPlace[] {
  const ranks = rankPages(pages, pageSize)
  const places = new Map<number, RankedPlace>()
  for (const [index, { page, items }] of pages.entries())
    for (const [place, { link }] of items.entries()) {
      const rank = ranks[index]?.ranks[place]
      if (rank === undefined || link === null || places.has(rank) || !matches(link)) continue
      places.set(rank, { rank, page, place })
    }
  return [...places.values()]
}
