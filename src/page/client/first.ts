import { placesOf } from '../../report/cells.ts'
import { type Filters, noFilters } from '../../report/choice.ts'
import { partKey, partLabel, partOf } from '../../report/history/filter-history.ts'
import type { KeywordStatus } from '../../report/history/keyword-status.ts'
import type { StoryCard } from '../../report/story/cards.ts'
import { isRise, type StoryMove } from '../../report/story/moves.ts'
import { figuresOf, shownMoves } from '../../report/story/story.ts'
import { isolated, type ToldStory } from '../../report/story/told.ts'
import { trendLine } from './chart/line-chart.ts'
import { ariaHidden, button, empty, html, note, section, srOnly } from './dom.ts'
import { type SectionId, setLabels } from './filters.ts'
import { sectionLink } from './header.ts'
import type { OpenKeyword } from './keywords.ts'
import { firstDrawn, mainChart, switchOf } from './main-chart.ts'
import { changeMark, metricTooltip, rankMark, say, shortStatusChange, withTooltip } from './text.ts'
import { dailyOf, hasCompared, type View } from './view.ts'

/** What a sentence or a row can open. */
interface Opening {
  readonly open: OpenKeyword
  /** Sets filters and goes to a section, in one step of the browser's history. */
  readonly choose: (change: Partial<Filters>, section?: SectionId) => void
  readonly goToSection: (section: SectionId) => void
  readonly chart: Parameters<typeof mainChart>[2]
  readonly keywords: { readonly selected: number; readonly all: number }
}

/** With more series, of all targets, what moved is found after the page is on the screen. */
const manySeries = 2_000

/**
 * The first screen: what happened in three sentences beside the main chart, four figures, what moved, and what to do next.
 *
 * @param all the view with the keywords of every kind
 * @param view those that are counted
 * @param told the sentences and steps that the file has of what is selected; undefined for a choice that it has none of
 */
export function firstBlocks(all: View, view: View, told: ToldStory | undefined, opening: Opening) {
  const head = { id: 'overview', title: say.header.overview }
  if (view.statuses.length === 0) return { elements: [section(head, empty(say.ranks.noMatch))], steps: [] }
  const { history, filters } = view
  const chart = mainChart(view, dailyOf(view, filters.target, firstDrawn(view)), opening.chart)
  // Of the first part, or of the part that the reader chose.
  const seen = filters.part === '' ? all : view
  // Figures are of one target alone, which takes less time.
  const cards = figuresIn(seen, seen.statuses).cards()
  const pair = html('div', 'pair')
  const addMoved = (): void =>
    pair.prepend(moved(view, figuresIn(seen, seen.allTargets()).moves(), opening.open))
  if (told !== undefined && all.target.own) pair.append(next(told, view, opening.open))
  const steps = history.days.length > 1 ? [addMoved] : []
  const isLater = history.series.length > manySeries
  if (!isLater) for (const step of steps) step()
  const element = section(
    head,
    html('div', 'first', sentenceList(view, told, opening), chart.element),
    html('div', 'cards', ...cards.map((one) => cardOf(one, view))),
    cards.some(({ change }) => change?.way === 'same' && change.text !== '=') && note(say.overview.grey),
  )
  return { elements: [element, pair], steps: [...(isLater ? steps : []), ...chart.steps] }
}

function figuresIn({ data, filters }: View, statuses: readonly KeywordStatus[]) {
  return figuresOf(data, { target: filters.target, say, mark: isolated, statuses })
}

/** What happened; each sentence opens what it speaks of. What is filtered is named before the first one. */
function sentenceList(
  view: View,
  told: ToldStory | undefined,
  { open, choose, goToSection, keywords: { selected, all } }: Opening,
): HTMLElement {
  const scope = [...setLabels(view.filters, view.data), ...partOfView(view)]
  const named = scope.length > 0 && html('p', 'scope', html('bdi', '', scope.join(' · ')))
  if (told === undefined) {
    const back = sectionLink('overview', say.overview.toWhole, () => choose(noFilters))
    const lines = [say.header.selected(selected, all), say.overview.untold]
    const items = lines.map((one) => html('li', '', html('span', '', one)))
    return html('div', 'sentences', named, html('ul', '', ...items), html('p', 'next', back))
  }
  const {
    counted,
    sentences,
    limits,
    steps: [first],
  } = told
  const toNext = (what: string): HTMLElement =>
    sectionLink('next', `${say.overview.blocks.next}: ${what}`, () => goToSection('next'))
  const items = sentences.map((one) => html('li', '', opener(one)))
  return html(
    'div',
    'sentences',
    named,
    counted !== '' && note(counted),
    html('ul', { 'aria-label': say.overview.inShort }, ...items),
    view.target.own && first && html('p', 'next', toNext(first.what)),
    limits.length > 0 && note(limits.join(' ')),
  )

  function opener({ text, opens }: ToldStory['sentences'][number]): HTMLElement {
    if (opens.to === 'tag') return button('', () => choose({ tags: [opens.tag] }), {}, text)
    const status =
      opens.to === 'keyword' && view.statuses.find(({ series }) => series.keyword === opens.keyword)
    if (status) return button('', () => open(status, view.statuses), { 'aria-haspopup': 'dialog' }, text)
    const id = sections[opens.to]
    return sectionLink(id, text, () => goToSection(id))
  }
}

const sections = {
  chart: 'overview',
  moved: 'moved',
  rivals: 'competitors',
  keywords: 'keywords',
  keyword: 'keywords',
} as const

/** The part that the figures are of, if the job has several and the filters do not name it. */
function partOfView({ parts: [counted], history: { keywords }, filters }: View): readonly string[] {
  const isOne = new Set(keywords.map(partOf).map(partKey)).size < 2
  return counted === undefined || isOne || filters.part !== '' ? [] : [partLabel(counted, say)]
}

/** What the figures of cards are defined by. */
const defined = {
  top_ten: 'top_ranks',
  top_three: 'top_ranks',
  ranked: 'distribution',
  cited: 'cited_answers',
  clicks: 'clicks',
  visibility: 'visibility',
  share_of_voice: 'share_of_voice',
} as const

/** Signs of a figure that fit in a card at full size. */
const longValue = 10

function cardOf({ metric, label, value, change, about, trend }: StoryCard, { data }: View): HTMLElement {
  return html(
    'div',
    'card',
    html('h3', '', withTooltip(label, metricTooltip(defined[metric], data.measure))),
    html('p', value.length > longValue ? 'value long' : 'value', value),
    html('p', 'about', change && changeMark(change), change && about !== '' ? ' · ' : '', about),
    trend.length < 2 ? null : trendLine(trend),
  )
}

/**
 * What moved, the most clicks first: one list with a switch that says how many keywords moved in each way.
 */
function moved(view: View, moves: readonly StoryMove[], open: OpenKeyword): HTMLElement {
  const words = say.blocks
  const { history } = view
  const lists = {
    all: moves,
    winners: moves.filter(({ way }) => isRise(way)),
    losers: moves.filter(({ way }) => way === 'down' || way === 'left'),
    entered: moves.filter(({ way }) => way === 'entered'),
    left: moves.filter(({ way }) => way === 'left'),
    passed: moves.filter(({ passed }) => passed !== null),
  }
  type Way = keyof typeof lists
  const distinguish = placesOf(history.keywords)
  const hasClicks = moves.some(({ clicks }) => clicks !== null)
  const body = html('div')
  show(moves)
  const options = Object.entries(lists)
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => [name, `${words.moves[name as Way]} ${say.number(list.length)}`] as const)
  const counts = options.slice(1).map(([, text]) => text)
  const title = say.overview.blocks.moved
  return section(
    { id: 'moved', title },
    switchOf(title, 'moves', options, 'all', (name) => show(lists[name as Way])),
    body,
    html('p', 'note only-print', counts.join(' · ')),
  )

  function show(list: readonly StoryMove[]): void {
    const order = list.map(({ status }) => status)
    body.replaceChildren(
      list.length === 0
        ? empty(hasCompared(view) ? words.nothingMoved : say.period.notCompared)
        : rowList(`rows${hasClicks ? ' with-gain' : ''}`, list.slice(0, shownMoves).map(row)),
    )

    function row({ status, clicks, passed, since }: StoryMove): HTMLButtonElement {
      const { keyword, current, baseline } = status
      const about = [distinguish(keyword), since, list === lists.passed ? passed : ''].filter(Boolean)
      const more = about.length > 0 && html('span', 'about', about.join(' · '))
      return button(
        'move',
        () => open(status, order),
        { 'aria-haspopup': 'dialog' },
        html('span', 'name', html('bdi', { title: keyword.query }, keyword.query), more),
        html('span', 'from-to', baseline && rankMark(baseline.value), ' → ', rankMark(current)),
        shortStatusChange(status),
        hasClicks && clicksMark(clicks),
      )
    }
  }
}

/** A list whose rows are buttons: one stop of Tab, with arrow keys from row to row. */
function rowList(className: string, rows: readonly HTMLButtonElement[]): HTMLElement {
  const reach = (place: number): void => {
    for (const [at, row] of rows.entries()) row.tabIndex = at === place ? 0 : -1
  }
  const keydown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -rows.length, End: rows.length }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = rows.indexOf(document.activeElement as HTMLButtonElement)
    const next = Math.min(rows.length - 1, Math.max(0, at + step))
    reach(next)
    rows[next]?.focus()
  }
  reach(0)
  return html('ol', { class: className, on: { keydown } }, ...rows.map((row) => html('li', '', row)))
}

/** Clicks a month more or fewer; a dash where they are not known. */
function clicksMark(clicks: number | null): HTMLElement {
  const size = clicks === null ? 0 : Number(clicks.toPrecision(3))
  if (clicks === null || Math.round(size) === 0)
    return html('span', 'gain none', ariaHidden(clicks === null ? '–' : '0'))
  const spoken = say.overview.clicksMoreOrFewer(size)
  return html('span', { class: 'gain', title: spoken }, ariaHidden(say.gain(size)), srOnly(spoken))
}

/** What to do next, the most clicks at stake first. A whole row opens the keyword that it is about. */
function next({ steps, nothing }: ToldStory, { statuses }: View, open: OpenKeyword): HTMLElement {
  return section(
    { id: 'next', title: say.overview.blocks.next },
    steps.length === 0 ? empty(nothing) : rowList('rows', steps.map(row)),
  )

  function row({ keywords, what, reason, stake }: ToldStory['steps'][number]): HTMLButtonElement {
    const about = keywords.flatMap((place) => statuses.find(({ series }) => series.keyword === place) ?? [])
    const [first] = about
    return button(
      'step',
      () => first !== undefined && open(first, about),
      { 'aria-haspopup': 'dialog' },
      html('span', 'name', what),
      stake && html('span', 'stake', stake),
      html('span', 'reason', reason),
    )
  }
}
