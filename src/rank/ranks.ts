import type { Observation } from '../model/result.ts'
import type { Matcher } from './match.ts'

/** The state of one page of a query. */
export type PageState =
  /** Answered: its results are known. */
  | 'done'
  /** Requested, without an answer. */
  | 'failed'
  /** Not requested yet. */
  | 'open'
  /** Not requested because of the paging policy. */
  | 'passed'
  /** The results ended before it. */
  | 'ended'

/** One result of a page, with the fields that ranks need. */
export interface RankedItem {
  /** The same number for all links of a page; null without a link. */
  readonly sameAs: number | null
  readonly link: string | null
}

/** One page of a query in one run. */
export interface Page {
  readonly page: number
  readonly state: PageState
  /** In the order of the page; empty without an answer. */
  readonly items: readonly RankedItem[]
  /** The service says that no page follows. */
  readonly isLast?: true
  /** Its answer repeats another query than the one sent. */
  readonly mismatched?: true
}

const assumedPageSize = 10

/**
 * Ranks over all pages of a query: 1 + the number of distinct results before a result. A result that repeats an earlier one
 * has the rank of the first. A page that was not fetched counts with its documented size.
 *
 * @param pages in order, from page 1, without holes
 * @param pageSize documented size of a page; ten is assumed if none is documented
 */
export function rankPages(
  pages: readonly Page[],
  pageSize: number | null,
): readonly {
  readonly page: number
  /** Distinct results before the page. */
  readonly base: number
  readonly ranks: readonly number[]
}[] {
  const seen = new Map<number, number>()
  let before = 0
  return pages.map((page) => {
    const base = before
    if (page.state !== 'done') {
      before += pageSize ?? assumedPageSize
      return { page: page.page, base, ranks: [] }
    }
    const ranks = page.items.map(({ sameAs }) => {
      const first = sameAs === null ? undefined : seen.get(sameAs)
      if (first !== undefined) return first
      before += 1
      if (sameAs !== null) seen.set(sameAs, before)
      return before
    })
    return { page: page.page, base, ranks }
  })
}

/** All pages in order. Missing ones were passed over. */
export function withGaps(pages: readonly Page[]): readonly Page[] {
  const byNumber = new Map(pages.map((page) => [page.page, page]))
  const last = pages.at(-1)?.page ?? 0
  return Array.from(
    { length: last },
    (_, index) => byNumber.get(index + 1) ?? { page: index + 1, state: 'passed', items: [] },
  )
}

/** The pages from the first on that were all answered. */
export function unbrokenPages(pages: readonly Page[]): readonly Page[] {
  const gap = pages.findIndex(({ state, page }, index) => state !== 'done' || page !== index + 1)
  return gap < 0 ? pages : pages.slice(0, gap)
}

/** Distinct results of the pages that were answered. */
export function distinctResults(pages: readonly Page[]): number {
  const seen = new Set<number>()
  let unlinked = 0
  for (const { items } of pages) {
    for (const { sameAs } of items) {
      if (sameAs === null) unlinked += 1
      else seen.add(sameAs)
    }
  }
  return seen.size + unlinked
}

/** Whether the later page has exactly the results of the earlier one, in the same order. */
export function repeats(earlier: Page, later: Page): boolean {
  return (
    later.items.length > 0 &&
    later.items.length === earlier.items.length &&
    later.items.every(
      ({ sameAs }, index) => sameAs !== null && sameAs === (earlier.items[index] as RankedItem).sameAs,
    )
  )
}

/**
 * The observation of one target from the pages of a query. Only answers make a rank. If the target was not found and a page
 * failed or is open, the state is `unknown`. A page that the policy passed over makes `absent` an estimate.
 */
export function observe(
  {
    pages,
    pageSize,
    maxPages,
    depth,
  }: {
    /** In order, from page 1, without holes. */
    readonly pages: readonly Page[]
    readonly pageSize: number | null
    /** Requested pages at most. */
    readonly maxPages: number
    /** Requested results if no page size is documented; null if the number of pages is the limit. */
    readonly depth: number | null
  },
  matches: Matcher,
): Observation {
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
    // Later pages do not change the rank.
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

/** Every result of the target once, the best first. Repeats on later pages are left out. */
function placesOf(pages: readonly Page[], pageSize: number | null, matches: Matcher): Observation['places'] {
  const ranks = rankPages(pages, pageSize)
  const places = new Map<number, Observation['places'][number]>()
  for (const [index, { page, items }] of pages.entries())
    for (const [place, { link }] of items.entries()) {
      const rank = ranks[index]?.ranks[place]
      if (rank === undefined || link === null || places.has(rank) || !matches(link)) continue
      places.set(rank, { rank, page, place })
    }
  return [...places.values()]
}
