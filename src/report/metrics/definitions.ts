import type { MetricDefinition, MetricOptions } from './figure.ts'
import { definedUnder, shownMetrics } from './index.ts'
import { gainMetric, movementsMetric } from './movements.ts'
import { landingPageMetric, urlSwapsMetric } from './pages.ts'
import { bestRankMetric } from './positions.ts'
import { citationIndexMetric, citationShareMetric, firstTenShareMetric, turnoverMetric } from './serps.ts'
import { headToHeadMetric, serpShareOfVoiceMetric } from './shares.ts'

/** Every metric of a report. */
export const metrics = {
  ...shownMetrics,
  serp_share_of_voice: serpShareOfVoiceMetric,
  movements: movementsMetric,
  gain: gainMetric,
  best_rank: bestRankMetric,
  turnover: turnoverMetric,
  cannibalisation: urlSwapsMetric,
  landing_page: landingPageMetric,
  head_to_head: headToHeadMetric,
  first_ten_share: firstTenShareMetric,
  citation_share: citationShareMetric,
  citation_index: citationIndexMetric,
}

export type MetricName = keyof typeof metrics

/** The definition of a metric under these options. */
export function definitionOf(name: MetricName, options: Pick<MetricOptions, 'absent'>): MetricDefinition {
  return definedUnder(metrics[name], options)
}
