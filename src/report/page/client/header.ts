import { comparedDays } from '../../summary.ts'
import type { PageData } from '../data.ts'
import { kindLine, logo } from './brand.ts'
import { button, html } from './dom.ts'
import { filterLabels } from './filters.ts'
import { count, longDay, mediumDay } from './format.ts'
import { setRunningHead } from './paper/running-head.ts'
import { hasScorecards } from './sections/scorecards.ts'
import type { View } from './view.ts'

/** Sections of the page, in their order. */
const parts = [
  ['overview', 'Overview'],
  ['breakdown', 'Breakdown'],
  ['keywords', 'Keywords'],
  ['competitors', 'Competitors'],
  ['features', 'Result pages'],
  ['pages', 'Pages'],
  ['answers', 'AI answers'],
  ['runs', 'Runs'],
  ['definitions', 'Definitions'],
] as const

/** The sections of a job without targets. */
const withoutTargets: readonly string[] = ['overview', 'runs', 'definitions']

/** The name of the job, the days, and links to the sections. */
export function header(data: PageData): {
  readonly element: HTMLElement
  /** @param found the number of keywords, in words */
  show(view: View, found: string): void
} {
  const { history, presentation } = data
  const selection = html('dl', 'selection only-print')
  const days = html('p', 'days')
  const own = history.targets.filter((one) => one.own).length
  const rivals = history.targets.length - own
  const isShown = (id: string): boolean =>
    (history.targets.length > 0 || withoutTargets.includes(id)) &&
    (presentation.audience === 'team' || id !== 'runs') &&
    (id !== 'breakdown' || hasScorecards(data))
  const shown = parts.filter(([id]) => isShown(id))
  const size = [
    count(history.keywords.length, 'keyword'),
    count(own, 'target'),
    ...(rivals > 0 ? [count(rivals, 'competitor')] : []),
    count(history.days.length, 'day'),
  ].join(' · ')
  const links = shown.map(([id, name]) =>
    html('li', '', html('a', { href: `#${id}`, on: { click: go(id) } }, name)),
  )
  const title = html('h1', '', html('bdi', '', presentation.title ?? history.job))
  const print = button('quiet', () => window.print(), {}, 'Print')
  const element = html(
    'header',
    'page-header',
    html('div', 'title', logo(presentation), kindLine(presentation), title, days, selection),
    html('div', 'tools', html('p', 'size', size), print, themeSwitch()),
    html('nav', { 'aria-label': 'Parts of the report' }, html('ul', '', ...links)),
  )
  return {
    element,
    show: (view, found) => {
      const labels = [...filterLabels(view.filters, data), ['Shown', found] as const]
      selection.replaceChildren(
        ...labels.map(([name, value]) =>
          html('div', '', html('dt', '', name), html('dd', '', html('bdi', '', value))),
        ),
      )
      const last = view.history.days.at(-1)
      const since = comparedText(view)
      days.replaceChildren(
        html('strong', '', last === undefined ? 'No day selected' : longDay(last)),
        since === '' ? ' · nothing to compare with' : ` compared with ${since}`,
      )
      setRunningHead([presentation.client ?? '', presentation.title ?? history.job, days.textContent ?? ''])
    },
  }
}

/** Goes to a section without changing the `#` of the address, which holds the filters. */
export function go(id: string): (event: MouseEvent) => void {
  return (event) => {
    event.preventDefault()
    goTo(id)
  }
}

/** Goes to a section, with the focus on its heading. */
export function goTo(id: string, behavior: ScrollBehavior = 'auto'): void {
  document.getElementById(id)?.scrollIntoView({ behavior })
  document.getElementById(`${id}-title`)?.focus({ preventScroll: true })
}

/** The section that an address names; undefined if it names none. */
export function partIn(hash: string): string | undefined {
  return parts.find(([id]) => hash === `#${id}`)?.[0]
}

/** The compared days in words; empty if there are none. */
export function comparedText({ history, statuses }: View): string {
  const days = comparedDays(history, statuses)
  const [first, last] = [days[0], days.at(-1)]
  if (first === undefined || last === undefined) return ''
  return first === last ? longDay(first) : `${mediumDay(first)} to ${mediumDay(last)}`
}

type Theme = 'light' | 'dark'

/** The button that switches between light and dark colours. Until it is pressed the page follows the system. */
export function themeSwitch(): HTMLElement {
  const system = matchMedia('(prefers-color-scheme: dark)')
  let chosen: Theme | null = null
  const toggle = button('quiet', turn)
  system.addEventListener('change', show)
  show()
  return toggle

  function current(): Theme {
    return chosen ?? (system.matches ? 'dark' : 'light')
  }

  function turn(): void {
    chosen = current() === 'dark' ? 'light' : 'dark'
    show()
  }

  function show(): void {
    const theme = current()
    document.documentElement.dataset.theme = theme
    toggle.textContent = theme === 'dark' ? 'Light' : 'Dark'
    toggle.setAttribute('aria-label', theme === 'dark' ? 'Use light colours' : 'Use dark colours')
  }
}
