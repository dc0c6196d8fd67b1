import type { ComparedFigure, HeadlineName } from './headline.ts'
import { type MetricDefinition, metrics } from './metrics/index.ts'

/** A value as people read it: shares in percent, other numbers with one digit after the point. */
export function valueText(value: number | null, { unit }: Pick<MetricDefinition, 'unit'>): string {
  if (value === null) return '-'
  return unit === 'share' ? `${(value * 100).toFixed(1)}%` : value.toFixed(1)
}

/**
 * How much better or worse a figure is than before: `▲ 1.3`, `▼ 0.4` or `=`, shares in percentage points. Empty where
 * nothing can be compared.
 */
export function deltaText(name: HeadlineName, { cohort }: ComparedFigure): string {
  const { unit, better } = metrics[name]
  if (cohort === null || cohort.delta === null) return ''
  const size = (Math.abs(cohort.delta) * (unit === 'share' ? 100 : 1)).toFixed(1)
  if (Number(size) === 0) return '='
  return `${cohort.delta > 0 === (better === 'higher') ? '▲' : '▼'} ${size}`
}
