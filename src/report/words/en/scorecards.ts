import { counts } from './counts.ts'

/** The figures of groups of keywords. */
export const scorecards = {
  title: 'Breakdown',
  lead: (day: string, compared: string) =>
    `The figures of ${day}${compared === '' ? '' : `, compared with ${compared}`}.`,
  hint: 'Select a row to see only its keywords, and again to see all.',
  by: { tag: 'By tag', locale: 'By country and language', engine: 'By search engine' },
  group: { tag: 'Tag', locale: 'Country and language', engine: 'Search engine' },
  none: { tag: 'no tag', locale: 'not set' },
  keywords: 'Keywords',
  visibility: 'Visibility',
  change: 'Change',
  changeInPoints: 'Change (points)',
  trend: 'Trend',
  shareOfVoice: 'Share of voice',
  average: 'Average',
  topTen: 'Top 10',
  clicks: 'Clicks a month',
  unchecked: (unchecked: number) => `${counts.keywords(unchecked)} not checked`,
}
