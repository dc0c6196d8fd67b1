import { h, onWidth, s } from '../dom.ts'
import { longDay } from '../format.ts'
import type { TimeAxis } from './time-axis.ts'

/** A chart over days that is drawn as wide as there is room. */
export interface Frame {
  /** What the chart shows, in a sentence. */
  readonly label: string
  readonly days: readonly string[]
  readonly height: number
  draw(width: number): {
    readonly axis: TimeAxis
    readonly marks: readonly SVGElement[]
    readonly bottom: number
  }
  /** What is to be said of a day. */
  tip(day: number): readonly TipRow[]
}

export interface TipRow {
  readonly sample: Element | null
  readonly label: string
  readonly value: string
}

/** Draws, and says what a day came to where the pointer is, or where the arrow keys went. */
export function chartFrame({ label, days, height, draw, tip }: Frame): HTMLElement {
  const svg = s('svg', { 'aria-hidden': 'true', height, class: 'chart' })
  const tipBox = h('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' })
  const said = h('p', { class: 'unseen', role: 'status' })
  const cursor = s('line', { class: 'cursor', y1: 0, visibility: 'hidden' })
  const box = h(
    'div',
    {
      class: 'plot',
      tabindex: 0,
      role: 'application',
      'aria-roledescription': 'chart',
      'aria-label': `${label} The arrow keys go from day to day.`,
    },
    svg,
    tipBox,
    said,
  )
  let axis: TimeAxis | null = null
  let at: number | null = null
  onWidth(box, (width) => {
    svg.setAttribute('width', String(width))
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`)
    const drawn = draw(width)
    axis = drawn.axis
    cursor.setAttribute('y2', String(drawn.bottom))
    svg.replaceChildren(...drawn.marks, cursor)
    hide()
  })
  box.addEventListener('pointermove', ({ clientX }) => {
    if (axis !== null) show(axis.nearest(clientX - box.getBoundingClientRect().left))
  })
  box.addEventListener('pointerleave', hide)
  box.addEventListener('blur', hide)
  box.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -days.length, End: days.length }[event.key]
    if (event.key === 'Escape' && at !== null) {
      hide()
      event.stopPropagation()
      event.preventDefault()
    }
    if (step === undefined || axis === null) return
    event.preventDefault()
    show(Math.min(days.length - 1, Math.max(0, (at ?? (step < 0 ? days.length : -1)) + step)))
    const rows = tip(at as number).map((row) => `${row.label} ${row.value}`)
    said.textContent = [longDay(days[at as number] as string), ...rows].join(', ')
  })
  return box

  function show(day: number): void {
    if (axis === null || day === at) return
    at = day
    const x = axis.x(day)
    cursor.setAttribute('x1', String(x))
    cursor.setAttribute('x2', String(x))
    cursor.setAttribute('visibility', 'visible')
    tipBox.replaceChildren(h('p', {}, longDay(days[day] as string)), h('dl', {}, ...tip(day).map(tipRow)))
    tipBox.hidden = false
    const room = box.clientWidth
    const left = x + 14 + tipBox.offsetWidth > room ? x - 14 - tipBox.offsetWidth : x + 14
    tipBox.style.left = `${Math.max(0, Math.min(left, room - tipBox.offsetWidth))}px`
  }

  function hide(): void {
    at = null
    tipBox.hidden = true
    cursor.setAttribute('visibility', 'hidden')
  }
}

function tipRow({ sample, label, value }: TipRow): HTMLElement {
  return h('div', {}, h('dt', {}, sample, label), h('dd', {}, value))
}
