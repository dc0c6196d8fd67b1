import { svg } from '../dom.ts'
import { endGutter, endLabels } from './end-labels.ts'
import { legend, lineLook, lineSample, type Plot, round, type ScaledChart, scaledChart } from './frame.ts'

export interface ChartLine {
  readonly label: string
  /** Place of its target in the list of targets; it decides the look of the line. */
  readonly target: number
  /** Null leaves a gap. */
  readonly values: readonly (number | null)[]
  /** The one that the chart is about. */
  readonly main: boolean
}

export interface LineChart extends Omit<ScaledChart, 'axis' | 'draw' | 'tip' | 'endGutter'> {
  readonly lines: readonly ChartLine[]
  /** Writes the value of a day, if more exactly than the axis. */
  readonly exact?: (value: number, line: ChartLine, day: number) => string
  /** The text for a day without a value. */
  readonly missing: (line: ChartLine, day: number) => string
  /** Writes the last value of a line at its end; an empty text leaves it out. */
  readonly ends?: (value: number, line: ChartLine) => string
  /** Drawn below the lines. */
  readonly ground?: ScaledChart['draw']
  /** Drawn over the lines, and in the lanes below them. */
  readonly marks?: ScaledChart['draw']
}

/** Lines over days, the main one above the others. A day without a value is a gap in the line. */
export function lineChart(chart: LineChart): HTMLElement {
  const { days, lines, format, exact = format, missing, ends, ground, marks } = chart
  return scaledChart({
    ...chart,
    endGutter: () => endGutter(lastValues(lines, ends).map(({ text }) => text)),
    draw: (plot) => {
      const { axis } = plot
      const roomy = (axis.right - axis.left) / days.length >= 9
      const mainLast = lines.toSorted((a, b) => Number(a.main) - Number(b.main))
      return [
        ...(ground?.(plot) ?? []),
        ...mainLast.flatMap((line) => drawn(line, plot, roomy && line.main)),
        ...endsOf(lastValues(mainLast, ends), plot),
        ...(marks?.(plot) ?? []),
      ]
    },
    tip: (day) =>
      mainFirst(lines).map((line) => {
        const value = line.values[day] ?? null
        return {
          sample: lineSample(line.target),
          label: line.label,
          value: value === null ? missing(line, day) : exact(value, line, day),
        }
      }),
  })
}

interface LastValue {
  readonly line: ChartLine
  readonly day: number
  readonly value: number
  readonly text: string
}

/** The last value of each line that has a text at its end. */
function lastValues(lines: readonly ChartLine[], ends: LineChart['ends']): readonly LastValue[] {
  return lines.flatMap((line) => {
    const day = line.values.findLastIndex((value) => value !== null)
    const value = line.values[day] ?? null
    const text = value === null ? '' : (ends?.(value, line) ?? '')
    return value === null || text === '' ? [] : [{ line, day, value, text }]
  })
}

function endsOf(last: readonly LastValue[], { axis, y, top, bottom }: Plot): readonly SVGElement[] {
  const ends = last.map(({ line: { target, main }, day, value, text }) => ({
    target,
    main,
    text,
    x: axis.x(day),
    y: y(value),
  }))
  return endLabels(ends, { right: axis.right, top, bottom })
}

export function lineLegend(lines: readonly ChartLine[]): HTMLElement {
  return legend(mainFirst(lines).map(({ label, target }) => ({ label, sample: lineSample(target) })))
}

function mainFirst(lines: readonly ChartLine[]): readonly ChartLine[] {
  return lines.toSorted((a, b) => Number(b.main) - Number(a.main))
}

function drawn(
  { values, target, main }: ChartLine,
  { axis: { x }, y }: Plot,
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
