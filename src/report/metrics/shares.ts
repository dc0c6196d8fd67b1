import type { PageSerp, SerpResult } from '../data.ts'
import { hasClicks } from '../history/filter-history.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import { wasWithinDepth } from '../history/movement.ts'
import type { DayValue, RankHistory } from '../history/rank-history.ts'
import {
  type CtrCurve,
  coverageOf,
  figure,
  type HeadlineMetric,
  type MetricDefinition,
  rateOf,
} from './figure.ts'
import { firstResults, keywordsOf, type SerpPair } from './serps.ts'

const serpShareOfVoiceMetric: MetricDefinition = {
  label: 'share of voice among the first ten results',
  unit: 'share',
  better: 'higher',
  definition: 'The share of the clicks on the first ten results that goes to the site.',
  formula: 'volume x CTR of its results / volume x CTR of all results, among the first ten',
  denominator: 'volume x CTR of all results among the first ten of the checked SERPs',
  missing:
    'not among the first ten: no clicks; SERP not checked: not counted; no volume: not counted, unless no keyword has one: then all weigh the same',
  source:
    'Ahrefs, help page "What is Share of Voice (SoV) and how is it calculated?", Rank Tracker; there for all results',
  byClicks: true,
}

export const shareOfVoice = {
  name: 'share_of_voice',
  label: 'share of voice',
  unit: 'share',
  better: 'higher',
  definition:
    'The share of the searches for the keywords that ends in a click on the site, by the click-through curve.',
  formula: 'sum of volume x CTR(rank) of all results of the site / sum of volumes',
  denominator: 'volume of the checked keywords that have one',
  missing: 'absent: no clicks; unknown, or without volume: not counted',
  source: 'STAT, help page "Share of voice"',
  byClicks: true,
  needs: 'volume',
  compute: (all, { curve }) => {
    let [clicks, searches, uncounted] = [0, 0, 0]
    for (const { kind, value, ranks, volume } of all) {
      if (value.state === 'unknown') continue
      if (volume === null || !hasClicks(kind)) uncounted++
      else {
        for (const rank of ranks) clicks += volume * rateOf(curve, rank)
        searches += volume
      }
    }
    return figure(clicks, searches, coverageOf(all), uncounted)
  },
} as const satisfies HeadlineMetric

/**
 * Estimated clicks of a target by those of all sites on the same pages. This is the share of voice of the rank tracker of
 * Ahrefs, but over the first ten results only: the sum of volume times CTR(rank) of its results by that of all results.
 * Unit: share from 0 to 1. If no keyword has a volume, all have the same weight; if only some have one, the others are not
 * counted. Coverage counts SERPs; ranked SERPs have a result of the target.
 *
 * @param serps those of one day, one for each keyword at most; keywords without a series in the history are not counted
 */
export function serpShareOfVoice(
  serps: readonly PageSerp[],
  target: number,
  { history, curve }: { readonly history: RankHistory; readonly curve: CtrCurve },
) {
  const [weights, asked] = [weightsOf(history), keywordsOf(history)]
  let [clicks, all, ranked, observed, uncounted] = [0, 0, 0, 0, 0]
  for (const serp of serps) {
    if (serp.depth === 0 || !asked.has(serp.keyword)) continue
    observed++
    const weight = weights.of(serp.keyword)
    if (weight === null) uncounted++
    let isRanked = false
    for (const result of firstResults(serp)) {
      const here = (weight ?? 0) * rateOf(curve, result[0])
      all += here
      if (!result[4].includes(target)) continue
      clicks += here
      isRanked = true
    }
    if (isRanked) ranked++
  }
  const coverage = { ranked, observed, expected: asked.size }
  return { ...figure(clicks, all, coverage, uncounted), weight: weights.by }
}

const siteShareMetric: MetricDefinition = {
  label: 'share of a site',
  unit: 'share',
  better: 'higher',
  definition: 'The share of the clicks on the first ten results that goes to a site, tracked or not.',
  formula: 'volume x CTR of its results / volume x CTR of all results, among the first ten',
  denominator: 'volume x CTR of all results among the first ten of the SERPs checked on both days',
  missing: 'SERP not checked on one of the days: not counted on either',
  source: 'the share of voice among the first ten results, of every site',
}

/** A site among the first ten results of the tracked keywords. */
export type SiteShare = ReturnType<typeof siteShare>

/**
 * The sites of all tracked queries by their gain. Results without a known site belong to none. The share of a site is the sum
 * of weight times CTR(rank) of its results by that of all results, over the same SERPs on both days. Shares are from 0 to 1.
 */
export function discoverCompetitors(
  pairs: readonly SerpPair[],
  { history, curve }: { readonly history: RankHistory; readonly curve: CtrCurve },
) {
  const weights = weightsOf(history)
  const [now, before] = [sitesOfDay(curve), sitesOfDay(curve)]
  let [serps, uncounted] = [0, 0]
  for (const { keyword, current, compared } of pairs) {
    if (compared === null) continue
    serps++
    const weight = weights.of(keyword)
    if (weight === null) uncounted++
    const depth = Math.min(10, current.depth, compared.depth)
    now.add(firstResults(current, depth), weight ?? 0)
    before.add(firstResults(compared, depth), weight ?? 0)
  }
  const sites = [...new Set([...now.sites.keys(), ...before.sites.keys()])].map((site) =>
    siteShare(site, now, before),
  )
  return {
    /** The greatest gain first. */
    sites: sites.toSorted(byGain),
    /** SERPs that were checked on both days. Only they count, each down to the depth that both days checked. */
    serps,
    weight: weights.by,
    /** SERPs without a volume while others have one: they count in the appearances and not in the shares. */
    uncounted,
  }
}

/** Whether a site gains so much that it is seen: shares are shown to a tenth of a point. */
export function isGaining({ change }: Pick<SiteShare, 'change'>): boolean {
  return Math.round((change ?? 0) * 1000) > 0
}

type SitesOfDay = ReturnType<typeof sitesOfDay>

/** What belongs to each site of the SERPs of a day. */
function sitesOfDay(curve: CtrCurve) {
  const sites = new Map<
    number,
    { appearances: number; clicks: number; readonly targets: Set<number>; lastSerp: number }
  >()
  let [all, serp] = [0, 0]
  return {
    sites,
    add(results: readonly SerpResult[], weight: number): void {
      serp++
      for (const result of results) {
        const site = result[3]
        const clicks = weight * rateOf(curve, result[0])
        all += clicks
        if (site === null) continue
        let count = sites.get(site)
        if (count === undefined) {
          count = { appearances: 0, clicks: 0, targets: new Set(), lastSerp: 0 }
          sites.set(site, count)
        }
        count.clicks += clicks
        for (const target of result[4]) count.targets.add(target)
        if (count.lastSerp !== serp) count.appearances++
        count.lastSerp = serp
      }
    },
    shareOf: (site: number): number | null => (all === 0 ? null : (sites.get(site)?.clicks ?? 0) / all),
  }
}

function siteShare(site: number, now: SitesOfDay, before: SitesOfDay) {
  const [share, shareBefore] = [now.shareOf(site), before.shareOf(site)]
  const targets = [now, before].flatMap(({ sites }) => [...(sites.get(site)?.targets ?? [])])
  return {
    /** Place in `sites`. */
    site,
    /** The targets that its results belong to; empty for a site that is not tracked. */
    targets: [...new Set(targets)].sort((a, b) => a - b),
    /** SERPs with a result of the site. */
    appearances: now.sites.get(site)?.appearances ?? 0,
    appearancesBefore: before.sites.get(site)?.appearances ?? 0,
    /** Its estimated clicks by those of all results, weighed by volume; null if there are no clicks at all. */
    share,
    shareBefore,
    /** Share now minus share before: positive where the site gains. */
    change: share === null || shareBefore === null ? null : share - shareBefore,
  }
}

function byGain(a: SiteShare, b: SiteShare): number {
  return (
    (b.change ?? 0) - (a.change ?? 0) ||
    b.appearances - b.appearancesBefore - (a.appearances - a.appearancesBefore) ||
    b.appearances - a.appearances ||
    a.site - b.site
  )
}

const headToHeadMetric: MetricDefinition = {
  label: 'beats another site on',
  unit: 'keywords',
  better: 'higher',
  definition: 'The keywords on which a site ranks better than another one, or alone.',
  formula: 'keywords with rank < rank of the other site',
  denominator: 'keywords tracked for both',
  missing: 'absent: loses to a rank within its checked depth; unknown: undecided',
  source: 'own definition',
}

type HeadToHeadResult = keyof ReturnType<typeof headToHead>

/**
 * A target against another one, on the keywords that both are tracked for, on the last day, given their statuses. Unit: keywords.
 */
export function headToHead(one: readonly KeywordStatus[], other: readonly KeywordStatus[]) {
  const theirs = new Map(other.map(({ series, current }) => [series.keyword, current]))
  const counts = {
    /** The target ranks better, or it alone ranks. */
    won: 0,
    lost: 0,
    /** The same result belongs to both. */
    tied: 0,
    /** Neither ranks. */
    neither: 0,
    /** It is not known which one ranks better: one is unknown, or ranks deeper than the other was checked. */
    undecided: 0,
  }
  for (const { series, current } of one) {
    const value = theirs.get(series.keyword)
    if (value !== undefined) counts[outcome(current, value)]++
  }
  return counts
}

/** How the first of two values of a keyword does against the other. */
export function outcome(one: DayValue, other: DayValue): HeadToHeadResult {
  if (one.state === 'unknown' || other.state === 'unknown') return 'undecided'
  if (one.rank !== null && other.rank !== null)
    return one.rank === other.rank ? 'tied' : one.rank < other.rank ? 'won' : 'lost'
  if (one.rank !== null) return wasWithinDepth(one.rank, other) ? 'won' : 'undecided'
  if (other.rank !== null) return wasWithinDepth(other.rank, one) ? 'lost' : 'undecided'
  return 'neither'
}

/** The weight of keywords: the volume, or 1 if no keyword has a volume. */
function weightsOf(history: RankHistory) {
  const keywords = keywordsOf(history)
  const some = [...keywords.values()].some(({ volume }) => volume !== null)
  return {
    by: some ? ('volume' as const) : ('none' as const),
    /** Null if others have a volume and this one has none: it is not counted. */
    of: (keyword: number): number | null => (some ? (keywords.get(keyword)?.volume ?? null) : 1),
  }
}

/** What readers are told of the share of a target, and of any site. */
export const shareMetrics = { share_of_voice: shareOfVoice, site_share: siteShareMetric }

/** How a target does beside others. */
export const rivalMetrics = { serp_share_of_voice: serpShareOfVoiceMetric, head_to_head: headToHeadMetric }
