import { groupedBy } from '../../model/text.ts'
import {
  comparisonsIn,
  type Filters,
  hashOf,
  localeOf,
  noFilters,
  periodOf,
  periodsIn,
  selectedOf,
} from '../choice.ts'
import { keepKeywords, type PageData, type PageSerp } from '../data.ts'
import { partKey, partOf } from '../history/filter-history.ts'
import type { ComparisonDay } from '../history/movement.ts'
import { countedDays, type Days } from '../history/period.ts'
import type { Keyword, RankHistory } from '../history/rank-history.ts'
import { hasTab, isInView, targetsOfView } from '../presentation/presentation.ts'
import { wordsOf } from '../words/words.ts'
import { leastKeywords } from './facts.ts'
import { story } from './story.ts'

/** Stories by what they are told of: the part of the address behind `#`, which is empty for the whole report. */
export type Told = Readonly<Record<string, ToldStory>>

/** Groups of keywords with a story of their own, at most. */
const mostGroups = 24
/** Keywords in all stories of a page: to tell of more would take longer, and more memory, than the rest of the page. */
const mostKeywords = 7_000

/** The story of the whole report, as it opens. */
export function toldOfWhole(data: PageData): ToldStory {
  return toldOf(data, openingOf(data))
}

/**
 * The stories of the whole report and of what readers choose most, one choice at a time: a saved view, a group of keywords, a period, a day to
 * compare with, a target; and of saved views in other periods.
 *
 * @param serpsOf the first results that a comparison looks at
 */
export function toldStories(
  data: PageData,
  serpsOf: (days: readonly string[], compare: ComparisonDay | null) => readonly PageSerp[],
): Told {
  const told: Record<string, ToldStory> = { '': toldOfWhole(data) }
  let left = mostKeywords - data.history.keywords.length
  for (const { keywords, choice } of choicesOf(data)) {
    if (keywords > left) continue
    left -= keywords
    const filters = { ...openingOf(data), ...choice }
    const period = choice.period || choice.compare ? periodOf(data, filters) : null
    const days = data.history.days.filter((day) => period === null || day <= period.until)
    const serps = period === null ? data.serps : serpsOf(days, period.compare)
    const history = historyFor(data, { keywords, period })
    told[hashOf(filters, data)] = toldOf({ ...data, history, serps }, filters)
  }
  return told
}

/** Without what was found of the whole report alone: clicks that were counted in its days, and sites on imported pages of all its keywords. */
function historyFor(
  { history, period: own }: PageData,
  { keywords, period }: { readonly keywords: number; readonly period: Days | null },
): RankHistory {
  const { countedClicks, imported, ...rest } = history
  const [days, ownDays] = [period ?? own, own].map((one) => (one === null ? null : countedDays(one)))
  const isCounted = days?.from === ownDays?.from && days?.until === ownDays?.until
  const told = { ...rest, ...(isCounted && countedClicks !== undefined ? { countedClicks } : {}) }
  if (imported === undefined) return told
  const { pages, ...ranks } = imported
  const isWhole = pages !== undefined && keywords === history.keywords.length
  return { ...told, imported: isWhole ? { ...ranks, pages } : ranks }
}

function openingOf({ history }: PageData): Filters {
  return { ...noFilters, target: targetsOfView(history, undefined)[0] ?? 0 }
}

interface Choice {
  /** How many the story is told of. */
  readonly keywords: number
  readonly choice: Partial<Filters>
}

/** What is told first comes first. */
function choicesOf(data: PageData): readonly Choice[] {
  const { history, presentation } = data
  const periods = periodsIn(history.days).map((period) => ({ period }))
  const views = presentation.views
    .filter((one) => hasTab(one, history))
    .map((view) => ({
      keywords: history.keywords.filter((keyword, place) => isInView(keyword, place, view)).length,
      choice: { view: view.name, target: targetsOfView(history, view)[0] ?? 0 },
    }))
  const ofAll = [
    ...periods,
    ...comparisonsIn(data, noFilters).map((compare) => ({ compare })),
    ...targetsOfView(history, undefined)
      .slice(1)
      .map((target) => ({ target })),
  ]
  return [
    ...views,
    ...groupsOf(history.keywords),
    ...ofAll.map((choice) => ({ keywords: history.keywords.length, choice })),
    // The tab of a view keeps the period.
    ...views.flatMap(({ keywords, choice }) =>
      periods.map((period) => ({ keywords, choice: { ...choice, ...period } })),
    ),
  ]
}

/** The largest groups of keywords: those with a tag, of an engine, of a country, or of a kind of results. */
function groupsOf(all: readonly Keyword[]): readonly Choice[] {
  const by: readonly ((keyword: Keyword) => readonly Partial<Filters>[])[] = [
    ({ tags }) => (tags.length === 0 ? [''] : [...new Set(tags)]).map((tag) => ({ tags: [tag] })),
    ({ operation }) => [{ operation }],
    (keyword) => [{ locale: localeOf(keyword) }],
    (keyword) => [{ part: partKey(partOf(keyword)) }],
  ]
  return by
    .flatMap((namesOf) => {
      const groups = groupedBy(all.flatMap(namesOf), (choice) => JSON.stringify(choice))
      return groups.size < 2 ? [] : [...groups.values()]
    })
    .map((group) => ({ keywords: group.length, choice: group[0] ?? {} }))
    .filter(({ keywords }) => keywords >= leastKeywords)
    .toSorted((a, b) => b.keywords - a.keywords)
    .slice(0, mostGroups)
}

/** What is told of the keywords that a reader selects. */
export type ToldStory = ReturnType<typeof toldOf>

function toldOf(data: PageData, filters: Filters) {
  const selected = selectedOf(data, filters)
  const { keywords } = data.history
  const isOfPart = (place: number): boolean => partKey(partOf(keywords[place] as Keyword)) === filters.part
  const { counted, sentences, limits, steps, nothing } = story(
    filters.part === '' ? selected : keepKeywords(selected, isOfPart),
    { target: filters.target, say: wordsOf(data.presentation.language), mark: isolated },
  )
  return {
    /** What Search Console counted, before the sentences, which are of estimates; empty for nothing. */
    counted,
    sentences: sentences.map((one) => ({
      ...one,
      text: one.text.slice(one === sentences[0] ? counted.length : 0),
    })),
    /** What the figures do not include. */
    limits,
    /** What to do next; the keywords as their places, of which the first one opens. */
    steps: steps.map(({ what, reason, stake, statuses }) => ({
      what,
      reason,
      stake,
      keywords: statuses.map(({ series }) => series.keyword),
    })),
    /** Why there is nothing to do. */
    nothing,
  }
}

/** Keeps the direction of a name from turning the sentence around it. */
export function isolated(name: string): string {
  return `\u2068${name}\u2069`
}
