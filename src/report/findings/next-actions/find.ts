import type { Citation } from '../../data.ts'
import { isKnownOnBothDays } from '../../headline.ts'
import { filterHistory, hasClicks } from '../../history/filter-history.ts'
import type { KeywordStatus } from '../../history/keyword-status.ts'
import type { RankHistory } from '../../history/rank-history.ts'
import { type CtrCurve, rateOf } from '../../metrics/figure.ts'
import { type LandingPage, landingPages, urlSwaps } from '../../metrics/pages.ts'
import { outcome } from '../../metrics/shares.ts'
import type { FindingFacts } from '../facts.ts'
import { crossing } from '../groups.ts'
import type { ActionReason, NextAction } from './action.ts'

const most = 8

/** Rows of keywords that are only within reach, where other keywords have a reason: chances are there every month. */
const mostChances = 4

/** Clicks a month that are worth a row, where they are known. */
const leastClicks = 1

/** Ranks from which the first three can be reached. */
const reach = { from: 4, to: 15, goal: 3 } as const

/** Swaps of two pages that are no chance. */
const leastSwaps = 2

/** Behind this rank a competitor that passes takes no clicks. */
const lastPassed = 20

/** AI answers of the last day, which are of another part than the ranks. */
export interface LastAiAnswers {
  /** The statuses of the target for AI answers. */
  readonly statuses: readonly KeywordStatus[]
  readonly citations: readonly Citation[]
}

/**
 * What to do next about the keywords of one's own target, the most clicks at stake first: up to eight keywords, each once. Keywords
 * without a volume come after all others, by the clicks of one search; keywords of AI answers, whose clicks are not known, by their volume
 * at last. Nothing for a competitor.
 */
export function nextActions(facts: FindingFacts, answers: LastAiAnswers): readonly NextAction[] {
  const { history, target, own } = facts
  if (history.targets[target]?.own !== true) return []
  const clicked = own.filter(({ keyword }) => hasClicks(keyword.kind))
  const rules = rulesOf(facts, clicked)
  const landing = new Map(landingPages(clicked, history).map((page) => [page.status, page]))
  const drafts = clicked.flatMap((status): readonly Draft[] => {
    const all = rules.flatMap((rule) => rule(status, landing.get(status) as LandingPage))
    // Of one that fell it is known that it can be better.
    const hasFallen = all.some(({ reason }) => reason.kind === 'fell out')
    const found = hasFallen ? all.filter((one) => !isChance(one)) : all
    const reasons = found.toSorted((a, b) => Number(isChance(a)) - Number(isChance(b)) || b.rate - a.rate)
    const page = landing.get(status)?.link ?? null
    return isSome(reasons) ? [{ status, reasons, page }] : []
  })
  const inOrder = withAnswers(drafts, notCited(facts, answers))
    .map(weigh)
    .filter(({ clicks }) => clicks === null || clicks >= leastClicks)
    .toSorted(byStake)
  const happened = inOrder.filter(({ reasons: [first] }) => !isChance(first))
  const chances = Math.max(mostChances, most - happened.length)
  let chosen = 0
  return inOrder
    .filter(({ reasons: [first] }) => !isChance(first) || ++chosen <= chances)
    .slice(0, most)
    .map(actionOf)
}

/** Whether nothing happened: a rank could be better. */
function isChance({ reason }: WeighedReason): boolean {
  return reason.kind === 'within reach'
}

/** A reason with the clicks of one search that it is about. */
interface WeighedReason {
  readonly reason: ActionReason
  readonly rate: number
}

interface Draft extends Pick<NextAction, 'status' | 'page'> {
  /** What happened first, by clicks; then what could be. */
  readonly reasons: readonly [WeighedReason, ...WeighedReason[]]
}

type Rule = (status: KeywordStatus, landing: LandingPage) => readonly WeighedReason[]

function rulesOf(facts: FindingFacts, clicked: readonly KeywordStatus[]): readonly Rule[] {
  const { curve } = facts.measure
  return [
    (status) => fellOut(status, curve),
    (status) => withinReach(status, curve),
    (status, landing) => otherPage(status, landing, curve),
    pagesInTurn(facts, curve),
    passed(facts, clicked, curve),
  ]
}

function fellOut(status: KeywordStatus, curve: CtrCurve): readonly WeighedReason[] {
  const top = ([3, 10] as const).find((rank) => crossing(status, rank) === 'left')
  const [from, to] = [status.baseline?.value.rank ?? null, status.current.rank]
  if (top === undefined || from === null) return []
  return [{ reason: { kind: 'fell out', top, from, to }, rate: rateOf(curve, from) - rateOf(curve, to) }]
}

function withinReach(status: KeywordStatus, curve: CtrCurve): readonly WeighedReason[] {
  const {
    current: { rank },
    keyword: { volume },
  } = status
  if (rank === null || rank < reach.from || rank > reach.to) return []
  const rate = rateOf(curve, reach.goal) - rateOf(curve, rank)
  const clicks = volume === null ? null : rate * volume
  const before = isKnownOnBothDays(status) ? status.baseline.value.rank : null
  // A curve of one's own may fall in another way.
  const isWorth = clicks === null ? rate > 0 : clicks >= leastClicks
  return !isWorth ? [] : [{ reason: { kind: 'within reach', rank, before, clicks }, rate }]
}

function otherPage(
  { current, keyword }: KeywordStatus,
  { state, link }: LandingPage,
  curve: CtrCurve,
): readonly WeighedReason[] {
  if (state !== 'wrong page' || link === null || keyword.url === null) return []
  return [
    { reason: { kind: 'other page', page: link, intended: keyword.url }, rate: rateOf(curve, current.rank) },
  ]
}

function pagesInTurn({ history, target, firstDay }: FindingFacts, curve: CtrCurve): Rule {
  const own = { ...history, series: history.series.filter((one) => one.target === target) }
  const recent = filterHistory(own, { from: history.days[firstDay] ?? '' })
  const byKeyword = new Map(urlSwaps(recent).map((one) => [one.keyword, one]))
  return ({ series, current }) => {
    const found = byKeyword.get(series.keyword)
    const [one, other] = found?.pages ?? []
    if (found === undefined || found.swaps < leastSwaps || one === undefined || other === undefined) return []
    const pages = [linkAt(history, one.link), linkAt(history, other.link)] as const
    return [
      { reason: { kind: 'pages in turn', pages, swaps: found.swaps }, rate: rateOf(curve, current.rank) },
    ]
  }
}

function linkAt({ links }: RankHistory, place: number): string {
  return links[place] ?? ''
}

/** Competitors that were behind on the compared day and are ahead now. */
function passed(
  { history, statuses }: FindingFacts,
  clicked: readonly KeywordStatus[],
  curve: CtrCurve,
): Rule {
  const byKeyword = new Map<number, KeywordStatus[]>(clicked.map(({ series }) => [series.keyword, []]))
  for (const [place, those] of statuses)
    if (history.targets[place]?.own === false)
      for (const status of those) byKeyword.get(status.series.keyword)?.push(status)
  return (mine) => {
    const rivals = (byKeyword.get(mine.series.keyword) ?? []).filter((theirs) => hasPassed(mine, theirs))
    const [best, ...others] = rivals.toSorted((a, b) => (a.current.rank ?? 0) - (b.current.rank ?? 0))
    const rank = best?.current.rank ?? null
    if (best === undefined || rank === null || rank > lastPassed) return []
    const rival = history.targets[best.series.target]?.label ?? ''
    const rate = Math.max(0, rateOf(curve, rank) - rateOf(curve, mine.current.rank))
    return [{ reason: { kind: 'passed', rival, rank, others: others.length }, rate }]
  }
}

function hasPassed(mine: KeywordStatus, theirs: KeywordStatus): boolean {
  if (!isKnownOnBothDays(mine) || !isKnownOnBothDays(theirs)) return false
  return (
    mine.baseline.day === theirs.baseline.day &&
    outcome(mine.baseline.value, theirs.baseline.value) === 'won' &&
    outcome(mine.current, theirs.current) === 'lost'
  )
}

/** AI answers of the last day that cite a competitor and none of one's own targets. */
function notCited({ history }: FindingFacts, { statuses, citations }: LastAiAnswers): readonly Draft[] {
  const last = history.days.length - 1
  const byKeyword = new Map(citations.filter(({ day }) => day === last).map((one) => [one.keyword, one]))
  return statuses.flatMap((status): readonly Draft[] => {
    const cited = byKeyword.get(status.series.keyword)?.cited ?? []
    const targets = cited.map(({ target }) => history.targets[target])
    if (targets.length === 0 || targets.some((one) => one?.own !== false)) return []
    const rivals = targets.map((one) => one?.label ?? '')
    // Nothing says how often a citation is clicked.
    return [{ status, reasons: [{ reason: { kind: 'not cited', rivals }, rate: 0 }], page: null }]
  })
}

/** An AI answer for a query that has a row already is one more reason of that row. */
function withAnswers(drafts: readonly Draft[], answers: readonly Draft[]): readonly Draft[] {
  const byQuery = new Map(answers.map((draft) => [placeOf(draft), draft]))
  const joined = drafts.map((draft) => {
    const answer = byQuery.get(placeOf(draft))
    if (answer === undefined) return draft
    byQuery.delete(placeOf(draft))
    return { ...draft, reasons: [...draft.reasons, ...answer.reasons] as const }
  })
  return [...joined, ...byQuery.values()]
}

function isSome<T>(all: readonly T[]): all is readonly [T, ...T[]] {
  return all.length > 0
}

interface Staked extends Draft {
  /** Clicks of one search that are at stake: those of the reason with the most. */
  readonly rate: number
  /** Clicks a month; null where they are not known. */
  readonly clicks: number | null
}

function weigh(draft: Draft): Staked {
  const { keyword } = draft.status
  const rate = Math.max(...draft.reasons.map((one) => one.rate))
  const isKnown = keyword.volume !== null && hasClicks(keyword.kind)
  return { ...draft, rate, clicks: isKnown ? rate * (keyword.volume ?? 0) : null }
}

/** By clicks; then those without a volume by the clicks of one search; then those without clicks, by volume. */
function byStake(a: Staked, b: Staked): number {
  const volume = ({ status }: Staked): number => status.keyword.volume ?? 0
  return (
    (b.clicks ?? 0) - (a.clicks ?? 0) ||
    b.rate - a.rate ||
    volume(b) - volume(a) ||
    a.status.series.keyword - b.status.series.keyword
  )
}

function actionOf({ status, reasons: [{ reason }, ...others], clicks, page }: Staked): NextAction {
  return { status, reasons: [reason, ...others.map((one) => one.reason)], clicks, page }
}

/** The query and where it is asked. */
function placeOf({ status }: Draft): string {
  const { query, params } = status.keyword
  return JSON.stringify([query, params.gl ?? params.cc ?? '', params.hl ?? '', params.location ?? ''])
}
