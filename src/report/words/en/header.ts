import { counted, formats } from './formats.ts'

/** The head of a page, the names of its parts, and what it says of all of them. */
export const header = {
  sections: {
    overview: 'Overview',
    breakdown: 'Breakdown',
    keywords: 'Keywords',
    competitors: 'Competitors',
    features: 'SERP features',
    pages: 'Pages',
    answers: 'AI answers',
    runs: 'Runs',
    definitions: 'Definitions',
  },
  nav: 'Parts of the report',
  skipToFigures: 'Skip to figures',
  skipToKeywords: 'Skip to keywords',
  print: 'Print',
  copyLink: 'Copy link',
  linkCopied: 'Link copied',
  linkToCopy: 'Link to copy',
  light: 'Light',
  dark: 'Dark',
  useLight: 'Use light colours',
  useDark: 'Use dark colours',
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
  selectKeyword: 'Select a keyword for its history.',
}

/** The days of a report, and those that they are compared with. */
export const period = {
  /** Two days in words, such as `24 Oct` and `20 Nov 2026`. */
  range: (from: string, until: string) => `${from} to ${until}`,
  compared: (days: string) => `compared with ${days}`,
  notCompared: 'nothing to compare with',
  /** Follows the compared day where some keywords were not checked on it. */
  nearest: 'or the nearest day checked',
  /** What was asked for where another day was found. */
  askedFor: (day: string, tolerance: string) => `asked for: ${day}, ±${tolerance}`,
}
