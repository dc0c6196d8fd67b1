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
    title: 'SERP features',
    lead: 'What pages of web results show beside the results, where it is known.',
    overTime: 'SERP features',
    chart: 'What stood on the result page, day by day.',
    howOften: 'Keywords by feature',
    feature: 'Feature',
    present: 'Keywords',
    change: 'Change',
    trend: 'Trend',
    there: 'there',
    notThere: 'not there',
    unknown: 'not known',
    of: (part: number, whole: number) => `${formats.number(part)} of ${formats.number(whole)}`,
    key: 'Filled: there. Hollow: not there. No sign: not known.',
    none: 'For the selected keywords it is not known what stands beside the results.',
    basis: (day: string, isCompared: boolean) =>
      `Of the keywords for which it is known on ${day}${isCompared ? '; changes are of those known on both days' : ''}.`,
    names: {
      knowledge: 'Knowledge panel',
      related: 'Related searches',
    },
    meanings: {
      knowledge: 'A panel about the subject stands beside the web results.',
      related: 'The web results end with related searches.',
    },
  },
}
