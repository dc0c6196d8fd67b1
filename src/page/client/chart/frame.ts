import { html, isPrinted, onMedium, onResize, setAll, svg } from '../dom.ts'
import { say } from '../text.ts'

/** The vertical axis: its values at the top and at the bottom, and the values with a label. */
export interface Scale {
  readonly top: number
  readonly bottom: number
  readonly ticks: readonly number[]
}

/** Where a chart draws its marks. */
export interface Plot {
  readonly axis: TimeAxis
  readonly top: number
  readonly bottom: number
  y(value: number): number
}

/** The names of days below a chart. */
export function timeLabels(
  days: readonly string[],
  axis: TimeAxis,
  width: number,
  y: number,
  marked: string | null = null,
): SVGElement {
  const labels = dayLabels(days, axis, width, marked).map(({ x, text }) =>
    svg('text', { x: round(x), y, 'text-anchor': 'middle' }, text),
  )
  return svg('g', 'axis', ...labels)
}

/** A line across a chart, with its name left of it. */
export function gridLine(
  { left, right }: Pick<TimeAxis, 'left' | 'right'>,
  at: number,
  name: string,
): SVGElement {
  const y = round(at)
  return svg(
    'g',
    'axis',
    svg('line', { x1: left, x2: right, y1: y, y2: y }),
    svg('text', { x: left - 8, y: y + 4, 'text-anchor': 'end' }, name),
  )
}

/** On paper a higher chart would often leave the rest of a page empty. */
const mostPaperHeight = 260

/** Draws a chart over days as wide as its place on the page, and shows the values of the day at the pointer or of the day that arrow keys went to. */
export function chartFrame({
  label,
  days,
  height,
  draw,
  tip,
  about = () => [],
  steer: nextLine,
}: {
  /** What the chart shows, in a sentence. */
  readonly label: string
  readonly days: readonly string[]
  /** On a screen. */
  readonly height: number
  draw(
    width: number,
    height: number,
  ): Pick<Plot, 'axis' | 'bottom'> & { readonly marks: readonly SVGElement[] }
  /** The values of a day, for the box at the pointer; the main one is what the chart is about. */
  tip(day: number): readonly { readonly label: string; readonly value: string; readonly isMain?: boolean }[]
  /** What else there is to say of a day, below its values. */
  readonly about?: ((day: number) => readonly string[]) | undefined
  /** Goes to the next line, or the one before; its name. */
  readonly steer?: (step: 1 | -1) => string
}): HTMLElement {
  const drawing = svg('svg', { 'aria-hidden': 'true', class: 'chart' })
  const tipBox = html('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' })
  const said = html('p', { class: 'sr-only', role: 'status' })
  const cursor = svg('line', { class: 'cursor', y1: 0, visibility: 'hidden' })
  const role = { role: 'application', 'aria-roledescription': say.charts.chart }
  const name = `${label} ${say.charts.arrowKeys}`
  const on = { pointermove: point, pointerleave: hide, blur: hide, keydown: steer }
  const attributes = { class: 'plot', tabindex: 0, ...role, 'aria-label': name, on }
  const box = html('div', attributes, drawing, tipBox, said)
  let axis: TimeAxis | null = null
  let at: number | null = null
  onWidth(box, (width) => {
    const high = isPrinted() ? Math.min(height, mostPaperHeight) : height
    setAll(drawing, { width, height: high, viewBox: `0 0 ${width} ${high}` })
    const drawn = draw(width, high)
    axis = drawn.axis
    setAll(cursor, { y2: drawn.bottom })
    drawing.replaceChildren(...drawn.marks, cursor)
    hide()
  })
  return box

  function point({ clientX }: PointerEvent): void {
    if (axis !== null) show(axis.nearest(clientX - box.getBoundingClientRect().left))
  }

  function steer(event: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -days.length, End: days.length }[event.key]
    const line = { ArrowDown: 1, ArrowUp: -1 }[event.key] as 1 | -1 | undefined
    if (event.key === 'Escape' && at !== null) {
      hide()
      event.stopPropagation()
    } else if (line !== undefined && nextLine !== undefined) said.textContent = nextLine(line)
    else if (step !== undefined && axis !== null) {
      const day = Math.min(days.length - 1, Math.max(0, (at ?? (step < 0 ? days.length : -1)) + step))
      show(day)
      const rows = tip(day).map((row) => `${row.label} ${row.value}`)
      said.textContent = [say.longDay(days[day] as string), ...rows, ...about(day)].join(', ')
    } else return
    event.preventDefault()
  }

  function show(day: number): void {
    if (axis === null || day === at) return
    at = day
    const x = axis.x(day)
    setAll(cursor, { x1: x, x2: x, visibility: 'visible' })
    tipBox.replaceChildren(
      html('p', '', say.longDay(days[day] as string)),
      html(
        'dl',
        '',
        ...tip(day).map(({ label, value, isMain }) =>
          html('div', isMain ? 'main' : '', html('dt', '', label), html('dd', '', value)),
        ),
      ),
      ...about(day).map((text) => html('p', 'event', html('bdi', '', text))),
    )
    tipBox.hidden = false
    const room = box.clientWidth
    const left = x + 14 + tipBox.offsetWidth > room ? x - 14 - tipBox.offsetWidth : x + 14
    tipBox.style.left = `${Math.max(0, Math.min(left, room - tipBox.offsetWidth))}px`
  }

  function hide(): void {
    at = null
    tipBox.hidden = true
    setAll(cursor, { visibility: 'hidden' })
  }
}

/** Calls back with the width of an element, in whole pixels, whenever it changes; on paper with the width there. */
function onWidth(element: Element, draw: (width: number) => void): void {
  let last = 0
  const redraw = (): void => {
    const width = isPrinted() ? paperWidth : element.clientWidth
    if (width === last || width === 0) return
    last = width
    draw(width)
  }
  onResize(element, redraw)
  onMedium(element, redraw)
}

/** Browsers do not say how wide things will be on paper. This is A4 between its margins, as the style sheet has them. */
const paperWidth = 660

/** Where days lie between the left and the right edge of a chart. */
export type TimeAxis = ReturnType<typeof timeAxis>

/** The distance of days is their distance in time: a week without a run is a week wide. */
export function timeAxis(
  days: readonly string[],
  { left, right }: { readonly left: number; readonly right: number },
) {
  const times = days.map((day) => Date.parse(day))
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  const at = (time: number): number =>
    last === first ? (left + right) / 2 : left + ((time - first) * (right - left)) / (last - first)
  const x = (day: number): number => at(times[day] ?? first)
  return {
    left,
    right,
    x,
    /** Where a date lies. */
    xOf: (date: string): number => at(Date.parse(date)),
    /** The day nearest to a place. */
    nearest: (place: number): number =>
      times.reduce((best, _, day) => (Math.abs(x(day) - place) < Math.abs(x(best) - place) ? day : best), 0),
  }
}

/** Rounds a coordinate to a tenth of a pixel. */
export function round(at: number): number {
  return Math.round(at * 10) / 10
}

const dayMs = 86_400_000
/** Pixels between two labels, usually and at least. */
const [gap, leastGap] = [24, 8]
/** Pixels of a letter, about. */
const letter = 6

/**
 * The first and the last day, and between them as many as fit, at equal steps.
 *
 * @param width of the whole drawing, which has room left and right of the axis
 * @param marked a day that has its name wherever there is room for it
 */
export function dayLabels(
  days: readonly string[],
  axis: Pick<TimeAxis, 'left' | 'right' | 'xOf'>,
  width: number,
  marked: string | null = null,
) {
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return []
  const text = first.slice(0, 4) === last.slice(0, 4) ? say.shortDay : say.mediumDay
  // The middle of a text is at its place.
  const labelOf = (at: string, name: string) => {
    const half = widthOf(name) / 2
    return { x: Math.min(width - half, Math.max(half, axis.xOf(at))), text: name }
  }
  type DayLabel = ReturnType<typeof labelOf>
  const isApart = (one: DayLabel, other: DayLabel, by = leastGap): boolean =>
    Math.abs(one.x - other.x) >= (widthOf(one.text) + widthOf(other.text)) / 2 + by
  const [start, end] = [labelOf(first, text(first)), labelOf(last, text(last))]
  if (first === last) return [start]
  const room = axis.right - axis.left
  const step = widthOf(end.text) + gap
  const most = { days: room / (step + axis.right - end.x), months: room / step }
  const named =
    marked === null || marked <= first || marked >= last ? [] : [labelOf(marked, say.shortDay(marked))]
  const kept = [start, end, ...named.filter((one) => isApart(one, start) && isApart(one, end))]
  const others = between(first, last, most)
    .map(({ at, text: name }) => labelOf(at, name))
    .filter((one) => isApart(one, start, gap) && kept.every((other) => isApart(one, other)))
  return [...kept, ...others].sort((one, other) => one.x - other.x)
}

function widthOf(text: string): number {
  return text.length * letter
}

/** Days at equal steps back from the last one, or the first days of every few months. */
function between(
  first: string,
  last: string,
  most: { readonly days: number; readonly months: number },
): readonly { at: string; text: string }[] {
  const span = Math.round((Date.parse(last) - Date.parse(first)) / dayMs)
  const step = [1, 2, 7, 14, 28].find((one) => span / one <= most.days)
  if (step !== undefined)
    return Array.from({ length: Math.floor(span / step) }, (_, index) => {
      const at = new Date(Date.parse(last) - (index + 1) * step * dayMs).toISOString().slice(0, 10)
      return { at, text: say.shortDay(at) }
    }).toReversed()
  const months = span / 30.4
  const by = [1, 2, 3, 6, 12].find((one) => months / one <= most.months) ?? 24
  return firstsOfMonths(first, last)
    .filter((at) => (Number(at.slice(5, 7)) - 1) % by === 0)
    .map((at) => ({ at, text: say.month(at) }))
}

function firstsOfMonths(first: string, last: string): readonly string[] {
  const firsts: string[] = []
  const at = new Date(`${first.slice(0, 7)}-01`)
  for (; at.toISOString().slice(0, 10) <= last; at.setUTCMonth(at.getUTCMonth() + 1))
    if (at.toISOString().slice(0, 10) >= first) firsts.push(at.toISOString().slice(0, 10))
  return firsts
}
