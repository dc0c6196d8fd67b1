import { isKnownOnBothDays } from '../headline.ts'
import { hasClicks } from '../history/filter-history.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import { outcome } from '../metrics/shares.ts'
import {
  leastKeywords,
  measure,
  rivalsOf,
  type StoryFacts,
  type StorySentence,
  trendOfMetric,
} from './facts.ts'
import { leadMetricOf } from './lead.ts'

/** Of the clicks of the job; less is no news and no work. */
export const leastStake = 0.01

/** A keyword that moved since the compared day. */
export type StoryMove = ReturnType<typeof moves>[number]

const ways = { improved: 'up', declined: 'down', entered: 'entered', left: 'left' } as const

/** What moved, by the clicks that it won or lost; where nothing says what is clicked, by rank. */
export function moves(facts: StoryFacts) {
  const { own, nameOf, rankText } = facts
  const passing = passed(facts)
  return own
    .flatMap((status) => {
      const way = ways[status.change.movement as keyof typeof ways]
      if (way === undefined || !isKnownOnBothDays(status)) return []
      const { current, baseline, keyword } = status
      const worth = facts.worthOf(status, current.rank) - facts.worthOf(status, baseline.value.rank)
      return {
        status,
        way,
        name: nameOf(keyword),
        from: rankText(baseline.value),
        to: rankText(current),
        /** Clicks a month won, negative when lost; null where they are not known. */
        clicks: clicksOf(facts, status, worth),
        /** By the weight of the keyword, that of one search where there are no volumes. */
        worth,
        /** Who went ahead of whom: a competitor that is ahead now, or is behind now. */
        passed: passing(status),
      }
    })
    .toSorted((a, b) => Math.abs(b.worth) - Math.abs(a.worth) || byRanks(a.status, b.status))
}

/** A worth in clicks a month; null without a volume, and where nothing says what is clicked. */
export function clicksOf({ metric }: StoryFacts, { keyword }: KeywordStatus, worth: number): number | null {
  if (keyword.volume === null || !hasClicks(keyword.kind)) return null
  return metric === 'clicks' ? worth : worth * keyword.volume
}

/** The better rank, now or before, comes first; then the longer way. */
function byRanks(a: KeywordStatus, b: KeywordStatus): number {
  const best = ({ current, baseline }: KeywordStatus): number =>
    Math.min(current.rank ?? 1e9, baseline?.value.rank ?? 1e9)
  const way = ({ change }: KeywordStatus): number => Math.abs(change.change ?? 1e9)
  return best(a) - best(b) || way(b) - way(a) || a.series.keyword - b.series.keyword
}

/** Competitors that changed sides with the target for a keyword, the best one of them. */
function passed(facts: StoryFacts) {
  const byKeyword = new Map<number, { readonly label: string; readonly status: KeywordStatus }[]>()
  for (const { label, statuses } of rivalsOf(facts))
    for (const status of statuses) {
      const those = byKeyword.get(status.series.keyword) ?? []
      byKeyword.set(status.series.keyword, those)
      those.push({ label, status })
    }
  return (mine: KeywordStatus): string | null => {
    const { say, named } = facts
    const best = (byKeyword.get(mine.series.keyword) ?? [])
      .flatMap(({ label, status }) => {
        const side = sideOf(mine, status)
        return side === null ? [] : [{ label, side, rank: status.current.rank ?? 1e9 }]
      })
      .toSorted((a, b) => a.rank - b.rank)[0]
    return best === undefined ? null : say.story.passed[best.side](named(best.label))
  }
}

/** Whether a competitor is ahead since the compared day, or behind; null where nothing changed, or is known. */
export function sideOf(mine: KeywordStatus, theirs: KeywordStatus): 'ahead' | 'behind' | null {
  if (!isKnownOnBothDays(mine) || !isKnownOnBothDays(theirs)) return null
  if (mine.baseline.day !== theirs.baseline.day) return null
  const before = outcome(mine.baseline.value, theirs.baseline.value)
  const now = outcome(mine.current, theirs.current)
  return before === 'won' && now === 'lost' ? 'ahead' : before === 'lost' && now === 'won' ? 'behind' : null
}

/** The greatest win and the greatest loss as keywords with their ranks, and whether most keywords went another way than the figure. */
export function why(facts: StoryFacts, all: readonly StoryMove[]): readonly StorySentence[] {
  const { say, own } = facts
  const metric = leadMetricOf(facts)
  const least = leastWorth(facts)
  const first = (sign: 1 | -1): StoryMove | undefined =>
    metric === 'top_ten' || metric === 'cited'
      ? all.find(({ way }) => (way === 'up' || way === 'entered') === (sign === 1))
      : all.find(({ worth }) => worth * sign > 0 && Math.abs(worth) >= least)
  const [win, loss] = [first(1), first(-1)]
  const told = ({ name, from, to, clicks }: StoryMove): string => say.story.moved(name, from, to, clicks)
  const text = say.story.winAndLoss(win && told(win), loss && told(loss))
  const opens = { to: 'moved' } as const
  const against = disagreement(facts, all, own)
  if (text === null) return against === null ? [] : [{ text: `${against}.`, opens }]
  return [{ text: against === null ? text : `${against}. ${text}`, opens }]
}

/** That more keywords went the other way than the figure that leads. */
function disagreement(
  facts: StoryFacts,
  all: readonly StoryMove[],
  own: readonly KeywordStatus[],
): string | null {
  const metric = leadMetricOf(facts)
  const trend = trendOfMetric(facts, metric, own)
  const { delta } = measure(facts, metric, own)
  if (metric === 'cited' || trend === null || !trend.isMoved || delta === null) return null
  const rose = all.filter(({ way }) => way === 'up' || way === 'entered').length
  const fell = all.length - rose
  if (all.length < leastKeywords) return null
  if (delta > 0 && fell > rose) return facts.say.story.moreFell(fell, rose, metric)
  return delta < 0 && rose > fell ? facts.say.story.moreRose(rose, fell, metric) : null
}

/** What is worth a row, in the weights of the job: a hundredth of what its ranks bring. */
export function leastWorth(facts: StoryFacts): number {
  const sum = (rankOf: (status: KeywordStatus) => number | null) =>
    facts.own.reduce((all, status) => all + facts.worthOf(status, rankOf(status)), 0)
  const [now, before] = [
    sum(({ current }) => current.rank),
    sum(({ baseline }) => baseline?.value.rank ?? null),
  ]
  return Math.max(now, before) * leastStake
}
