import { svg } from '../dom.ts'
import {
  legend,
  lineLook,
  lineSample,
  round,
  type Scale,
  type ScaledChart,
  scaledChart,
  type TimeAxis,
} from './frame.ts'

export interface Line {
  readonly label: string
  /** Place of its target in the list of targets; it decides the look of the line. */
  readonly target: number
  /** Null leaves a gap. */
  readonly values: readonly (number | null)[]
  /** The one that the chart is about. */
  readonly main: boolean
}

export interface LineChart extends Omit<ScaledChart, 'axis' | 'draw' | 'tip'> {
  readonly lines: readonly Line[]
  /** Writes the value of a day, if more exactly than the axis. */
  readonly exact?: (value: number) => string
  /** The text for a day without a value. */
  readonly missing: (line: Line, day: number) => string
  /** Drawn over the lines, and in the lanes below them. */
  readonly marks?: ScaledChart['draw']
}

/** Lines over days, the main one above the others. A day without a value is a gap in the line. */
export function lineChart(chart: LineChart): HTMLElement {
  const { days, lines, format, exact = format, missing, marks } = chart
  return scaledChart({
    ...chart,
    draw: (axis, y, bottom) => {
      const roomy = (axis.right - axis.left) / days.length >= 9
      const mainLast = lines.toSorted((a, b) => Number(a.main) - Number(b.main))
      return [
        ...mainLast.flatMap((line) => drawn(line, axis, y, roomy && line.main)),
        ...(marks?.(axis, y, bottom) ?? []),
      ]
    },
    tip: (day) =>
      mainFirst(lines).map((line) => {
        const value = line.values[day] ?? null
        return {
          sample: lineSample(line.target),
          label: line.label,
          value: value === null ? missing(line, day) : exact(value),
        }
      }),
  })
}

export function lineLegend(lines: readonly Line[]): HTMLElement {
  return legend(mainFirst(lines).map(({ label, target }) => ({ label, sample: lineSample(target) })))
}

function mainFirst(lines: readonly Line[]): readonly Line[] {
  return lines.toSorted((a, b) => Number(b.main) - Number(a.main))
}

function drawn(
  { values, target, main }: Line,
  { x }: TimeAxis,
  y: (value: number) => number,
  dots: boolean,
): readonly SVGElement[] {
  const look = lineLook(target)
  const d = pathOf(values, x, y)
  const path = svg('path', { ...look, class: `${look.class}${main ? ' main' : ''}`, d })
  const points = values.flatMap((value, day) => {
    if (value === null) return []
    const alone = (values[day - 1] ?? null) === null && (values[day + 1] ?? null) === null
    if (!dots && !alone) return []
    return [svg('circle', { class: `dot ${look.class}`, cx: round(x(day)), cy: round(y(value)), r: 2.2 })]
  })
  return [path, ...points]
}

/** A path that is interrupted at each gap. */
export function pathOf(
  values: readonly (number | null)[],
  x: (day: number) => number,
  y: (value: number) => number,
): string {
  let open = false
  let path = ''
  values.forEach((value, day) => {
    if (value !== null) path += `${open ? 'L' : 'M'}${round(x(day))} ${round(y(value))}`
    open = value !== null
  })
  return path
}

const roundSteps = [1, 2, 2.5, 3, 4, 5, 10]

/** A scale from 0 to a round number just above the largest value, in three to five steps. */
export function scaleFromZero(values: readonly (number | null)[], { whole = false } = {}): Scale {
  const most = Math.max(0, ...values.map((value) => value ?? 0)) || (whole ? 3 : 1)
  const power = 10 ** Math.floor(Math.log10(most / 4))
  const fitting = roundSteps
    .map((one) => one * power)
    .filter((step) => !whole || Number.isInteger(step))
    .map((step) => ({ step, steps: Math.ceil(most / step - 1e-9) }))
    .filter(({ steps }) => steps <= 5)
  const { step, steps } = fitting.reduce(
    (best, one) => (one.step * one.steps < best.step * best.steps ? one : best),
    fitting[0] ?? { step: 1, steps: Math.max(1, Math.ceil(most)) },
  )
  return {
    top: steps * step,
    bottom: 0,
    ticks: Array.from({ length: steps + 1 }, (_, index) => index * step),
  }
}

/** A scale of ranks, with rank 1 at the top and the deepest rank at the bottom. */
export function scaleOfRanks(values: readonly (number | null)[]): Scale {
  const deepest = Math.max(10, ...values.map((value) => value ?? 0))
  const step = [5, 10, 20, 50, 100, 200].find((one) => deepest / one <= 5) ?? 500
  const bottom = Math.ceil(deepest / step) * step
  return {
    top: 1,
    bottom,
    ticks: [1, ...Array.from({ length: bottom / step }, (_, index) => (index + 1) * step)],
  }
}
