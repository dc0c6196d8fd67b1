import type { PageData } from '../../report/data.ts'
import { type Part, partLabel } from '../../report/history/filter-history.ts'
import type { KeywordStatus } from '../../report/history/keyword-status.ts'
import { type PackedPage, unpacked } from '../packed.ts'
import { undrawn } from '../page-names.ts'
import type { ReaderPlace, SectionId } from './controls/address.ts'
import { controls } from './controls/controls.ts'
import { listedLabel } from './controls/listed.ts'
import { navigation } from './controls/navigation.ts'
import { viewTabs } from './controls/saved-views.ts'
import { drawInSteps, html } from './dom.ts'
import { type Filters, hashOf, withUsedDay } from './filters.ts'
import { comparedText, focusOn, footer, goTo, header, sectionLink } from './header.ts'
import { keywordDialog } from './keyword/dialog.ts'
import { say, speak } from './language.ts'
import { answers } from './sections/answers.ts'
import { comment } from './sections/comment.ts'
import { competitors } from './sections/competitors.ts'
import { definitions } from './sections/definitions.ts'
import { overview, standInsIn } from './sections/first/overview.ts'
import { keywordTable } from './sections/keywords.ts'
import { pages } from './sections/pages.ts'
import { runs } from './sections/runs.ts'
import { scorecardSection } from './sections/scorecards.ts'
import { empty, section } from './sections/section.ts'
import { serpFeatures } from './sections/serp-features.ts'
import { countedView, ofFirstPart, type View, viewOf, withMovement } from './view.ts'

const root = document.getElementById('report')
if (root !== null) begin(root)

function begin(root: HTMLElement): void {
  const data = pageData()
  speak(data.presentation.language)
  document.documentElement.classList.remove(undrawn)
  draw(data, root)
}

/** Draws the page, and draws it again whenever a filter changes. */
function draw(data: PageData, root: HTMLElement): void {
  const { go, place } = navigation(data, restore)
  let { filters } = place()
  let view = viewOf(data, filters)
  const dialog = keywordDialog((keyword) => go({ keyword }, keyword === null ? '' : 'keyword'))
  const open = (status: KeywordStatus, all: readonly KeywordStatus[]): void => dialog.open(view, status, all)
  const tabs = viewTabs(data, choose)
  const fields = controls(data, choose)
  const head = header(data, goToSection)
  const tracked = data.history.targets.map(
    (_, place) => data.history.series.filter(({ target }) => target === place).length,
  )
  const { presentation } = data
  const later = drawInSteps()
  const scorecards = scorecardSection(data, choose)
  const main = html('main', { id: 'content' })
  const isWritten = root.childElementCount > 0
  let standIns = isWritten ? standInsIn(hashOf(filters, data) === '' ? root : null) : null
  root.replaceChildren(
    sectionLink('overview', say.header.skipToFigures, () => goTo('overview'), 'skip'),
    data.history.targets.length === 0
      ? ''
      : sectionLink('keywords', say.header.skipToKeywords, goToFirstKeyword, 'skip'),
    head.element,
    ...(presentation.comment === null ? [] : [comment(presentation.comment)]),
    tabs?.element ?? '',
    fields.element,
    main,
    footer(presentation) ?? '',
    dialog.element,
  )
  let showMovement: (() => void) | undefined
  let sortKeywords: ((sort: string) => void) | undefined
  let showFigure: ((figure: string) => void) | undefined
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
    if (next.sort !== before.sort) sortKeywords?.(next.sort)
    if (next.chart !== before.chart) showFigure?.(next.chart)
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
    tabs?.show(filters)
    fields.show(view, what)
    head.show(view, what)
  }

  function drawParts(seen: View): void {
    if (data.history.targets.length === 0) {
      const first = section({ id: 'overview', title: say.header.sections.overview }, empty(whyEmpty(data)))
      main.replaceChildren(first, ...lastParts(seen))
      return
    }
    const counted = countedView(seen)
    const chart = { figure: place().chart, onFigure: (figure: string) => go({ chart: figure }) }
    const order = { sort: place().sort, onSort: (sort: string) => go({ sort }) }
    const table = keywordTable(seen, open, order)
    sortKeywords = table.sort
    const first = overview(seen, counted, { open, choose, goToSection, chart }, standIns)
    standIns = standInsIn(null)
    showFigure = first.showFigure
    const listing = new Text()
    const hint = html('span', 'only-screen', ` ${say.header.selectKeyword}`)
    const lead = html('span', '', listing, hint)
    main.replaceChildren(
      first.element,
      ...(scorecards === null ? [] : [scorecards.element]),
      section({ id: 'keywords', title: say.header.sections.keywords, lead }, table.element),
    )
    showMovement = () => {
      first.press(filters.movement)
      listing.data = leadOf(view)
      table.show(view.listed)
    }
    showMovement()
    later.do([
      ...first.steps,
      () => scorecards?.show(seen, comparedText(seen)),
      ...competitors(counted, main),
      () => main.append(serpFeatures(counted)),
      ...pages(seen, open, main),
      () => main.append(answers(seen)),
      () => main.append(...lastParts(seen)),
    ])
  }
}

/** A client is not shown how the data was collected. */
function lastParts(seen: View): readonly HTMLElement[] {
  const { audience } = seen.data.presentation
  return audience === 'client' ? [definitions(seen)] : [runs(seen), definitions(seen)]
}

function whyEmpty({ history: { days } }: PageData): string {
  return days.length === 0 ? say.header.notRun : say.header.noTarget
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
  return [
    movement !== '' &&
      say.header.onlyGroup(listed.length, counted.length, `${listedLabel(movement)}${ofPart}`),
    last !== undefined && say.header.rankOn(say.longDay(last), comparedText(view)),
    removed > 0 && say.header.notShown(removed),
  ]
    .filter(Boolean)
    .join(' ')
}

/** Reads the JSON in the page. */
function pageData(): PageData {
  return unpacked(JSON.parse(document.getElementById('page-data')?.textContent ?? '') as PackedPage)
}
