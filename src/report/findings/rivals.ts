import { isKnownOnBothDays } from '../headline.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import type { TrackedTarget } from '../history/rank-history.ts'
import {
  type FindingFacts,
  isReached,
  type LeadFigure,
  leadOf,
  leadOn,
  leastShown,
  usualOf,
} from './facts.ts'
import type { Finding, RivalMoved, TargetOrder } from './finding.ts'
import { leastKeywords, nameOf, trendOf } from './own.ts'
import { isNews, shareFloors } from './spread.ts'

interface Rival {
  readonly place: number
  readonly label: string
  readonly statuses: readonly KeywordStatus[]
  readonly lead: LeadFigure
}

/**
 * The rival that passed the target or was passed by it, else the one that moved most. It moved if its change is more than it usually
 * swings. One that stood still is told of only if it changed places with a target that moved.
 */
export function rivalMoved(facts: FindingFacts): readonly RivalMoved[] {
  const { own } = facts
  const mine = leadOf(own, facts)
  const isOwnNews = isMove(facts, facts.target, own, mine)
  const moved = rivalsOf(facts).flatMap((rival) => {
    const isRivalNews = isMove(facts, rival.place, rival.statuses, rival.lead)
    const standing = isRivalNews || isOwnNews ? standingOf(facts, rival) : null
    const isPassing = standing?.before != null && standing.before !== 'level' && isChanged(standing)
    return isRivalNews || isPassing ? [{ rival, standing, isRivalNews, isPassing }] : []
  })
  const [most] = moved.toSorted(
    (a, b) =>
      Number(b.isPassing) - Number(a.isPassing) ||
      Math.abs(b.rival.lead.delta ?? 0) - Math.abs(a.rival.lead.delta ?? 0),
  )
  if (most === undefined || facts.span === null) return []
  const { rival, standing, isRivalNews } = most
  const { span } = facts
  return [
    {
      kind: 'rival moved',
      of: nameOf(facts),
      rival: rival.label,
      value: rival.lead.value ?? 0,
      isReached: isReached(rival.lead),
      trend: isRivalNews ? { state: 'moved', delta: rival.lead.delta ?? 0, span } : { state: 'steady', span },
      standing,
    },
  ]
}

function isChanged({
  now,
  before,
}: {
  readonly now: TargetOrder
  readonly before: TargetOrder | null
}): boolean {
  return now !== 'level' && now !== before
}

/** Who leads: the best rival, or the next one where the target itself leads. */
export function leader(facts: FindingFacts): readonly Finding[] {
  const mine = leadOf(facts.own, facts).value
  const [best] = rivalsOf(facts)
    .filter(({ lead, statuses }) => (lead.value ?? 0) >= leastShown && isAlike(facts, statuses))
    .toSorted((a, b) => (b.lead.value ?? 0) - (a.lead.value ?? 0))
  if (best === undefined || mine === null) return []
  const standing = order(mine, best.lead.value) ?? 'level'
  const { metric } = facts
  return [
    { kind: 'leader', of: nameOf(facts), metric, rival: best.label, value: best.lead.value ?? 0, standing },
  ]
}

/** The competitor with the best rank for the only keyword. */
export function bestRival(facts: FindingFacts): readonly Finding[] {
  if (facts.own.length !== 1) return []
  const all = rivalsOf(facts).flatMap(({ label, statuses }) =>
    statuses.flatMap(({ series, current: { rank } }) =>
      rank === null || series.keyword !== facts.own[0]?.series.keyword ? [] : [{ rival: label, rank }],
    ),
  )
  const [best] = all.toSorted((a, b) => a.rank - b.rank)
  return best === undefined ? [] : [{ kind: 'best rival', ...best }]
}

/** Competitors; seen from a competitor, all other targets. */
function rivalsOf(facts: FindingFacts): readonly Rival[] {
  const { history, statuses, target } = facts
  const isOwn = history.targets[target]?.own === true
  return [...statuses].flatMap(([place, those]) => {
    const other = history.targets[place] as TrackedTarget
    if (place === target || (isOwn && other.own)) return []
    return { place, label: other.label, statuses: those, lead: leadOf(those, facts) }
  })
}

function isMove(
  facts: FindingFacts,
  place: number,
  statuses: readonly KeywordStatus[],
  { delta, common }: LeadFigure,
): boolean {
  const usual = () => usualOf(facts.daily(place), (day) => leadOn(day, facts.metric))
  const trend = trendOf(
    { ...facts, own: statuses },
    { delta, common, isNews: (change) => isNews(change, usual(), shareFloors) },
  )
  return trend.state === 'moved'
}

/** Who is ahead, over the keywords that both were checked for on both days. */
function standingOf(facts: FindingFacts, rival: Rival): RivalMoved['standing'] {
  if (!isAlike(facts, rival.statuses)) return null
  const [mine, theirs] = commonOf(facts.own, rival.statuses)
  if (mine.length < leastKeywords) return null
  const [one, other] = [leadOf(mine, facts), leadOf(theirs, facts)]
  const [now, before] = [order(one.now, other.now), order(one.before, other.before)]
  // The figures that readers see are of all keywords, and must not say the contrary.
  const shown = order(leadOf(facts.own, facts).value, rival.lead.value)
  return now === null || now !== shown ? null : { now, before }
}

/** Whether two targets are tracked for the same keywords. */
function isAlike({ own }: FindingFacts, theirs: readonly KeywordStatus[]): boolean {
  if (own.length !== theirs.length) return false
  const keywords = new Set(own.map(({ series }) => series.keyword))
  return theirs.every(({ series }) => keywords.has(series.keyword))
}

function commonOf(mine: readonly KeywordStatus[], theirs: readonly KeywordStatus[]) {
  const known = new Map(theirs.filter(isKnownOnBothDays).map((status) => [status.series.keyword, status]))
  const common = mine.filter((status) => isKnownOnBothDays(status) && known.has(status.series.keyword))
  return [common, common.map(({ series }) => known.get(series.keyword) as KeywordStatus)] as const
}

function order(one: number | null, other: number | null): TargetOrder | null {
  if (one === null || other === null) return null
  return Math.abs(one - other) < leastShown ? 'level' : one > other ? 'ahead' : 'behind'
}
