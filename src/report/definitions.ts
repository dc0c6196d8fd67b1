import type { Measure } from './headline.ts'
import { type MetricDefinition, type MetricName, metrics } from './metrics/index.ts'

/** What absent targets count as in average positions, in words. */
export function absentWords(absent: Measure['absent'] = 'depth'): string {
  if (absent === 'depth') return 'absent counts as the depth asked for + 1'
  if (absent === 'looked at') return 'absent counts as what was looked at + 1'
  return absent === 'left out' ? 'absent is left out' : `absent counts as ${absent}`
}

/** What a metric is, as a report measures it. */
export function definitionOf(name: MetricName, { absent }: Pick<Measure, 'absent'>): MetricDefinition {
  if (name !== 'average_position' || absent === undefined || absent === 'depth') return metrics[name]
  return {
    ...metrics.average_position,
    definition: `mean of the ranks; ${absentWords(absent)}`,
    denominator: absent === 'left out' ? 'ranked keywords' : 'observed keywords',
    missing: `${absentWords(absent)}; unknown: not counted`,
  }
}
