import { counts } from './counts.ts'
import { counted, formats } from './formats.ts'

/** Tables, and what can be done with each. */
export const tables = {
  tools: (label: string) => `Copy or save: ${label}`,
  copy: 'Copy',
  copyHint: 'Copy all rows for a spreadsheet',
  csv: 'CSV',
  csvHint: 'Save all rows as a CSV file',
  copied: (rows: number) => `${counted(rows, 'row')} copied`,
  notCopied: 'The browser does not allow copying here',
  saved: (file: string) => `Saved as ${file}`,
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
export const keywords = {
  label: 'Keywords',
  keyword: 'Keyword',
  locale: 'Country and language',
  operation: 'Engine',
  tags: 'Tags',
  rank: 'Rank',
  change: 'Change',
  before: 'Before',
  on: (day: string) => `On ${day}`,
  comparedDay: 'Compared day',
  notCompared: 'nothing to compare with',
  trend: 'Trend',
  best: 'Best',
  bestDay: 'Best on',
  neverRanked: 'never ranked',
  volume: 'Volume',
  noVolume: 'no volume given',
  clicks: 'Clicks',
  noClicks: 'not estimated',
  page: 'Page',
  noPage: 'no page ranks',
}

/** The figures of groups of keywords. */
export const scorecards = {
  /** @param compared what is compared with, in words, or that there is nothing to compare with */
  lead: (day: string, compared: string) => `The figures of ${day}, ${compared}.`,
  hint: 'Select a row to see only its keywords. Select it again to see all.',
  by: { tag: 'By tag', locale: 'By country and language', engine: 'By search engine' },
  group: { tag: 'Tag', locale: 'Country and language', engine: 'Search engine' },
  noTag: 'no tag',
  noLocale: 'not set',
  keywords: 'Keywords',
  visibility: 'Visibility',
  change: 'Change',
  trend: 'Trend',
  shareOfVoice: 'Share of voice',
  average: 'Average',
  topTen: 'Top 10',
  clicks: 'Clicks a month',
  unchecked: (unchecked: number) => `${counts.keywords(unchecked)} not checked`,
}
