import { svg } from '../dom.ts'
import { lookClass, round } from './frame.ts'

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
export interface LineEnd {
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
export function endLabels(
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
  const look = lookClass(target)
  const [cx, cy] = [round(fromX), round(fromY)]
  return svg(
    'g',
    `end${main ? ' main' : ''}`,
    svg('path', { class: `leader ${look}`, d: `M${cx} ${cy}L${round(x - 3)} ${round(y)}` }),
    svg('circle', { class: `dot ${look}`, cx, cy, r: main ? 3.4 : 2.4 }),
    svg('text', { x: round(x), y: round(y + 4) }, text),
  )
}
