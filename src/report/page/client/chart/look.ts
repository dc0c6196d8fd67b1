import { s } from '../dom.ts'

/** How many lines are told apart: each has a colour of its own and strokes of its own. */
const looks = 8
const dashes = ['', '7 3', '2 3', '9 3 2 3', '4 4', '12 4', '1 4', '6 2 2 2 2 2']

/** Attributes of the line of a target, by its place in the list of targets. */
export function lineLook(target: number): {
  readonly class: string
  readonly 'stroke-dasharray': string | null
} {
  return { class: `line look-${target % looks}`, 'stroke-dasharray': dashes[target % looks] || null }
}

/** A piece of the line, for legends. */
export function lineSample(target: number): SVGElement {
  return s(
    'svg',
    { class: 'sample', width: 22, height: 8, 'aria-hidden': 'true' },
    s('line', { x1: 1, x2: 21, y1: 4, y2: 4, ...lineLook(target) }),
  )
}

/** The classes of ranks, from the best on, then what is no rank. */
export function bandSample(band: number): SVGElement {
  return s(
    'svg',
    { class: 'sample', width: 12, height: 12, 'aria-hidden': 'true' },
    s('rect', { x: 0.5, y: 0.5, width: 11, height: 11, rx: 2, class: `band band-${band}` }),
  )
}
