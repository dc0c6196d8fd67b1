import type { HeadlineMetric, MetricDefinition, MetricOptions } from './figure.ts'
import { averagePosition, clicks, distributionMetric, topRanksMetric, visibility } from './positions.ts'
import { citedAnswersMetric } from './serps.ts'
import { shareOfVoice, siteShareMetric } from './shares.ts'

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

/** The metrics that readers are shown with their meaning, in the language of the report. */
export const shownMetrics = {
  ...byHeadline((metric): MetricDefinition => metric, pageMetrics),
  distribution: distributionMetric,
  top_ranks: topRanksMetric,
  site_share: siteShareMetric,
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

export function byHeadline<T>(
  of: (metric: HeadlineMetric<HeadlineName>) => T,
  all = headlineMetrics,
): Readonly<Record<HeadlineName, T>> {
  return Object.fromEntries(all.map((metric) => [metric.name, of(metric)])) as Record<HeadlineName, T>
}
