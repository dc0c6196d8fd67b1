import { svg } from '../dom.ts'
import {
  legend,
  lineAttributes,
  lineClass,
  lineSample,
  type Plot,
  round,
  type ScaledChart,
  scaledChart,
} from './frame.ts'

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
  const look = lineAttributes(target)
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

/** Room right of a plot for labels with these texts. */
export function endGutter(texts: readonly string[]): number {
  const longest = Math.max(0, ...texts.map(({ length }) => length))
  return longest === 0 ? 10 : Math.max(58, longest * letter)
}

/** Pixels of a letter, about. */
const letter = 8.5
/** Pixels from one label to the next. */
const lineHeight = 13

/** The last value of a line. */
interface LineEnd {
  readonly target: number
  readonly x: number
  readonly y: number
  readonly text: string
  readonly main: boolean
}

/**
 * Places for labels, none closer to another than the gap: as near as possible to where they are wanted, in the same order. If
 * there is no room for all, they are closer.
 */
export function spread(
  wanted: readonly number[],
  { from, to, gap }: { readonly from: number; readonly to: number; readonly gap: number },
): readonly number[] {
  const step = wanted.length < 2 ? gap : Math.min(gap, (to - from) / (wanted.length - 1))
  const order = wanted.map((_, place) => place).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0))
  const places = wanted.map(() => 0)
  let last = Number.NEGATIVE_INFINITY
  for (const place of order) {
    last = Math.max(from, wanted[place] ?? 0, last + step)
    places[place] = last
  }
  let next = to + step
  for (const place of order.toReversed()) {
    next = Math.min(places[place] ?? 0, next - step)
    places[place] = next
  }
  return places
}

/** The last value of each line at its end, joined with it by a short line. One that ended earlier has its value there. */
function endLabels(
  ends: readonly LineEnd[],
  { right, top, bottom }: { readonly right: number; readonly top: number; readonly bottom: number },
): readonly SVGElement[] {
  const last = Math.max(...ends.map(({ x }) => x))
  const atEnd = ends.filter(({ x }) => x === last)
  const places = spread(
    atEnd.map(({ y }) => y),
    { from: top, to: bottom, gap: lineHeight },
  )
  const x = Math.min(right, last) + 14
  return ends.map((end) => {
    const place = atEnd.indexOf(end)
    return place === -1 ? mark(end, end.x + 6, end.y - 8) : mark(end, x, places[place] ?? end.y)
  })
}

function mark({ target, main, x: fromX, y: fromY, text }: LineEnd, x: number, y: number): SVGElement {
  const look = lineClass(target)
  const [cx, cy] = [round(fromX), round(fromY)]
  return svg(
    'g',
    `end${main ? ' main' : ''}`,
    svg('path', { class: `leader ${look}`, d: `M${cx} ${cy}L${round(x - 3)} ${round(y)}` }),
    svg('circle', { class: `dot ${look}`, cx, cy, r: main ? 3.4 : 2.4 }),
    svg('text', { x: round(x), y: round(y + 4) }, text),
  )
}
