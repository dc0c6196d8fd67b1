import type { Observation } from '../model/observation.ts'
import type { Matcher } from './match.ts'
import { distinctResults, type Page, rankPages } from './pages.ts'

/**
 * What the pages of a query say of one target. Only answers make a rank: where a page failed or is still open and
 * nothing was found, the state is `unknown`; a page that the policy passed over makes `absent` an estimate.
 */
export function observe(pages: readonly Page[], pageSize: number | null, matches: Matcher): Observation {
  const depth = distinctResults(pages)
  const ranked = firstMatch(pages, pageSize, matches)
  if (ranked !== null) return { ...ranked, state: 'ranked', depth }
  const missed = { rank: null, depth, found: null }
  if (pages.length === 0 || pages.some(({ state }) => state === 'failed' || state === 'open'))
    return { ...missed, state: 'unknown', exactness: null }
  const gap = pages.some(({ state }) => state === 'passed')
  return { ...missed, state: 'absent', exactness: gap ? 'estimated' : 'exact' }
}

function firstMatch(pages: readonly Page[], pageSize: number | null, matches: Matcher) {
  const ranks = rankPages(pages, pageSize)
  let complete = true
  for (const [index, { page, state, items }] of pages.entries()) {
    if (state !== 'done') complete = false
    const place = items.findIndex(({ link }) => link !== null && matches(link))
    if (place >= 0) {
      const rank = ranks[index]?.ranks[place] as number
      return {
        rank,
        exactness: complete ? ('exact' as const) : ('estimated' as const),
        found: { page, place },
      }
    }
  }
  return null
}
