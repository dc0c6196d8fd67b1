import { formats } from './formats.ts'

/** The first ten results, and what stands beside them on the result page. */
export const serps = {
  firstTen: 'First ten results',
  compareWith: 'Compare with',
  compared: (day: string) => `${day} (compared)`,
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
    title: 'On the result page',
    lead: 'What stands on the result pages beside the results, as far as the service tells it.',
    overTime: 'On the result page',
    chart: 'What stood on the result page, day by day.',
    howOften: 'Keywords with each of them',
    feature: 'Feature',
    present: 'Keywords',
    change: 'Change',
    trend: 'Trend',
    there: 'there',
    notThere: 'not there',
    unknown: 'not known',
    of: (part: number, whole: number) => `${formats.number(part)} of ${formats.number(whole)}`,
    key: 'Filled: there. Hollow: not there. Nothing: not known.',
    none: 'No answer of the selected keywords tells what stands beside the results.',
    basis: (day: string) =>
      `Of the keywords for which it is known on ${day}; changes are of those known on both days.`,
    asked:
      'AI answers, news and videos are known for keywords that are also asked with alpha.ai, alpha.news and alpha.videos.',
    names: {
      knowledge: 'Knowledge panel',
      ai: 'AI answer',
      related: 'Related searches',
      news: 'News',
      videos: 'Videos',
    },
    meanings: {
      knowledge: 'A panel about the subject stands beside the web results.',
      ai: 'There is an AI answer to the search.',
      related: 'The web results end with related searches.',
      news: 'The news search has results.',
      videos: 'The video search has results.',
    },
  },
}
