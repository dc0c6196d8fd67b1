import { type SerpFeature, serpFeatures } from '../../../../model/features.ts'
import { type FeatureState, featureIn, featureStates } from '../../../history/features.ts'
import type { KeywordStatus } from '../../../history/keyword-status.ts'
import { chartFrame, gridLine, round, timeAxis, timeLabels } from '../chart/frame.ts'
import { html, svg } from '../dom.ts'
import { say } from '../language.ts'
import { figure } from '../sections/section.ts'
import type { View } from '../view.ts'

const lane = 20
/** Pixels that a letter of a name takes. */
const letter = 6.5
const widest = 9

/** What stood on the result page beside the results: a row of signs for each feature. Nothing where no answer tells. */
export function featuresOverTime({ history, data }: View, { series }: KeywordStatus): readonly HTMLElement[] {
  const { days } = history
  const words = say.serps.features
  const own = data.features.find(({ keyword }) => keyword === series.keyword)
  if (own === undefined || days.length === 0) return []
  const states = featureStates(own, days.length)
  const told = serpFeatures.filter((one) => states.some((state) => featureIn(state, one) !== null))
  if (told.length === 0) return []
  const on = (feature: SerpFeature, day: number): FeatureState => featureIn(states[day] ?? 0, feature)
  const height = told.length * lane + 26
  const gutter = 14 + letter * Math.max(...told.map((one) => words.names[one].length))
  const chart = chartFrame({
    label: words.chart,
    days,
    height,
    draw: (width) => {
      const axis = timeAxis(days, { left: gutter, right: width - 10 })
      const room = (axis.right - axis.left) / Math.max(1, days.length - 1)
      const size = Math.max(2, Math.min(widest, room - 2))
      const marks = told.flatMap((feature, row) => {
        const middle = row * lane + lane / 2
        return [
          gridLine(axis, middle, words.names[feature]),
          ...days.flatMap((_, day) => sign(on(feature, day), axis.x(day), middle, size)),
        ]
      })
      return {
        axis,
        marks: [...marks, timeLabels(days, axis, { width, y: height - 6 })],
        bottom: told.length * lane,
      }
    },
    tip: (day) =>
      told.map((feature) => ({
        sample: null,
        label: words.names[feature],
        value: stateText(on(feature, day)),
      })),
  })
  return [html('h3', '', words.overTime), figure(chart, html('p', 'key', words.key))]
}

function stateText(state: FeatureState): string {
  const { there, notThere, unknown } = say.serps.features
  return state === null ? unknown : state ? there : notThere
}

/** A square, hollow where the feature is not there; nothing where it is not known. */
function sign(state: FeatureState, x: number, y: number, size: number): readonly SVGElement[] {
  if (state === null) return []
  return [
    svg('rect', {
      class: state ? 'feature-there' : 'feature-not-there',
      x: round(x - size / 2),
      y: round(y - size / 2),
      width: round(size),
      height: round(size),
      rx: 1.5,
    }),
  ]
}
