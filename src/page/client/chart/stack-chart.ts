import { html, svg } from '../dom.ts'
import { number } from '../format.ts'
import { stripes } from './events.ts'
import { bandSample, legend, round, type ScaledChart, scaledChart, timeAxis } from './frame.ts'
import { scaleFromZero } from './scale.ts'

export interface Band {
  readonly label: string
  /** The number on each day. */
  readonly counts: readonly number[]
}

/** A bar for each day, divided into bands, the first one at the bottom. */
export function stackChart(
  { days, ...named }: Pick<ScaledChart, 'label' | 'days' | 'marked'>,
  bands: readonly Band[],
): HTMLElement {
  const heights = days.map((_, day) => countBelow(bands, day))
  let bar = 0
  return scaledChart({
    ...named,
    days,
    scale: scaleFromZero(heights, { whole: true }),
    format: number,
    height: 300,
    axis: ({ left, right }) => {
      const slot = (right - left) / spanOf(days)
      bar = Math.max(1, Math.min(28, slot - Math.min(2, slot * 0.25)))
      return timeAxis(days, { left: left + slot / 2, right: right - slot / 2 })
    },
    draw: ({ axis: { x }, y }) => [
      stripes('hatch'),
      ...bands.map((_, band) => {
        // All pieces of a band are one path, so that a year of days has few elements.
        const pieces = days.map((_, day) => {
          const [from, to] = [band, band + 1].map((end) => round(y(countBelow(bands.slice(0, end), day))))
          const left = round(x(day) - bar / 2)
          return from === to ? '' : `M${left} ${from}H${round(left + bar)}V${to}H${left}Z`
        })
        return svg('path', { class: `band band-${band}`, d: pieces.join('') })
      }),
    ],
    tip: (day) =>
      shown(bands)
        .map(({ sample, label, counts }) => ({ sample, label, value: number(counts[day] ?? 0) }))
        .reverse(),
  })
}

function countBelow(bands: readonly Band[], day: number): number {
  return bands.reduce((sum, { counts }) => sum + (counts[day] ?? 0), 0)
}

function spanOf(days: readonly string[]): number {
  return Math.max(1, (Date.parse(days.at(-1) ?? '') - Date.parse(days[0] ?? '')) / 86_400_000 + 1 || 1)
}

export function bandLegend(bands: readonly Band[]): HTMLElement {
  return legend(shown(bands))
}

/** The numbers of a single day, which need no chart. */
export function bandCounts(bands: readonly Band[]): HTMLElement {
  const items = shown(bands).map(({ sample, label, counts }) =>
    html('li', '', sample, `${label}: `, html('b', '', number(counts[0] ?? 0))),
  )
  return html('ul', 'legend', ...items)
}

/** The bands that occur on any day, each with its sample. */
function shown(bands: readonly Band[]) {
  return bands
    .map((band, place) => ({ ...band, sample: bandSample(place) }))
    .filter(({ counts }) => counts.some((count) => count > 0))
}
