import type { HeadlineMetric, MetricDefinition } from './figure.ts'
import { gainMetric, movementsMetric } from './movements.ts'
import { landingPageMetric, urlSwapsMetric } from './pages.ts'
import {
  averagePosition,
  bestRankMetric,
  clicks,
  distributionMetric,
  topRanksMetric,
  visibility,
} from './positions.ts'
import {
  citationIndexMetric,
  citationShareMetric,
  citedAnswersMetric,
  firstTenShareMetric,
  turnoverMetric,
} from './serps.ts'
import { headToHeadMetric, serpShareOfVoiceMetric, shareOfVoice, siteShareMetric } from './shares.ts'

const inOrder = [visibility, shareOfVoice, averagePosition, clicks] as const

export type HeadlineName = (typeof inOrder)[number]['name']

/** The metrics at the beginning of a report. A new one is a file, and its name in the list above. */
export const headlineMetrics: readonly HeadlineMetric<HeadlineName>[] = inOrder

/** Those that are divided by something. */
export const ratioMetrics = headlineMetrics.filter(({ denominator }) => denominator !== null)

/** The headline metrics in the order of the HTML report and of the definitions. */
export const pageMetrics = headlineMetrics.toSorted(
  (a, b) => Number(b.firstOnPage ?? false) - Number(a.firstOnPage ?? false),
)

/** Every metric of a report. */
export const metrics = {
  ...byHeadline((metric): MetricDefinition => metric, pageMetrics),
  serp_share_of_voice: serpShareOfVoiceMetric,
  distribution: distributionMetric,
  top_ranks: topRanksMetric,
  movements: movementsMetric,
  gain: gainMetric,
  best_rank: bestRankMetric,
  turnover: turnoverMetric,
  cannibalisation: urlSwapsMetric,
  landing_page: landingPageMetric,
  head_to_head: headToHeadMetric,
  site_share: siteShareMetric,
  first_ten_share: firstTenShareMetric,
  cited_answers: citedAnswersMetric,
  citation_share: citationShareMetric,
  citation_index: citationIndexMetric,
}

export type MetricName = keyof typeof metrics

export function byHeadline<T>(
  of: (metric: HeadlineMetric<HeadlineName>) => T,
  all = headlineMetrics,
): Readonly<Record<HeadlineName, T>> {
  return Object.fromEntries(all.map((metric) => [metric.name, of(metric)])) as Record<HeadlineName, T>
}
