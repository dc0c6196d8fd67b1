import type { HeadlineMetric, MetricDefinition, MetricOptions } from './figure.ts'
import { rankMetrics } from './positions.ts'
import { citedAnswersMetric } from './serps.ts'
import { shareMetrics } from './shares.ts'

const inOrder = [
  rankMetrics.visibility,
  shareMetrics.share_of_voice,
  rankMetrics.average_position,
  rankMetrics.clicks,
] as const

export type HeadlineName = (typeof inOrder)[number]['name']

/** The metrics at the beginning of a report. A new one stands in the file of its subject, and in the list above. */
export const headlineMetrics: readonly HeadlineMetric<HeadlineName>[] = inOrder

/** The metrics that readers are shown with their meaning, in the language of the report. */
export const shownMetrics = {
  ...rankMetrics,
  ...shareMetrics,
  cited_answers: citedAnswersMetric,
}

export type ShownMetric = keyof typeof shownMetrics

/** A definition under the options of a report. */
export function definedUnder(
  metric: MetricDefinition & Partial<HeadlineMetric>,
  options: Pick<MetricOptions, 'absent'>,
): MetricDefinition {
  return metric.definedAs === undefined ? metric : { ...metric, ...metric.definedAs(options) }
}
