import type { CtrCurve } from '../../ctr/curve.ts'

export interface Definition {
  readonly term: string
  readonly text: string
}

export type DefinitionKey =
  | 'average'
  | 'visibility'
  | 'voice'
  | 'top3'
  | 'top10'
  | 'keywords'
  | 'rank'
  | 'absent'
  | 'unknown'
  | 'estimated'
  | 'movement'
  | 'cannibalisation'
  | 'cited'

/** What the words and numbers of the page mean. */
export function definitions({ name, version, source }: CtrCurve): Readonly<Record<DefinitionKey, Definition>> {
  return {
    rank: {
      term: 'Rank',
      text: 'One more than the distinct results before it, counted over all pages that were looked at. Lower is better.',
    },
    average: {
      term: 'Average position',
      text: 'The mean of the ranks over the keywords that were observed. A keyword for which the site is absent counts as the place below the last result looked at. Lower is better.',
    },
    visibility: {
      term: 'Visibility',
      text: `The clicks that the ranks would get, as a share of those that rank 1 for every observed keyword would get. Keywords weigh the same. Click-through rates: ${name}, ${version} (${source}).`,
    },
    voice: {
      term: 'Share of voice',
      text: 'Estimated clicks as a share of searches: the monthly searches of each observed keyword times the click-through rate of its rank, by all their searches. Keywords without a volume are left out.',
    },
    top3: { term: 'Top 3', text: 'Keywords that rank third or better, of those that were observed.' },
    top10: { term: 'Top 10', text: 'Keywords that rank tenth or better, of those that were observed.' },
    keywords: {
      term: 'Ranked keywords',
      text: 'Keywords for which the site has a rank at all, of those that were observed.',
    },
    absent: {
      term: 'Absent, >30',
      text: 'As many results were looked at, and none belongs to the site. It may rank deeper.',
    },
    unknown: {
      term: 'Not known, ?',
      text: 'A page failed or was not fetched, so nothing can be said. Counted in no figure: neither as a rank nor as an absence.',
    },
    estimated: {
      term: 'Estimated, ~',
      text: 'Pages before it were not looked at and count with their usual size. The rank may be off by a few.',
    },
    movement: {
      term: 'Movement',
      text: 'Two days are compared as far down as both looked. Entered and left are said only where the other day would have seen the rank.',
    },
    cannibalisation: {
      term: 'Cannibalisation',
      text: 'Several pages of one site rank for one keyword on the same day, or take turns over time.',
    },
    cited: {
      term: 'AI citation',
      text: 'The answer written by AI lists a page of the site among its references.',
    },
  }
}
