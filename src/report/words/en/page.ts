import { clicks, counted, counts, formats } from './figures.ts'

/** The head of a page, the names of its parts, and what it says of all of them. */
const header = {
  overview: 'Overview',
  skipToFigures: 'Skip to figures',
  skipToKeywords: 'Skip to keywords',
  print: 'Print',
  noDays: 'No day yet',
  /** The last day with a run, if it is not the last of the period. */
  lastChecked: (day: string) => `last checked on ${day}`,
  shown: 'Shown',
  selected: (part: number, all: number) =>
    part === all ? counted(all, 'keyword') : `${formats.number(part)} of ${counted(all, 'keyword')}`,
  listed: (part: number) => `${formats.number(part)} listed`,
  notRun: 'The job has not run yet.',
  noTarget: 'The job tracks no target, so there are no ranks.',
  onlyGroup: (part: number, all: number, group: string) =>
    part === 0
      ? `None of ${counted(all, 'keyword')}: ${group}.`
      : `Only ${formats.number(part)} of ${formats.number(all)}: ${group}.`,
  rankOn: (day: string, compared: string) => `The rank of each keyword on ${day}, ${compared}.`,
  notShown: (queries: number) => `Not shown: ${counted(queries, 'keyword')} that the job no longer has.`,
}

/** The days of a report, and those that they are compared with. */
const period = {
  /** Two days in words, such as `24 Oct` and `20 Nov 2026`. */
  range: (from: string, until: string) => `${from} to ${until}`,
  compared: (days: string) => `compared with ${days}`,
  notCompared: 'nothing to compare with',
  /** Follows the compared day where some keywords were not checked on it. */
  nearest: 'or the nearest day checked',
  /** What was asked for where another day was found. */
  askedFor: (day: string, tolerance: string) => `asked for: ${day}, ±${tolerance}`,
}

/** The fields that choose what a page shows. */
const filters = {
  label: 'Filters',
  reset: 'Reset',
  all: 'All',
  target: 'Target',
  competitor: (name: string) => `${name} (competitor)`,
  view: 'View',
  views: 'Saved views',
  allKeywords: 'All keywords',
  search: 'Search',
  tag: 'Tag',
  engine: 'Engine',
  locale: 'Country, language',
  figuresOf: 'Figures of',
  usualPart: 'Main results',
  listed: 'Listed keywords',
  period: 'Period',
  lastDays: (days: number) => (days === 1 ? 'Last day' : `Last ${days} days`),
  quarter: (quarter: number, year: string) => `Q${quarter} ${year}`,
  wholeHistory: 'Whole history',
  freeDays: 'Choose days …',
  from: 'From',
  until: 'Until',
  comparedWith: 'Compared with',
  beforePeriod: 'Before the period',
  previousPeriod: 'Previous period',
  earlier: (days: number) => `${counted(days, 'day')} earlier`,
  yearEarlier: 'A year earlier',
  freeDay: 'Choose a day …',
  comparedDay: 'Compared day',
}

const { dayBefore, list, number } = formats

/** Charts, and what stands beside them. */
const charts = {
  chart: 'chart',
  arrowKeys: 'The arrow keys go from day to day.',
  /** In the meaning of a figure that is made by a click-through curve. */
  byCurve: (curve: string) => `Click-through curve: ${curve}.`,
  clicksAreEstimates: 'Real clicks differ: they depend on all that stands on the result page.',
  choose: 'Figure of the chart',
  figures: {
    visibility: 'Visibility',
    average_position: 'Average position',
    top_10: 'Top 10',
    clicks: 'Clicks',
  },
  topTitle: (rank: number) => `Keywords in the top ${rank}`,
  ofEachTarget: (figure: string) => `${figure} of each target over time.`,
  nothingChecked: 'Nothing was checked on these days.',
  notChecked: 'not checked',
  leftOut: (checked: number, asked: number) =>
    `left out, ${number(checked)} of ${number(asked)} keywords checked`,
  withCount: (value: string, count: number, checked: number) =>
    `${value} (${number(count)} of ${number(checked)})`,
  ofChecked: (value: string, checked: number, asked: number) =>
    `${value} (${number(checked)} of ${number(asked)} keywords checked)`,
  incomplete: (days: number) =>
    `Left out: ${counted(days, 'day')} on which fewer than half of the keywords were checked.`,
  comparedDay: 'compared day',
  notes: 'Notes in the chart',
  note: (number: number, text: string) => `Note ${number}: ${text}`,
  history: (target: string, query: string, days: number) =>
    `Rank of ${target} for ${query} on ${counted(days, 'day')}.`,
  best: (rank: number) => `best ${number(rank)}`,
  imported: (sources: string, countsAll: boolean) =>
    `imported (${sources}${countsAll ? ', all elements' : ''})`,
  notFound: 'not found',
  historyKey:
    'A gap is a day without a rank. ×: not found in the checked results. ?: not known. Hollow circle: estimated.',
}

/** Tables, and what can be done with each. */
const tables = {
  more: (next: number, all: number) => `Show ${formats.number(next)} more of ${formats.number(all)}`,
  printed: (first: number, all: number) => `The first ${formats.number(first)} of ${counted(all, 'row')}.`,
  /** Which keywords are printed: those that moved, and others if these are few. */
  mostChanged: (
    shown: number,
    all: number,
    { moved, hasVolume }: { readonly moved: number; readonly hasVolume: boolean },
  ) => {
    const others = hasVolume ? 'with the most searches' : 'with the best ranks'
    const which =
      moved === shown
        ? `${counted(shown, 'keyword')} whose clicks changed most`
        : moved === 0
          ? `${counted(shown, 'keyword')} ${others}`
          : `${counted(moved, 'keyword')} whose clicks changed, and ${counted(shown - moved, 'other')} ${others}`
    return `The ${which}, of ${formats.number(all)}.`
  },
}

/** The table of all keywords. */
const keywords = {
  label: 'Keywords',
  show: 'Keywords one by one, or in groups',
  signs: 'What the signs mean',
  keyword: 'Keyword',
  rank: 'Rank',
  change: 'Change',
  trend: 'Trend',
  volume: 'Volume',
  noVolume: 'no volume given',
  counted: 'Clicks, counted',
  notCounted: 'not named by Search Console',
  clicks: 'Clicks',
  noClicks: 'not estimated',
  page: 'Page',
  noPage: 'no page ranks',
}

/** The figures of groups of keywords. */
const scorecards = {
  by: { tag: 'By tag', locale: 'By country and language', engine: 'By search engine' },
  group: { tag: 'Tag', locale: 'Country and language', engine: 'Search engine' },
  noTag: 'no tag',
  noLocale: 'not set',
  keywords: 'Keywords',
  clicks: 'Clicks a month',
  unchecked: (unchecked: number) => `${counts.keywords(unchecked)} not checked`,
}

/** The dialog of one keyword. */
const keyword = {
  history: 'Rank over time',
  pages: 'Pages that ranked',
  nothingBefore: 'nothing to compare with',
  since: (day: string) => `since ${day}`,
  from: 'from ',
  best: 'Best',
  neverRanked: 'never ranked',
  volume: 'Volume',
  searches: 'searches a month',
  countedOf: (impressions: string, position: string) => `${impressions} impressions, position ${position}`,
  firstChecked: 'First checked',
  targetPage: 'Target page',
  place: (place: number, all: number) => `${place} of ${counted(all, 'keyword')}`,
  previous: 'Previous keyword',
  next: 'Next keyword',
  close: 'Close',
  noPage: 'No page ranked on the selected days.',
  onDays: (days: number, span: string) => `${counted(days, 'day')}, ${span}`,
  on: (day: string) => `on ${day}`,
  isTarget: 'the target page',
  ranksNow: 'ranks now',
  further: (day: string) => `On ${day} it has further results: `,
  rank: (rank: number) => `rank ${rank} `,
  targetNotRanked: 'The target page has not ranked: ',
  whichPage: 'Which page ranked on which day.',
  none: 'none',
}

/** The section on competitors. */
const competitors = {
  now: 'Now',
  before: 'Before',
  figuresLabel: 'Figures of all tracked sites',
  site: 'Site',
  beatsYou: 'Beats you on',
  beats: (name: string) => `Beats ${name} on`,
  itself: 'your own site',
  beatsNote: (tied: number, neither: number, undecided: number) =>
    `${tied} with the same result, ${neither} on which neither ranks, ${undecided} not known`,
  gaining: 'Other sites that gain',
  inTopTen: 'In top 10',
}

/** The first ten results, and what stands beside them on the result page. */
const serps = {
  firstTen: 'First ten results',
  compareWith: 'Compare with',
  noEarlier: 'There is no earlier day to compare with.',
  notChecked: (day: string) => `The top 10 was not checked on ${day}.`,
  notIncluded: (day: string) => `The results of ${day} are not in this report.`,
  included: (days: string) => `It has those of ${days}.`,
  moreDays: 'More days come with --serps, for instance --serps 30d.',
  brokenDepth: (depth: number) => `Only the first ${depth} were checked without a gap.`,
  noTitle: 'No title',
  target: 'chosen',
  own: 'yours',
  competitor: 'competitor',
  linkOf: (rank: number) => `, link of result ${rank}`,
  features: {
    overTime: 'SERP features',
    chart: 'What stood on the result page, day by day.',
    there: 'there',
    notThere: 'not there',
    key: 'Filled: there. Hollow: not there. No sign: not known.',
    names: {
      knowledge: 'Knowledge panel',
      related: 'Related searches',
    },
  },
}

/** What moved, and what stands at the foot of the page. */
const blocks = {
  moves: { all: 'All', winners: 'Up', losers: 'Down', entered: 'New', left: 'Out', passed: 'Passed' },
  nothingMoved: 'No keyword moved.',
  /** @param isOld whether the curve was measured before search engines answered themselves */
  clicks: (curve: string, isOld: boolean) =>
    `Clicks are estimates by the click-through curve ${curve}${isOld ? ', which was measured before AI answers' : ''}.`,
}

/** The head and the foot of a report. */
const brand = {
  kind: 'Rank report',
  for: (client: string) => `for ${client}`,
  by: (agency: string) => `by ${agency}`,
  comment: 'Comment',
}

/** What reports begin with, beside sentences and steps. */
const overview = {
  quoted,
  notFound: (_depth: number | null): string => 'not found',
  cited: 'cited',
  notCitedYet: 'not cited',
  labels: {
    clicks: 'Clicks a month, estimated',
    visibility: 'Visibility',
    share_of_voice: 'Share of voice',
    top_ten: 'Top 10',
    top_three: 'Top 3',
    ranked: 'Ranked keywords',
    cited: 'Cited in AI answers',
  },
  ofChecked: (some: number, all: number) => `${number(some)} of ${number(all)}`,
  alsoCited: (others: readonly { readonly name: string; readonly answers: number }[]) =>
    `also cited: ${list(others.map(({ name, answers }) => `${name} in ${number(answers)}`))}`,
  countedIn: (sum: number, days: number) => `${clicks(sum)} counted in ${counted(days, 'day')}`,
  sinceDay: (day: string, until: string) => `since ${dayBefore(day, until)}`,
  passed: {
    ahead: (rival: string) => `${rival} is ahead now`,
    behind: (rival: string) => `${rival} is behind now`,
  },
  blocks: {
    moved: 'What moved',
    next: 'What to do next',
    rivals: 'Rivals',
    keywords: 'Keywords',
    notes: 'Notes',
  },
  untold: 'For this selection there are chart, figures and lists, but no sentences and no next steps.',
  toWhole: 'Back to the whole report',
  inShort: 'In short',
  grey: 'Grey: no more than the usual swing, or too few days to know it.',
  checked: (observed: number, expected: number) =>
    `${number(observed)} of ${counts.keywords(expected)} checked`,
  notCounted: (uncounted: number) => `${number(uncounted)} without a volume`,
  clicksMoreOrFewer: (clicks: number) =>
    `about ${counted(Math.round(Math.abs(clicks)), clicks > 0 ? 'more click' : 'fewer click')} a month`,
}

function quoted(text: string): string {
  return `“${text}”`
}

/** How the data of a report was collected. */
const runs = {
  spent: (all: number, credits: number, ambiguous: number) =>
    `${counted(all, 'run')} spent ${counted(credits, 'credit')}${ambiguous === 0 ? '' : `; possibly billed: ${counted(ambiguous, 'credit')} more`}.`,
  failed: (failed: number, planned: number) => `${number(failed)} of ${counted(planned, 'task')} failed.`,
  mismatched: (answers: number) =>
    `${counted(answers, 'answer')} named another query than the one sent. Ranks from ${answers === 1 ? 'it' : 'them'} may be wrong.`,
}

/** What the signs of the page mean. */
const definitions = {
  lead: 'Keywords that could not be checked are left out of every figure.',
  signs: [
    ['7', 'Rank', 'The number of distinct results above it, plus one, over all checked pages.'],
    [
      '~7',
      'Estimated rank',
      'A result page before it was not checked, and counts with its usual number of results.',
    ],
    [
      '>30',
      'Not in top 30',
      'The first 30 results were checked without finding the site. It may rank lower.',
    ],
    ['?', 'Not known', 'A result page failed or was not fetched.'],
    [
      '▲ ▼',
      'Better, worse',
      'Grey: no more than the figure usually swings from day to day, or how much it swings is not known. Two days are compared only as deep as both were checked; otherwise the change is not known.',
    ],
  ] as readonly (readonly [sign: string, term: string, meaning: string])[],
}

/** The words of the page. */
export const page = {
  blocks,
  brand,
  charts,
  competitors,
  definitions,
  filters,
  header,
  keyword,
  keywords,
  overview,
  period,
  runs,
  scorecards,
  serps,
  tables,
}
