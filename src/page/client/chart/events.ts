import type { ReportNote } from '../../../model/settings/presentation.ts'
import { html, linkTo, svg, uniqueId } from '../dom.ts'
import { say } from '../text.ts'
import { type Plot, round } from './frame.ts'

/** What is marked on days of a chart. */
export interface DayEvents {
  /** Notes within the days of the chart, in the order of their dates. */
  readonly notes: readonly ReportNote[]
  /** The day that is compared with, if it is one of the days. */
  readonly compared: string | null
}

/** The events that lie within the days of a chart. */
export function eventsWithin(
  days: readonly string[],
  { notes, compared }: { readonly notes: readonly ReportNote[]; readonly compared: string | null },
): DayEvents {
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

/** Markers of notes: those that would overlap are one. */
export interface Marker {
  readonly x: number
  readonly text: string
}

/** Width of a marker, at least. */
const markerWidth = 18

export function markersAt(places: readonly number[]): readonly Marker[] {
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
export function eventMarks(
  { notes, compared }: DayEvents,
  { axis, top, bottom }: Plot,
): readonly SVGElement[] {
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
  return [...(compared === null ? [] : comparedMark(axis.xOf(compared), axis, bottom)), ...lines, ...markers]
}

/** Room for the name of the compared day, above everything else. */
export const nameHeight = 13

function comparedMark(
  at: number,
  { left, right }: { readonly left: number; readonly right: number },
  bottom: number,
): readonly SVGElement[] {
  const x = round(at)
  const isLate = at > (left + right) / 2
  const place = { x: x + (isLate ? -5 : 5), y: nameHeight - 3, 'text-anchor': isLate ? 'end' : 'start' }
  return [
    svg(
      'g',
      'compared-day',
      svg('line', { x1: x, x2: x, y1: 0, y2: bottom }),
      svg('text', place, say.charts.comparedDay),
    ),
  ]
}

/** Stripes over days that are incomplete, each half way to the days before and after it. */
export function hatchedDays(
  days: readonly number[],
  { axis, top, bottom }: Plot,
  count: number,
): readonly SVGElement[] {
  if (days.length === 0) return []
  const id = uniqueId('incomplete')
  const d = days.map((day) => {
    const [x, before, after] = [
      axis.x(day),
      axis.x(Math.max(0, day - 1)),
      axis.x(Math.min(count - 1, day + 1)),
    ]
    const from = Math.max(axis.left, day === 0 ? x - (after - x) / 2 : (before + x) / 2)
    const to = Math.min(axis.right, day === count - 1 ? x + (x - before) / 2 : (x + after) / 2)
    const wide = Math.max(3, to - from)
    return `M${round((from + to - wide) / 2)} ${top}h${round(wide)}V${bottom}h${-round(wide)}Z`
  })
  return [stripes(id), svg('path', { class: 'incomplete', fill: `url(#${id})`, d: d.join('') })]
}

/** A pattern of stripes, so that what is not known differs from the rest without colour. */
export function stripes(id: string): SVGElement {
  const size = { width: 5, height: 5 }
  return svg(
    'defs',
    '',
    svg(
      'pattern',
      { id, ...size, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
      svg('rect', { ...size, class: 'hatch-ground' }),
      svg('line', { x1: 0, x2: 0, y1: 0, y2: 5, class: 'hatch-line' }),
    ),
  )
}

/** The notes below a chart, with the numbers of their markers; null if there are none. */
export function notesList({ notes }: DayEvents): HTMLElement | null {
  if (notes.length === 0) return null
  const items = notes.map(({ date, text, url }, place) =>
    html(
      'li',
      '',
      html('span', { class: 'note-number', 'aria-hidden': 'true' }, place + 1),
      html(
        'span',
        '',
        html('b', '', say.mediumDay(date)),
        ' ',
        html('bdi', '', text),
        url === null ? null : linkTo(url),
      ),
    ),
  )
  return html('ol', { class: 'chart-notes', 'aria-label': say.charts.notes }, ...items)
}
