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
