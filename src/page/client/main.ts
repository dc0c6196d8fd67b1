import { type Filters, hashOf } from '../../report/choice.ts'
import type { PageData } from '../../report/data.ts'
import { type Part, partLabel } from '../../report/history/filter-history.ts'
import type { KeywordStatus } from '../../report/history/keyword-status.ts'
import type { MovementGroup } from '../../report/history/movement.ts'
import { curveName } from '../../report/metrics/figure.ts'
import type { Told } from '../../report/story/told.ts'
import { type DataElement, inflated, type PackedPage, undrawn, unpacked, type WholePage } from '../packed.ts'
import { knowAddresses } from './addresses.ts'
import { controls } from './controls.ts'
import { empty, html, section } from './dom.ts'
import { navigation, type ReaderPlace, type SectionId, withUsedDay } from './filters.ts'
import { firstBlocks } from './first.ts'
import { comparedText, header, sectionLink } from './header.ts'
import { keywordDialog } from './keyword/dialog.ts'
import { keywordTable } from './keywords.ts'
import { rivals } from './rivals.ts'
import type { SortOrder } from './table/grid.ts'
import { movementLabel, say, speak, withTooltip } from './text.ts'
import { countedView, ofFirstPart, type View, viewOf, withMovement } from './view.ts'

const root = document.getElementById('report')
if (root !== null) await begin(root)

async function begin(root: HTMLElement): Promise<void> {
  const { told, addresses, ...data } = await pageData()
  knowAddresses(addresses)
  speak(data.presentation.language)
  document.documentElement.classList.remove(undrawn)
  draw(data, told, root)
}

/** Draws the page, and draws it again whenever a filter changes. */
function draw(data: PageData, told: Told, root: HTMLElement): void {
  const { go, place } = navigation(data, restore)
  let { filters } = place()
  let view = viewOf(data, filters)
  const dialog = keywordDialog((keyword) => go({ keyword }, keyword === null ? '' : 'keyword'))
  const open = (status: KeywordStatus, all: readonly KeywordStatus[]): void => dialog.open(view, status, all)
  const fields = controls(data, choose)
  const head = header(data)
  const tracked = data.history.targets.map(
    (_, place) => data.history.series.filter(({ target }) => target === place).length,
  )
  const { presentation } = data
  const later = drawInSteps()
  const main = html('main', { id: 'content' })
  root.replaceChildren(
    sectionLink('overview', say.header.skipToFigures, () => goTo('overview'), 'skip'),
    data.history.targets.length === 0
      ? ''
      : sectionLink('keywords', say.header.skipToKeywords, goToFirstKeyword, 'skip'),
    head.element,
    ...(presentation.comment === null ? [] : [comment(presentation.comment)]),
    fields.element,
    main,
    dialog.element,
  )
  let showMovement: (() => void) | undefined
  // Kept when a filter draws the page again.
  let figure = ''
  let order: SortOrder = { by: 'rank', descending: false }
  show(filters)
  showKeyword(place().keyword)
  showSection(place().section)

  function choose(change: Partial<Filters>, section: SectionId | null = null): void {
    // A typed text is one entry of the browser's history, not one for each letter.
    const step = Object.keys(change).join() === 'text' ? 'text' : ''
    go({ filters: withUsedDay(data, { ...filters, ...change }), section }, step)
    show(place().filters)
    if (section !== null) arrive(section)
  }

  function restore(next: ReaderPlace, before: ReaderPlace): void {
    const isFiltered = hashOf(next.filters, data) !== hashOf(filters, data)
    if (isFiltered) show(next.filters)
    if (isFiltered || next.keyword !== before.keyword) showKeyword(next.keyword)
    if (next.section !== before.section) showSection(next.section)
  }

  function goToSection(section: SectionId): void {
    go({ section })
    arrive(section)
  }

  function arrive(section: SectionId, behavior?: ScrollBehavior): void {
    later.finish()
    goTo(section, behavior)
  }

  /** The browser cannot go to a section that is not drawn yet. */
  function showSection(section: SectionId | null): void {
    if (section !== null) arrive(section, 'instant')
  }

  function showKeyword(keyword: number | null): void {
    const status = view.statuses.find(({ series }) => series.keyword === keyword)
    if (status === undefined) dialog.close()
    else open(status, view.listed.includes(status) ? view.listed : view.statuses)
  }

  function goToFirstKeyword(): void {
    goTo('keywords')
    document.querySelector<HTMLElement>('#keywords tbody .row-button')?.focus()
  }

  function show(next: Filters): void {
    const isOtherMovement = hashOf({ ...next, movement: filters.movement }, data) === hashOf(filters, data)
    filters = next
    if (showMovement !== undefined && isOtherMovement) {
      view = withMovement(view, filters.movement)
      showFound()
      showMovement()
    } else {
      const isWithin = main.contains(document.activeElement)
      view = viewOf(data, filters)
      showFound()
      drawParts(view)
      // What had the focus is drawn anew.
      if (isWithin) focusOn('overview')
    }
  }

  function showFound(): void {
    const what = found(view, tracked[filters.target] ?? 0)
    fields.show(view, what)
    head.show(view, what)
  }

  function drawParts(seen: View): void {
    main.removeAttribute('data-whole')
    const whole = () => main.setAttribute('data-whole', '')
    const foot = footer(seen)
    if (data.history.targets.length === 0) {
      const why = data.history.days.length === 0 ? say.header.notRun : say.header.noTarget
      main.replaceChildren(section({ id: 'overview', title: say.header.overview }, empty(why)), foot)
      later.do([whole])
      return
    }
    const counted = countedView(seen)
    const onFigure = (next: string): void => {
      figure = next
      sites.show()
    }
    const onOrder = (next: SortOrder): void => {
      order = next
    }
    const table = keywordTable(seen, { open, choose, order, onOrder })
    const keywords = { selected: seen.statuses.length, all: tracked[seen.filters.target] ?? 0 }
    const opening = { open, choose, goToSection, chart: { figure, onFigure }, keywords }
    const story = told[hashOf({ ...seen.filters, movement: '' }, data)]
    const first = firstBlocks(seen, counted, story, opening)
    const room = html('div')
    const sites = rivals(counted, room, () => figure)
    const listing = new Text()
    const lead = html('span', '', listing, ' ', withTooltip(say.keywords.signs, signs()))
    const head = { id: 'keywords', title: say.overview.blocks.keywords, lead }
    main.replaceChildren(...first.elements, room, section(head, table.element), foot)
    showMovement = () => {
      listing.data = leadOf(view)
      table.show(view)
    }
    showMovement()
    later.do([...first.steps, ...sites.steps, whole])
  }
}

type DrawStep = () => void

/**
 * Does steps one by one when the browser is idle, so that parts far down the page do not delay those on the screen. A print
 * waits for all steps.
 */
function drawInSteps() {
  let waiting: readonly DrawStep[] = []
  let stop = (): void => {}
  // Before others draw for paper what is drawn already.
  window.addEventListener('beforeprint', finish, { capture: true })
  return {
    /** Does these steps; earlier ones that are not done are dropped. */
    do: (steps: readonly DrawStep[]): void => {
      stop()
      waiting = steps
      stop = whenIdle(go)
    },
    /** Does the remaining steps at once. */
    finish,
  }

  function finish(): void {
    stop()
    const steps = waiting
    waiting = []
    for (const step of steps) step()
  }

  function go(): void {
    const [first, ...rest] = waiting
    if (first === undefined) return
    waiting = rest
    first()
    stop = whenIdle(go)
  }
}

/** Calls back when the browser is idle; returns a function that cancels this. Safari does not say when it is idle. */
function whenIdle(step: DrawStep): DrawStep {
  if (!('requestIdleCallback' in window)) {
    const timer = setTimeout(step)
    return () => clearTimeout(timer)
  }
  // A busy browser does it after so many milliseconds.
  const handle = requestIdleCallback(step, { timeout: 300 })
  return () => cancelIdleCallback(handle)
}

/** Goes to a section, with the focus on its heading. */
function goTo(id: SectionId, behavior: ScrollBehavior = 'auto'): void {
  document.getElementById(id)?.scrollIntoView({ behavior })
  focusOn(id)
}

/** Puts the focus on the heading of a section, wherever the page is scrolled to. */
function focusOn(id: SectionId): void {
  document.getElementById(`${id}-title`)?.focus({ preventScroll: true })
}

/** The words of the analyst, on top of the page. */
function comment({ html: harmless }: { readonly html: string }): HTMLElement {
  const text = html('div', 'comment-text')
  // The one HTML that is not made of elements here: `commentOf` has made it harmless, and the policy of the page runs nothing in it.
  text.innerHTML = harmless
  return html('section', { class: 'comment', 'aria-label': say.brand.comment }, text)
}

/** What the signs in front of ranks mean. */
function signs(): readonly string[] {
  return say.definitions.signs.map(([sign, term, meaning]) => `${sign}  ${term}: ${meaning}`)
}

/** Where clicks come from; for the team how the data was collected; and the line of the agency. */
function footer({ data: { measure, presentation, runs } }: View): HTMLElement {
  const { curve } = measure
  const clicks = say.blocks.clicks(curveName(curve), curve.source.startsWith('Sistrix'))
  return html(
    'footer',
    'page-footer',
    html('p', '', `${clicks} ${say.definitions.lead}`),
    html('p', 'only-print', signs().join(' ')),
    runs.length > 0 && html('p', 'only-screen', spendingOf(runs)),
    presentation.footer !== null && html('p', '', html('bdi', '', presentation.footer)),
  )
}

function spendingOf(runs: PageData['runs']): string {
  const sum = (of: (run: PageData['runs'][number]) => number): number =>
    runs.reduce((total, run) => total + of(run), 0)
  const [spent, ambiguous] = [sum((run) => run.spent), sum((run) => run.ambiguous)]
  const [planned, failed] = [sum(({ tasks }) => tasks.planned), sum(({ tasks }) => tasks.failed)]
  const mismatched = sum((run) => run.mismatched ?? 0)
  return [
    say.runs.spent(runs.length, spent, ambiguous),
    failed > 0 && say.runs.failed(failed, planned),
    mismatched > 0 && say.runs.mismatched(mismatched),
  ]
    .filter(Boolean)
    .join(' ')
}

/**
 * How many keywords are selected, and how many of them the table lists.
 *
 * @param all the number of keywords that the target is tracked for
 */
function found({ statuses, listed, filters }: View, all: number): string {
  const selected = say.header.selected(statuses.length, all)
  return filters.movement === '' ? selected : `${selected}, ${say.header.listed(listed.length)}`
}

function leadOf(view: View): string {
  const { history, statuses, listed, filters, parts } = view
  const last = history.days.at(-1)
  const removed = history.removed.length
  const { movement } = filters
  const counted = ofFirstPart(statuses, parts)
  const ofPart = counted.length < statuses.length ? ` (${partLabel(parts[0] as Part, say)})` : ''
  const group = movement === '' ? '' : `${movementLabel(movement as MovementGroup)}${ofPart}`
  return [
    group !== '' && say.header.onlyGroup(listed.length, counted.length, group),
    last !== undefined && say.header.rankOn(say.longDay(last), comparedText(view)),
    removed > 0 && say.header.notShown(removed),
  ]
    .filter(Boolean)
    .join(' ')
}

/** Reads the data in the page: JSON that is deflated and written in base64. */
async function pageData(): Promise<WholePage> {
  const { textContent, drawn } = document.getElementById('page-data') as DataElement
  return drawn ?? unpacked(JSON.parse(await inflated(textContent)) as PackedPage)
}
