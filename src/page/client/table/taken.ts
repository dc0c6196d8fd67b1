import { type MetricName, metrics } from '../../../report/metrics/index.ts'
import { say } from '../language.ts'
import type { TakenColumn } from './take-away.ts'

/** A figure of a metric: as many digits as are shown, shares in percent, which the title says. */
export function takenFigure<Row>(
  title: string,
  name: MetricName,
  of: (row: Row) => number | null,
): readonly TakenColumn<Row>[] {
  const { unit } = metrics[name]
  if (unit === 'share') return [{ title: `${title} (%)`, of: (row) => inPercent(of(row)) }]
  const digits = unit === 'rank' || unit === 'index' ? 1 : 0
  return [{ title, of: (row) => rounded(of(row), digits) }]
}

/** A number and that which it is out of, each in a column. */
export function takenPart<Row>(
  title: string,
  of: (row: Row) => readonly [part: number, whole: number] | null,
): readonly TakenColumn<Row>[] {
  return [
    { title, of: (row) => of(row)?.[0] ?? null },
    { title: say.tables.outOf(title), of: (row) => of(row)?.[1] ?? null },
  ]
}

/** A share as percent, or a difference of shares in points. */
export function inPercent(share: number | null): number | null {
  return share === null ? null : rounded(share * 100, 1)
}

function rounded(value: number | null, digits: number): number | null {
  return value === null ? null : Math.round(value * 10 ** digits) / 10 ** digits
}
