import type { PageSerp } from '../data.ts'
import { hasClicks } from '../history/parts.ts'
import type { RankHistory } from '../history/rank-history.ts'
import {
  type CtrCurve,
  coverageOf,
  figure,
  type HeadlineMetric,
  type MetricDefinition,
  rateOf,
} from './figure.ts'
import { firstResults, keywordsOf, weightsOf } from './serps.ts'

export const serpShareOfVoiceMetric: MetricDefinition = {
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
export function serpShareOfVoice(serps: readonly PageSerp[], target: number, source: ShareSource) {
  const { of, weight } = serpSharesOfVoice(serps, target + 1, source)
  return { ...of(target), weight }
}

interface ShareSource {
  readonly history: RankHistory
  readonly curve: CtrCurve
}

/** The same for the first so many targets, in one look at the SERPs. */
export function serpSharesOfVoice(
  serps: readonly PageSerp[],
  targets: number,
  { history, curve }: ShareSource,
) {
  const [weights, asked] = [weightsOf(history), keywordsOf(history)]
  const counts = Array.from({ length: targets }, () => ({ clicks: 0, serps: 0, last: -1 }))
  let [all, observed, uncounted] = [0, 0, 0]
  for (const [place, serp] of serps.entries()) {
    if (serp.depth === 0 || !asked.has(serp.keyword)) continue
    observed++
    const weight = weights.of(serp.keyword)
    if (weight === null) uncounted++
    for (const [rank, , , , owners] of firstResults(serp)) {
      const clicks = (weight ?? 0) * rateOf(curve, rank)
      all += clicks
      for (const owner of owners) {
        const own = counts[owner]
        if (own === undefined) continue
        own.clicks += clicks
        if (own.last !== place) own.serps++
        own.last = place
      }
    }
  }
  return {
    weight: weights.by,
    of: (target: number) => {
      const { clicks = 0, serps: ranked = 0 } = counts[target] ?? {}
      return figure(clicks, all, { ranked, observed, expected: asked.size }, uncounted)
    },
  }
}
