import type { DailyFigures } from '../../../report/daily.ts'
import type { HeadlineName, MetricName } from '../../../report/metrics/index.ts'
import { top } from '../../../report/metrics/positions.ts'
import { decimal, number, percent } from '../format.ts'
import { say } from '../language.ts'
import type { Fit } from './scale.ts'

/** A figure that the chart of the overview can show. */
export interface TrendFigure {
  readonly name: keyof typeof say.charts.figures
  readonly metric: MetricName
  /** The value of a day, even of one that is incomplete. */
  value(day: DailyFigures): number | null
  readonly fit: Fit
  /** How the axis writes a value. */
  axisText(value: number, step: number): string
  text(value: number): string
  /** The value of a day with what it is of. */
  fullText(value: number, day: DailyFigures): string
}

const shares = {
  fit: { origin: 0, limit: 1 },
  axisText: (value: number, step: number) => percent(value, step < 0.01 ? 1 : 0),
  text: (value: number) => percent(value),
} as const

/** In the order of the buttons; the first one that has values is shown first. */
export const trendFigures: readonly TrendFigure[] = [
  shareFigure('visibility'),
  shareFigure('share_of_voice'),
  {
    ...headlineFigure('average_position'),
    fit: { origin: 1, inverted: true },
    axisText: (value, step) => decimal(value, step < 1 ? 1 : 0),
    text: (value) => decimal(value),
    fullText: (value) => decimal(value),
  },
  topFigure(3),
  topFigure(10),
  {
    ...headlineFigure('clicks'),
    fit: { origin: 0, whole: true },
    axisText: number,
    text: number,
    fullText: (value, { coverage, asked }) =>
      coverage.observed < asked
        ? say.charts.ofChecked(number(value), coverage.observed, asked)
        : number(value),
  },
]

function headlineFigure<Name extends HeadlineName>(name: Name) {
  return { name, metric: name, value: (day: DailyFigures) => day.figures[name].value }
}

function shareFigure(name: 'visibility' | 'share_of_voice'): TrendFigure {
  return { ...headlineFigure(name), ...shares, fullText: (value) => percent(value) }
}

/** A share of the checked keywords, so that a day with fewer of them is not a loss. */
function topFigure(rank: 3 | 10): TrendFigure {
  return {
    ...shares,
    name: `top_${rank}`,
    metric: 'top_ranks',
    value: ({ distribution, coverage: { observed } }) =>
      observed === 0 ? null : top(distribution, rank) / observed,
    fullText: (value, { distribution, coverage: { observed } }) =>
      say.charts.withCount(percent(value), top(distribution, rank), observed),
  }
}

/** The values of a line; an incomplete day is a gap. */
export function lineValues(
  days: readonly DailyFigures[],
  { value }: TrendFigure,
): readonly (number | null)[] {
  return days.map((day) => (day.isPartial ? null : value(day)))
}
