import type { Standing } from '../../cohort.ts'
import type { PageData } from '../../page-data.ts'
import { type Choice, choiceIn, hashOf, inOrder } from './choice.ts'
import { controls } from './controls.ts'
import { pageData } from './data.ts'
import { h } from './dom.ts'
import { count, longDay, number } from './format.ts'
import { inTurn } from './in-turn.ts'
import { keywordSheet } from './keyword/sheet.ts'
import { comparedDays, go, goTo, masthead, partIn } from './masthead.ts'
import { type Moved, movedWords } from './movement-text.ts'
import { answers } from './sections/answers.ts'
import { competitors } from './sections/competitors.ts'
import { definitions } from './sections/definitions.ts'
import { keywordTable } from './sections/keywords.ts'
import { overview } from './sections/overview.ts'
import { pages } from './sections/pages.ts'
import { runs } from './sections/runs.ts'
import { empty, section } from './sections/section.ts'
import { countedView, type View, viewOf, withMovement } from './view.ts'

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
  const tracked = data.history.targets.map(
    (_, place) => data.history.series.filter(({ target }) => target === place).length,
  )
  const later = inTurn()
  const main = h('main', { id: 'content' })
  root.replaceChildren(
    h('a', { class: 'skip', href: '#overview', on: { click: go('overview') } }, 'Skip to the figures'),
    head.element,
    fields.element,
    main,
    sheet.element,
  )
  let lastChange = ''
  let showMovement: (() => void) | undefined
  window.addEventListener('hashchange', () => {
    lastChange = ''
    show(choiceIn(location.hash, data))
    goToPart()
  })
  show(choice)
  goToPart()

  function choose(change: Partial<Choice>): void {
    const next = inOrder({ ...choice, ...change })
    const hash = hashOf(next, data)
    const address = `${location.href.split('#')[0]}${hash === '' ? '' : `#${hash}`}`
    const changed = Object.keys(change).join()
    // What is typed letter by letter is undone at once.
    if (changed === 'text' && lastChange === 'text') history.replaceState(null, '', address)
    else if (hash !== hashOf(choice, data)) history.pushState(null, '', address)
    lastChange = changed
    show(next)
  }

  /** The browser cannot go to a part that is not drawn yet. */
  function goToPart(): void {
    const part = partIn(location.hash)
    if (part === undefined) return
    later.finish()
    goTo(part, 'instant')
  }

  function show(next: Choice): void {
    const isOtherMovement = hashOf({ ...next, movement: choice.movement }, data) === hashOf(choice, data)
    choice = next
    if (showMovement !== undefined && isOtherMovement) {
      view = withMovement(view, choice)
      showFound()
      showMovement()
    } else {
      view = viewOf(data, choice)
      showFound()
      drawParts(view)
    }
  }

  function showFound(): void {
    const what = found(view, tracked[choice.target] ?? 0)
    fields.show(choice, what)
    head.show(view, what)
  }

  function drawParts(seen: View): void {
    if (data.history.targets.length === 0) {
      const overviewHead = { id: 'overview', title: 'Overview' }
      main.replaceChildren(section(overviewHead, empty(whyEmpty(data))), runs(seen), definitions(seen))
      return
    }
    const counted = countedView(seen)
    const table = keywordTable(seen, open)
    const first = overview(counted, { open, choose })
    const lead = new Text()
    main.replaceChildren(first.element, section({ id: 'keywords', title: 'Keywords', lead }, table.element))
    showMovement = () => {
      first.press(choice.movement)
      lead.data = leadOf(view)
      table.show(view.listed)
    }
    showMovement()
    later.do([
      () => main.append(competitors(counted, open)),
      () => main.append(pages(seen, open)),
      () => main.append(answers(seen)),
      () => main.append(runs(seen), definitions(seen)),
    ])
  }
}

function whyEmpty({ history: { days } }: PageData): string {
  return days.length === 0 ? 'The job has not run yet.' : 'The job tracks no target, so there are no ranks.'
}

/**
 * How many keywords are in sight, and how many of them the table lists.
 *
 * @param all how many the target is tracked for
 */
function found({ standings, listed, choice }: View, all: number): string {
  const inSight =
    all === standings.length
      ? count(all, 'keyword')
      : `${number(standings.length)} of ${count(all, 'keyword')}`
  return choice.movement === '' ? inSight : `${inSight}, ${number(listed.length)} listed`
}

function leadOf({ history, standings, listed, choice }: View): string {
  const last = history.days.at(-1)
  const since = comparedDays(standings, history.days)
  const removed = history.removed.length
  const only =
    choice.movement === ''
      ? []
      : [
          `Only ${number(listed.length)} of ${number(standings.length)}: ${movedWords[choice.movement as Moved]}.`,
        ]
  return [
    ...only,
    `Where each keyword ${last === undefined ? 'stands' : `stood on ${longDay(last)}`}${since === '' ? '' : `, compared with ${since}`}.`,
    ...(removed === 0
      ? []
      : [`Left out: ${count(removed, 'query', 'queries')} that the job no longer asks for.`]),
    'Open one for its history.',
  ].join(' ')
}
