/** What a metric is, in words: printed wherever its numbers are. */
export interface MetricDefinition {
  /** Name in tables and charts. */
  readonly label: string
  /** `share`: from 0 to 1, shown in percent. */
  readonly unit: 'rank' | 'share' | 'keywords' | 'clicks a month' | 'index' | 'pages'
  /** Which way is better for the target; null where neither is. */
  readonly better: 'higher' | 'lower' | null
  readonly definition: string
  /** What it is divided by, or what its counts add up to; null where it is no ratio. */
  readonly denominator: string | null
  /** What becomes of `absent` and `unknown`. */
  readonly missing: string
  /** Where the definition comes from. */
  readonly source: string
}

/** Every metric of a report. */
export const metrics = {
  average_position: {
    label: 'average position',
    unit: 'rank',
    better: 'lower',
    definition: 'mean of the ranks; absent counts as the depth asked for + 1',
    denominator: 'observed keywords',
    missing: 'absent: depth asked for + 1; unknown: not counted',
    source: 'Advanced Web Ranking, help page "Average Rank (AWR metric)"',
  },
  visibility: {
    label: 'visibility',
    unit: 'share',
    better: 'higher',
    definition: 'sum of CTR(rank) by what rank 1 everywhere would get',
    denominator: 'CTR(1) x observed keywords',
    missing: 'absent: no clicks; unknown: not counted',
    source: 'the click-weighted visibility of rank trackers, scaled so that rank 1 everywhere is 100 %',
  },
  share_of_voice: {
    label: 'share of voice',
    unit: 'share',
    better: 'higher',
    definition: 'sum of volume x CTR(rank) of all results by the sum of volumes',
    denominator: 'volume of the observed keywords that have one',
    missing: 'absent: no clicks; unknown, or without volume: not counted',
    source: 'STAT, help page "Share of voice"',
  },
  serp_share_of_voice: {
    label: 'share of voice among the first ten results',
    unit: 'share',
    better: 'higher',
    definition: 'volume x CTR of own results by volume x CTR of all results, of the first ten of each SERP',
    denominator: 'volume x CTR of all results among the first ten of the SERPs looked at',
    missing:
      'not among the first ten: no clicks; SERP not looked at: not counted; no volume: not counted, but where no keyword has one all weigh the same',
    source:
      'Ahrefs, help page "What is Share of Voice (SoV) and how is it calculated?", Rank Tracker; there of all results',
  },
  distribution: {
    label: 'distribution of ranks',
    unit: 'keywords',
    better: null,
    definition: 'keywords that rank 1, 2-3, 4-10, 11-20, 21-50, 51-100, deeper, are absent, or unknown',
    denominator: 'adds up to all keywords',
    missing: 'buckets of their own',
    source: 'the ranges of rank trackers, made disjoint',
  },
  top_ranks: {
    label: 'top 3 and top 10',
    unit: 'keywords',
    better: 'higher',
    definition: 'keywords that rank 3 or better, and 10 or better',
    denominator: 'observed keywords',
    missing: 'absent and unknown: not among them',
    source: 'the distribution of ranks, added up',
  },
  movements: {
    label: 'movements',
    unit: 'keywords',
    better: null,
    definition: 'keywords that improved, declined, stayed, entered, left, are new, or cannot be compared',
    denominator: 'adds up to all keywords',
    missing: 'absent: entered or left where the other day would have seen the rank; unknown: of its own',
    source: 'docs/ranks.md',
  },
  gain: {
    label: 'gain',
    unit: 'clicks a month',
    better: 'higher',
    definition: '(CTR(rank now) - CTR(rank before)) x volume',
    denominator: null,
    missing: 'absent: no clicks; unknown: neither winner nor loser; no volume: not counted',
    source: 'ours, of the share of voice of STAT',
  },
  best_rank: {
    label: 'best rank',
    unit: 'rank',
    better: 'lower',
    definition: 'lowest rank of all days, and the first day with it',
    denominator: null,
    missing: 'no rank',
    source: 'ours',
  },
  turnover: {
    label: 'turnover of the first ten',
    unit: 'share',
    better: null,
    definition:
      'pages among the first ten, or as many as both days looked at, that are others than on the compared day',
    denominator: 'these pages of the day that has more',
    missing: 'SERPs not looked at on both days: not counted; a result without a link is no page',
    source: 'ours: 1 - overlap of two lists cut at ten',
  },
  cannibalisation: {
    label: 'flips between pages',
    unit: 'pages',
    better: 'lower',
    definition: 'how often the ranking page of a keyword changed back to one that had ranked before',
    denominator: null,
    missing: 'days on which none ranks or nothing is known: no change',
    source: 'ours',
  },
  landing_page: {
    label: 'landing page',
    unit: 'keywords',
    better: null,
    definition: 'keywords whose ranking page is the `url` of the job, or another',
    denominator: 'adds up to all keywords',
    missing: 'absent: not ranked; unknown: of its own',
    source: 'ours; URLs are equal as the URL standard of WHATWG parses them, without fragment',
  },
  head_to_head: {
    label: 'head to head',
    unit: 'keywords',
    better: 'higher',
    definition: 'keywords on which a target ranks better than another one, or alone',
    denominator: 'keywords that both are looked for',
    missing: 'absent: loses to a rank that it would have been seen at; unknown: undecided',
    source: 'ours',
  },
  site_share: {
    label: 'share of a site',
    unit: 'share',
    better: 'higher',
    definition: 'volume x CTR of the results of a site by that of all results, of the first ten of each SERP',
    denominator: 'volume x CTR of all results among the first ten of the SERPs looked at on both days',
    missing: 'SERP not looked at on one of the days: not counted on either',
    source: 'the share of voice among the first ten results, of every site',
  },
  first_ten_share: {
    label: 'share of the first ten results',
    unit: 'share',
    better: 'higher',
    definition: 'own results among the first ten, for each kind of results',
    denominator: 'results among the first ten of the SERPs looked at',
    missing: 'SERP not looked at: not counted',
    source: 'ours',
  },
  cited_answers: {
    label: 'answers that cite',
    unit: 'share',
    better: 'higher',
    definition: 'AI answers that cite the target at least once',
    denominator: 'AI answers looked at',
    missing: 'answer not looked at: not counted',
    source: 'ours',
  },
  citation_share: {
    label: 'share of citations',
    unit: 'share',
    better: 'higher',
    definition: 'references to the target',
    denominator: 'references of the AI answers looked at',
    missing: 'answer not looked at: not counted',
    source: 'ours',
  },
  citation_index: {
    label: 'index of citations',
    unit: 'index',
    better: null,
    definition:
      'mean of the indexes at which the target is cited, as the service sent them; of all, and of the first in each answer',
    denominator: 'references to the target; answers that cite it',
    missing: 'not cited: not counted',
    source: 'ours',
  },
} as const satisfies Record<string, MetricDefinition>

export type MetricName = keyof typeof metrics
