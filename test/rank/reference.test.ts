import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Observation } from '../../src/model/result.ts'
import { matcherOf } from '../../src/rank/match.ts'
import { observe, type Page, type PageState } from '../../src/rank/paging.ts'

/** A page as it was written down by hand: its links, null for a result without one, or what became of it. */
type Written = readonly (string | null)[] | Exclude<PageState, 'done'>

/** Spellings of one link; the last two are other links. */
const spellings = (name: string): readonly string[] => [
  `https://${name}.example/`,
  `https://${name}.example`,
  `HTTPS://${name.toUpperCase()}.example/#part`,
  `https://${name}.example:443/?#`,
  `https://${name}.example/x/..`,
  `https://${name}.example/deeper`,
]

const link = fc.constantFrom(...'abcdefgh').chain((name) => fc.constantFrom(...spellings(name)))
const result = fc.oneof({ weight: 9, arbitrary: link }, fc.constant(null))
const newPage = fc.array(result, { maxLength: 13 })
const lost = fc.constantFrom('failed', 'open', 'passed', 'ended')
/** How a page comes about: of its own, by repeating the end or the whole of an earlier one, or not at all. */
const step = fc.oneof(
  { weight: 4, arbitrary: newPage.map((links) => ({ again: 0, back: 0, links })) },
  {
    weight: 2,
    arbitrary: fc.record({ again: fc.nat(5), back: fc.integer({ min: 1, max: 3 }), links: newPage }),
  },
  { weight: 1, arbitrary: fc.record({ again: fc.constant(13), back: fc.nat(3), links: fc.constant([]) }) },
  { weight: 2, arbitrary: lost },
)
const serp = fc.array(step, { maxLength: 7 }).map((steps) => {
  const pages: Written[] = []
  for (const one of steps) {
    const earlier = typeof one === 'string' ? undefined : pages.at(-one.back)
    const again =
      typeof one === 'string' || one.again === 0 || !Array.isArray(earlier) ? [] : earlier.slice(-one.again)
    pages.push(typeof one === 'string' ? one : [...again, ...one.links].slice(0, 13))
  }
  return pages
})
const pageSizes = fc.option(fc.integer({ min: 1, max: 20 }))

/** What a result is: its link as a browser would open it, without the fragment. */
const bare = (url: string): string => {
  const parsed = new URL(url)
  parsed.hash = ''
  return parsed.href
}

/** As the store would hand the pages over: equal links have the number of the first of them. */
function toPages(written: readonly Written[]): readonly Page[] {
  const numbers: string[] = []
  const numberOf = (url: string): number => {
    if (!numbers.includes(bare(url))) numbers.push(bare(url))
    return numbers.indexOf(bare(url))
  }
  return written.map((page, index) =>
    typeof page === 'string'
      ? { page: index + 1, state: page, items: [] }
      : {
          page: index + 1,
          state: 'done',
          items: page.map((url) => ({ link: url, sameAs: url === null ? null : numberOf(url) })),
        },
  )
}

type Judged = Pick<Observation, 'state' | 'rank' | 'exactness' | 'depth' | 'unbrokenDepth'>

/** All results in one list, each by its name; what nobody saw as a stranger. Ranks are counted off by finger. */
function byHand(written: readonly Written[], pageSize: number | null, site: string): Judged {
  let stranger = 0
  const list: { name: string; page: number; seen: boolean; hit: boolean }[] = []
  for (const [page, results] of written.entries()) {
    const names = typeof results === 'string' ? Array.from({ length: pageSize ?? 10 }, () => null) : results
    for (const url of names) {
      stranger += 1
      list.push({
        name: url === null ? `stranger ${stranger}` : bare(url),
        page,
        seen: typeof results !== 'string',
        hit: url !== null && new URL(url).hostname === site,
      })
    }
  }
  const gap = written.findIndex((page) => typeof page === 'string')
  const upToGap = gap < 0 ? written.length : gap
  const count = (some: typeof list) => new Set(some.map(({ name }) => name)).size
  const depth = count(list.filter(({ seen }) => seen))
  const unbrokenDepth = count(list.filter(({ page }) => page < upToGap))
  const first = list.findIndex(({ hit }) => hit)
  const looked = { depth, unbrokenDepth }
  const found = list[first]
  if (found !== undefined) {
    const exactness = found.page < upToGap ? 'exact' : 'estimated'
    return { state: 'ranked', rank: 1 + count(list.slice(0, first)), exactness, ...looked }
  }
  if (written.length === 0 || written.includes('failed') || written.includes('open'))
    return { state: 'unknown', rank: null, exactness: null, ...looked }
  const exactness = written.includes('passed') ? 'estimated' : 'exact'
  return { state: 'absent', rank: null, exactness, ...looked }
}

test('state, rank, exactness and depth of any target are those that counting by hand gives', () => {
  fc.assert(
    fc.property(serp, pageSizes, fc.constantFrom(...'abcz'), (written, pageSize, name) => {
      const site = `${name}.example`
      const looked = { pages: toPages(written), pageSize, maxPages: written.length, depth: null }
      const observed = observe(looked, matcherOf({ site, match: 'host', also: [] }))
      expect(observed).toMatchObject(byHand(written, pageSize, site))
    }),
    { numRuns: 1000 },
  )
})

test('every result of a target is listed once with its own rank, where it is seen first', () => {
  fc.assert(
    fc.property(serp, pageSizes, fc.constantFrom(...'abcz'), (written, pageSize, name) => {
      const site = `${name}.example`
      const pages = toPages(written)
      const { places } = observe(
        { pages, pageSize, maxPages: 9, depth: null },
        matcherOf({ site, match: 'host', also: [] }),
      )
      const listed = places.map(({ page, place }) => bare(pages[page - 1]?.items[place]?.link ?? ''))
      const seen = written
        .flatMap((page) => (typeof page === 'string' ? [] : page))
        .filter((url) => url !== null)
      expect(listed).toEqual([...new Set(seen.map(bare))].filter((url) => new URL(url).hostname === site))
      for (const [index, { rank }] of places.entries()) {
        // Without what stands before it, the next one would be the best.
        const without = written.map((page) =>
          typeof page === 'string'
            ? page
            : page.map((url) =>
                url !== null && listed.slice(0, index).includes(bare(url)) ? hide(url) : url,
              ),
        )
        expect(byHand(without, pageSize, site).rank).toBe(rank)
      }
    }),
  )
})

/** The same result of somebody else. */
const hide = (url: string): string => bare(url).replace('.example', '.elsewhere')
