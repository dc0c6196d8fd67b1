import { counted, formats } from './formats.ts'

/** The section on pages. */
export const pages = {
  title: 'Pages',
  /** The name of the site stands between the two. */
  lead: ['Which pages of ', ' rank.'] as readonly [string, string],
  target: 'Target pages',
  states: {
    right: (value: number): string =>
      value === 1 ? ' keyword ranks with its target page' : ' keywords rank with their target page',
    'wrong page': (value: number): string =>
      value === 1 ? ' ranks with another page' : ' rank with another page',
    'not ranked': (value: number): string => (value === 1 ? ' does not rank' : ' do not rank'),
    'none intended': (value: number): string =>
      value === 1 ? ' has no target page set' : ' have no target page set',
    unknown: (_: number): string => ' not known',
  },
  noTargetPage: 'No target page set.',
  nameTargetPage: 'The job file can name one for each keyword, with “url”.',
  noTargetPageHere: 'No target page set for the selected keywords.',
  wrongLabel: 'Keywords for which another page ranks',
  wrong: 'Another page ranks for',
  page: 'Page',
  noLink: 'no link',
  rank: 'Rank',
  rival: 'Keywords with several pages',
  rivalCount: (value: number) => ` of ${counted(value, 'keyword')} with several pages`,
  rivalLabel: 'Keywords with several pages',
  noRival: 'No keyword has more than one page.',
  keyword: 'Keyword',
  pages: 'Pages',
  swaps: 'Page swaps',
  together: 'Days with several',
  most: 'Ranking pages',
  noneRanks: 'No page ranks.',
  notKnown: 'Which pages rank is not known: their addresses are not at hand.',
  keywords: 'Keywords',
  best: 'Best rank now',
  volume: 'Volume',
  noVolume: 'no volume given',
  firstOf: (shown: number, all: number) => `The first ${formats.number(shown)} of ${formats.number(all)}.`,
}
