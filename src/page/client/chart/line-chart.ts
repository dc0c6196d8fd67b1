import type { ReportNote } from '../../../model/settings.ts'
import { ariaHidden, html, linkTo, svg } from '../dom.ts'
import { say, shortened } from '../text.ts'
import { chartFrame, gridLine, type Plot, round, type Scale, timeAxis, timeLabels } from './frame.ts'

export interface ChartLine {
  readonly label: string
  /** Place of its target in the list of targets. */
  readonly target: number
  /** Null leaves a gap. */
  readonly values: readonly (number | null)[]
  /** The one that the chart is about. */
  readonly main: boolean
  /** Dashed, with its name where it begins: it ends where the measured line of its target begins, and is told on its own days only. */
  readonly imported?: true
}

/** Letters of a name at the end of a line: on a chart of this width or less they are fewer. */
const [mostLetters, fewLetters, narrowPlot] = [20, 13, 460]

/**
 * Lines over days, the main one in the accent above the others, which are grey, each with its name at its end. The line at the pointer has
 * a colour, and that which the arrow keys chose. A day without a value is a gap.
 */
export function lineChart(
  chart: Omit<
    Parameters<typeof scaledChart>[0],
    'draw' | 'tip' | 'about' | 'endGutter' | 'steer' | 'marked'
  > & {
    readonly lines: readonly ChartLine[]
    /** They are marked on their days. */
    readonly events: DayEvents
    /** Writes the value of a day, if more exactly than the axis. */
    readonly exact?: (value: number, line: ChartLine, day: number) => string
    /** The text for a day without a value. */
    readonly missing: (line: ChartLine, day: number) => string
    /** Drawn over the lines, and in the lanes below them. */
    readonly marks?: (plot: Plot) => readonly SVGElement[]
  },
): HTMLElement {
  const { days, events, format, exact = format, missing, marks } = chart
  const lines = chart.lines.toSorted((a, b) => Number(b.main) - Number(a.main))
  let lit: number | null = null
  let groups: readonly SVGElement[] = []
  const nameOf = ({ label }: ChartLine, width: number): string =>
    shortened(label, width <= narrowPlot ? fewLetters : mostLetters)
  const gutter = (width: number): number => endGutter(lines.map((line) => nameOf(line, width)))
  return scaledChart({
    ...chart,
    endGutter: gutter,
    draw: (plot) => {
      const { axis } = plot
      const width = axis.right + gutter(axis.right)
      const ends = endsOf(lines, plot)
      const isRoomy = (axis.right - axis.left) / days.length >= 9
      groups = lines.map((line, place) =>
        svg(
          'g',
          `series${line.main ? ' main' : ''}${line.imported ? ' imported' : ''}${place === lit ? ' lit' : ''}`,
          ...drawn(line, plot, isRoomy && line.main),
          line.imported && line.main && startLabel(line, plot),
          ends[place] && endLabel(ends[place], nameOf(line, width)),
        ),
      )
      return [...groups.toReversed(), ...eventMarks(events, plot), ...(marks?.(plot) ?? [])]
    },
    tip: (day) => {
      const ofDay = lines.filter(({ imported, values }) => imported && values[day] != null)
      const told = ofDay.length > 0 ? ofDay : lines.filter(({ imported }) => !imported)
      return told.map((line) => {
        const value = line.values[day] ?? null
        const text = value === null ? missing(line, day) : exact(value, line, day)
        return { label: line.label, value: text, isMain: line.main }
      })
    },
    about: (day) => eventTexts(days, day, events),
    marked: events.compared,
    steer: (step) => {
      lit = ((lit ?? (step === 1 ? -1 : 0)) + step + lines.length) % lines.length
      for (const [place, group] of groups.entries()) group.classList.toggle('lit', place === lit)
      return lines[lit]?.label ?? ''
    },
  })
}

/** A chart with a vertical scale. The grid and the labels are drawn first, below the marks. */
function scaledChart(
  chart: Omit<Parameters<typeof chartFrame>[0], 'height' | 'draw'> & {
    readonly scale: Scale
    /** How the axis writes a value. */
    readonly format: (value: number) => string
    readonly height?: number
    /** Room above the first tick. */
    readonly top?: number
    /** Room left and right of the plot. */
    readonly gutter?: number
    readonly endGutter: (width: number) => number
    /** Room between the plot and the names of the days. */
    readonly lanes?: number
    /** A day that has its name below the chart. */
    readonly marked?: string | null
    draw(plot: Plot): readonly SVGElement[]
  },
): HTMLElement {
  const { days, scale, format, height = 240, top = 10, gutter = 40, lanes = 0, draw } = chart
  return chartFrame({
    ...chart,
    height,
    draw: (width, height) => {
      const bottom = height - 24 - lanes
      const y = (value: number): number =>
        top + ((value - scale.top) / (scale.bottom - scale.top || 1)) * (bottom - top)
      const edges = { left: gutter, right: width - chart.endGutter(width) }
      const axis = timeAxis(days, edges)
      const marks = [
        ...scale.ticks.map((tick) => gridLine(edges, y(tick), format(tick))),
        timeLabels(days, axis, edges.right + 20, height - 6, chart.marked),
        ...draw({ axis, y, top, bottom }),
      ]
      return { axis, marks, bottom: bottom + lanes }
    },
  })
}

/** Pixels from one name to the next. */
const nameHeight = 15

/** The end of each measured line that has one, and where its name stands. A line that ended earlier has its name there. */
function endsOf(lines: readonly ChartLine[], { axis, y, top, bottom }: Plot) {
  const ends = lines.map(({ values, imported }) => {
    const day = imported ? -1 : values.findLastIndex((value) => value !== null)
    return day === -1 ? undefined : { x: axis.x(day), y: y(values[day] as number) }
  })
  const last = Math.max(...ends.map((end) => end?.x ?? 0))
  const atEnd = ends.filter((end) => end !== undefined && end.x === last) as { x: number; y: number }[]
  const heights = atEnd.map((end) => end.y)
  const places = spread(heights, { from: top, to: bottom, gap: nameHeight })
  return ends.map((end) => {
    if (end === undefined) return undefined
    const place = atEnd.indexOf(end)
    return place === -1
      ? { ...end, nameX: end.x + 6, nameY: end.y - 8 }
      : { ...end, nameX: last + 14, nameY: places[place] ?? end.y }
  })
}

type LineEnd = NonNullable<ReturnType<typeof endsOf>[number]>

function endLabel({ x, y, nameX, nameY }: LineEnd, name: string): SVGElement {
  const [cx, cy] = [round(x), round(y)]
  return svg(
    'g',
    'end',
    svg('path', { class: 'leader', d: `M${cx} ${cy}L${round(nameX - 4)} ${round(nameY)}` }),
    svg('circle', { class: 'dot', cx, cy, r: 3 }),
    svg('text', { x: round(nameX), y: round(nameY + 4) }, name),
  )
}

/** Above all lines, so that none crosses it. */
function startLabel({ label, values }: ChartLine, { axis, top }: Plot): SVGElement {
  const day = values.findIndex((value) => value !== null)
  return svg('g', 'end', svg('text', { x: round(axis.x(day)), y: top - 6 }, label))
}

function drawn({ values }: ChartLine, { axis: { x }, y }: Plot, dots: boolean): readonly SVGElement[] {
  const d = pathOf(values, x, y)
  const points = values.flatMap((value, day) => {
    if (value === null) return []
    const isAlone = (values[day - 1] ?? null) === null && (values[day + 1] ?? null) === null
    if (!dots && !isAlone) return []
    return [svg('circle', { class: 'dot', cx: round(x(day)), cy: round(y(value)), r: 2 })]
  })
  // The wide one is for the pointer.
  return [svg('path', { class: 'reach', d }), svg('path', { class: 'line', d }), ...points]
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

/** Pixels of a letter, about. */
const letter = 7.3

/** Room right of a plot for these names. */
export function endGutter(names: readonly string[]): number {
  const longest = Math.max(0, ...names.map(({ length }) => length))
  return longest === 0 ? 10 : 20 + longest * letter
}

/**
 * Places for names, none closer to another than the gap: as near as possible to where they are wanted, in the same order. If
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

const edge = 3
/** The height of a small line is at least this part of its largest value, and of ranks this many: a small change looks small. */
const leastRange = { part: 0.25, ranks: 5 }

/** The trend of a figure or of a rank, as wide as its place, with a dot on the last value; the best rank is at the top. */
export function trendLine(values: readonly (number | null)[], areRanks = false): SVGElement {
  const [width, height] = [200, 32]
  const stretch = { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none' }
  const line = svg('svg', { class: 'trend-line', ...stretch, 'aria-hidden': 'true' })
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return line
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const range = Math.max(most - least, areRanks ? leastRange.ranks : Math.abs(most) * leastRange.part) || 1
  const middle = (least + most) / 2
  const y = (value: number): number => {
    const rise = ((value - middle) / range) * (height - 2 * edge)
    return height / 2 + (areRanks ? rise : -rise)
  }
  const x = (day: number): number => (values.length < 2 ? width : (day / (values.length - 1)) * width)
  const last = values.findLastIndex((value) => value !== null)
  // A line without length has round ends: a dot that does not stretch with the drawing.
  const dot = `M${round(x(last))} ${round(y(values[last] as number))}h0`
  line.append(svg('path', { d: pathOf(values, x, y) }), svg('path', { class: 'last', d: dot }))
  return line
}

const roundSteps = [1, 2, 2.5, 3, 4, 5, 10]

/** A scale from 0 to a round number just above the largest value, in three to five steps: a small change looks small. */
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
  const ticks = Array.from({ length: steps + 1 }, (_, index) => index * step)
  return { top: steps * step, bottom: 0, ticks }
}

/** A scale of ranks, with rank 1 at the top and the deepest rank at the bottom. */
export function scaleOfRanks(values: readonly (number | null)[]): Scale {
  const deepest = Math.max(10, ...values.map((value) => value ?? 0))
  const step = [5, 10, 20, 50, 100, 200].find((one) => deepest / one <= 5) ?? 500
  const bottom = Math.ceil(deepest / step) * step
  const others = Array.from({ length: bottom / step }, (_, index) => (index + 1) * step)
  return { top: 1, bottom, ticks: [1, ...others] }
}

/** What is marked on days of a chart: notes, and the day that is compared with. */
type DayEvents = ReturnType<typeof eventsWithin>

/** The events that lie within the days of a chart, notes in the order of their dates. */
export function eventsWithin(
  days: readonly string[],
  { notes, compared }: { readonly notes: readonly ReportNote[]; readonly compared: string | null },
) {
  const [first = '', last = ''] = [days[0], days.at(-1)]
  const isWithin = (date: string): boolean => date >= first && date <= last
  return {
    notes: notes.filter(({ date }) => isWithin(date)).toSorted((a, b) => (a.date < b.date ? -1 : 1)),
    compared: compared !== null && isWithin(compared) ? compared : null,
  }
}

/** The events of a day in words. A note of a day without a run belongs to the next one. */
export function eventTexts(
  days: readonly string[],
  day: number,
  { notes, compared }: DayEvents,
): readonly string[] {
  const [date = '', before = ''] = [days[day], days[day - 1]]
  const own = notes.flatMap(({ date: on, text }, place) =>
    on > before && on <= date ? [say.charts.note(place + 1, text)] : [],
  )
  return compared === date ? [say.charts.comparedDay, ...own] : own
}

/** Width of a marker, at least. */
const markerWidth = 18

/** Markers of notes: those that would overlap are one. */
export function markersAt(places: readonly number[]) {
  const groups: { from: number; to: number; places: number[] }[] = []
  for (const [index, x] of places.entries()) {
    const last = groups.at(-1)
    if (last !== undefined && x - (last.places.at(-1) as number) < markerWidth + 8) {
      last.places.push(x)
      last.to = index + 1
    } else groups.push({ from: index + 1, to: index + 1, places: [x] })
  }
  return groups.map(({ from, to, places: all }) => ({
    x: ((all[0] as number) + (all.at(-1) as number)) / 2,
    text: from === to ? String(from) : `${from}–${to}`,
  }))
}

/** Height of the row of markers above a plot. */
export const markerRow = 24

/** The markers of notes above the plot, each with a line down at its day, and the line of the compared day. */
function eventMarks({ notes, compared }: DayEvents, { axis, top, bottom }: Plot): readonly SVGElement[] {
  const places = notes.map(({ date }) => axis.xOf(date))
  const row = top - markerRow / 2 - 2
  const lines = [...new Set(places.map(round))].map((x) =>
    svg('line', { class: 'note-line', x1: x, x2: x, y1: top - 4, y2: bottom }),
  )
  const markers = markersAt(places).map(({ x, text }) => {
    const width = Math.max(markerWidth, text.length * 7 + 8)
    const left = round(Math.max(0, x - width / 2))
    return svg(
      'g',
      'note-marker',
      svg('rect', { x: left, y: row - 8, width, height: 16, rx: 8 }),
      svg('text', { x: round(left + width / 2), y: row + 4, 'text-anchor': 'middle' }, text),
    )
  })
  const day = compared === null ? [] : [comparedMark(axis.xOf(compared), axis, bottom)]
  return [...day, ...lines, ...markers]
}

/** Room for the name of the compared day, above everything else. */
export const comparedHeight = 13

function comparedMark(at: number, { left, right }: Plot['axis'], bottom: number): SVGElement {
  const x = round(at)
  const isLate = at > (left + right) / 2
  const place = { x: x + (isLate ? -5 : 5), y: comparedHeight - 3, 'text-anchor': isLate ? 'end' : 'start' }
  const line = svg('line', { x1: x, x2: x, y1: 0, y2: bottom })
  return svg('g', 'compared-day', line, svg('text', place, say.charts.comparedDay))
}

/** The notes below a chart, with the numbers of their markers; null if there are none. */
export function notesList({ notes }: DayEvents): HTMLElement | null {
  if (notes.length === 0) return null
  const items = notes.map(({ date, text, url }, place) => {
    const number = ariaHidden(String(place + 1), 'note-number')
    const day = html('b', '', say.mediumDay(date))
    return html('li', '', number, html('span', '', day, ' ', html('bdi', '', text), url && linkTo(url)))
  })
  return html('ol', { class: 'chart-notes', 'aria-label': say.charts.notes }, ...items)
}
