import { groupedBy, joined } from '../../model/text.ts'
import { pathOf, shortLink } from '../cells.ts'
import type { Citation } from '../data.ts'
import { isKnownOnBothDays } from '../headline.ts'
import { filterHistory, hasClicks } from '../history/filter-history.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import type { RankHistory } from '../history/rank-history.ts'
import { landingPages, rankingLink, urlSwaps } from '../metrics/pages.ts'
import { checkedOf, type StoryFacts, withAbout } from './facts.ts'
import { joinedMoves, leastWorth, overtaker, sideOf, sumOf } from './moves.ts'

/** As many rows have something to do. */
const most = 5
/** Rows of keywords that could be better, where others have fallen: chances are there every month. */
const mostChances = 2
/** Ranks from which the first three can be reached. */
const reach = { from: 4, to: 10, goal: 3 } as const
/** A loss comes before a chance that is less than so many times as large. */
const lossFirst = 2
/** Swaps of two pages that are no chance. */
const leastSwaps = 2
/** Ranks that are worth defending, how near the rival is, and how far it came. */
const defended = { to: 5, within: 2, rise: 3 } as const

interface StepDraft {
  readonly verb: 'recover' | 'push' | 'fix' | 'defend' | 'earn'
  readonly status: KeywordStatus
  readonly reason: string
  /** In the weights of the job. */
  readonly worth: number
}

type StepRule = (status: KeywordStatus) => StepDraft | null

/**
 * What to do next about the keywords of one's own target: what fell, what is within reach, what is to be repaired, what a rival comes near to.
 * The most clicks at stake first, none under a hundredth of the clicks of the job. Markets of one keyword are one row.
 */
export function steps(facts: StoryFacts, answers: StoryFacts | undefined, citations: readonly Citation[]) {
  const { own, target, say } = facts
  if (target?.own !== true) return []
  const clicked = own.filter(({ keyword }) => hasClicks(keyword.kind))
  const least = leastWorth(facts)
  const fell = fallen(facts, clicked, least)
  const rules: readonly StepRule[] = [
    otherPage(facts, clicked),
    inTurn(facts),
    competing(facts, clicked),
    closing(facts),
    within(facts),
  ]
  const drafts = clicked.flatMap((status) => {
    // What a keyword fell by is told before what it could win: a fall is never hidden behind a chance.
    const found =
      fell.get(status) ??
      rules.flatMap((rule) => rule(status) ?? []).find(({ worth }) => worth >= least && worth > 0)
    return found === undefined ? [] : [found]
  })
  const rows = rowsOf([
    ...drafts,
    ...notCited(answers ?? (facts.metric === 'cited' ? facts : undefined), citations),
  ])
  const chances = Math.max(mostChances, most - rows.filter(({ first }) => first.verb !== 'push').length)
  let pushed = 0
  const wanted = rows.filter(({ first }) => first.verb !== 'push' || ++pushed <= chances)
  // The last row is for the best chance, where that is worth more.
  const chance = wanted.slice(most).find(({ first }) => first.verb === 'push')
  const isBetter = (chance?.worth ?? 0) > (wanted[most - 1]?.worth ?? 0)
  const shown =
    chance !== undefined && isBetter && wanted[most - 1]?.first.verb !== 'push'
      ? [...wanted.slice(0, most - 1), chance]
      : wanted.slice(0, most)
  return shown.map(({ first, all, worth }) => {
    const { verb, reason } = first
    const clicks = verb === 'earn' ? null : sumOf(all.map((one) => facts.clicksOf(one.status, one.worth)))
    return {
      verb,
      /** The first one opens the reason. */
      statuses: all.map((one) => one.status),
      /** What to do with which keyword: `Recover “standing desk” (US)`. */
      what: say.story.verbs[verb](nameOfRow(facts, all)),
      reason:
        all.length === 1
          ? reason
          : all.map((one) => say.story.inMarket(facts.whereOf(one.status.keyword), one.reason)).join('; '),
      /** Clicks a month at stake, or that could be won; null where they are not known. */
      clicks,
      /** The same in words. */
      stake: clicks === null ? null : say.story.stake(clicks, verb === 'push'),
      worth,
      /** The pages that rank. */
      pages: pagesOfRow(facts, all),
    }
  })
}

/** One row for each query and verb, in the order of what is at stake. */
function rowsOf(drafts: readonly StepDraft[]) {
  return [...groupedBy(drafts, ({ status, verb }) => JSON.stringify([status.keyword.query, verb])).values()]
    .map((all) => {
      const inOrder = all.toSorted((a, b) => b.worth - a.worth)
      return {
        all: inOrder,
        first: inOrder[0] as StepDraft,
        worth: all.reduce((sum, { worth }) => sum + worth, 0),
      }
    })
    .toSorted(
      (a, b) => orderOf(b) - orderOf(a) || a.first.status.series.keyword - b.first.status.series.keyword,
    )
}

/** What fell or is to be kept comes before what could be won, unless that is far more. */
function orderOf({ first, worth }: { readonly first: StepDraft; readonly worth: number }): number {
  return first.verb === 'push' ? worth / lossFirst : worth
}

/** The page of each market that ranks; one for all where it is the same. */
function pagesOfRow({ history, whereOf }: StoryFacts, all: readonly StepDraft[]) {
  const ranking = all.flatMap(({ status }) => {
    const page = pageOf(history, status)
    return page === undefined ? [] : { status, page }
  })
  const byPage = groupedBy(ranking, ({ page }) => page)
  return [...byPage].map(([page, those]) => ({
    page,
    statuses: those.map(({ status }) => status),
    /** The markets of the page, where others have another one. */
    where: byPage.size === 1 ? '' : those.map(({ status }) => whereOf(status.keyword)).join(', '),
  }))
}

/** The page that ranks on the last day; undefined for none. */
function pageOf({ days, links }: RankHistory, { series }: KeywordStatus): string | undefined {
  return links[rankingLink(series, days.length - 1) ?? -1]
}

function nameOfRow({ nameOf, say, named }: StoryFacts, all: readonly StepDraft[]): string {
  const [first, ...others] = all
  if (first === undefined) return ''
  const { keyword } = first.status
  return others.length === 0 ? nameOf(keyword) : say.overview.quoted(named(keyword.query))
}

/** Fell: from, to, and who passed. All markets of a keyword count together, as they do in the greatest loss. */
function fallen(
  facts: StoryFacts,
  clicked: readonly KeywordStatus[],
  least: number,
): ReadonlyMap<KeywordStatus, StepDraft> {
  const { say } = facts
  const passer = overtaker(facts)
  const all = clicked.flatMap((status) => {
    const { change, current, baseline } = status
    const from = baseline?.value.rank ?? null
    if ((change.movement !== 'declined' && change.movement !== 'left') || from === null) return []
    const worth = facts.worthOf(status, from) - facts.worthOf(status, current.rank)
    return worth > 0 ? [{ status, from, worth }] : []
  })
  const fell = joinedMoves(all).flatMap(({ markets, worth }) => (worth >= least ? markets : []))
  return new Map(
    fell.map(({ status, from, worth }) => {
      const by = passer(status)
      const passed = by === null ? null : say.story.passedBy(withAbout(by.name, `${by.from} → ${by.to}`))
      const { rank, absentDepth } = status.current
      const fall = rank === null ? say.story.left(from, absentDepth || null) : say.story.fell(from, rank)
      const reason = joined([fall, passed])
      return [status, { verb: 'recover', status, reason, worth }]
    }),
  )
}

function within(facts: StoryFacts): StepRule {
  return (status) => {
    const { current, baseline, change } = status
    const { rank } = current
    // What fell is no chance, however little it lost.
    if (rank === null || rank < reach.from || rank > reach.to || change.movement === 'declined') return null
    const worth = facts.worthOf(status, reach.goal) - facts.worthOf(status, rank)
    const before = isKnownOnBothDays(status)
      ? facts.rankText((baseline as NonNullable<typeof baseline>).value)
      : null
    return { verb: 'push', status, reason: facts.say.story.withinReach(rank, before), worth }
  }
}

function otherPage(facts: StoryFacts, clicked: readonly KeywordStatus[]): StepRule {
  const landing = new Map(landingPages(clicked, facts.history).map((page) => [page.status, page]))
  return (status) => {
    const { state, link } = landing.get(status) ?? {}
    const { url } = status.keyword
    if (state !== 'wrong page' || link == null || url === null) return null
    const reason = facts.say.story.otherPage(...apart(link, url, facts.named))
    return { verb: 'fix', status, reason, worth: facts.worthOf(status, status.current.rank) }
  }
}

function inTurn(facts: StoryFacts): StepRule {
  const { history, place, span } = facts
  // A page that came back so often took turns with another one: most series have fewer changes.
  const series = history.series.filter((one) => one.target === place && one.links.length > leastSwaps + 1)
  const own = { ...history, series }
  const recent = span === null ? own : filterHistory(own, { from: span.day })
  const byKeyword = new Map(urlSwaps(recent).map((one) => [one.keyword, one]))
  return (status) => {
    const found = byKeyword.get(status.series.keyword)
    const [one, other] = (found?.pages ?? []).map(({ link }) => history.links[link] ?? '')
    if (found === undefined || found.swaps < leastSwaps || one === undefined || other === undefined)
      return null
    const reason = facts.say.story.inTurn(...apart(one, other, facts.named), found.swaps)
    return { verb: 'fix', status, reason, worth: facts.worthOf(status, status.current.rank) }
  }
}

/** Keywords that one page can serve, for which two own pages rank: told of the first of them. */
function competing(facts: StoryFacts, clicked: readonly KeywordStatus[]): StepRule {
  const { history } = facts
  const byKeyword = new Map(clicked.map((status) => [status.series.keyword, status]))
  const byHead = new Map(
    (history.clusters ?? []).map((places) => {
      const statuses = places.flatMap((place) => byKeyword.get(place) ?? [])
      return [statuses[0], statuses] as const
    }),
  )
  return (status) => {
    const ranking = (byHead.get(status) ?? []).flatMap((one) => {
      const page = pageOf(history, one)
      return page === undefined ? [] : { one, page }
    })
    const [first] = ranking
    const others = ranking.filter(({ page }) => page !== first?.page)
    const [other] = others
    if (first === undefined || other === undefined) return null
    const reason = facts.say.story.competing(
      (byHead.get(status) ?? []).length,
      ...apart(first.page, other.page, facts.named),
    )
    // What the page of the first could win or lose with it.
    const worth = others.reduce((sum, { one }) => sum + facts.worthOf(one, one.current.rank), 0)
    return { verb: 'fix', status, reason, worth }
  }
}

/** A competitor comes near to a good rank. */
function closing(facts: StoryFacts): StepRule {
  const byKeyword = facts.rivalsByKeyword()
  return (mine) => {
    const { rank } = mine.current
    if (rank === null || rank > defended.to) return null
    const [near] = (byKeyword.get(mine.series.keyword) ?? [])
      .flatMap(({ label, status }) => {
        const theirs = status.current.rank
        if (theirs === null || sideOf(mine, status) === 'ahead' || !isKnownOnBothDays(status)) return []
        const isNear = theirs > rank && theirs <= rank + defended.within
        const came = (status.baseline.value.rank ?? Number.POSITIVE_INFINITY) - theirs
        return isNear && came >= defended.rise ? [{ label, status, theirs }] : []
      })
      .toSorted((a, b) => a.theirs - b.theirs)
    if (near === undefined) return null
    const before = near.status.baseline?.value.rank ?? null
    const reason = facts.say.story.closing(facts.named(near.label), before, near.theirs, rank)
    return {
      verb: 'defend',
      status: mine,
      reason,
      worth: facts.worthOf(mine, rank) - facts.worthOf(mine, rank + 1),
    }
  }
}

/** AI answers of the last day that cite a competitor and none of one's own targets. */
function notCited(facts: StoryFacts | undefined, citations: readonly Citation[]): readonly StepDraft[] {
  if (facts === undefined) return []
  const { history, own, say } = facts
  const last = history.days.length - 1
  const byKeyword = new Map(citations.filter(({ day }) => day === last).map((one) => [one.keyword, one]))
  return own.flatMap((status): readonly StepDraft[] => {
    const cited = byKeyword.get(status.series.keyword)?.cited ?? []
    const targets = cited.map(({ target }) => history.targets[target])
    if (targets.length === 0 || targets.some((one) => one?.own !== false)) return []
    const rivals = targets.map((one) => facts.named(one?.label ?? ''))
    // Nothing says how often a citation is clicked.
    return [{ verb: 'earn', status, reason: say.story.notCited(rivals), worth: 0 }]
  })
}

/** Two pages as short as they can be told from each other. */
function apart(one: string, other: string, named: StoryFacts['named']): [string, string] {
  const write = [pathOf, shortLink].find((short) => short(one) !== short(other)) ?? ((link: string) => link)
  return [named(write(one)), named(write(other))]
}

/** Keywords that are named. */
const mostNamed = 3

/** What is told where there is nothing to do. */
export function nothingToDo({ own, target, kind, metric, say, named }: StoryFacts): string {
  if (target?.own !== true) return say.story.nothing.notOwn
  const { observed, ranked } = checkedOf(own)
  if (observed === 0) return say.story.nothing.notChecked
  if (metric === 'cited') return say.story.nothing.ofAnswers
  const fell = own.filter(({ change }) => change.movement === 'declined' || change.movement === 'left').length
  if (ranked > 0 && !hasClicks(kind)) return say.story.nothing.withoutClicks
  if (ranked > 0)
    return own.some(isKnownOnBothDays) ? say.story.nothing.standsOut(fell) : say.story.nothing.notCompared
  const hasVolumes = own.some(({ keyword }) => keyword.volume !== null)
  const wanted = own
    .map(({ keyword }) => keyword)
    .filter(({ volume, url }) => (hasVolumes ? volume !== null : url !== null))
    .toSorted((a, b) => (b.volume ?? 0) - (a.volume ?? 0))
  const byQuery = new Map(wanted.toReversed().map((one) => [one.query, one]))
  const shown = wanted.filter((one) => byQuery.get(one.query) === one).slice(0, mostNamed)
  return say.story.nothing.ranks(
    shown.map(({ query, volume, url }) => {
      const searches = volume === null ? null : `${say.number(volume)} ${say.keyword.searches}`
      const about = joined([searches, url === null ? null : named(pathOf(url))])
      return withAbout(say.overview.quoted(named(query)), about)
    }),
  )
}
