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
