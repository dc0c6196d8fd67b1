import { pageAddress } from '../../model/url.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import type { RankHistory } from '../history/rank-history.ts'
import type { MetricDefinition } from './figure.ts'
import { rankingLink } from './serps.ts'

export const landingPageMetric: MetricDefinition = {
  label: 'target page',
  unit: 'keywords',
  better: null,
  definition: 'The keywords for which the target page ranks, or another page.',
  formula: 'best ranking page = target page, without the fragment and tracking parameters',
  denominator: 'adds up to all keywords',
  missing: 'absent: not ranked; unknown: counted separately',
  source:
    'own definition; URLs are equal as the URL standard of WHATWG parses them, without fragment and tracking parameters',
}

/** `unknown`: it is not known whether the target ranks, or the service sent no link for its result. */
export const landingStates = ['right', 'wrong page', 'not ranked', 'none intended', 'unknown'] as const

export type LandingState = (typeof landingStates)[number]

export interface LandingPage {
  readonly status: KeywordStatus
  readonly state: LandingState
  /** The link that ranks; null if none does. */
  readonly link: string | null
  /** The rank of the intended page, as the best page or behind another one; null if it does not rank. */
  readonly intendedRank: number | null
}

/**
 * The page that ranks on the last day, compared with the `url` that the job intends. URLs are compared as browsers parse them,
 * without the fragment and without parameters that only track: `HTTPS://Acme.com` is `https://acme.com/`, but `/a` is not `/a/`, and `?x=1` is another page.
 */
export function landingPages(
  statuses: readonly KeywordStatus[],
  { days, links }: RankHistory,
): readonly LandingPage[] {
  const last = days.length - 1
  return statuses.map((status) => {
    const { series, current, keyword } = status
    const place = rankingLink(series, last)
    const link = place === null ? null : (links[place] as string)
    const intended = keyword.url === null ? null : pageAddress(keyword.url)
    const shown = series.places[last] ?? (place === null ? [] : [[current.rank ?? 0, place] as const])
    const found =
      intended === null ? undefined : shown.find(([, one]) => pageAddress(links[one] as string) === intended)
    return { status, state: stateOf(status, link, intended), link, intendedRank: found?.[0] ?? null }
  })
}

/** How many keywords are in each state. The states add up to all keywords. Unit: keywords. */
export function countLanding(pages: readonly LandingPage[]): Readonly<Record<LandingState, number>> {
  const counts = Object.fromEntries(landingStates.map((state) => [state, 0])) as Record<LandingState, number>
  for (const { state } of pages) counts[state]++
  return counts
}

function stateOf({ current }: KeywordStatus, link: string | null, intended: string | null): LandingState {
  if (intended === null) return 'none intended'
  if (current.state === 'absent') return 'not ranked'
  if (current.state === 'unknown' || link === null) return 'unknown'
  return pageAddress(link) === intended ? 'right' : 'wrong page'
}
