import type { RankHistory } from '../../history/rank-history.ts'
import { type ComparedSpan, isMonth } from '../formats.ts'
import { clicks, counted, counts, formats, quoted } from './figures.ts'

const { dayBefore, decimal, figure, list, longDay, monthName, number, percent, relative } = formats

const since = (span: ComparedSpan) =>
  span.days === 1
    ? 'since the day before'
    : isMonth(span)
      ? `in ${monthName(span.until)}`
      : `since ${dayBefore(span.day, span.until)}`
const on = (span: ComparedSpan) =>
  span.days === 1
    ? 'the day before'
    : isMonth(span)
      ? `at the end of ${monthName(span.day)}`
      : `on ${dayBefore(span.day, span.until)}`
const points = (share: number) => `${decimal(Math.abs(share) * 100)} points`
const places = (ranks: number) => (Math.abs(ranks) === 1 ? '1 place' : `${number(Math.abs(ranks))} places`)
const ordinals = [
  'first',
  'second',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
  'ninth',
  'tenth',
]
const ordinal = (place: number) => ordinals[place - 1] ?? `number ${place}`
const cardinals = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const cardinal = (some: number) => cardinals[some - 1] ?? number(some)
const you = (of: string | null) => of ?? 'you'
const inTen = (some: number, keywords: number, ranked = 0) =>
  some === 0
    ? `none of the ${counts.keywords(keywords)} is in the top 10${ranked === 0 ? '' : `, ${ranked === 1 ? '1 ranks' : `${number(ranked)} rank`} below it`}`
    : some === keywords && some > 2
      ? `all ${counts.keywords(keywords)} are in the top 10`
      : `${number(some)} of ${counts.keywords(keywords)} ${some === 1 ? 'is' : 'are'} in the top 10`
const citing = (some: number, answers: number, of: string | null) =>
  some === 0
    ? `none of the ${number(answers)} AI answers cites ${you(of)}`
    : `${number(some)} of ${counted(answers, 'AI answer')} ${some === 1 ? 'cites' : 'cite'} ${you(of)}`
const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`
const lower = (text: string) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`
const amount = (delta: number, text: string, span: ComparedSpan) =>
  `${text} ${delta > 0 ? 'more' : 'fewer'} than ${on(span)}`
const many = (delta: number, _: number, span: ComparedSpan) => amount(delta, number(Math.abs(delta)), span)
const shareOf = (before: number, now: number) =>
  `${now > before ? 'rose' : 'fell'} from ${percent(before)} to ${percent(now)}`
const ofCount = (before: number, now: number) => `from ${number(before)} to ${number(now)}`
const couldBe = (some: number, keywords: number) =>
  `${number(some)} of ${counts.keywords(keywords)} could not be checked`

/** The phrases of what happened. `of` names a target that is not the reader's own. */
/** What Search Console counted of some keywords. */
export interface CountedSum {
  readonly clicks: number
  readonly impressions: number
  /** Clicks in as many days before; null where they are not known. */
  readonly before: number | null
  readonly days: NonNullable<RankHistory['countedClicks']>
}

export const story = {
  bestRival: (rival: string, rank: number) => `${rival} is at rank ${rank}.`,
  begun: (of: string, sentence: string) => `${of}: ${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`,
  notRun: 'The job has not run yet, so there are no figures.',
  noTargets: 'No website is tracked, so there is nothing to rank.',
  noKeywords: 'No keyword matches the filters.',
  suspect: (gone: number, ranked: number, alike: number, isTeam: boolean) =>
    [
      ...(gone === 0 ? [] : [`Suspect: ${number(gone)} of ${number(ranked)} ranks are gone at once.`]),
      ...(alike === 0
        ? []
        : [`Suspect: ${number(alike)} different queries got one and the same list of results.`]),
      isTeam ? 'Check before you tell anyone.' : 'These figures are in doubt until the next check.',
    ].join(' '),
  fewChecked: (checked: number, keywords: number, day: string) =>
    checked === 0
      ? `None of the ${counts.keywords(keywords)} could be checked on ${longDay(day)}.`
      : `Only ${number(checked)} of ${counts.keywords(keywords)} could be checked on ${longDay(day)}, too few for a trend.`,
  lastKnown: (text: string, day: string) =>
    `On ${longDay(day)}, the last day with enough of them: ${text.charAt(0).toLowerCase()}${text.slice(1)}.`,
  noLastDay: 'There is no earlier day with enough of them either.',
  nothingRanks: (of: string | null, keywords: number, depth: number | null) =>
    `${of === null ? '' : `${of}: `}None of the ${counts.keywords(keywords)} ${depth === null ? 'was found in the checked results' : `is in the top ${depth}`}.`,
  noneCited: (of: string | null, answers: number) =>
    answers === 1 ? `The AI answer does not cite ${you(of)}.` : `${capital(citing(0, answers, of))}.`,
  rankedBefore: (before: number, span: ComparedSpan, isCited: boolean) => {
    if (before === 0) return `None ${isCited ? 'did' : 'was'} ${on(span)} either.`
    return `${capital(on(span))}, ${isCited ? `${number(before)} did` : before === 1 ? '1 was' : `${number(before)} were`}.`
  },
  manyNotChecked: (unknown: number, keywords: number) =>
    `${couldBe(unknown, keywords)}: all figures are of the others.`,
  notChecked: (unknown: number, keywords: number) => `${couldBe(unknown, keywords)}.`,
  added: (added: number, keywords: number) =>
    `${number(added)} of ${counts.keywords(keywords)} ${added === 1 ? 'is' : 'are'} new and not part of the changes.`,
  someAskedOtherwise: (changed: number, keywords: number, since: string) =>
    `${number(changed)} of ${counts.keywords(keywords)} ${changed === 1 ? 'is' : 'are'} asked otherwise since ${longDay(since)} and not part of the changes.`,
  partialDays: (partial: number, days: number) =>
    `On ${number(partial)} of ${counts.days(days)} fewer than half of the keywords could be checked.`,
  oldVolumes: (keywords: number, source: string, day: string) =>
    `The search volumes of ${counts.keywords(keywords)} are old: from ${source}, of ${longDay(day)} and later.`,
  imported: (
    sources: string,
    first: string,
    {
      keywords,
      of,
      countsAll,
    }: { readonly keywords: number; readonly of: number; readonly countsAll: boolean },
  ) =>
    `Ranks of before ${longDay(first)} were imported (${sources})${keywords < of ? ` for ${number(keywords)} of ${counts.keywords(of)}` : ''}: no figure counts them, and nothing is compared with them.${countsAll ? ' Some count every element of the page.' : ''}`,
  importedSites: (sites: readonly { readonly site: string; readonly keywords: number }[], asked: number) =>
    `Most often in the first ten of the newest imported result pages of ${counts.keywords(asked)}: ${sites.map(({ site, keywords }) => `${site} (${formats.number(keywords)})`).join(', ')}.`,
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
    `Only ${number(common)} of ${counts.keywords(keywords)} can be compared with ${dayBefore(span.day, span.until)}, too few for a trend.`,

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

  counted: ({ clicks: sum, impressions, before, days }: CountedSum) =>
    `Search Console counted ${clicks(sum)} and ${figure(impressions, 'clicks a month')} ${impressions === 1 ? 'impression' : 'impressions'} from ${dayBefore(days.from, days.until)} to ${longDay(days.until)}${before === null ? '' : `, after ${figure(before, 'clicks a month')} in as many days before`}; what follows is estimated.`,
  figure: {
    clicks: (value: number) => `About ${clicks(value)} a month`,
    visibility: (share: number) => `Visibility ${percent(share)}`,
    top_ten: (some: number, keywords: number, ranked = 0) => capital(inTen(some, keywords, ranked)),
    cited: (some: number, answers: number, of: string | null = null) => capital(citing(some, answers, of)),
  },
  steadyFigure: {
    clicks: (value: number) => `Steady at about ${clicks(value)} a month`,
    visibility: (share: number) => `Visibility steady at ${percent(share)}`,
  },
  since,
  butForFirst: (span: ComparedSpan) => ` but for ${dayBefore(span.day, span.until)} itself`,
  untilLast: ' but steady until the last day',
  change: {
    clicks: (delta: number, before: number, span: ComparedSpan) =>
      amount(delta, relative(delta, before) ?? figure(Math.abs(delta), 'clicks a month'), span),
    visibility: (delta: number, _: number, span: ComparedSpan) =>
      `${points(delta)} ${delta > 0 ? 'more' : 'less'} than ${on(span)}`,
    top_ten: many,
    cited: many,
  },
  asMany: (isSame: boolean, span: ComparedSpan) => `${isSame ? '' : 'about '}as many as ${on(span)}`,
  asBefore: (span: ComparedSpan) => `much as ${on(span)}`,
  turned: {
    up: (value: string, day: string, span: ComparedSpan) =>
      `, after a rise to ${value} by ${dayBefore(day, span.until)}`,
    down: (value: string, day: string, span: ComparedSpan) =>
      `, after a fall to ${value} by ${dayBefore(day, span.until)}`,
  },
  /** A site with its figure. */
  siteWith: (site: string, figure: string) => `${site} (${figure})`,
  place: (
    {
      now,
      before,
      sites,
      first,
      isNear,
      passed,
      morePassed,
    }: {
      readonly now: number
      readonly before: number | null
      readonly sites: number
      readonly first: string | null
      readonly isNear: boolean
      readonly passed: readonly string[]
      readonly morePassed: number
    },
    inVisibility: number | null,
  ) => {
    const of = `${sites === 2 ? 'two' : cardinal(sites)} sites`
    const who = list([...passed, ...(morePassed === 0 ? [] : [`${number(morePassed)} more`])])
    const behind = first === null ? '' : `${isNear ? ', just' : ''} behind ${first}`
    const place =
      before === null || before === now
        ? `, ${ordinal(now)} of ${of}${behind}`
        : `: from ${ordinal(before)} to ${ordinal(now)} of ${of}${who === '' ? behind : now > before ? `, passed by ${who}` : `, past ${who}`}`
    return `${place}${inVisibility === null ? '' : `; ${ordinal(inVisibility)} in visibility`}`
  },
  /** Of few keywords: how they did in all, before each of them. */
  verdict: {
    better: (text: string) => `Better: ${lower(text)}`,
    worse: (text: string) => `Worse: ${lower(text)}`,
    same: (text: string) => text,
  },

  moreFell: (fell: number, rose: number, metric: string) =>
    `More keywords fell than rose (${number(fell)} and ${number(rose)}), but ${metric === 'clicks' ? 'the bigger ones' : 'those further up'} rose`,
  moreRose: (rose: number, fell: number, metric: string) =>
    `More keywords rose than fell (${number(rose)} and ${number(fell)}), but ${metric === 'clicks' ? 'the bigger ones' : 'those further up'} fell`,
  /** A keyword with its ranks in one market or several. */
  moved: (
    name: string,
    ranks: readonly { readonly from: string; readonly to: string; readonly where: string }[],
    more: number,
    gain: number | null,
  ) => {
    const each = ranks.map(({ from, to, where }) => `${from} → ${to}${where === '' ? '' : ` (${where})`}`)
    const all = more === 0 ? each : [...each, `${number(more)} more`]
    return `${name} ${list(all)}${gain === null ? '' : `, about ${clicks(gain)}`}`
  },
  winAndLoss: (win: string | null, loss: string | null, blamed: string | null) => {
    if (win === null && loss === null) return null
    return `${[
      win === null ? [] : `biggest win: ${win}`,
      loss === null ? [] : `biggest loss: ${loss}${blamed === null ? '' : `, ${blamed}`}`,
    ]
      .flat()
      .join('; ')
      .replace(/^b/, 'B')}.`
  },
  /** `mine`: the share of the target on the same results. */
  siteMoved: ({
    name,
    isTracked,
    before,
    now,
    mine,
    of,
  }: {
    readonly name: string
    readonly isTracked: boolean
    readonly before: number
    readonly now: number
    readonly mine: number | null
    readonly of: string | null
  }) =>
    `${name}${isTracked ? '' : ', not tracked,'} ${shareOf(before, now)} of the clicks on the first ten results${mine === null ? '' : of === null ? `; yours is ${percent(mine)}` : `; that of ${of} is ${percent(mine)}`}.`,
  rivalMoved: {
    clicks: (rival: string, before: number, now: number) =>
      `${rival} ${now > before ? 'rose' : 'fell'} from about ${figure(before, 'clicks a month')} to ${clicks(now)} a month.`,
    visibility: (rival: string, before: number, now: number) =>
      `${rival} ${shareOf(before, now)} visibility.`,
    top_ten: (rival: string, before: number, now: number) =>
      `${rival} went ${ofCount(before, now)} keywords in the top 10.`,
    cited: (rival: string, before: number, now: number) =>
      `${rival} went ${ofCount(before, now)} AI answers that cite it.`,
  },
  tagMoved: (tag: string, keywords: number, changed: string) =>
    `The tag ${tag} (${counts.keywords(keywords)}) moved more than the whole: ${changed}.`,
  tagChange: {
    clicks: (delta: number, before: number) =>
      `${relative(delta, before) ?? figure(Math.abs(delta), 'clicks a month')} ${delta > 0 ? 'more' : 'fewer'} clicks`,
    visibility: (delta: number, _before: number) =>
      `${points(delta)} ${delta > 0 ? 'more' : 'less'} visibility`,
  },
  leader: {
    clicks: (rival: string, value: number, isFirst: boolean) =>
      isFirst
        ? `${rival} leads with about ${clicks(value)} a month.`
        : `${rival} follows with about ${clicks(value)} a month.`,
    visibility: (rival: string, value: number, isFirst: boolean) =>
      `${rival} ${isFirst ? 'leads' : 'follows'} with a visibility of ${percent(value)}.`,
    top_ten: (rival: string, value: number, isFirst: boolean) =>
      `${rival} ${isFirst ? 'leads' : 'follows'} with ${counts.keywords(value)} in the top 10.`,
    cited: (rival: string, value: number, isFirst: boolean) =>
      `${rival} ${isFirst ? 'leads' : 'follows'}, cited in ${counted(value, 'AI answer')}.`,
  },
  /** The site with the most of the first ten results where none of the tracked sites ranks. */
  holder: (site: string, some: number, keywords: number) =>
    `${site}, not tracked, has the most places: in the top 10 for ${number(some)} of ${counts.keywords(keywords)}.`,
  topRanks: (three: number, ten: number, keywords: number) =>
    `${capital(inTen(ten, keywords))}${ten === 0 ? '' : `, ${three === 0 ? 'none' : three === keywords && three > 2 ? 'all' : number(three)} in the top 3`}.`,

  verbs: {
    recover: (keyword: string) => `Recover ${keyword}`,
    push: (keyword: string) => `Push ${keyword} into the top 3`,
    fix: (keyword: string) => `Fix ${keyword}`,
    defend: (keyword: string) => `Defend ${keyword}`,
    earn: (keyword: string) => `Get cited for ${keyword}`,
  },
  inMarket: (market: string, reason: string) => (market === '' ? reason : `${market}: ${reason}`),
  fell: (from: number, to: number, passed: string | null) =>
    `fell from ${from} to ${to}${passed === null ? '' : `, ${passed}`}`,
  left: (from: number, depth: number | null, passed: string | null) =>
    `dropped out of the ${depth === null ? 'checked results' : `top ${number(depth)}`}, was ${from}${passed === null ? '' : `, ${passed}`}`,
  /** Who was behind, or not there, and is ahead now. */
  overtakenBy: ({
    name,
    from,
    to,
  }: {
    readonly name: string
    readonly from?: string
    readonly to?: string
  }) => `passed by ${name}${from === undefined ? '' : ` (${from} → ${to})`}`,
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
    ofAnswers: 'Nothing stands out: no AI answer cites a competitor without citing you.',
    standsOut:
      'Nothing stands out: no keyword fell, is within reach of the top 3 or has to be mended with at least 1% of the clicks at stake.',
    notCompared:
      'No keyword is within reach of the top 3 with at least 1% of the clicks at stake. What fell is told once there is a day to compare with.',
    ranks: (keywords: readonly string[]) =>
      `Nothing ranks, so there is no rank to improve. Look first ${
        keywords.length === 0
          ? 'whether each keyword has a page that search engines can find'
          : `at the pages meant for ${list(keywords)}`
      }.`,
  },
  /** A keyword with what is known of it. */
  meant: (query: string, volume: number | null, page: string | null) => {
    const known = [volume === null ? [] : `${number(volume)} searches a month`, page ?? []].flat()
    return `${quoted(query)}${known.length === 0 ? '' : ` (${known.join(', ')})`}`
  },
}
