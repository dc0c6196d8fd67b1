import { daysBetween } from '../../model/time.ts'
import type { Citation } from '../data.ts'
import {
  checkedOf,
  countedSum,
  levelOn,
  measure,
  type StoryFacts,
  type StoryMetric,
  trendOfMetric,
} from './facts.ts'

/** A figure that reports begin with. */
export interface StoryCard {
  readonly metric: StoryMetric
  readonly label: string
  readonly value: string
  /** Null where nothing is compared. `same`: none, or no more than the figure usually swings; such a change is grey. */
  readonly change: { readonly text: string; readonly way: 'better' | 'worse' | 'same' } | null
  /** What the figure is of, and what it leaves out. */
  readonly about: string
  /** The figure day by day from the compared day on; null for a day that is not complete. */
  readonly trend: readonly (number | null)[]
}

/**
 * The four figures that reports begin with; what Search Console counted stands beside the first one.
 *
 * @param answers AI answers that the job asks beside; undefined for none
 */
export function cards(
  facts: StoryFacts,
  answers: StoryFacts | undefined,
  citations: readonly Citation[],
): readonly StoryCard[] {
  if (facts.own.length === 0) return []
  const [first, ...others] = estimates(facts, answers, citations)
  const counted = facts.of === null ? countedSum(facts.own, facts.history.countedClicks) : null
  if (first === undefined || counted === null) return first === undefined ? [] : [first, ...others]
  const { clicks, days } = counted
  const told = facts.say.overview.countedIn(clicks, daysBetween(days.from, days.until) + 1)
  return [{ ...first, about: [told, first.about].filter((one) => one !== '').join(', ') }, ...others]
}

function estimates(
  facts: StoryFacts,
  answers: StoryFacts | undefined,
  citations: readonly Citation[],
): readonly StoryCard[] {
  const { metric } = facts
  if (metric === 'cited') return [citedCard(facts, citations)]
  if (metric === 'top_ten')
    return (['top_ten', 'top_three', 'ranked'] as const).map((one) => card(facts, one))
  const last = answers === undefined ? null : citedCard(answers, citations)
  if (!facts.hasVolumes)
    return [
      ...(['visibility', 'top_ten', 'top_three'] as const).map((one) => card(facts, one)),
      last ?? card(facts, 'ranked'),
    ]
  return [
    ...(['clicks', 'visibility', 'top_ten'] as const).map((one) => card(facts, one)),
    last ?? card(facts, 'share_of_voice'),
  ]
}

function card(facts: StoryFacts, metric: StoryMetric): StoryCard {
  const { say, own, span } = facts
  const { value, delta, before } = measure(facts, metric, own)
  const { observed } = checkedOf(own)
  const isShare = metric === 'visibility' || metric === 'share_of_voice'
  const text =
    metric === 'clicks' || isShare || value === null
      ? say.figure(value, isShare ? 'share' : 'clicks a month')
      : say.overview.ofChecked(value, observed)
  const withVolume = own.filter(({ keyword }) => keyword.volume !== null).length
  const isByVolume = metric === 'clicks' || metric === 'share_of_voice'
  const trend = trendOfMetric(facts, metric, own)
  return {
    metric,
    label: say.overview.labels[metric],
    value: text,
    change:
      delta === null || span === null
        ? null
        : say.changeOf(delta, isShare ? 'share' : metric === 'clicks' ? 'clicks a month' : 'keywords', {
            before: metric === 'clicks' ? before : null,
            isUsual: trend !== null && !trend.isMoved,
          }),
    about: [
      ...(observed < own.length ? [say.overview.checked(observed, own.length)] : []),
      ...(isByVolume && withVolume < own.length ? [say.overview.notCounted(own.length - withVolume)] : []),
    ].join(', '),
    trend: trendLine(facts, metric),
  }
}

/** Sums are of all keywords, as if every day had checked as many as the last one. */
function trendLine(facts: StoryFacts, metric: StoryMetric): readonly (number | null)[] {
  const { span, own, history } = facts
  const from = span?.day ?? history.days[0] ?? ''
  const isShare = metric === 'visibility' || metric === 'share_of_voice'
  const times = isShare ? 1 : checkedOf(own).observed
  return facts
    .daily(own)
    .filter(({ day }) => day >= from)
    .map((day) => {
      const level = levelOn(day, metric)
      return level === null ? null : level * times
    })
}

/** Sites that are named. */
const mostCited = 2

/** In how many AI answers the site is cited, and who else is. */
function citedCard(facts: StoryFacts, citations: readonly Citation[]): StoryCard {
  const last = facts.history.days.length - 1
  const asked = new Set(facts.own.map(({ series }) => series.keyword))
  const counts = new Map<number, number>()
  for (const { keyword, day, cited } of citations)
    if (day === last && asked.has(keyword))
      for (const { target } of cited) counts.set(target, (counts.get(target) ?? 0) + 1)
  const others = [...counts]
    .filter(([target]) => target !== facts.place)
    .sort(([, a], [, b]) => b - a)
    .slice(0, mostCited)
    .map(([target, answers]) => ({ name: facts.named(facts.history.targets[target]?.label ?? ''), answers }))
  const { about, ...figure } = card(facts, 'cited')
  return { ...figure, about: others.length === 0 ? about : facts.say.overview.alsoCited(others) }
}
