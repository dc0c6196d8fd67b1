import { counts } from './counts.ts'
import { counted, formats } from './formats.ts'

const ofKeywords = (part: number, whole: number) => `${formats.number(part)} of ${formats.number(whole)}`

/** The section on competitors. */
export const competitors = {
  title: 'Competitors',
  lead: 'All tracked sites on the same keywords, and the sites with the largest share of the clicks on the top 10.',
  figures: 'Sites compared',
  figuresLabel: 'Figures of all tracked sites',
  site: 'Site',
  competitor: 'competitor',
  own: 'yours',
  topTenShare: 'Top-10 share',
  top: (rank: number) => `Top ${rank}`,
  checked: 'Checked',
  checkedAll: (part: string) => `${part} keywords checked.`,
  ofKeywords,
  beatsYou: 'Beats you on',
  beats: (name: string) => `Beats ${name} on`,
  itself: 'the chosen site itself',
  beatsNote: (tied: number, neither: number, undecided: number) =>
    `${tied} with the same result, ${neither} on which neither ranks, ${undecided} not known`,
  sideBySide: 'Rankings side by side',
  sideBySideLabel: 'Ranks of all sites side by side',
  keyword: 'Keyword',
  notTracked: 'not tracked for this keyword',
  bestOfAll: ', best of all',
  /** Some of the other sites. */
  beside: (name: string, [from, to]: readonly [number, number], all: number) =>
    `${name} beside sites ${from} to ${to} of ${all}`,
  rankKey: '● best of all sites. Bold: ranks 1 to 3.',
  scroll: (sites: number) =>
    `${counted(sites, 'site')} side by side: scroll the table sideways to see all of them.`,
  more: (value: number, rank: number) => `${formats.number(value)} more from rank ${rank}`,
  notFound: (value: number) => `${formats.number(value)} not found`,
  notKnown: (value: number) => `${formats.number(value)} not known`,
  passed: 'Who passed whom',
  passedMeaning: [
    'Two sites changed places on a keyword, and it stayed so until the last day.',
    'Days on which one of the two is not known do not count.',
  ] as readonly string[],
  theyPassed: (value: number) => `They passed you (${formats.number(value)})`,
  youPassed: (value: number) => `You passed them (${formats.number(value)})`,
  theyPassedIt: (name: string, value: number) => `They passed ${name} (${formats.number(value)})`,
  itPassed: (name: string, value: number) => `${name} passed them (${formats.number(value)})`,
  nonePassed: 'None.',
  passedYou: (other: string, day: string) => `${other} passed you on ${day}: `,
  passedIt: (other: string, name: string, day: string) => `${other} passed ${name} on ${day}: `,
  youPassedIt: (other: string, day: string) => `You passed ${other} on ${day}: `,
  ranks: (mine: readonly [string, string], theirs: readonly [string, string]) =>
    `${mine.join('\u00a0→\u00a0')}, they ${theirs.join('\u00a0→\u00a0')}`,
  atStake: 'clicks a month',
  atStakeNote: 'Sorted by the clicks a month between the two ranks.',
  withoutVolumes:
    'The largest difference in click-through rate comes first, because there are no search volumes.',
  noOrder: 'No lasting change of order on any keyword.',
  firstOf: (shown: number, all: number) => `The first ${formats.number(shown)} of ${formats.number(all)}.`,
  sites: 'Sites with the largest share of the clicks on the top 10',
  gaining: 'Other sites that gain',
  share: 'Share',
  trendOf: (days: number) => `Trend (${counts.days(days)})`,
  inTopTen: 'In top 10',
  noSerps: 'Not known: the first ten results of the last day are not at hand.',
  sameWeight: 'all keywords count the same',
  byVolume: 'weighted by volume',
  basis: (keywords: number, weight: string) =>
    `Of ${counted(keywords, 'keyword')} with a known top 10, ${weight}.`,
  basisBoth: (keywords: number, weight: string) =>
    `Of ${counted(keywords, 'keyword')} whose top 10 is known on both days, ${weight}.`,
  wholeSites: 'Here a site is a whole domain, with all of its results.',
  turnover: (share: string, part: number, whole: number) =>
    `${share} of the pages in the top 10 were not there on the compared day (${ofKeywords(part, whole)}).`,
  add: 'Add to job file',
  track: 'Track',
  added: 'Added below',
  jobLine: 'Line for the job file',
  jobLineNote: 'Where the job file has competitors already, add the name to that list.',
  copied: 'Copied.',
  copyAgain: 'Copy the line',
  notCopied: 'The browser does not allow copying: select the line and copy it.',
}
