import type { Standing } from '../../cohort.ts'
import type { PageData } from '../../page-data.ts'
import { type Choice, choiceIn, hashOf } from './choice.ts'
import { controls } from './controls.ts'
import { pageData } from './data.ts'
import { h } from './dom.ts'
import { count, longDay, number } from './format.ts'
import { keywordSheet } from './keyword/sheet.ts'
import { comparedDays, masthead } from './masthead.ts'
import { answers } from './sections/answers.ts'
import { competitors } from './sections/competitors.ts'
import { definitions } from './sections/definitions.ts'
import { keywordTable } from './sections/keywords.ts'
import { overview } from './sections/overview.ts'
import { pages } from './sections/pages.ts'
import { runs } from './sections/runs.ts'
import { section } from './sections/section.ts'
import { type View, viewOf } from './view.ts'

const root = document.getElementById('report')
if (root !== null) draw(await pageData(), root)

/** Draws the page, and draws it again whenever something else is chosen. */
function draw(data: PageData, root: HTMLElement): void {
  let choice = choiceIn(location.hash, data)
  let view = viewOf(data, choice)
  const sheet = keywordSheet()
  const open = (standing: Standing, all: readonly Standing[]): void => sheet.open(view, standing, all)
  const fields = controls(data, choose)
  const head = masthead(data)
  const main = h('main', { id: 'content' })
  root.replaceChildren(
    h('a', { class: 'skip', href: '#overview-title' }, 'Skip to the figures'),
    head.element,
    fields.element,
    main,
    sheet.element,
  )
  window.addEventListener('hashchange', () => {
    const said = choiceIn(location.hash, data)
    if (!document.getElementById(location.hash.slice(1))) show(said)
  })
  show(choice)

  function choose(change: Partial<Choice>): void {
    const next = { ...choice, ...change }
    const hash = hashOf(next, data)
    history.replaceState(null, '', hash === '' ? location.pathname + location.search : `#${hash}`)
    show(next)
  }

  function show(next: Choice): void {
    choice = next
    view = viewOf(data, choice)
    fields.show(choice, found(view, data))
    head.show(view)
    const table = keywordTable(view, open)
    main.replaceChildren(
      overview(view, { open, choose }),
      section({ id: 'keywords', title: 'Keywords', lead: leadOf(view) }, table.element),
      competitors(view, open),
      pages(view, open),
      answers(view),
      runs(view),
      definitions(view),
    )
    table.show(view.standings)
  }
}

function found({ standings }: View, { history }: PageData): string {
  const all = history.series.filter(({ target }) => target === standings[0]?.series.target).length
  return all === standings.length || all === 0
    ? count(standings.length, 'keyword')
    : `${number(standings.length)} of ${count(all, 'keyword')}`
}

function leadOf({ history, standings }: View): string {
  const since = comparedDays(standings, history.days)
  const compared = since === '' ? '' : `, compared with ${since}`
  return `Where ${history.days.length === 0 ? 'each keyword stands' : `each keyword stood on ${longDay(history.days.at(-1) as string)}`}${compared}. Open one for its history.`
}
