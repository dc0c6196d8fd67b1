import type { AskedDay } from '../../baseline.ts'
import { cohort, type Standing } from '../../cohort.ts'
import { addDays } from '../../days.ts'
import type { PageData } from '../../page-data.ts'
import type { Keyword, RankHistory, TrackedTarget } from '../../rank-history.ts'
import type { Choice } from './choice.ts'
import { includesText, localeOf } from './keyword/keyword-text.ts'

/** What is in sight: the part of the data that the reader chose. */
export interface View {
  readonly data: PageData
  readonly choice: Choice
  /** Only the keywords and days in sight. */
  readonly history: RankHistory
  readonly target: TrackedTarget
  readonly asked: AskedDay | null
  /** Where the chosen target stands for each keyword in sight that it is tracked for. */
  readonly standings: readonly Standing[]
  /** Where every target stands for them. */
  readonly everyone: readonly Standing[]
  /** Place of a keyword in the whole data. */
  place(keyword: Keyword): number
}

/** Days before or after the one compared with, as reports have it where nothing else is said. */
const tolerance = 3

export function viewOf(data: PageData, choice: Choice): View {
  const places = new Map(data.history.keywords.map((keyword, place) => [keyword, place]))
  const dated = betweenDays(data.history, choice)
  const asked = askedDay(data, dated.days, choice)
  const wanted = kept(dated, (keyword) => fits(keyword, choice))
  const moved = choice.movement === '' ? wanted : keptByMovement(wanted, choice, asked)
  const everyone = cohort(moved, asked)
  return {
    data,
    choice,
    history: moved,
    target: data.history.targets[choice.target] as TrackedTarget,
    asked,
    standings: everyone.filter(({ series }) => series.target === choice.target),
    everyone,
    place: (keyword) => places.get(keyword) ?? -1,
  }
}

function fits(keyword: Keyword, { text, tag, operation, locale }: Choice): boolean {
  return (
    (tag === '' || keyword.tags.includes(tag)) &&
    (operation === '' || keyword.operation === operation) &&
    (locale === '' || localeOf(keyword) === locale) &&
    (text === '' || includesText(keyword, text))
  )
}

function keptByMovement(history: RankHistory, { target, movement }: Choice, asked: AskedDay | null): RankHistory {
  const own = { ...history, series: history.series.filter((series) => series.target === target) }
  const moved = new Set(
    cohort(own, asked).flatMap(({ keyword, change }) => (change.movement === movement ? [keyword] : [])),
  )
  return kept(history, (keyword) => moved.has(keyword))
}

function askedDay({ compare: given }: PageData, days: readonly string[], { compare }: Choice): AskedDay | null {
  const [first, last] = [days[0], days.at(-1)]
  if (compare === '' || first === undefined || last === undefined) return given
  return { day: compare === 'first' ? first : addDays(last, -Number(compare)), tolerance }
}
