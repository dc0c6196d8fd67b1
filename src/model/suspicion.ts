import { count, grouped } from './text.ts'

/** A run beside the last observations of its queries and targets before it. */
export interface RunComparison {
  /** Observations that ranked before, and of which the run knows whether they still do. */
  readonly ranked: number
  /** Those of them that are absent now. */
  readonly gone: number
  /** The most different queries whose first pages are one list of results. */
  readonly alike: number
}

/** Why a run as a whole is suspect: a count is 0 where it is no reason. */
export type Suspicion = RunComparison

/** Fewer say nothing about a whole job. */
const fewest = 10

/**
 * Whether a whole job changed at once: more than half of at least ten ranks are gone, or at least ten different queries share one list of
 * results. A service or a place that answers wrongly is likelier than such a day on the web.
 */
export function suspicionOf({ ranked, gone, alike }: RunComparison): Suspicion | null {
  const isGone = ranked >= fewest && gone * 2 > ranked
  const isAlike = alike >= fewest
  if (!isGone && !isAlike) return null
  return { ranked: isGone ? ranked : 0, gone: isGone ? gone : 0, alike: isAlike ? alike : 0 }
}

/** What is suspect, as a clause. */
export function suspicionText({ ranked, gone, alike }: Suspicion): string {
  return [
    ...(gone === 0 ? [] : [`${grouped(gone)} of ${count(ranked, 'rank')} of the last run are gone at once`]),
    ...(alike === 0
      ? []
      : [`${count(alike, 'different query', 'different queries')} got one list of results`]),
  ].join(', and ')
}
