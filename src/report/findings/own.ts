import { daysBetween } from '../../model/time.ts'
import { placesOf } from '../cells.ts'
import type { DailyFigures } from '../daily.ts'
import { headlineFigure, isKnownOnBothDays } from '../headline.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import { distribution, top } from '../metrics/positions.ts'
import {
  checkedOf,
  type FindingFacts,
  leadOf,
  leadOn,
  leastShown,
  spanOf,
  targetOf,
  usualOf,
} from './facts.ts'
import type { Finding, KeywordFinding, NoTrend, TopRanks, Trend } from './finding.ts'
import { askedOtherwise } from './limits.ts'
import { clicksFloors, isNews, rankFloors, shareFloors } from './spread.ts'

/** Changes of fewer keywords are those of single keywords, and are told as such. */
export const leastKeywords = 5

/** Why there are no figures at all, and what there is instead; null where there are figures. */
export function situation(facts: FindingFacts): readonly Finding[] | null {
  const { history, own, metric } = facts
  const last = history.days.at(-1)
  if (last === undefined) return [{ kind: 'not run' }]
  if (history.targets.length === 0) return [{ kind: 'no targets' }]
  if (own.length === 0) return [{ kind: 'no keywords' }]
  const { observed, ranked } = checkedOf(own)
  if (observed * 2 < own.length) {
    const before = facts
      .daily(facts.target)
      .findLast(({ day, isPartial, coverage }) => day !== last && !isPartial && coverage.observed > 0)
    const value = before === undefined ? null : leadOn(before, metric)
    return [
      {
        kind: 'day not checked',
        day: last,
        checked: observed,
        keywords: own.length,
        last: before === undefined || value === null ? null : { day: before.day, metric, value },
      },
    ]
  }
  return ranked === 0 ? [nothingRanks(facts, observed)] : null
}

function nothingRanks({ own, span, metric }: FindingFacts, keywords: number): Finding {
  const depths = new Set(
    own.flatMap(({ current }) => (current.state === 'absent' ? [current.absentDepth ?? 0] : [])),
  )
  const [depth = 0] = depths
  const known = own.filter(isKnownOnBothDays)
  return {
    kind: 'nothing ranks',
    metric,
    keywords,
    depth: depths.size === 1 && depth > 0 ? depth : null,
    before: known.length === 0 ? null : known.filter(({ baseline }) => baseline.value.rank !== null).length,
    span,
  }
}

/** Where a few keywords stand, then each on its own, the best rank first. */
export function fewKeywords(facts: FindingFacts): readonly Finding[] {
  const { own, span } = facts
  const { observed, ranked } = checkedOf(own)
  if (observed === 0 && own.length > 1) return situation(facts) ?? []
  const why = span === null && observed > 0 ? whyNone(facts) : null
  const notCompared: readonly Finding[] = why === null ? [] : [{ kind: 'not compared', why }]
  const each = keywordFindings(facts)
  if (observed < 2) return [...each, ...notCompared]
  if (ranked > 0) return [{ ...standOf(facts), of: nameOf(facts), why }, ...each]
  // What the first sentence has said of all is not said of each.
  const others = each.filter(({ movement, depth }) => movement === 'left' || depth === null)
  return [nothingRanks(facts, observed), ...others, ...notCompared]
}

function keywordFindings({ own, history }: FindingFacts): readonly KeywordFinding[] {
  const place = placesOf(own.map(({ keyword }) => keyword))
  const inOrder = own.toSorted((a, b) => orderOf(a) - orderOf(b))
  return inOrder.map((status) => {
    const { current, baseline, change, keyword, series } = status
    const names = {
      improved: 'up',
      declined: 'down',
      same: current.rank === null ? 'none' : 'same',
      entered: 'entered',
      left: 'left',
      new: 'unknown',
      unknown: 'unknown',
    } as const
    return {
      kind: 'keyword',
      keyword: series.keyword,
      name: { query: keyword.query, place: place(keyword) },
      rank: current.rank,
      rankBefore: baseline?.value.rank ?? null,
      depth: current.state === 'absent' ? current.absentDepth : null,
      movement: names[change.movement],
      span: spanOf([status], history.days),
    }
  })
}

/** Ranked ones first, unknown ones last. */
function orderOf({ current: { state, rank } }: KeywordStatus): number {
  return rank ?? (state === 'absent' ? 1e6 : 1e7)
}

/** The figure of the target that the report is about, with its change. */
export function ownFinding(facts: FindingFacts): Finding {
  const { own, metric } = facts
  const { value, delta, common } = leadOf(own, facts)
  const usual = () => usualOf(facts.daily(facts.target), (day) => leadOn(day, metric))
  const isLeadNews = (change: number) => isNews(change, usual(), shareFloors)
  const of = nameOf(facts)
  if (metric === 'cited') {
    const { ranked, observed } = checkedOf(own)
    const answers = delta === null ? null : Math.round(delta * common)
    const trend = trendOf(facts, {
      delta: answers,
      common,
      isNews: () => answers !== 0 && isLeadNews(delta ?? 0),
    })
    return { kind: 'cited answers', of, cited: ranked, answers: observed, trend }
  }
  if (value === null || value < leastShown) return lowRanks(facts)
  return { kind: 'visibility', of, value, trend: trendOf(facts, { delta, common, isNews: isLeadNews }) }
}

/** The name of a target that is not one's own. */
export function nameOf(facts: FindingFacts): string | null {
  const target = targetOf(facts)
  return target === undefined || target.own ? null : target.label
}

function lowRanks(facts: FindingFacts): Finding {
  const { topTen } = topRanks(facts)
  const { ranked, observed } = checkedOf(facts.own)
  return {
    kind: 'low ranks',
    of: nameOf(facts),
    topTen,
    ranked,
    keywords: observed,
    ...averageOf(facts),
  }
}

function averageOf(facts: FindingFacts) {
  const { own, measure } = facts
  const average = headlineFigure('average_position', own, measure)
  const usual = () => usualOf(facts.daily(facts.target), ({ figures }) => figures.average_position.value)
  return {
    average: average.value ?? 0,
    trend: trendOf(facts, {
      delta: average.cohort?.delta ?? null,
      common: own.filter(isKnownOnBothDays).length,
      isNews: (change) => isNews(change, usual(), rankFloors),
    }),
  }
}

function topRanks({ own }: FindingFacts) {
  const counts = distribution(own.map(({ current }) => current))
  return { topThree: top(counts, 3), topTen: top(counts, 10) }
}

/** Where the keywords stand. It is always known, and it is no news. */
export function standFindings(facts: FindingFacts): readonly Finding[] {
  if (facts.metric === 'cited') return []
  if (checkedOf(facts.own).ranked === 0) return []
  const stand = standOf(facts)
  return [...(stand.topTen === 0 ? [] : [stand]), { kind: 'average', ...averageOf(facts) }]
}

function standOf(facts: FindingFacts): TopRanks {
  const { observed } = checkedOf(facts.own)
  return { kind: 'top ranks', of: null, ...topRanks(facts), keywords: observed, why: null }
}

/** A change as it may be told: only of enough keywords, and only if it is more than usual. */
export function trendOf(
  facts: FindingFacts,
  {
    delta,
    common,
    isNews,
  }: {
    readonly delta: number | null
    /** Keywords that were checked on both days. */
    readonly common: number
    readonly isNews: (delta: number) => boolean
  },
): Trend {
  const { span, own } = facts
  if (span === null || delta === null) return { state: 'none', why: whyNone(facts) }
  const { observed } = checkedOf(own)
  if (common < leastKeywords || common * 2 < observed)
    return { state: 'none', why: { reason: 'few in common', common, keywords: observed, span } }
  return isNews(delta) ? { state: 'moved', delta, span } : { state: 'steady', span }
}

function whyNone({ own, history, compare, span }: FindingFacts): NoTrend {
  const [first, last] = [firstDay(own, history.days), history.days.at(-1)]
  if (span !== null) return { reason: 'not measured' }
  const changed = askedOtherwise(own)
  if (changed !== null) return { reason: 'asked otherwise', since: changed.since }
  if (first === undefined || first === last) return { reason: 'first day' }
  if (compare === null) return { reason: 'not checked then', day: history.days.at(-2) ?? first }
  return daysBetween(first, compare.day) < 0
    ? { reason: 'history begins later', first }
    : { reason: 'not checked then', day: compare.day }
}

/** The first day on which one of the keywords was checked. */
function firstDay(statuses: readonly KeywordStatus[], days: readonly string[]): string | undefined {
  const first = statuses.reduce((least, { series }) => {
    const day = series.cells.findIndex((cell) => cell !== null && cell !== 0)
    return day === -1 ? least : Math.min(least, day)
  }, days.length)
  return days[first]
}

/** Estimated clicks a month; nothing without volumes. */
export function clicksFinding(facts: FindingFacts): readonly (Finding & { readonly kind: 'clicks' })[] {
  const { value, cohort } = headlineFigure('clicks', facts.own, facts.measure)
  const delta = cohort?.delta ?? null
  if (value === null || (value < 1 && Math.abs(delta ?? 0) < 1)) return []
  // For each keyword, because on days with fewer checked keywords there are fewer clicks.
  const share = ({ figures, coverage }: DailyFigures) =>
    figures.clicks.value === null || coverage.observed === 0 ? null : figures.clicks.value / coverage.observed
  const common = facts.own.filter(isKnownOnBothDays).length
  const usual = () => usualOf(facts.daily(facts.target), share)
  const isMore = (change: number) => isNews(change / common, usual(), clicksFloors(value, common))
  return [{ kind: 'clicks', clicks: value, trend: trendOf(facts, { delta, common, isNews: isMore }) }]
}
