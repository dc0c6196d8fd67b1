import { hasFeature, type SerpFeature, serpFeatures } from '../../model/result.ts'

/** What the result pages of a keyword had beside their results, day by day. */
export interface KeywordFeatures {
  readonly keyword: number
  /** A day and the state from it on, over and over. Only days with a change are listed; before the first one nothing is known. */
  readonly changes: readonly number[]
}

/** True and false where an answer said so, null where none did. */
export type FeatureState = boolean | null

const width = serpFeatures.length

/** The number that stands for what is known and what of it was there. */
export function stateOf(known: number, found: number): number {
  return known | ((found & known) << width)
}

/** Whether a state shows a feature. */
export function featureIn(state: number, feature: SerpFeature): FeatureState {
  return hasFeature(state, feature) ? hasFeature(state >> width, feature) : null
}

/** The state of each day. */
export function featureStates({ changes }: KeywordFeatures, days: number): readonly number[] {
  const states: number[] = Array(days).fill(0)
  for (let place = 0; place < changes.length; place += 2)
    states.fill(changes[place + 1] as number, changes[place])
  return states
}

/** Cuts days off and numbers the others anew. */
export function cutFeatures(
  { keyword, changes }: KeywordFeatures,
  { start, end }: { readonly start: number; readonly end: number },
): KeywordFeatures {
  const states = featureStates({ keyword, changes }, end)
  return { keyword, changes: changesOf(states.slice(start)) }
}

/** Only the days on which the state is another than on the day before. */
export function changesOf(states: readonly number[]): readonly number[] {
  return states.flatMap((state, day) => (state === (states[day - 1] ?? 0) ? [] : [day, state]))
}

/** On how many keywords a feature is there. */
export interface FeatureFigures {
  readonly feature: SerpFeature
  /** On the last day. */
  readonly there: number
  readonly known: number
  /** The same on the last and on the compared day, for keywords that are known on both; null if there are none. */
  readonly both: { readonly now: number; readonly before: number; readonly known: number } | null
  /** The share of the known keywords on each day; null where less than half as many are known as on the best day. */
  readonly shares: readonly (number | null)[]
}

/**
 * The features that answers tell of, with their keywords.
 *
 * @param order the days that may be compared with, the best first
 */
export function featureFigures(
  features: readonly KeywordFeatures[],
  days: number,
  order: readonly number[],
): readonly FeatureFigures[] {
  const states = features.map((one) => featureStates(one, days))
  const last = days - 1
  return serpFeatures.flatMap((feature): readonly FeatureFigures[] => {
    const [known, there] = [Array<number>(days).fill(0), Array<number>(days).fill(0)]
    const both = { now: 0, before: 0, known: 0 }
    for (const own of states) {
      const on = (day: number): FeatureState => featureIn(own[day] ?? 0, feature)
      for (let day = 0; day < days; day++) {
        const state = on(day)
        if (state === null) continue
        known[day] = (known[day] ?? 0) + 1
        if (state) there[day] = (there[day] ?? 0) + 1
      }
      const compared = order.find((day) => on(day) !== null)
      const now = on(last)
      if (now === null || compared === undefined) continue
      both.known++
      if (now) both.now++
      if (on(compared)) both.before++
    }
    const most = Math.max(0, ...known)
    if (most === 0) return []
    return [
      {
        feature,
        there: there[last] ?? 0,
        known: known[last] ?? 0,
        both: both.known === 0 ? null : both,
        shares: known.map((all, day) => (all === 0 || all * 2 < most ? null : (there[day] ?? 0) / all)),
      },
    ]
  })
}
