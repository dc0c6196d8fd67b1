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
  const valueOn = (day: DailyFigures): number | null => day.figures[name].value
  if (name !== 'clicks')
    return isUsual(delta, days, valueOn, metrics[name].unit === 'rank' ? rankFloors : shareFloors)
  const common = cohort?.now.coverage.observed ?? 0
  // For each keyword, because on days with fewer checked keywords there are fewer clicks.
  const clicksOn = (day: DailyFigures): number | null => {
    const clicks = valueOn(day)
    return clicks === null || day.coverage.observed === 0 ? null : clicks / day.coverage.observed
  }
  return isUsual(delta === null ? null : delta / common, days, clicksOn, clicksFloors(value ?? 0, common))
}

/** The same of any value that there is for each day. */
export function isUsual(
  delta: number | null,
  days: readonly DailyFigures[],
  value: (day: DailyFigures) => number | null,
  floors: Floors,
): boolean {
  return delta !== null && !isNews(delta, usualOf(days, value), floors)
}
