import { capitalised } from '../../../model/text.ts'
import type { RankHistory } from '../../history/rank-history.ts'
import { type ComparedSpan, spanWords } from '../formats.ts'
import { clicks, counted, counts, formats } from './figures.ts'

const { dayBefore, decimal, figure, list, longDay, number, percent, relative } = formats

/** `3 of 12 keywords`. */
function ofKeywords(some: number, all: number): string {
  return `${formats.number(some)} of ${counts.keywords(all)}`
}

const since = spanWords(formats, ['since the day before', 'in', 'since'], ({ until }) => until)
const on = spanWords(formats, ['the day before', 'at the end of', 'on'], ({ day }) => day)
const places = (ranks: number) => counted(Math.abs(ranks), 'place')
const ordinals = 'first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ')
const ordinal = (place: number) => ordinals[place - 1] ?? `number ${place}`
const cardinals = 'two three four five six seven eight nine ten'.split(' ')
const you = (of: string | null) => of ?? 'you'
const isAre = (some: number) => (some === 1 ? 'is' : 'are')
const inTen = (some: number, keywords: number, ranked = 0) =>
  keywords === 1
    ? `the only keyword is ${some === 1 ? '' : 'not '}in the top 10${some === 0 && ranked === 1 ? ', but ranks below it' : ''}`
    : some === 0
      ? `none of the ${counts.keywords(keywords)} is in the top 10${ranked === 0 ? '' : `, ${number(ranked)} ${ranked === 1 ? 'ranks' : 'rank'} below it`}`
      : some === keywords && some > 2
        ? `all ${counts.keywords(keywords)} are in the top 10`
        : `${ofKeywords(some, keywords)} ${isAre(some)} in the top 10`
const citing = (some: number, answers: number, of: string | null) =>
  some === 0
    ? `none of the ${number(answers)} AI answers cites ${you(of)}`
    : `${number(some)} of ${counted(answers, 'AI answer')} ${some === 1 ? 'cites' : 'cite'} ${you(of)}`
const lower = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`
const rose = (before: number, now: number) => (now > before ? 'rose' : 'fell')
const shareOf = (before: number, now: number) =>
  `${rose(before, now)} from ${percent(before)} to ${percent(now)}`
const couldBe = (some: number, keywords: number) => `${ofKeywords(some, keywords)} could not be checked`
const many = (delta: number, _before: number) => `${number(Math.abs(delta))} ${delta > 0 ? 'more' : 'fewer'}`
/** How much more or less it is than before. */
const more = {
  clicks: (delta: number, before: number) =>
    `${relative(delta, before) ?? figure(Math.abs(delta), 'clicks a month')} ${delta > 0 ? 'more' : 'fewer'}`,
  visibility: (delta: number, _before: number) =>
    `${decimal(Math.abs(delta) * 100)} points ${delta > 0 ? 'more' : 'less'}`,
  top_ten: many,
  cited: many,
}

/** What Search Console counted of some keywords. */
export interface CountedSum {
  readonly keywords: number
  readonly all: number
  readonly clicks: number
  readonly impressions: number
  /** Clicks in as many days before; null where they are not known. */
  readonly before: number | null
  readonly days: NonNullable<RankHistory['countedClicks']>
}

/** The phrases of what happened. `of` names a target that is not the reader's own. */
export const story = {
  bestRival: (rival: string, rank: number) => `${rival} is at rank ${rank}.`,
  begun: (of: string, sentence: string) => `${of}: ${lower(sentence)}`,
  notRun: 'The job has not run yet, so there are no figures.',
  noTargets: 'No website is tracked, so there is nothing to rank.',
  gone: (gone: number, ranked: number) =>
    `Suspect: ${number(gone)} of ${number(ranked)} ranks are gone at once.`,
  alike: (alike: number) =>
    `Suspect: ${number(alike)} different queries got one and the same list of results.`,
  suspect: {
    team: 'Check before you tell anyone.',
    client: 'These figures are in doubt until the next check.',
  },
  fewChecked: (checked: number, keywords: number, day: string) =>
    checked === 0
      ? `None of the ${counts.keywords(keywords)} could be checked on ${longDay(day)}.`
      : `Only ${ofKeywords(checked, keywords)} could be checked on ${longDay(day)}, too few for a trend.`,
  lastKnown: (text: string, day: string) =>
    `On ${longDay(day)}, the last day with enough of them: ${lower(text)}.`,
  noLastDay: 'There is no earlier day with enough of them either.',
  nothingRanks: (of: string | null, keywords: number, depth: number | null) =>
    `${of === null ? '' : `${of}: `}None of the ${counts.keywords(keywords)} ${depth === null ? 'was found in the checked results' : `is in the top ${depth}`}.`,
  noneCited: (of: string | null, answers: number) =>
    answers === 1 ? `The AI answer does not cite ${you(of)}.` : `${capitalised(citing(0, answers, of))}.`,
  rankedBefore: (before: number, span: ComparedSpan, isCited: boolean) => {
    if (before === 0) return `None ${isCited ? 'did' : 'was'} ${on(span)} either.`
    return `${capitalised(on(span))}, ${isCited ? `${number(before)} did` : before === 1 ? '1 was' : `${number(before)} were`}.`
  },
  manyNotChecked: (unknown: number, keywords: number) =>
    `${couldBe(unknown, keywords)}: all figures are of the others.`,
  notChecked: (unknown: number, keywords: number) =>
    `${couldBe(unknown, keywords)}; changes are of those that were checked on both days.`,
  added: (added: number, keywords: number) =>
    `${ofKeywords(added, keywords)} ${isAre(added)} new and not part of the changes.`,
  someAskedOtherwise: (changed: number, keywords: number, since: string) =>
    `${ofKeywords(changed, keywords)} ${isAre(changed)} asked otherwise since ${longDay(since)} and not part of the changes.`,
  partialDays: (partial: number, days: number) =>
    `On ${number(partial)} of ${counts.days(days)} fewer than half of the keywords could be checked.`,
  oldVolumes: (keywords: number, source: string, day: string) =>
    `The search volumes of ${counts.keywords(keywords)} are old: from ${source}, of ${longDay(day)} and later.`,
  imported: (sources: string, first: string, keywords: number, all: number) =>
    `Ranks before ${longDay(first)} were imported (${sources})${keywords < all ? ` for ${ofKeywords(keywords, all)}` : ''}; they are in no figure and no comparison.`,
  importedElements: 'Some count every element of the page.',
  importedSites: (sites: string, asked: number) =>
    `Most often in the first ten of the newest imported result pages of ${counts.keywords(asked)}: ${sites}.`,
  besides: (parts: readonly { readonly name: string; readonly text: string }[]) =>
    `Also asked, not in these figures: ${parts.map(({ name, text }) => `${name} (${lower(text)})`).join('; ')}.`,
  otherDay: (asked: string, day: string) =>
    `Compared with ${longDay(day)}, because no figures of ${longDay(asked)} can be compared.`,
  firstDay: 'This is the first day, so there is nothing to compare with yet.',
  beginsLater: (first: string) =>
    `There is nothing to compare with: the first figures are of ${longDay(first)}.`,
  notCheckedThen: (day: string) =>
    `There is nothing to compare with: no keyword was checked around ${longDay(day)}.`,
  askedOtherwise: (since: string) =>
    `There is nothing to compare with: the keywords are asked otherwise since ${longDay(since)}.`,
  fewInCommon: (common: number, keywords: number, span: ComparedSpan) =>
    `Only ${ofKeywords(common, keywords)} can be compared with ${dayBefore(span.day, span.until)}, too few for a trend.`,

  keywordNotChecked: (keyword: string) => `${keyword} could not be checked`,
  keywordAt: (keyword: string, rank: number | null, depth: number | null) =>
    rank !== null
      ? `${keyword} is at rank ${rank}`
      : `${keyword} is not ${depth === null ? 'in the checked results' : `in the top ${depth}`}`,
  keywordMoved: (before: number | null, now: number | null, span: ComparedSpan) => {
    if (before === now) return `, unchanged ${since(span)}`
    if (now === null) return `; ${on(span)} it was at rank ${before}`
    if (before === null) return `; ${on(span)} it was not found`
    return `, ${before > now ? 'up' : 'down'} ${places(before - now)} ${since(span)}`
  },

  counted: ({ keywords, all, clicks: sum, impressions, before, days }: CountedSum) =>
    `Search Console counted ${clicks(sum)} and ${figure(impressions, 'clicks a month')} ${impressions === 1 ? 'impression' : 'impressions'}${keywords < all ? ` for ${ofKeywords(keywords, all)}` : ''} from ${dayBefore(days.from, days.until)} to ${longDay(days.until)}${before === null ? '' : `, after ${figure(before, 'clicks a month')} in as many days before`}; what follows is estimated.`,
  figure: {
    clicks: (value: number) => `About ${clicks(value)} a month`,
    visibility: (share: number) => `Visibility ${percent(share)}`,
    top_ten: (some: number, keywords: number, ranked: number) => capitalised(inTen(some, keywords, ranked)),
    cited: (some: number, answers: number, _ranked: number, of: string | null) =>
      capitalised(citing(some, answers, of)),
  },
  steadyFigure: {
    clicks: (value: number) => `Steady at about ${clicks(value)} a month`,
    visibility: (share: number) => `Visibility steady at ${percent(share)}`,
  },
  since,
  onLast: (isAll: boolean) => `, ${isAll ? 'all' : 'most'} of it on the last day`,
  between: (low: string, high: string) => `, between ${low} and ${high} since`,
  more,
  than: (span: ComparedSpan) => `than ${on(span)}`,
  asMany: (isSame: boolean, span: ComparedSpan) => `${isSame ? '' : 'about '}as many as ${on(span)}`,
  asBefore: (span: ComparedSpan) => `much as ${on(span)}`,
  turned: (way: 'up' | 'down', value: string, day: string) =>
    `, after a ${way === 'up' ? 'rise' : 'fall'} to ${value} by ${day}`,
  /** The place among so many sites. */
  place: (place: number) => ordinal(place),
  placeFrom: (before: number, now: number) => `from ${ordinal(before)} to ${ordinal(now)}`,
  ofSites: (sites: number) => `of ${cardinals[sites - 2] ?? number(sites)} sites`,
  behind: (site: string, isNear: boolean) => `${isNear ? ', just' : ''} behind ${site}`,
  moreSites: (some: number) => `${number(some)} more`,
  passedBy: (sites: string) => `passed by ${sites}`,
  past: (sites: string) => `past ${sites}`,
  isFirst: (site: string) => `behind ${site}`,
  /** Of few keywords: how they did in all, before each of them. */
  verdict: (way: 'better' | 'worse', text: string) =>
    `${way === 'better' ? 'Better' : 'Worse'}: ${lower(text)}`,

  /** How many won or lost so many clicks, or rose or fell where clicks are not known; the second one is short. */
  part: (
    part: { readonly isUp: boolean; readonly keywords: number; readonly clicks: number | null },
    isFirst: boolean,
  ) => {
    const { isUp, keywords, clicks: sum } = part
    const about = sum === null ? '' : ` about ${isFirst ? clicks(sum) : figure(sum, 'clicks a month')}`
    const verb = sum === null ? (isUp ? 'rose' : 'fell') : isUp ? 'won' : 'lost'
    return `${isFirst ? counts.keywords(keywords) : number(keywords)} ${verb}${about}`
  },
  /** That most keywords went another way than the figure. */
  against: (isUp: boolean, most: number, others: number, metric: string) => {
    const [way, other] = isUp ? ['rose', 'fell'] : ['fell', 'rose']
    return `More keywords ${way} than ${other} (${number(most)} and ${number(others)}), but ${metric === 'clicks' ? 'the bigger ones' : 'those further up'} ${other}`
  },
  moreMarkets: (some: number) => `${number(some)} more`,
  about: (gain: number) => `about ${clicks(gain)}`,
  win: 'biggest win',
  loss: 'biggest loss',
  notTracked: (site: string) => `${site}, not tracked,`,
  siteMoved: (site: string, before: number, now: number) =>
    `${site} ${shareOf(before, now)} of the clicks on the first ten results`,
  /** The share of the target on the same results. */
  sameShare: (of: string | null, share: number) =>
    `; ${of === null ? 'yours' : `that of ${of}`} there is ${percent(share)}`,
  /** What a rival did, behind its name. */
  rivalMoved: {
    clicks: (before: number, now: number) =>
      `${rose(before, now)} from about ${figure(before, 'clicks a month')} to ${clicks(now)} a month`,
    visibility: (before: number, now: number) => `${shareOf(before, now)} visibility`,
    top_ten: (before: number, now: number) =>
      `went from ${number(before)} to ${counts.keywords(now)} in the top 10`,
    cited: (before: number, now: number) =>
      `went from ${number(before)} to ${number(now)} AI answers that cite it`,
  },
  tagMoved: (tag: string, keywords: number, changed: string) =>
    `The tag ${tag} (${counts.keywords(keywords)}) moved more than the whole: ${changed}.`,
  tagFigure: { clicks: 'clicks', visibility: 'visibility' },
  leads: (rival: string, isFirst: boolean, text: string) =>
    `${rival} ${isFirst ? 'leads' : 'follows'}${text}.`,
  leading: {
    clicks: (value: number) => ` with about ${clicks(value)} a month`,
    visibility: (share: number) => ` with a visibility of ${percent(share)}`,
    top_ten: (some: number) => ` with ${counts.keywords(some)} in the top 10`,
    cited: (some: number) => `, cited in ${counted(some, 'AI answer')}`,
  },
  noRivals: 'No competitor is tracked.',
  /** The site with the most of the first ten results where none of the tracked sites ranks, or none is tracked. */
  holder: (site: string, some: number, keywords: number) =>
    `Of all other sites, ${site} has the most places: in the top 10 for ${ofKeywords(some, keywords)}.`,
  topRanks: (three: number, ten: number, keywords: number) =>
    `${capitalised(inTen(ten, keywords))}${ten === 0 ? '' : `, ${three === 0 ? 'none' : three === keywords && three > 2 ? 'all' : number(three)} in the top 3`}.`,

  verbs: {
    recover: (keyword: string) => `Recover ${keyword}`,
    push: (keyword: string) => `Push ${keyword} into the top 3`,
    fix: (keyword: string) => `Fix ${keyword}`,
    defend: (keyword: string) => `Defend ${keyword}`,
    earn: (keyword: string) => `Get cited for ${keyword}`,
  },
  inMarket: (market: string, reason: string) => (market === '' ? reason : `${market}: ${reason}`),
  fell: (from: number, to: number) => `fell from ${from} to ${to}`,
  left: (from: number, depth: number | null) =>
    `dropped out of the ${depth === null ? 'checked results' : `top ${number(depth)}`}, was ${from}`,
  outside: (depth: number) => `outside the top ${number(depth)}`,
  withinReach: (rank: number, before: string | null) =>
    `at rank ${rank}${before === null || before === number(rank) ? '' : `, was ${before}`}`,
  otherPage: (page: string, intended: string) => `${page} ranks instead of ${intended}`,
  inTurn: (one: string, other: string, swaps: number) =>
    `${one} and ${other} rank in turn (${number(swaps)} changes)`,
  competing: (keywords: number, one: string, other: string) =>
    `${counts.keywords(keywords)} with the same results, one page; ${one} and ${other} compete`,
  closing: (rival: string, before: number | null, rank: number, mine: number) =>
    `${rival} ${before === null ? `is new at ${rank}` : `came from ${before} to ${rank}`}, right behind your ${mine}`,
  notCited: (rivals: readonly string[]) => `the AI answer cites ${list(rivals)} and not you`,
  /** What is at stake in a row; a chance puts nothing at stake. */
  stake: (value: number, isChance: boolean) =>
    isChance ? `could bring about ${clicks(value)} a month` : `about ${clicks(value)} a month at stake`,
  nothing: {
    notChecked: 'Nothing could be checked.',
    notOwn: 'Next steps are told for your own targets.',
    ofAnswers: 'Nothing stands out: no AI answer cites a competitor without citing you.',
    standsOut: (fell: number) =>
      `No keyword stands out: no fall, chance or wrong page is worth 1% of the clicks.${fell < 2 ? '' : ` Start with the largest of the ${number(fell)} falls.`}`,
    withoutClicks: 'Next steps are chosen by the clicks at stake, and only web results have clicks.',
    notCompared:
      'No keyword is within reach of the top 3 with at least 1% of the clicks at stake. What fell is told once there is a day to compare with.',
    ranks: (keywords: readonly string[]) =>
      `Nothing ranks. Check first that search engines have indexed ${
        keywords.length === 0 ? 'a page for each keyword' : `the pages meant for ${list(keywords)}`
      }, and that nothing blocks them there.`,
  },
}
