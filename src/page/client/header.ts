import type { PageData } from '../../report/data.ts'
import { baselineOrder } from '../../report/history/keyword-status.ts'
import type { Presentation } from '../../report/presentation/presentation.ts'
import { comparedDays } from '../../report/summary.ts'
import { comparisonInWords, daysInWords } from '../../report/words/period-text.ts'
import { type SectionId, sectionIds } from './controls/address.ts'
import { copyLink } from './controls/copy-link.ts'
import { button, html } from './dom.ts'
import { filterLabels } from './filters.ts'
import { say } from './language.ts'
import { setRunningHead } from './paper/running-head.ts'
import { isWithoutAnswers } from './sections/answers.ts'
import { hasScorecards } from './sections/scorecards.ts'
import type { View } from './view.ts'

/** The sections of a job without targets. */
const withoutTargets: readonly string[] = ['overview', 'runs', 'definitions']

/** The name of the job, the days, and links to the sections. */
export function header(
  data: PageData,
  go: (id: SectionId) => void,
): {
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
  const shown = sectionIds.filter(isShown)
  const nameOf = (id: SectionId): string =>
    id === 'answers' && isWithoutAnswers(data) ? say.answers.titleWithoutAnswers : say.header.sections[id]
  const size = [
    say.counts.keywords(history.keywords.length),
    say.counts.targets(own),
    ...(rivals > 0 ? [say.counts.competitors(rivals)] : []),
    say.counts.days(history.days.length),
  ].join(' · ')
  const links = shown.map((id) =>
    html(
      'li',
      '',
      sectionLink(id, nameOf(id), () => go(id)),
    ),
  )
  const title = html('h1', '', html('bdi', '', presentation.title ?? history.job))
  // The address of a file on this machine leads nobody else to it.
  const link = location.protocol === 'file:' ? null : copyLink()
  const print = button('quiet', () => window.print(), {}, say.header.print)
  const element = html(
    'header',
    'page-header',
    html('div', 'title', logo(presentation), kindLine(presentation), title, days, selection),
    html('div', 'tools', html('p', 'size', size), link?.element, print, themeSwitch()),
    html('nav', { 'aria-label': say.header.nav }, html('ul', '', ...links)),
  )
  return {
    element,
    show: (view, found) => {
      link?.close()
      const labels = [
        ...filterLabels(view.filters, data),
        ...(history.series.length === 0 ? [] : [[say.header.shown, found] as const]),
      ]
      selection.replaceChildren(
        ...labels.map(([name, value]) =>
          html('div', '', html('dt', '', name), html('dd', '', html('bdi', '', value))),
        ),
      )
      const period = periodText(view)
      days.replaceChildren(html('strong', '', period), `, ${comparedText(view)}`)
      setRunningHead(presentation.client ?? '', presentation.title ?? history.job, period)
    },
  }
}

/** A link to a section. A click with a key that opens it elsewhere is left to the browser. */
export function sectionLink(id: SectionId, text: string, go: () => void, className = ''): HTMLElement {
  const click = (event: MouseEvent): void => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    go()
  }
  return html('a', { class: className || null, href: `#${id}`, on: { click } }, text)
}

/** Goes to a section, with the focus on its heading. */
export function goTo(id: SectionId, behavior: ScrollBehavior = 'auto'): void {
  document.getElementById(id)?.scrollIntoView({ behavior })
  focusOn(id)
}

/** Puts the focus on the heading of a section, wherever the page is scrolled to. */
export function focusOn(id: SectionId): void {
  document.getElementById(`${id}-title`)?.focus({ preventScroll: true })
}

/** The period in words, and the last day on which something was checked if that is not its last one. */
function periodText({ history, period }: View): string {
  const last = history.days.at(-1)
  if (last === undefined || period === null) return say.header.noDays
  const days = daysInWords(say, period)
  return last < period.until ? `${days} (${say.header.lastChecked(say.longDay(last))})` : days
}

/** What is compared with, in words. Without any keyword it is the day that keywords would be compared with. */
export function comparedText({ history, statuses, compare }: View): string {
  const usual = baselineOrder(history.days, compare).slice(0, 1)
  const days =
    statuses.length > 0 ? comparedDays(history, statuses) : usual.map((day) => history.days[day] as string)
  return comparisonInWords(say, compare, days)
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
    toggle.textContent = theme === 'dark' ? say.header.light : say.header.dark
    toggle.setAttribute('aria-label', theme === 'dark' ? say.header.useLight : say.header.useDark)
  }
}

/** The logo; null if there is none. */
function logo({ logo: address, agency }: Presentation): HTMLElement | null {
  return address === null ? null : html('img', { class: 'logo', src: address, alt: agency ?? '' })
}

/** What the report is, for whom, and by whom. */
function kindLine({ client, agency }: Presentation): HTMLElement {
  const names = [
    client === null ? null : say.brand.for(client),
    agency === null ? null : say.brand.by(agency),
  ]
  return html(
    'p',
    'kind',
    say.brand.kind,
    ...names.flatMap((name) => (name === null ? [] : [' · ', html('bdi', '', name)])),
  )
}

/** The last line of the page; null if the job names none. */
export function footer({ footer: text }: Presentation): HTMLElement | null {
  return text === null ? null : html('footer', 'page-footer', html('bdi', '', text))
}
