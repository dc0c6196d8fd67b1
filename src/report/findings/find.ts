import { placesOf } from '../cells.ts'
import { daily } from '../daily.ts'
import { isKnownOnBothDays } from '../headline.ts'
import type { KeywordStatus } from '../history/keyword-status.ts'
import { top } from '../metrics/positions.ts'
import { type FindingFacts, isReached, type LeadFigure, leadOf, leadOn, usualOf } from './facts.ts'
import type { Crossings, Finding, FindingLink, TagMoved } from './finding.ts'
import { crossing } from './groups.ts'
import { limits, manyUnknown } from './limits.ts'
import { clicksFinding, fewKeywords, leastKeywords, ownFinding, situation, standFindings } from './own.ts'
import { bestRival, leader, rivalMoved } from './rivals.ts'
import { isNews, shareFloors } from './spread.ts'

/** As many sentences are read in five seconds. */
const most = 5
/** Sentences about figures, where there are as many. */
const least = 3
/** Sentences about what the figures do not include. */
const mostLimits = 2

/**
 * Three to five findings, the most important first; fewer where there is not more to say. Never none. That the day is suspect as a
 * whole comes before all.
 */
export function findings(facts: FindingFacts): readonly Finding[] {
  return [...suspectDay(facts), ...findingsOf(facts)].slice(0, most)
}

function suspectDay({ history: { suspect, days } }: FindingFacts): readonly Finding[] {
  return suspect === undefined || suspect.day !== days.at(-1) ? [] : [{ kind: 'suspect', suspect }]
}

function findingsOf(facts: FindingFacts): readonly Finding[] {
  if (isOfFewKeywords(facts)) return [...fewKeywords(facts), ...bestRival(facts)].slice(0, most)
  const instead = situation(facts)
  if (instead?.some(({ kind }) => kind !== 'nothing ranks')) return instead
  const first = [...manyUnknown(facts), ...(instead ?? [ownFinding(facts)])]
  const last = limits(facts).slice(0, mostLimits)
  const news = [...first, ...newsOf(facts)].slice(0, most - last.length)
  const missing = Math.max(0, least - news.length)
  return [...news, ...(missing === 0 ? [] : fillersOf(facts, news).slice(0, missing)), ...last]
}

/** A few keywords are told one by one, because their sums swing with each of them. */
function isOfFewKeywords({ history, own, metric }: FindingFacts): boolean {
  return metric === 'visibility' && history.days.length > 0 && own.length > 0 && own.length < leastKeywords
}

function newsOf(facts: FindingFacts): readonly Finding[] {
  const tags = tagsMoved(facts)
  const clicks = clicksFinding(facts).filter(({ trend }) => trend.state === 'moved')
  return [...rivalMoved(facts), ...tags.slice(0, 1), ...crossings(facts), ...clicks, ...tags.slice(1)]
}

/** What can be said although nothing happened. */
function fillersOf(facts: FindingFacts, news: readonly Finding[]): readonly Finding[] {
  const has = (kind: Finding['kind']) => news.some((one) => one.kind === kind)
  return [
    ...(has('rival moved') ? [] : leader(facts)),
    ...(has('clicks') ? [] : clicksFinding(facts)),
    ...(has('tag moved') ? [] : lowestTag(facts)),
    ...standFindings(facts).filter(({ kind }) => kind !== 'average' || !has('low ranks')),
  ]
}

/** What a sentence opens. */
export function linkOf(finding: Finding): FindingLink {
  switch (finding.kind) {
    case 'tag moved':
    case 'lowest tag':
      return { to: 'tag', tag: finding.tag }
    case 'crossings': {
      const direction = finding.left >= finding.entered ? 'out-of' : 'into'
      return { to: 'group', group: `${direction}-top-${finding.top}` }
    }
    case 'not checked':
    case 'many not checked':
    case 'day not checked':
      return { to: 'group', group: 'not-checked' }
    case 'keyword':
      return { to: 'keyword', keyword: finding.keyword }
    case 'rival moved':
    case 'leader':
    case 'best rival':
      return { to: 'section', section: 'competitors' }
    case 'cited answers':
      return { to: 'section', section: 'answers' }
    default:
      return { to: 'section', section: 'keywords' }
  }
}

/** So many tags are looked at in each direction: behind them changes are smaller. */
const mostTags = 3

interface Tag {
  readonly name: string
  readonly statuses: readonly KeywordStatus[]
  readonly lead: LeadFigure
}

/** The tag that fell most and the one that rose most, each if it is more than the tag usually swings. The greater change first. */
function tagsMoved(facts: FindingFacts): readonly TagMoved[] {
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
function lowestTag(facts: FindingFacts): readonly Finding[] {
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
function crossings(facts: FindingFacts): readonly Crossings[] {
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
