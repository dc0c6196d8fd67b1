import type { MovementGroup } from '../../history/movement.ts'
import type { HeadlineMetric, MetricDefinition, MetricOptions } from '../../metrics/figure.ts'
import { definedUnder, type ShownMetric, shownMetrics } from '../../metrics/index.ts'
import { formats } from './figures.ts'

const { number } = formats

const groups: Readonly<Record<MovementGroup, (depth: number | null) => string>> = {
  improved: () => 'improved',
  declined: () => 'declined',
  same: () => 'unchanged',
  unranked: (depth) => (depth === null ? 'still not ranked' : `still not in top ${number(depth)}`),
  entered: (depth) => (depth === null ? 'newly ranked' : `new in top ${number(depth)}`),
  left: (depth) => (depth === null ? 'dropped out' : `dropped out of top ${number(depth)}`),
  new: () => 'first check',
  unknown: () => 'not known',
}

/** Where a table has room for one word; else the whole words. */
const shortGroups: Partial<Record<MovementGroup, string>> = { entered: 'new', left: 'out', new: 'first' }

/** Ranks and how they move. */
export const ranks = {
  rank: (rank: number) => `rank ${number(rank)}`,
  notInTop: (depth: number) => `not in top ${number(depth)}`,
  estimated: (text: string) => `${text} (estimated)`,
  notKnown: 'not known',
  noMatch: 'No keyword matches the filters.',
  up: (places: number) => `up ${number(places)}`,
  down: (places: number) => `down ${number(places)}`,
  unchanged: 'unchanged',
  usual: 'no more than it usually swings',
  /** Of an average position. */
  missing: (keywords: number) => `(${number(keywords)} not found)`,
  changeNotKnown: 'change not known',
  /** Keywords that moved in one way; null where they were checked to several depths. */
  group: (group: MovementGroup, depth: number | null) => groups[group](depth),
  shortGroup: (group: MovementGroup) => shortGroups[group] ?? groups[group](null),
  better: (size: string) => `better by ${size}`,
  worse: (size: string) => `worse by ${size}`,
}

/** What readers are told of a metric. */
type MetricWords = Pick<MetricDefinition, 'label' | 'definition' | 'formula' | 'source'> &
  Pick<HeadlineMetric, 'shortLabel'>

/** The words of a metric stand in its file; options change some of them. */
const metric = (name: ShownMetric, options: Pick<MetricOptions, 'absent'>): MetricWords =>
  definedUnder(shownMetrics[name], options)

/** The words of metrics and of ranks. */
export const metrics = { metric, ranks }
