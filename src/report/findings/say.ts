import type { Words } from '../words/words.ts'
import type { Finding, KeywordFinding, KeywordName, NoTrend, RivalMoved, Trend } from './finding.ts'

/** Longer names are cut in sentences. */
const longestName = 60

/**
 * A finding as one or two sentences.
 *
 * @param mark makes a name from outside, such as a query, harmless or sets it apart; unchanged by default
 */
export function sentenceOf(
  finding: Finding,
  { findings: say }: Words,
  mark: (name: string) => string = (name) => name,
): string {
  const named = (name: string): string => mark(shortName(name))
  const keywordNamed = ({ query, place }: KeywordName): string =>
    `${say.quoted(named(query))}${place === '' ? '' : ` (${named(place)})`}`
  const of = 'of' in finding && finding.of !== null ? named(finding.of) : null
  switch (finding.kind) {
    case 'not run':
      return say.notRun()
    case 'no targets':
      return say.noTargets()
    case 'no keywords':
      return say.noKeywords()
    case 'suspect': {
      const { gone, ranked, alike, audience } = finding.suspect
      return [
        ...(gone === 0 ? [] : [say.manyGone(gone, ranked)]),
        ...(alike === 0 ? [] : [say.manyAlike(alike)]),
        audience === 'team' ? say.checkFirst() : say.inDoubt(),
      ].join(' ')
    }
    case 'day not checked': {
      const { checked, keywords, day, last } = finding
      const now = checked === 0 ? say.noneChecked(keywords, day) : say.fewChecked(checked, keywords, day)
      if (last === null) return `${now} ${say.noLastDay()}`
      const before = last.metric === 'visibility' ? say.lastVisibility : say.lastCited
      return `${now} ${before(last.value, last.day)}`
    }
    case 'nothing ranks': {
      const { metric, keywords, depth, before, span } = finding
      const isKnown = before !== null && span !== null
      if (metric === 'cited')
        return `${say.noneCited(null, keywords)}${isKnown ? ` ${say.citedBefore(before, span.day)}` : ''}`
      const then = isKnown ? ` ${say.rankedBefore(before, span.days, span.day)}` : ''
      return `${say.nothingRanks(keywords, depth)}${then}`
    }
    case 'keyword':
      return keywordSentence(finding, keywordNamed(finding.name), say)
    case 'visibility':
      return mainSentence(say.visibility(of, finding.value), finding.trend, say, [say.up, say.down])
    case 'cited answers': {
      const { cited, answers, trend } = finding
      return mainSentence(say.cited(of, cited, answers), trend, say, [say.more, say.fewer])
    }
    case 'low ranks': {
      const { topTen, ranked, keywords, average, trend } = finding
      const low = say.lowRanks(of, topTen, ranked, keywords)
      return `${low} ${mainSentence(say.average(average), trend, say, [say.worse, say.better])}`
    }
    case 'average':
      return sentence(say.average(finding.average), finding.trend, say, [say.worse, say.better])
    case 'clicks':
      return sentence(say.clicks(finding.clicks), finding.trend, say, [say.more, say.fewer])
    case 'top ranks':
      return [
        say.topRanks(of, finding.topThree, finding.topTen, finding.keywords),
        ...(finding.why === null ? [] : [reasonOf(finding.why, say)]),
      ].join(' ')
    case 'not compared':
      return reasonOf(finding.why, say)
    case 'best rival':
      return say.bestRival(named(finding.rival), finding.rank)
    case 'rival moved':
      return rivalSentence(finding, named(finding.rival), of, say)
    case 'leader': {
      const words = { ahead: say.leads, behind: say.rivalLeads, level: say.areLevel }[finding.standing]
      return words(of, named(finding.rival), finding.value, finding.metric)
    }
    case 'tag moved': {
      const { which, tag, delta, value } = finding
      return (which === 'fell' ? say.tagFell : say.tagRose)(named(tag), delta, value)
    }
    case 'lowest tag':
      return say.lowestTag(named(finding.tag), finding.value)
    case 'crossings': {
      const { top, entered, left, name } = finding
      if (name === null) return say.crossed(top, entered, left)
      return (entered === 1 ? say.cameIn : say.fellOut)(top, keywordNamed(name))
    }
    case 'not checked':
      return say.notChecked(finding.unknown, finding.keywords)
    case 'many not checked':
      return say.manyNotChecked(finding.unknown, finding.keywords)
    case 'added':
      return say.added(finding.added, finding.keywords)
    case 'asked otherwise':
      return say.someAskedOtherwise(finding.changed, finding.keywords, finding.since)
    case 'partial days':
      return say.partialDays(finding.partial, finding.days)
    case 'other day':
      return say.otherDay(finding.asked, finding.day)
  }
}

type FindingWords = Words['findings']

type Directions = readonly [
  up: (delta: number, days: number, day: string) => string,
  down: (delta: number, days: number, day: string) => string,
]

/** A figure with its change. */
function sentence(figure: string, trend: Trend, say: FindingWords, [up, down]: Directions): string {
  if (trend.state === 'none') return `${figure}.`
  const { days, day } = trend.span
  if (trend.state === 'steady') return `${figure}, ${say.steady(days, day)}.`
  return `${figure}, ${(trend.delta > 0 ? up : down)(trend.delta, days, day)}.`
}

/** The same, with the reason why there is no change: the first sentence says it for all. */
function mainSentence(figure: string, trend: Trend, say: FindingWords, directions: Directions): string {
  const why = trend.state === 'none' ? reasonOf(trend.why, say) : ''
  return [sentence(figure, trend, say, directions), why].filter((part) => part !== '').join(' ')
}

function reasonOf(why: NoTrend, say: FindingWords): string {
  switch (why.reason) {
    case 'first day':
      return say.firstDay()
    case 'history begins later':
      return say.beginsLater(why.first)
    case 'not checked then':
      return say.notCheckedThen(why.day)
    case 'few in common':
      return say.fewInCommon(why.common, why.keywords, why.span.day)
    case 'asked otherwise':
      return say.askedOtherwise(why.since)
    case 'not measured':
      return ''
  }
}

function keywordSentence(
  { rank, rankBefore, depth, movement, span }: KeywordFinding,
  keyword: string,
  say: FindingWords,
): string {
  if (rank === null && depth === null) return say.keywordNotChecked(keyword)
  const now =
    rank === null ? say.keywordOut(keyword, depth === 0 ? null : depth) : say.keywordAt(keyword, rank)
  if (span === null) return `${now}.`
  const { days, day } = span
  const moved = {
    up: () => `, ${say.keywordUp((rankBefore ?? 0) - (rank ?? 0), days, day)}`,
    down: () => `, ${say.keywordDown((rankBefore ?? 0) - (rank ?? 0), days, day)}`,
    same: () => `, ${say.keywordSame(days, day)}`,
    none: () => `, ${say.keywordSame(days, day)}`,
    entered: () => say.keywordEntered(day),
    left: () => say.keywordLeft(rankBefore ?? 0, day),
    unknown: () => '',
  }[movement]
  return `${now}${moved()}.`
}

function rivalSentence(
  { trend, value, isReached, standing }: RivalMoved,
  rival: string,
  of: string | null,
  say: FindingWords,
): string {
  const moved =
    trend.state !== 'moved'
      ? null
      : (trend.delta > 0 ? say.rivalRose : say.rivalFell)(rival, trend.delta, isReached ? value : null)
  if (standing === null) return `${moved}.`
  const { now, before } = standing
  const isNew = before !== null && before !== now
  const where = {
    ahead: isNew ? say.isNowBehind : say.staysBehind,
    behind: isNew ? say.isNowAhead : say.staysAhead,
    level: isNew ? say.isNowLevel : say.staysLevel,
  }[now](of)
  return moved === null ? `${say.rivalAt(rival, value)} ${where}.` : `${moved}${say.and}${where}.`
}

/** A name as sentences have it: cut where it is long. */
export function shortName(name: string): string {
  const signs = [...name]
  return signs.length <= longestName ? name : `${signs.slice(0, longestName - 1).join('')}…`
}
