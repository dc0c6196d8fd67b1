import type { Standing } from '../../cohort.ts'
import type { PageData } from '../../page-data.ts'
import { chosenWords } from './choice.ts'
import { h } from './dom.ts'
import { count, longDay, mediumDay } from './format.ts'
import { themeSwitch } from './theme.ts'
import type { View } from './view.ts'

/** Parts of the page, in their order. */
const parts = [
  ['overview', 'Overview'],
  ['keywords', 'Keywords'],
  ['competitors', 'Competitors'],
  ['pages', 'Pages'],
  ['answers', 'AI answers'],
  ['runs', 'Runs'],
  ['definitions', 'Definitions'],
] as const

/** Those that there are where no target is tracked. */
const withoutTargets: readonly string[] = ['overview', 'runs', 'definitions']

/** Name of the job, the days, and the way to the parts. */
export function masthead(data: PageData): {
  readonly element: HTMLElement
  /** @param found how many keywords that comes to */
  show(view: View, found: string): void
} {
  const { history } = data
  const sight = h('dl', { class: 'sight only-print' })
  const days = h('p', { class: 'days' })
  const own = history.targets.filter((one) => one.own).length
  const rivals = history.targets.length - own
  const shown = parts.filter(([id]) => history.targets.length > 0 || withoutTargets.includes(id))
  const size = [
    count(history.keywords.length, 'keyword'),
    count(own, 'target'),
    ...(rivals > 0 ? [count(rivals, 'competitor')] : []),
    count(history.days.length, 'day'),
  ].join(' · ')
  const element = h(
    'header',
    { class: 'masthead' },
    h(
      'div',
      { class: 'title' },
      h('p', { class: 'kind' }, 'Rank report'),
      h('h1', {}, h('bdi', {}, history.job)),
      days,
      sight,
    ),
    h(
      'div',
      { class: 'tools' },
      h('p', { class: 'size' }, size),
      h('button', { type: 'button', class: 'quiet', on: { click: () => window.print() } }, 'Print'),
      themeSwitch(),
    ),
    h(
      'nav',
      { 'aria-label': 'Parts of the report' },
      h(
        'ul',
        {},
        ...shown.map(([id, name]) => h('li', {}, h('a', { href: `#${id}`, on: { click: go(id) } }, name))),
      ),
    ),
  )
  return {
    element,
    show: ({ history: seen, standings, choice }, found) => {
      const words = [...chosenWords(choice, data), ['In sight', found] as const]
      sight.replaceChildren(
        ...words.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, h('bdi', {}, value)))),
      )
      const last = seen.days.at(-1)
      const since = comparedDays(standings, seen.days)
      days.replaceChildren(
        h('strong', {}, last === undefined ? 'No day in sight' : longDay(last)),
        since === '' ? ' · nothing to compare with' : ` compared with ${since}`,
      )
    },
  }
}

/** Goes to a part without losing what was chosen, which is said behind the same `#`. */
export function go(id: string): (event: MouseEvent) => void {
  return (event) => {
    event.preventDefault()
    goTo(id)
  }
}

/** Goes to a part, with the focus on its heading. */
export function goTo(id: string, behavior: ScrollBehavior = 'auto'): void {
  document.getElementById(id)?.scrollIntoView({ behavior })
  document.getElementById(`${id}-title`)?.focus({ preventScroll: true })
}

/** The part of the page that an address names; undefined where it says what was chosen, or nothing. */
export function partIn(hash: string): string | undefined {
  return parts.find(([id]) => hash === `#${id}`)?.[0]
}

/** The days that these are compared with, in words; empty where there is none. */
export function comparedDays(standings: readonly Standing[], days: readonly string[]): string {
  const places = [...new Set(standings.flatMap(({ baseline }) => (baseline === null ? [] : [baseline.day])))]
  places.sort((a, b) => a - b)
  const [first, last] = [places[0], places.at(-1)]
  if (first === undefined || last === undefined) return ''
  return first === last
    ? longDay(days[first] as string)
    : `${mediumDay(days[first] as string)} to ${mediumDay(days[last] as string)}`
}
