import type { MetricDefinition, MetricOptions } from './figure.ts'
import { definedUnder, shownMetrics } from './index.ts'
import { movementMetrics } from './movements.ts'
import { landingMetrics } from './pages.ts'
import { bestRankMetric } from './positions.ts'
import { serpMetrics } from './serps.ts'
import { rivalMetrics } from './shares.ts'

/** Every metric of a report. */
export const metrics = {
  ...shownMetrics,
  ...rivalMetrics,
  ...movementMetrics,
  best_rank: bestRankMetric,
  ...landingMetrics,
  ...serpMetrics,
}

export type MetricName = keyof typeof metrics

/** The definition of a metric under these options. */
export function definitionOf(name: MetricName, options: Pick<MetricOptions, 'absent'>): MetricDefinition {
  return definedUnder(metrics[name], options)
}
