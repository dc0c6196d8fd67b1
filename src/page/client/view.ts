import type { Target } from '../../model/job.ts'
import { type Filters, selectedOf } from '../../report/choice.ts'
import { type DailyFigures, daily } from '../../report/daily.ts'
import { keepKeywords, once, type PageData } from '../../report/data.ts'
import { type Part, partKey, partOf, partsOf } from '../../report/history/filter-history.ts'
import { baselineOrder, type KeywordStatus, keywordStatuses } from '../../report/history/keyword-status.ts'
import { groupOf } from '../../report/history/movement.ts'
import { alikeOf, spanOf } from '../../report/story/facts.ts'

/** The part of the data that the filters select. */
export type View = ReturnType<typeof viewOf>

export function viewOf(data: PageData, filters: Filters) {
  const selected = selectedOf(data, filters)
  const { history, period, compare } = selected
  const { days } = history
  const start = period === null ? 0 : days.findIndex((day) => day >= period.from)
  const own = { ...history, series: history.series.filter(({ target }) => target === filters.target) }
  const statuses = keywordStatuses(own, compare)
  const parts = partsOf(history, data.measure.kind)
  const chosen = parts.find((part) => partKey(part) === filters.part)
  const inOrder = chosen === undefined ? parts : [chosen, ...parts.filter((part) => part !== chosen)]
  return {
    /**
     * Only the selected keywords, and the days until the end of the period; places of keywords, targets, links and days are those of
     * the whole data.
     */
    data: selected,
    // What the part of other keywords is, no field and no print may say.
    filters: chosen === undefined ? { ...filters, part: '' } : filters,
    history,
    target: data.history.targets[filters.target] as Target,
    /** Null for a page without days. */
    period,
    /** Places of the days of the period, which charts show: from `start` on, up to but without `end`, which is that of all days. */
    shown: { start: Math.max(0, start), end: days.length },
    /** The day that is compared with; it is before the period, or within it. */
    compare,
    /** The day that most keywords are compared with; null where nothing is. */
    span: spanOf(statuses, days),
    /** The statuses of the chosen target, for each selected keyword that it is tracked for. */
    statuses,
    /** The statuses with the chosen movement: the rows of the table of keywords. Figures are of all statuses. */
    listed: listedOf(statuses, filters.movement, inOrder),
    /** The statuses of every target, for the selected keywords; computed on the first call. */
    allTargets: once(() => keywordStatuses(history, compare)),
    /** The selected parts, the one that figures are of first. */
    parts: inOrder,
  }
}

/** The view with another chosen movement; nothing else in it depends on the movement. */
export function withMovement(view: View, movement: string): View {
  return {
    ...view,
    filters: { ...view.filters, movement },
    listed: listedOf(view.statuses, movement, view.parts),
  }
}

/** Those that moved in a way are of the first part, as buttons and sentences count them. */
function listedOf(
  statuses: readonly KeywordStatus[],
  movement: string,
  parts: readonly Part[],
): readonly KeywordStatus[] {
  return movement === ''
    ? statuses
    : ofFirstPart(statuses, parts).filter(({ change }) => groupOf(change) === movement)
}

/** The statuses that figures are of. */
export function ofFirstPart(
  statuses: readonly KeywordStatus[],
  [first, ...others]: readonly Part[],
): readonly KeywordStatus[] {
  if (first === undefined || others.length === 0) return statuses
  const key = partKey(first)
  return statuses.filter(({ keyword }) => partKey(partOf(keyword)) === key)
}

/** Whether there is a day that keywords can be compared with. */
export function hasCompared({ history, compare }: View): boolean {
  return baselineOrder(history.days, compare).length > 0
}

/** The view of the first part: figures never mix parts. */
export function countedView(view: View): View {
  const [counted] = view.parts
  if (counted === undefined || view.parts.length === 1) return view
  const key = partKey(counted)
  const isCounted = view.history.keywords.map((keyword) => partKey(partOf(keyword)) === key)
  const data = keepKeywords(view.data, (keyword) => isCounted[keyword] === true)
  const { parts } = view
  const statuses = ofFirstPart(view.statuses, parts)
  return {
    ...view,
    data,
    history: data.history,
    span: spanOf(statuses, data.history.days),
    statuses,
    listed: ofFirstPart(view.listed, parts),
    allTargets: once(() => ofFirstPart(view.allTargets(), parts)),
  }
}

/** The figures of a target day by day, each of the same keywords as far as they are known: days can be held against each other. */
export function dailyOf(
  { data, history: whole, compare, span }: View,
  target: number,
  from: number,
  history = whole,
): readonly DailyFigures[] {
  return daily(history, target, data.measure, from, span === null ? null : alikeOf(compare, span))
}
