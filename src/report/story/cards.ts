import { joined } from '../../model/text.ts'
import { daysBetween } from '../../model/time.ts'
import type { Citation } from '../data.ts'
import type { FigureChange } from '../words/formats.ts'
import {
  checkedOf,
  countedSum,
  isByClicks,
  levelOn,
  measure,
  type StoryFacts,
  type StoryMetric,
  trendOfMetric,
  unitOf,
} from './facts.ts'

/** A figure that reports begin with. */
export interface StoryCard {
  readonly metric: StoryMetric
  readonly label: string
  readonly value: string
  /** Null where nothing is compared. */
  readonly change: FigureChange | null
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
  const all = estimates(facts, answers, citations)
  const counted = facts.of === null ? countedSum(facts.own, facts.history.countedClicks) : null
  if (counted === null) return all
  const { clicks, days } = counted
  const told = facts.say.overview.countedIn(clicks, daysBetween(days.from, days.until) + 1)
  return all.map((one, place) => (place > 0 ? one : { ...one, about: joined([told, one.about]) }))
}

function estimates(
  facts: StoryFacts,
  answers: StoryFacts | undefined,
  citations: readonly Citation[],
): readonly StoryCard[] {
  const { metric, hasVolumes } = facts
  if (metric === 'cited') return [citedCard(facts, citations)]
  const cardsOf = (...all: readonly StoryMetric[]) => all.map((one) => card(facts, one))
  if (metric === 'top_ten') return cardsOf('top_ten', 'top_three', 'ranked')
  return [
    ...(hasVolumes
      ? cardsOf('clicks', 'visibility', 'top_ten')
      : cardsOf('visibility', 'top_ten', 'top_three')),
    answers === undefined
      ? card(facts, hasVolumes ? 'share_of_voice' : 'ranked')
      : citedCard(answers, citations),
  ]
}

function card(facts: StoryFacts, metric: StoryMetric): StoryCard {
  const { say, own, span } = facts
  const { value, delta, before } = measure(facts, metric, own)
  const { observed } = checkedOf(own)
  const text =
    isByClicks(metric) || value === null
      ? say.figure(value, unitOf(metric))
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
        : say.changeOf(delta, unitOf(metric), {
            before: metric === 'clicks' ? before : null,
            isUsual: trend?.isSwing === true,
          }),
    about: joined([
      observed < own.length ? say.overview.checked(observed, own.length) : null,
      isByVolume && withVolume < own.length ? say.overview.notCounted(own.length - withVolume) : null,
    ]),
    trend: trendLine(facts, metric),
  }
}

/** Sums are of all keywords, as if every day had checked as many as the last one. */
function trendLine(facts: StoryFacts, metric: StoryMetric): readonly (number | null)[] {
  const { span, own, history } = facts
  const from = span?.day ?? history.days[0] ?? ''
  const times = unitOf(metric) === 'share' ? 1 : checkedOf(own).observed
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
