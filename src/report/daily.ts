import { ranksOn, valueOn } from './cohort.ts'
import { type DayValue, unknown } from './day-cell.ts'
import { figuresOf, type HeadlineName, type Measure } from './headline.ts'
import { type Distribution, distribution } from './metrics/distribution.ts'
import type { Coverage, Figure, Seen } from './metrics/figure.ts'
import type { Keyword, RankHistory } from './rank-history.ts'

/** What a target came to on one day. */
export interface DailyFigures {
  readonly day: string
  readonly coverage: Coverage
  readonly figures: Readonly<Record<HeadlineName, Figure>>
  readonly distribution: Distribution
  /** Keywords that had been asked by then. */
  readonly asked: number
  /**
   * Whether some were observed, but less than half of them: a run that failed, or was stopped. Its
   * figures speak for those few, and are no point of a line.
   */
  readonly isPartial: boolean
}

/**
 * The figures of one target day by day: each of whatever was observed on that day, so that days with other keywords, or
 * other depths, are not alike. Expected are on the last day all keywords, on others those of which that day says anything.
 *
 * @param target place in the targets of the history
 */
export function daily(history: RankHistory, target: number, measure: Measure): readonly DailyFigures[] {
  const series = history.series.filter((one) => one.target === target)
  const last = history.days.length - 1
  const since = series.map(({ cells }) => cells.findIndex((cell) => cell !== null))
  return history.days.map((day, index) => {
    const asked =
      index === last ? series.length : since.filter((first) => first !== -1 && first <= index).length
    const seen: Seen[] = []
    const values: DayValue[] = []
    for (const one of series) {
      const value = valueOn(one, index) ?? (index === last ? unknown : null)
      if (value === null) continue
      const { kind, volume } = history.keywords[one.keyword] as Keyword
      seen.push({ kind, value, ranks: ranksOn(one, index), volume })
      values.push(value)
    }
    const figures = figuresOf(seen, measure)
    const { coverage } = figures.visibility
    const isPartial = coverage.observed > 0 && coverage.observed * 2 < asked
    return { day, coverage, figures, distribution: distribution(values), asked, isPartial }
  })
}
