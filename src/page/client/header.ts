import type { PageData } from '../../report/data.ts'
import { baselineOrder } from '../../report/history/keyword-status.ts'
import type { Presentation } from '../../report/presentation/presentation.ts'
import { comparedDays } from '../../report/summary.ts'
import { comparisonInWords, daysInWords } from '../../report/words/words.ts'
import { button, html } from './dom.ts'
import { filterLabels, type SectionId } from './filters.ts'
import { lengthOf, say, shortened } from './text.ts'
import type { View } from './view.ts'

/** The title line: whose report it is, its days, and what can be done with the whole page. */
export function header(data: PageData) {
  const { history, presentation } = data
  const { logo: src, agency } = presentation
  const logo = src && html('img', { class: 'logo', src, alt: agency ?? '' })
  const selection = html('dl', 'selection only-print')
  const days = html('p', 'days')
  const title = html('h1', '', html('bdi', '', presentation.title ?? history.job))
  const print = button('quiet', () => window.print(), {}, say.header.print)
  const element = html(
    'header',
    'page-header',
    html('div', 'title', logo, kindLine(presentation), title, days, selection),
    html('div', 'tools', print),
  )
  return {
    element,
    /** @param found the number of keywords, in words */
    show: (view: View, found: string): void => {
      const labels = [...filterLabels(view.filters, data)]
      if (history.series.length > 0) labels.push([say.header.shown, found])
      selection.replaceChildren(
        ...labels.map(([name, value]) =>
          html('div', '', html('dt', '', name), html('dd', '', html('bdi', '', value))),
        ),
      )
      const period = periodText(view)
      days.textContent = `${period}, ${comparedText(view)}`
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

/** What the report is, for whom, and by whom. */
function kindLine({ client, agency }: Presentation): HTMLElement {
  const names = [client && say.brand.for(client), agency && say.brand.by(agency)].filter(Boolean)
  return html('p', 'kind', say.brand.kind, ...names.flatMap((name) => [' · ', html('bdi', '', name)]))
}

/** Characters of the running head at most: it does not break. */
const mostCharacters = 110

/**
 * Sets the line that printed pages after the first one have at their top: whose report it is, and its days. The style sheet reads it as
 * a text of CSS.
 */
function setRunningHead(client: string, title: string, days: string): void {
  const line = runningHead(client, title, days)
  document.documentElement.style.setProperty('--running-head', cssText(line))
}

/** Names are shortened, the days are not. */
export function runningHead(client: string, title: string, days: string): string {
  const room = mostCharacters - lengthOf(days)
  const ofClient = Math.max(Math.floor(room / 2), room - lengthOf(title))
  const shortClient = shortened(client, ofClient)
  return [shortClient, shortened(title, room - lengthOf(shortClient)), days]
    .filter((part) => part !== '')
    .join(' · ')
}

/** A text as CSS has it. All but letters, digits and spaces is escaped, so that it cannot end early. */
function cssText(text: string): string {
  const escaped = text.replace(/[^\p{L}\p{N} ]/gu, (sign) => `\\${sign.codePointAt(0)?.toString(16)} `)
  return `"${escaped}"`
}
