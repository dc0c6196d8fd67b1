import { capitalised, groupedBy, joined } from '../../model/text.ts'
import { isKnownOnBothDays } from '../headline.ts'
import { hasClicks } from '../history/filter-history.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import { rateOf } from '../metrics/figure.ts'
import { byRanks } from '../metrics/movements.ts'
import { firstResults } from '../metrics/serps.ts'
import { outcome } from '../metrics/shares.ts'
import {
  isByClicks,
  leadMetricOf,
  leastKeywords,
  measure,
  type StoryFacts,
  type StorySentence,
  trendOfMetric,
  withAbout,
} from './facts.ts'

/** Of the clicks of the job; less is no news and no work. */
const leastStake = 0.01

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
      const since = sinceText(facts, status)
      const by = passing(status)
      return {
        status,
        way,
        name: nameOf(keyword),
        from: rankText(baseline.value),
        to: rankText(current),
        /** Clicks a month won, negative when lost; null where they are not known. */
        clicks: facts.clicksOf(status, worth),
        /** By the weight of the keyword, that of one search where there are no volumes. */
        worth,
        /** The day that it is compared with, where that is not the day of the others. */
        since,
        /** Who went ahead of whom: a competitor that is ahead now, or is behind now. */
        passed: by,
        /** Both in words; empty for neither. */
        about: joined([since, by]),
      }
    })
    .toSorted((a, b) => Math.abs(b.worth) - Math.abs(a.worth) || byRanks(a, b))
}

/** The compared day of a keyword that was not checked on the one of most; null for others. */
function sinceText({ span, history, say }: StoryFacts, { baseline }: KeywordStatus): string | null {
  const day = baseline === null ? undefined : history.days[baseline.day]
  return span === null || day === undefined || day === span.day
    ? null
    : say.overview.sinceDay(day, span.until)
}

/** Clicks of several keywords; null where those of one are not known. */
export function sumOf(clicks: readonly (number | null)[]): number | null {
  return clicks.includes(null) ? null : clicks.reduce((sum: number, one) => sum + (one ?? 0), 0)
}

/** Competitors that changed sides with the target for a keyword, the best one of them. */
function passed(facts: StoryFacts) {
  const byKeyword = facts.rivalsByKeyword()
  return (mine: KeywordStatus): string | null => {
    const { say, named } = facts
    const best = (byKeyword.get(mine.series.keyword) ?? [])
      .flatMap(({ label, status }) => {
        const side = sideOf(mine, status)
        return side === null ? [] : [{ label, side, rank: status.current.rank ?? 1e9 }]
      })
      .toSorted((a, b) => a.rank - b.rank)[0]
    return best === undefined ? null : say.overview.passed[best.side](named(best.label))
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

/**
 * Who is to blame for a fall: of the sites that were behind or not there on the compared day and came up ahead since, tracked or not, the
 * one that gained most clicks. Sites that stayed where they were, or fell as well, took nothing.
 */
export function overtaker(facts: StoryFacts) {
  const { sites, measure: options, pages, rankText, say, named } = facts
  const rivals = facts.rivalsByKeyword()
  const rateAt = (rank: number | null): number => rateOf(options.curve, rank)
  return (mine: KeywordStatus) => {
    if (!isKnownOnBothDays(mine)) return null
    const { series, current, baseline } = mine
    const tracked = (rivals.get(series.keyword) ?? []).flatMap(({ label, status }) => {
      const now = status.current.rank
      if (sideOf(mine, status) !== 'ahead' || now === null || status.baseline === null) return []
      const { value } = status.baseline
      return [{ label, now, before: value.rank, from: rankText(value) }]
    })
    const pair = pages().get(series.keyword)
    const from = baseline.value.rank
    const seen = Math.min(10, pair?.compared?.depth ?? 0)
    // Who was ahead then is known only if the whole way up to the own rank was seen.
    const isSeen = pair?.compared?.day === baseline.day && from !== null && from <= seen
    const others = !isSeen || pair?.compared == null ? [] : sitesOf(firstResults(pair.current))
    const then = new Map(isSeen && pair?.compared != null ? sitesOf(firstResults(pair.compared), true) : [])
    const untracked = others.flatMap(([site, now]) => {
      const before = then.get(site) ?? null
      const wasBehind = from !== null && (before === null || before > from)
      const isAhead = now < (current.rank ?? Number.POSITIVE_INFINITY)
      const label = sites[site]
      return wasBehind && isAhead && label !== undefined
        ? [{ label, now, before, from: before === null ? say.story.outside(seen) : say.number(before) }]
        : []
    })
    const [most] = [...tracked, ...untracked]
      .filter(({ now, before }) => before === null || now < before)
      .toSorted(
        (a, b) => rateAt(b.now) - rateAt(b.before) - (rateAt(a.now) - rateAt(a.before)) || a.now - b.now,
      )
    return most === undefined ? null : { name: named(most.label), from: most.from, to: say.number(most.now) }
  }

  /** The best rank of each site; without those of targets, whose ranks are known without the page, unless all are asked for. */
  function sitesOf(
    results: ReturnType<typeof firstResults>,
    areAllAsked = false,
  ): readonly (readonly [site: number, rank: number])[] {
    const best = new Map<number, number>()
    for (const [rank, , , site, targets] of results)
      if (site !== null && (areAllAsked || targets.length === 0))
        best.set(site, Math.min(rank, best.get(site) ?? rank))
    return [...best]
  }
}

/** Moves of one keyword in the same direction are one, as they are in what to do next. */
export function joinedMoves<Move extends { readonly status: KeywordStatus; readonly worth: number }>(
  all: readonly Move[],
) {
  return [...groupedBy(all, ({ status }) => status.keyword.query).values()]
    .map((markets) => ({ markets, worth: markets.reduce((sum, { worth }) => sum + worth, 0) }))
    .toSorted((a, b) => Math.abs(b.worth) - Math.abs(a.worth))
}

/** Markets that are named in a sentence. */
const mostMarkets = 3

/** The greatest win and the greatest loss as keywords with their ranks, and whether most keywords went another way than the figure. */
export function why(facts: StoryFacts, all: readonly StoryMove[]): readonly StorySentence[] {
  const { say } = facts
  const metric = leadMetricOf(facts)
  const least = leastWorth(facts)
  const isByWay = !isByClicks(metric)
  const first = (sign: 1 | -1): readonly StoryMove[] =>
    joinedMoves(
      all.filter(({ way, worth }) => (isByWay ? isRise(way) === (sign === 1) : worth * sign > 0)),
    ).find(({ worth }) => isByWay || Math.abs(worth) >= least)?.markets ?? []
  const [win, loss] = [first(1), first(-1)]
  const { win: best, loss: worst } = say.story
  const both = [
    win.length === 0 ? '' : `${best}: ${movedText(facts, win)}`,
    loss.length === 0 ? '' : `${worst}: ${joined([movedText(facts, loss), blamed(facts, loss)])}`,
  ]
  const isDown = (measure(facts, metric, facts.own).delta ?? 0) < 0
  const whole = disagreement(facts, all) ?? partsText(facts, all, isDown)
  const text = joined([whole, capitalised(joined(isDown ? both.toReversed() : both, '; '))], '. ')
  return text === '' ? [] : [{ text: `${text}.`, opens: { to: 'moved' } }]
}

/** How many keywords won and lost, and how many clicks: what the change of the figure is made of. */
function partsText(facts: StoryFacts, all: readonly StoryMove[], isDown: boolean): string | null {
  if (facts.metric === 'cited' || all.length < leastKeywords) return null
  const isByClicks = leadMetricOf(facts) === 'clicks'
  const parts = (isDown ? [false, true] : [true, false]).flatMap((isUp) => {
    const those = all.filter((one) =>
      isByClicks ? one.worth * (isUp ? 1 : -1) > 0 : isRise(one.way) === isUp,
    )
    const sum = Math.abs(those.reduce((sum, { worth }) => sum + worth, 0))
    return those.length === 0 || (isByClicks && sum < 0.5)
      ? []
      : { isUp, keywords: those.length, clicks: isByClicks ? sum : null }
  })
  return joined(parts.map((one, place) => facts.say.story.part(one, place === 0)))
}

/** A keyword with its ranks in each market, and the clicks of all of them. */
function movedText({ say, named, whereOf }: StoryFacts, markets: readonly StoryMove[]): string {
  const [first] = markets
  if (first === undefined) return ''
  const isOne = markets.length === 1
  const shown = markets.slice(0, mostMarkets).map(({ from, to, status, since }) => {
    const where = isOne ? '' : whereOf(status.keyword)
    return withAbout(`${from} → ${to}`, joined([where, since]))
  })
  const more = markets.length - shown.length
  const name = isOne ? first.name : say.overview.quoted(named(first.status.keyword.query))
  const ranks = say.list(more === 0 ? shown : [...shown, say.story.moreMarkets(more)])
  const clicks = sumOf(markets.map((one) => one.clicks))
  return joined([`${name} ${ranks}`, clicks === null ? '' : say.story.about(clicks)])
}

/** Who passed in the greatest loss, where it is the same site in all of its markets; null for none. */
function blamed(facts: StoryFacts, markets: readonly StoryMove[]): string | null {
  if (markets.length === 0 || !hasClicks(facts.kind)) return null
  const find = overtaker(facts)
  const [first, ...others] = markets.map(({ status }) => find(status))
  if (first == null || others.some((one) => one?.name !== first.name)) return null
  return facts.say.story.passedBy(
    others.length === 0 ? withAbout(first.name, `${first.from} → ${first.to}`) : first.name,
  )
}

/** Whether a keyword rose or was found again. */
export function isRise(way: StoryMove['way']): boolean {
  return way === 'up' || way === 'entered'
}

/** That more keywords went the other way than the figure that leads. */
function disagreement(facts: StoryFacts, all: readonly StoryMove[]): string | null {
  const metric = leadMetricOf(facts)
  const trend = trendOfMetric(facts, metric, facts.own)
  const { delta } = measure(facts, metric, facts.own)
  if (metric === 'cited' || trend === null || !trend.isMoved || delta === null) return null
  const rose = all.filter(({ way }) => isRise(way)).length
  const fell = all.length - rose
  if (all.length < leastKeywords) return null
  const [most, others] = delta > 0 ? [fell, rose] : [rose, fell]
  return most > others ? facts.say.story.against(delta < 0, most, others, metric) : null
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
