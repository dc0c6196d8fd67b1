import { h, s } from '../dom.ts'
import { number } from '../format.ts'
import { chartFrame } from './frame.ts'
import { scaleFromZero } from './line-chart.ts'
import { bandSample } from './look.ts'
import { round, timeAxis, timeLabels } from './time-axis.ts'

export interface Band {
  readonly label: string
  /** How many on each day. */
  readonly counts: readonly number[]
}

export interface StackChart {
  readonly label: string
  readonly days: readonly string[]
  /** The first one lies at the foot. */
  readonly bands: readonly Band[]
  readonly height?: number
}

const top = 10
const footer = 24
const gutter = 40

/** A bar for each day, divided into bands. */
export function stackChart({ label, days, bands, height = 240 }: StackChart): HTMLElement {
  const bottom = height - footer
  const scale = scaleFromZero(
    days.map((_, day) => bands.reduce((sum, { counts }) => sum + (counts[day] ?? 0), 0)),
    { whole: true },
  )
  const y = (value: number): number => bottom - (value / scale.top) * (bottom - top)
  return chartFrame({
    label,
    days,
    height,
    draw: (width) => {
      const slot = (width - 10 - gutter) / spanOf(days)
      const axis = timeAxis(days, { left: gutter + slot / 2, right: width - 10 - slot / 2 })
      const bar = Math.max(1, Math.min(28, slot - Math.min(2, slot * 0.25)))
      const marks = [
        ...scale.ticks.map((tick) =>
          s(
            'g',
            { class: 'axis' },
            s('line', { x1: gutter, x2: width - 10, y1: round(y(tick)), y2: round(y(tick)) }),
            s('text', { x: gutter - 8, y: round(y(tick)) + 4, 'text-anchor': 'end' }, number(tick)),
          ),
        ),
        hatching(),
        timeLabels(days, axis, height - 6),
        ...bands.map((_, band) =>
          s('path', { class: `band band-${band}`, d: barsOf({ bands, band, days, x: axis.x, y, bar }) }),
        ),
      ]
      return { axis, marks, bottom }
    },
    tip: (day) =>
      bands
        .flatMap((one, band) =>
          isEmpty(one)
            ? []
            : [{ sample: bandSample(band), label: one.label, value: number(one.counts[day] ?? 0) }],
        )
        .reverse(),
  })
}

function spanOf(days: readonly string[]): number {
  return Math.max(1, (Date.parse(days.at(-1) ?? '') - Date.parse(days[0] ?? '')) / 86_400_000 + 1 || 1)
}

interface Bars {
  readonly bands: readonly Band[]
  readonly band: number
  readonly days: readonly string[]
  x(day: number): number
  y(value: number): number
  readonly bar: number
}

/** All pieces of a band as one path, so that a year of days is seven elements. */
function barsOf({ bands, band, days, x, y, bar }: Bars): string {
  return days
    .map((_, day) => {
      const below = bands.slice(0, band).reduce((sum, { counts }) => sum + (counts[day] ?? 0), 0)
      const own = bands[band]?.counts[day] ?? 0
      if (own === 0) return ''
      const [from, to] = [round(y(below)), round(y(below + own))]
      const left = round(x(day) - bar / 2)
      return `M${left} ${from}H${round(left + bar)}V${to}H${left}Z`
    })
    .join('')
}

/** What nobody knows is hatched, so that it is told from the others without colour. */
function hatching(): SVGElement {
  return s(
    'defs',
    {},
    s(
      'pattern',
      { id: 'hatch', width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      s('rect', { width: 5, height: 5, class: 'hatch-ground' }),
      s('line', { x1: 0, x2: 0, y1: 0, y2: 5, class: 'hatch-line' }),
    ),
  )
}

/** Names of bands, the deepest last. */
export function bandLegend(bands: readonly Band[]): HTMLElement {
  return h(
    'ul',
    { class: 'legend' },
    ...bands.flatMap((one, band) => (isEmpty(one) ? [] : [h('li', {}, bandSample(band), one.label)])),
  )
}

/** Whether it is on no day: then nobody has to hear of it. */
function isEmpty({ counts }: Band): boolean {
  return counts.every((count) => count === 0)
}
