import type { KeywordGroup, LeadMetric } from '../../findings/finding.ts'
import { minus } from '../formats.ts'
import { counted, counts, formats } from './figures.ts'

const { decimal, list, longDay, number, percent } = formats

/** The size of an estimate: more digits would claim more than is known. */
export const threeDigits = (size: number) => Math.round(Number(Math.abs(size).toPrecision(3)))
/** `7.5 points`, of a share. */
const points = (share: number) => `${decimal(Math.abs(share) * 100)} points`
const places = (ranks: number) => (Math.abs(ranks) === 1 ? '1 place' : `${number(Math.abs(ranks))} places`)
/** From here on a day says more than a number of days. */
const countedDays = 60
const since = (days: number, day: string) =>
  days === 1 ? 'since the day before' : days <= countedDays ? `in ${days} days` : `since ${longDay(day)}`
/** `more than 28 days before`. */
const than = (days: number, day: string) =>
  days === 1
    ? 'than the day before'
    : days <= countedDays
      ? `than ${days} days before`
      : `than on ${longDay(day)}`
const over = (days: number, day: string) =>
  days === 1 || days > countedDays ? since(days, day) : `over ${days} days`
const you = (of: string | null) => of ?? 'you'
const to = (share: number | null) => (share === null ? '' : ` to ${percent(share)}`)
const leading: Readonly<Record<LeadMetric, string>> = { visibility: 'in visibility', cited: 'in AI answers' }
/** A sentence that begins with whom it is about. */
export const begun = (of: string | null, sentence: string) =>
  of === null ? sentence : `${of}: ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`
const quoted = (text: string) => `“${text}”`

/** Sentences above the figures. `of` names a target that is not the reader's own. */
export const findings = {
  quoted,
  notRun: () => 'The job has not run yet, so there are no figures.',
  noTargets: () => 'No website is tracked, so there is nothing to rank.',
  noKeywords: () => 'No keyword matches the filters.',
  manyGone: (gone: number, ranked: number) =>
    `Suspect: ${number(gone)} of ${number(ranked)} ranks are gone at once.`,
  manyAlike: (queries: number) =>
    `Suspect: ${number(queries)} different queries got one and the same list of results.`,
  checkFirst: () => 'Check before you tell anyone.',
  inDoubt: () => 'These figures are in doubt until the next check.',
  noneChecked: (keywords: number, day: string) =>
    `None of the ${counts.keywords(keywords)} could be checked on ${longDay(day)}.`,
  fewChecked: (checked: number, keywords: number, day: string) =>
    `Only ${number(checked)} of ${counts.keywords(keywords)} could be checked on ${longDay(day)}, too few for a trend.`,
  lastVisibility: (share: number, day: string) =>
    `On ${longDay(day)}, the last day with enough of them, visibility was ${percent(share)}.`,
  lastCited: (share: number, day: string) =>
    `On ${longDay(day)}, the last day with enough of them, ${percent(share, 0)} of the AI answers cited the site.`,
  noLastDay: () => 'There is no earlier day with enough of them either.',
  nothingRanks: (keywords: number, depth: number | null) =>
    `None of the ${counts.keywords(keywords)} ${depth === null ? 'was found in the checked results' : `is in the top ${depth}`}.`,
  rankedBefore: (before: number, days: number, day: string) =>
    before === 0
      ? `None was ${days === 1 ? 'the day before' : `on ${longDay(day)}`} either.`
      : `${days === 1 ? 'The day before' : `On ${longDay(day)}`}, ${before === 1 ? '1 was' : `${number(before)} were`}.`,
  noneCited: (of: string | null, answers: number) =>
    answers === 1
      ? `The AI answer does not cite ${you(of)}.`
      : `None of the ${number(answers)} AI answers cites ${you(of)}.`,
  citedBefore: (before: number, day: string) =>
    before === 0 ? `None did on ${longDay(day)} either.` : `On ${longDay(day)}, ${number(before)} did.`,
  keywordAt: (keyword: string, rank: number) => `${keyword} is at rank ${rank}`,
  keywordOut: (keyword: string, depth: number | null) =>
    `${keyword} is not ${depth === null ? 'in the checked results' : `in the top ${depth}`}`,
  keywordNotChecked: (keyword: string) => `${keyword} could not be checked.`,
  keywordUp: (ranks: number, days: number, day: string) => `up ${places(ranks)} ${since(days, day)}`,
  keywordDown: (ranks: number, days: number, day: string) => `down ${places(ranks)} ${since(days, day)}`,
  keywordSame: (days: number, day: string) => `unchanged ${since(days, day)}`,
  keywordEntered: (day: string) => `; on ${longDay(day)} it was not found`,
  keywordLeft: (rank: number, day: string) => `; on ${longDay(day)} it was at rank ${rank}`,
  visibility: (of: string | null, share: number) => begun(of, `Visibility ${percent(share)}`),
  cited: (of: string | null, cited: number, answers: number) =>
    answers === 1
      ? `The AI answer cites ${you(of)}`
      : `${number(cited)} of ${number(answers)} AI answers ${cited === 1 ? 'cites' : 'cite'} ${you(of)}`,
  /** The beginning of a sentence about a number of clicks. */
  clicks: (clicks: number) => `About ${counts.clicks(threeDigits(clicks))} a month`,
  lowRanks: (of: string | null, topTen: number, ranked: number, keywords: number) =>
    begun(
      of,
      `${topTen === 0 ? 'No keyword is' : `${number(topTen)} of ${counts.keywords(keywords)}`} in the top 10, ${number(ranked - topTen)} of ${number(keywords)} rank below it.`,
    ),
  average: (rank: number) => `Average position ${decimal(rank)}`,
  topRanks: (of: string | null, three: number, ten: number, keywords: number) => {
    const isAll = (some: number) => some === keywords && keywords > 2
    if (ten === 0) return begun(of, `None of the ${counts.keywords(keywords)} is in the top 10.`)
    const inTen = isAll(ten)
      ? `All ${counts.keywords(keywords)} are`
      : `${number(ten)} of ${counts.keywords(keywords)} ${ten === 1 ? 'is' : 'are'}`
    const inThree = three === 0 ? 'none' : isAll(three) ? 'and all' : number(three)
    return begun(of, `${inTen} in the top 10, ${inThree} in the top 3.`)
  },
  up: (share: number, days: number, day: string) => `up ${points(share)} ${since(days, day)}`,
  down: (share: number, days: number, day: string) => `down ${points(share)} ${since(days, day)}`,
  better: (ranks: number, days: number, day: string) =>
    `${decimal(Math.abs(ranks))} better ${than(days, day)}`,
  worse: (ranks: number, days: number, day: string) => `${decimal(Math.abs(ranks))} worse ${than(days, day)}`,
  more: (some: number, days: number, day: string) => `${number(threeDigits(some))} more ${than(days, day)}`,
  fewer: (some: number, days: number, day: string) => `${number(threeDigits(some))} fewer ${than(days, day)}`,
  steady: (days: number, day: string) => `steady ${over(days, day)}`,
  firstDay: () => 'This is the first day, so there is nothing to compare with yet.',
  beginsLater: (first: string) =>
    `There is nothing to compare with: the first figures are of ${longDay(first)}.`,
  notCheckedThen: (day: string) =>
    `There is nothing to compare with: no keyword was checked around ${longDay(day)}.`,
  askedOtherwise: (since: string) =>
    `There is nothing to compare with: the keywords are asked otherwise since ${longDay(since)}.`,
  fewInCommon: (common: number, keywords: number, day: string) =>
    `Only ${number(common)} of ${counts.keywords(keywords)} can be compared with ${longDay(day)}, too few for a trend.`,
  /** @param share null where the change does not lead to it */
  rivalRose: (rival: string, delta: number, share: number | null) =>
    `${rival} rose ${points(delta)}${to(share)}`,
  rivalFell: (rival: string, delta: number, share: number | null) =>
    `${rival} fell ${points(delta)}${to(share)}`,
  rivalAt: (rival: string, share: number) => `${rival}, steady at ${percent(share)},`,
  isNowAhead: (of: string | null) => `is now ahead of ${you(of)}`,
  staysAhead: (of: string | null) => `stays ahead of ${you(of)}`,
  isNowBehind: (of: string | null) => `is now behind ${you(of)}`,
  staysBehind: (of: string | null) => `stays behind ${you(of)}`,
  isNowLevel: (of: string | null) => `is now level with ${you(of)}`,
  staysLevel: (of: string | null) => `stays level with ${you(of)}`,
  and: ' and ',
  rivalLeads: (_: string | null, rival: string, share: number, metric: LeadMetric) =>
    `${rival} leads ${leading[metric]} with ${percent(share)}.`,
  areLevel: (of: string | null, rival: string, share: number, metric: LeadMetric) =>
    `${rival}, at ${percent(share)}, is level with ${you(of)} ${leading[metric]}.`,
  bestRival: (rival: string, rank: number) => `Best competitor: ${rival}, at rank ${rank}.`,
  leads: (of: string | null, rival: string, share: number, metric: LeadMetric) =>
    `${of === null ? 'You lead' : `${of} leads`} ${leading[metric]}; ${rival} follows with ${percent(share)}.`,
  tagFell: (tag: string, delta: number, share: number | null) =>
    `The tag that fell most is ${tag}, down ${points(delta)}${to(share)}.`,
  tagRose: (tag: string, delta: number, share: number | null) =>
    `The tag that rose most is ${tag}, up ${points(delta)}${to(share)}.`,
  lowestTag: (tag: string, share: number) =>
    `The tag with the lowest visibility is ${tag}: ${percent(share)}.`,
  cameIn: (top: number, keyword: string) => `${keyword} came into the top ${top}.`,
  fellOut: (top: number, keyword: string) => `${keyword} fell out of the top ${top}.`,
  crossed: (top: number, entered: number, left: number) =>
    left === 0
      ? `${counts.keywords(entered)} came into the top ${top}.`
      : entered === 0
        ? `${counts.keywords(left)} fell out of the top ${top}.`
        : `${counts.keywords(entered)} came into the top ${top}, ${number(left)} fell out.`,
  notChecked: (unknown: number, keywords: number) =>
    `${number(unknown)} of ${counts.keywords(keywords)} could not be checked.`,
  manyNotChecked: (unknown: number, keywords: number) =>
    `${number(unknown)} of ${counts.keywords(keywords)} could not be checked: all figures are of the others.`,
  added: (added: number, keywords: number) =>
    `${number(added)} of ${counts.keywords(keywords)} ${added === 1 ? 'is' : 'are'} new and not part of the changes.`,
  someAskedOtherwise: (changed: number, keywords: number, since: string) =>
    `${number(changed)} of ${counts.keywords(keywords)} ${changed === 1 ? 'is' : 'are'} asked otherwise since ${longDay(since)} and not part of the changes.`,
  /** The mark of that day in charts. */
  askedOtherwiseFrom: (changed: number) =>
    `From here on ${counts.keywords(changed)} ${changed === 1 ? 'is' : 'are'} asked otherwise: not compared with before`,
  partialDays: (partial: number, days: number) =>
    `On ${number(partial)} of ${counts.days(days)} fewer than half of the keywords could be checked.`,
  otherDay: (asked: string, day: string) =>
    `Compared with ${longDay(day)}, because no figures of ${longDay(asked)} can be compared.`,
}

/** Keywords with less at stake are left out. */
const withClicks = (ofClicks: boolean) => (ofClicks ? ' with a click a month or more at stake' : '')
/** With what is known in brackets. */
export const withMore = (text: string, known: readonly (string | null)[]) => {
  const parts = known.filter((part) => part !== null)
  return parts.length === 0 ? text : `${text} (${parts.join(', ')})`
}

/** What to do next. The first reason of a row is a sentence, the others follow it in short. */
export const nextActions = {
  title: 'What to do next',
  lead: 'Up to eight keywords, the most clicks a month at stake first.',
  none: (ofClicks: boolean) =>
    `Nothing stands out: no keyword fell out of the top 3 or 10, and none ranks close behind the top 3${withClicks(ofClicks)}.`,
  notCompared: (ofClicks: boolean) =>
    `No keyword ranks close behind the top 3${withClicks(ofClicks)}. What fell is told once there is a day to compare with.`,
  noneOfAnswers: 'Nothing stands out: no AI answer cites a competitor without citing you.',
  notChecked: 'Nothing could be checked.',
  nothingRanks: (keywords: readonly string[]) =>
    `Nothing ranks, so there is no rank to improve. Look first ${
      keywords.length === 0
        ? 'whether each keyword has a page that search engines can find'
        : `at the pages meant for ${list(keywords)}`
    }.`,
  /** A keyword with what is known of it. */
  meant: (query: string, volume: number | null, page: string | null) =>
    withMore(quoted(query), [volume === null ? null : `${number(volume)} searches a month`, page]),
  keyword: 'Keyword',
  reason: 'Reason',
  clicks: 'Clicks a month to win or lose',
  atStake: 'clicks a month at stake',
  page: 'Page',
  /** Follows the reasons. */
  stake: (clicks: number) => `(${counts.clicks(Math.round(clicks))} a month)`,
  why: 'Why',
  whyOf: (query: string) => `Why: ${query}`,
  noPage: 'no page ranks',
  noClicks: 'not known',
  fellOut: (top: number, from: number, to: number | null) =>
    to === null
      ? `Fell out of the top ${top}: it was at rank ${from} and is no longer found.`
      : `Fell out of the top ${top}: from rank ${from} to ${to}.`,
  withinReach: (rank: number, before: number | null, clicks: number | null) =>
    [
      before === null
        ? `Rank ${rank}.`
        : before === rank
          ? `Rank ${rank}, as before.`
          : `Rank ${rank}, was ${before}.`,
      clicks === null
        ? 'The top 3 is within reach.'
        : `The top 3 would bring about ${counted(threeDigits(clicks), 'more click')} a month.`,
    ].join(' '),
  otherPage: (page: string, intended: string) => `${page} ranks instead of ${intended}.`,
  pagesInTurn: (one: string, other: string, swaps: number) =>
    `Two of your pages rank in turn (${number(swaps)} changes): ${one} and ${other}.`,
  passed: (rival: string, rank: number, others: number) =>
    others === 0
      ? `${rival} passed you and is at rank ${rank}.`
      : `${rival} passed you and is at rank ${rank}; ${number(others)} more passed you too.`,
  notCited: (rivals: readonly string[]) => `The AI answer cites ${list(rivals)} and not you.`,
  also: 'Also: ',
  shortFellOut: (top: number) => `fell out of the top ${top}`,
  shortWithinReach: 'within reach of the top 3',
  shortOtherPage: 'another page ranks than intended',
  shortPagesInTurn: 'two pages rank in turn',
  shortPassed: (rival: string) => `${rival} passed you`,
  shortNotCited: (rivals: readonly string[]) => `the AI answer cites ${list(rivals)} and not you`,
}

/** Names of the groups of keywords that sentences count. */
const groups: Readonly<Record<KeywordGroup, string>> = {
  'into-top-3': 'came into the top 3',
  'out-of-top-3': 'fell out of the top 3',
  'into-top-10': 'came into the top 10',
  'out-of-top-10': 'fell out of the top 10',
  'not-checked': 'could not be checked',
}

/** The first screen, and winners and losers. */
export const overview = {
  groups,
  inShort: 'In short',
  figuresOf: (part: string, others: readonly string[]) =>
    `Figures of ${part}. Not included: ${others.join('; ')}.`,
  checked: (observed: number, expected: number) =>
    `${number(observed)} of ${counts.keywords(expected)} checked`,
  notCounted: (uncounted: number) => `${number(uncounted)} without a volume`,
  shareChecked: (share: number, observed: number) => `${percent(share, 0)} of ${number(observed)} checked`,
  nothingChecked: 'nothing checked',
  top: (rank: number) => `Top ${rank}`,
  ranked: 'Ranked keywords',
  winners: 'Winners',
  losers: 'Losers',
  noWinners: 'No keyword rose or came in.',
  noLosers: 'No keyword fell or dropped out.',
  net: (clicks: number) =>
    Math.round(clicks) === 0
      ? 'In all, as many clicks a month as before.'
      : `In all about ${counted(threeDigits(clicks), clicks > 0 ? 'more click' : 'fewer click')} a month.`,
  clicksAMonth: 'clicks a month',
  gain: (clicks: number) => `${clicks < 0 ? minus : '+'}${number(Math.abs(clicks))}`,
  clicksMore: (clicks: number) => `about ${counted(Math.round(Math.abs(clicks)), 'more click')} a month`,
  clicksFewer: (clicks: number) => `about ${counted(Math.round(Math.abs(clicks)), 'fewer click')} a month`,
  filterByMovement: 'Filter the table of keywords by movement',
}
