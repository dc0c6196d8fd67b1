import type { ResultKind } from '../../model/result.ts'
import { kinds } from '../words/en/figures.ts'
import type { Keyword, RankHistory, RankSeries } from './rank-history.ts'

/** The filters of a reader. A missing or empty filter restricts nothing; a list means "any of these". */
export interface HistoryFilter {
  /** An empty tag stands for keywords without tags. */
  readonly tags?: readonly string[]
  /** Labels of targets. */
  readonly targets?: readonly string[]
  /** Operations such as `alpha.search`. */
  readonly operations?: readonly string[]
  /** Part of the query, in upper or lower case. */
  readonly text?: string
  /** Which keywords; all where it is missing. */
  readonly isWanted?: (keyword: Keyword) => boolean
  /** First and last day, YYYY-MM-DD. */
  readonly from?: string
  readonly until?: string
}

/**
 * A history with fewer series and days. Keywords, targets and links keep their places, so `series` decides what counts; days are
 * cut and numbered again. Observations before `from` are dropped. If `until` cuts days off, series without an observation until
 * then are left out, because nothing shows that they were asked. The tags and targets of removed keywords are not known, so none
 * of them is kept if tags, targets or keywords are chosen.
 */
export function filterHistory(history: RankHistory, filter: HistoryFilter): RankHistory {
  const range = daysOf(history.days, filter)
  const keywords = new Set(
    history.keywords.flatMap((keyword, index) => (isWanted(keyword, filter) ? [index] : [])),
  )
  const targets = new Set(
    history.targets.flatMap(({ label }, index) => (isAmong(label, filter.targets) ? [index] : [])),
  )
  const series = history.series
    .filter((one) => keywords.has(one.keyword) && targets.has(one.target))
    .filter(
      ({ cells }) =>
        range.end === history.days.length || cells.slice(0, range.end).some((cell) => cell !== null),
    )
  const whole = range.start === 0 && range.end === history.days.length
  return {
    ...history,
    days: history.days.slice(range.start, range.end),
    series: whole ? series : series.map((one) => cutSeries(one, range)),
    removed: history.removed.filter((one) => isRemovedWanted(one, filter)),
  }
}

type DayRange = Readonly<ReturnType<typeof daysOf>>

/** Days from `start` on, up to but without `end`. */
export function daysOf(days: readonly string[], filter: HistoryFilter) {
  const wanted = days.flatMap((day, index) => (isBetween(day, filter) ? [index] : []))
  return { start: wanted[0] ?? days.length, end: (wanted.at(-1) ?? days.length - 1) + 1 }
}

export function isBetween(day: string, { from = '', until = '' }: HistoryFilter): boolean {
  return day >= from && (until === '' || day <= until)
}

function isIn({ start, end }: DayRange, day: number): boolean {
  return day >= start && day < end
}

function isAmong(value: string, wanted: readonly string[] = []): boolean {
  return wanted.length === 0 || wanted.includes(value)
}

function isWanted(keyword: Keyword, filter: HistoryFilter): boolean {
  const { tags = [] } = filter
  return (
    isAskedWanted(keyword, filter) &&
    filter.isWanted?.(keyword) !== false &&
    (tags.length === 0 || (keyword.tags.length === 0 ? [''] : keyword.tags).some((tag) => tags.includes(tag)))
  )
}

function isRemovedWanted(removed: RankHistory['removed'][number], filter: HistoryFilter): boolean {
  const { tags = [], targets = [] } = filter
  return (
    filter.isWanted === undefined &&
    tags.length === 0 &&
    targets.length === 0 &&
    isAskedWanted(removed, filter) &&
    isBetween(removed.last, filter)
  )
}

function isAskedWanted(
  { query, operation }: Pick<Keyword, 'query' | 'operation'>,
  filter: HistoryFilter,
): boolean {
  const { operations, text = '' } = filter
  return isAmong(operation, operations) && query.toLowerCase().includes(text.toLowerCase())
}

function cutSeries(series: RankSeries, range: DayRange): RankSeries {
  const { start, end } = range
  return {
    ...series,
    cells: series.cells.slice(start, end),
    seen: cutDays(series.seen, range),
    absentDepths: cutChanges(series.absentDepths, range),
    links: cutChanges(series.links, range),
    places: cutDays(series.places, range),
  }
}

/** Values that hold from a day on. The value before the range holds from its first day on. */
function cutChanges<T>(
  changes: readonly (readonly [day: number, value: T])[],
  range: DayRange,
): readonly (readonly [number, T])[] {
  if (changes.length === 0) return changes
  const before = changes.findLast(([day]) => day < range.start)
  const within = changes.flatMap(([day, value]) =>
    isIn(range, day) ? [[day - range.start, value] as const] : [],
  )
  const isCarried = before !== undefined && within[0]?.[0] !== 0 && range.start < range.end
  return isCarried ? [[0, before[1]], ...within] : within
}

function cutDays<T>(byDay: Readonly<Record<number, T>>, range: DayRange): Readonly<Record<number, T>> {
  const cut: Record<number, T> = {}
  for (const day in byDay) if (isIn(range, Number(day))) cut[Number(day) - range.start] = byDay[day] as T
  return cut
}

/** Keywords with common figures: one kind of results of one engine. Ranks of different parts are never averaged. */
export interface Part {
  readonly kind: ResultKind
  /** alpha, beta or gamma */
  readonly engine: string
}

/** The first kind that is asked for is that of the headline, unless another is named. */
const kindOrder = Object.keys(kinds) as readonly ResultKind[]

/**
 * Whether searches and a click-through curve say how often the results are clicked: those of web results alone. How many see a news rank or
 * a citation of an AI answer, no volume of a web search tells.
 */
export function hasClicks(kind: ResultKind): boolean {
  return kind === 'organic'
}

export function partOf({ kind, operation }: Pick<Keyword, 'kind' | 'operation'>): Part {
  return { kind, engine: operation.replace(/\..*/, '') }
}

/** A part for people: `web results, alpha`. In reports for clients the engine is named by its kind of results already. */
export function partLabel(
  { kind, engine }: Part,
  say: { readonly kinds: Readonly<Record<ResultKind, string>> },
): string {
  const name = say.kinds[kind]
  return engine.startsWith(name) ? engine : `${name}, ${engine}`
}

/** The key of a part as one word. */
export function partKey({ kind, engine }: Part): string {
  return `${kind}-${engine}`
}

/**
 * The parts of a history: those of the named kind first, then the other kinds in the order of `kinds`, each by engine.
 *
 * @param first the kind of the headline
 */
export function partsOf({ series, keywords }: Pick<RankHistory, 'series' | 'keywords'>, first?: ResultKind) {
  const parts = new Map<string, Part>()
  for (const keyword of new Set(series.map((one) => one.keyword))) {
    const part = partOf(keywords[keyword] as Keyword)
    parts.set(partKey(part), part)
  }
  const order = (kind: ResultKind): number => (kind === first ? -1 : kindOrder.indexOf(kind))
  return [...parts.values()].sort(
    (a, b) => order(a.kind) - order(b.kind) || (a.engine < b.engine ? -1 : a.engine > b.engine ? 1 : 0),
  )
}

/** The history with the keywords of these parts only; all places stay the same. */
export function historyOfParts<History extends Pick<RankHistory, 'series' | 'keywords'>>(
  history: History,
  parts: readonly Part[],
): History {
  const keys = new Set(parts.map(partKey))
  const isIn = history.keywords.map((keyword) => keys.has(partKey(partOf(keyword))))
  return { ...history, series: history.series.filter(({ keyword }) => isIn[keyword]) }
}
