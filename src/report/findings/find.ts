import type { FindingFacts } from './facts.ts'
import type { Finding, FindingLink } from './finding.ts'
import { crossings, lowestTag, tagsMoved } from './keywords.ts'
import { limits, manyUnknown } from './limits.ts'
import { clicksFinding, fewKeywords, leastKeywords, ownFinding, situation, standFindings } from './own.ts'
import { bestRival, leader, rivalMoved } from './rivals.ts'

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
