import type { DailyFigures } from '../daily.ts'
import type { ComparedFigure } from '../headline.ts'
import { type HeadlineName, metrics } from '../metrics/index.ts'
import { usualOf } from './facts.ts'
import { clicksFloors, type Floors, isNews, rankFloors, shareFloors } from './spread.ts'

/** Whether a figure changed by no more than it usually swings; not where nothing is compared. */
export function isSwing(
  name: HeadlineName,
  { value, cohort }: ComparedFigure,
  days: readonly DailyFigures[],
): boolean {
  const delta = cohort?.delta ?? null
  const valueOn = (day: DailyFigures): number | null => levelOn(day, name)
  if (name !== 'clicks')
    return isUsual(delta, days, valueOn, metrics[name].unit === 'rank' ? rankFloors : shareFloors)
  const common = cohort?.now.coverage.observed ?? 0
  return isUsual(delta === null ? null : delta / common, days, valueOn, clicksFloors(value ?? 0, common))
}

/** A figure of a day that can be held against other days: clicks for each keyword, because with fewer checked there are fewer. */
export function levelOn(
  { figures, coverage: { observed } }: DailyFigures,
  name: HeadlineName,
): number | null {
  const { value } = figures[name]
  if (name !== 'clicks' || value === null) return value
  return observed === 0 ? null : value / observed
}

/** `isSwing` for an arbitrary daily series. */
export function isUsual(
  delta: number | null,
  days: readonly DailyFigures[],
  value: (day: DailyFigures) => number | null,
  floors: Floors,
): boolean {
  return delta !== null && !isNews(delta, usualOf(days, value), floors)
}
