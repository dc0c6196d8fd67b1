import type { DailyFigures } from '../../daily.ts'
import { isSwing } from '../../findings/swing.ts'
import type { ComparedFigure } from '../../headline.ts'
import { type HeadlineName, metrics } from '../../metrics/index.ts'
import type { Words } from '../../words/words.ts'

/** A change in words, and whether it is good for the site. `same`: none, or no more than the figure usually swings. */
export interface WrittenChange {
  readonly text: string
  readonly way: 'better' | 'worse' | 'same'
}

/** A value as a reader knows it. */
export function figureText(name: HeadlineName, value: number, say: Words): string {
  const { unit } = metrics[name]
  if (unit === 'share') return say.percent(value)
  return unit === 'rank' ? say.decimal(value) : say.number(Math.round(value))
}

/**
 * How a figure changed since the compared day; null where that is not known.
 *
 * @param days say how much it usually swings
 */
export function changeText(
  name: HeadlineName,
  figure: ComparedFigure,
  days: readonly DailyFigures[],
  say: Words,
): WrittenChange | null {
  const { cohort } = figure
  if (cohort === null || cohort.delta === null) return null
  const { unit, better } = metrics[name]
  const { points, up, down, unchanged, better: isBetter, worse } = say.email
  const size = Math.abs(cohort.delta) * (unit === 'share' ? 100 : 1)
  const digits = unit === 'share' || unit === 'rank' ? 1 : 0
  if (Number(size.toFixed(digits)) === 0) return { text: unchanged, way: 'same' }
  const rises = cohort.delta > 0
  const isGood = rises === (better === 'higher')
  const way = isSwing(name, figure, days) ? 'same' : isGood ? 'better' : 'worse'
  if (unit === 'share') return { text: rises ? up(points(size)) : down(points(size)), way }
  const number = say.decimal(size, digits)
  // A position that goes up is a number that goes down.
  if (better === 'lower') return { text: isGood ? isBetter(number) : worse(number), way }
  return { text: rises ? up(number) : down(number), way }
}
