import { placesOf } from '../cells.ts'
import { daily } from '../daily.ts'
import { isKnownOnBothDays } from '../headline.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import { top } from '../metrics/distribution.ts'
import { type FindingFacts, isReached, type LeadFigure, leadOf, leadOn, usualOf } from './facts.ts'
import type { Crossings, Finding, TagMoved } from './finding.ts'
import { crossing } from './groups.ts'
import { leastKeywords } from './own.ts'
import { isNews, shareFloors } from './spread.ts'

/** So many tags are looked at in each direction: behind them changes are smaller. */
const mostTags = 3

interface Tag {
  readonly name: string
  readonly statuses: readonly KeywordStatus[]
  readonly lead: LeadFigure
}

/** The tag that fell most and the one that rose most, each if it is more than the tag usually swings. The greater change first. */
export function tagsMoved(facts: FindingFacts): readonly TagMoved[] {
  const tags = tagsOf(facts).filter(({ lead }) => lead.common >= leastKeywords && lead.delta !== null)
  const first = (sign: 1 | -1): readonly TagMoved[] => {
    const found = tags
      .filter(({ lead }) => (lead.delta ?? 0) * sign > 0)
      .toSorted((a, b) => sign * ((b.lead.delta ?? 0) - (a.lead.delta ?? 0)))
      .slice(0, mostTags)
      .find((tag) => isNews(tag.lead.delta ?? 0, usualOfTag(facts, tag), shareFloors))
    if (found === undefined) return []
    const { name, lead } = found
    const which = sign === 1 ? 'rose' : 'fell'
    const value = isReached(lead) ? lead.value : null
    return [{ kind: 'tag moved', tag: name, value, delta: lead.delta ?? 0, which }]
  }
  return [...first(-1), ...first(1)].toSorted((a, b) => Math.abs(b.delta) - Math.abs(a.delta))
}

/** The tag that is seen least; nothing without two tags that differ. */
export function lowestTag(facts: FindingFacts): readonly Finding[] {
  const tags = tagsOf(facts).filter(
    ({ lead, statuses }) => lead.value !== null && statuses.length >= leastKeywords,
  )
  const [lowest, next] = tags.toSorted((a, b) => (a.lead.value ?? 0) - (b.lead.value ?? 0))
  if (lowest === undefined || next === undefined || lowest.lead.value === next.lead.value) return []
  return [{ kind: 'lowest tag', tag: lowest.name, value: lowest.lead.value ?? 0 }]
}

/** Tags that are not on all keywords, because those would say the same as the whole. */
function tagsOf(facts: FindingFacts): readonly Tag[] {
  const byTag = new Map<string, KeywordStatus[]>()
  for (const status of facts.own)
    for (const tag of new Set(status.keyword.tags)) {
      const those = byTag.get(tag)
      if (those === undefined) byTag.set(tag, [status])
      else those.push(status)
    }
  return [...byTag].flatMap(([name, statuses]) =>
    statuses.length === facts.own.length ? [] : { name, statuses, lead: leadOf(statuses, facts) },
  )
}

function usualOfTag(facts: FindingFacts, { statuses }: Tag): number | null {
  const { history, target, measure, metric, firstDay } = facts
  const series = statuses.map((status) => status.series)
  return usualOf(daily({ ...history, series }, target, measure, firstDay), (day) => leadOn(day, metric))
}

/**
 * Keywords that came among the first ranks, and that fell out of them: of the first 3 or of the first 10, whichever changed more, and only
 * if more came or fell than on usual days. References of AI answers have no such ranks.
 */
export function crossings(facts: FindingFacts): readonly Crossings[] {
  const common = facts.own.filter(isKnownOnBothDays).length
  if (facts.metric === 'cited' || common < leastKeywords) return []
  const place = placesOf(facts.own.map(({ keyword }) => keyword))
  const all = ([3, 10] as const).flatMap((rank): readonly Crossings[] => {
    const moves = facts.own.map((status) => ({ status, move: crossing(status, rank) }))
    const moved = moves.filter(({ move }) => move !== null)
    const entered = moved.filter(({ move }) => move === 'entered').length
    const left = moved.length - entered
    const usual = usualOf(facts.daily(facts.target), ({ distribution, coverage }) =>
      coverage.observed === 0 ? null : top(distribution, rank) / coverage.observed,
    )
    if (!isNews((entered - left) / common, usual, shareFloors)) return []
    const [first] = moved
    const keyword = moved.length === 1 ? first?.status.keyword : undefined
    const name = keyword === undefined ? null : { query: keyword.query, place: place(keyword) }
    return [{ kind: 'crossings', top: rank, entered, left, name }]
  })
  const net = ({ entered, left }: Crossings) => Math.abs(entered - left)
  return all.toSorted((a, b) => net(b) - net(a)).slice(0, 1)
}
