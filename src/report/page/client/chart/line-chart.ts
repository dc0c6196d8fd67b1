import { h, s } from '../dom.ts'
import { chartFrame } from './frame.ts'
import { lineLook, lineSample } from './look.ts'
import { round, type TimeAxis, timeAxis, timeLabels } from './time-axis.ts'

export interface Line {
  readonly label: string
  /** Place of its target in the list of targets: says how it is drawn. */
  readonly target: number
  /** Null leaves a gap. */
  readonly values: readonly (number | null)[]
  /** The one that the chart is about. */
  readonly main: boolean
}

/** What the vertical axis runs from and to, its top first, and where it has names. */
export interface Scale {
  readonly top: number
  readonly bottom: number
  readonly ticks: readonly number[]
}

export interface LineChart {
  readonly label: string
  readonly days: readonly string[]
  readonly lines: readonly Line[]
  readonly scale: Scale
  /** How the axis writes a value. */
  readonly format: (value: number) => string
  /** How the value of a day is written, where that is more exact. */
  readonly exact?: (value: number) => string
  /** What is said of a day without a value. */
  readonly missing?: (line: Line, day: number) => string
  readonly height?: number
  /** Drawn over the lines, and below them. */
  readonly marks?: (axis: TimeAxis, y: (value: number) => number, bottom: number) => readonly SVGElement[]
  /** Room for what `marks` draws below the plot. */
  readonly lanes?: number
  readonly gutter?: number
  /** Room above the first tick. */
  readonly top?: number
}

const footer = 24

/** Lines over days, the main one above the others. A day without a value is a gap, never bridged. */
export function lineChart(chart: LineChart): HTMLElement {
  const {
    label,
    days,
    lines,
    scale,
    format,
    exact = format,
    height = 240,
    lanes = 0,
    gutter = 40,
    top = 10,
  } = chart
  const bottom = height - footer - lanes
  const y = (value: number): number =>
    top + ((value - scale.top) / (scale.bottom - scale.top || 1)) * (bottom - top)
  const ordered = [...lines].sort((a, b) => Number(a.main) - Number(b.main))
  return chartFrame({
    label,
    days,
    height,
    draw: (width) => {
      const axis = timeAxis(days, { left: gutter, right: width - 10 })
      const roomy = (axis.right - axis.left) / days.length >= 9
      const marks = [
        ...scale.ticks.map((tick) => gridLine(y(tick), axis, format(tick))),
        timeLabels(days, axis, height - 6),
        ...ordered.flatMap((line) => drawn(line, { axis, y, dots: roomy && line.main })),
        ...(chart.marks?.(axis, y, bottom) ?? []),
      ]
      return { axis, marks, bottom: bottom + lanes }
    },
    tip: (day) =>
      lines
        .toSorted((a, b) => Number(b.main) - Number(a.main))
        .map((line) => {
          const value = line.values[day] ?? null
          return {
            sample: lineSample(line.target),
            label: line.label,
            value: value === null ? (chart.missing?.(line, day) ?? 'no value') : exact(value),
          }
        }),
  })
}

function gridLine(y: number, { left, right }: TimeAxis, text: string): SVGElement {
  return s(
    'g',
    { class: 'axis' },
    s('line', { x1: left, x2: right, y1: round(y), y2: round(y) }),
    s('text', { x: left - 8, y: round(y) + 4, 'text-anchor': 'end' }, text),
  )
}

interface Place {
  readonly axis: TimeAxis
  readonly y: (value: number) => number
  readonly dots: boolean
}

function drawn({ values, target, main }: Line, { axis, y, dots }: Place): readonly SVGElement[] {
  const look = lineLook(target)
  const path = s('path', {
    ...look,
    class: `${look.class}${main ? ' main' : ''}`,
    d: pathOf(values, axis.x, y),
  })
  const points = values.flatMap((value, day) => {
    if (value === null) return []
    const alone = (values[day - 1] ?? null) === null && (values[day + 1] ?? null) === null
    if (!dots && !alone) return []
    return [s('circle', { class: `dot ${look.class}`, cx: round(axis.x(day)), cy: round(y(value)), r: 2.2 })]
  })
  return [path, ...points]
}

/** A path that begins anew after each gap. */
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

/** Names of lines, with a piece of each. */
export function legend(lines: readonly Pick<Line, 'label' | 'target'>[]): HTMLElement {
  return h(
    'ul',
    { class: 'legend' },
    ...lines.map(({ label, target }) => h('li', {}, lineSample(target), h('bdi', {}, label))),
  )
}

const roundSteps = [1, 2, 2.5, 3, 4, 5, 10]

/** Round numbers from 0 to little more than the largest value, three to five steps of them. */
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

/** Ranks: the first on top, and down as far as there are any. */
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
