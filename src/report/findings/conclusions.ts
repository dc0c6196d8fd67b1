import type { Citation } from '../data.ts'
import { historyOfParts, partsOf } from '../history/filter-history.ts'
import { keywordStatuses } from '../history/keyword-status.ts'
import type { ComparisonDay } from '../history/movement.ts'
import type { RankHistory, TrackedTarget } from '../history/rank-history.ts'
import type { MetricOptions } from '../metrics/figure.ts'
import { factsOf } from './facts.ts'
import { findings } from './find.ts'
import type { Finding } from './finding.ts'
import type { NextAction } from './next-actions/action.ts'
import { nextActions } from './next-actions/find.ts'

/** What a report says of a target, and what to do next about it. */
export interface Conclusions {
  /** Undefined for a job without targets. */
  readonly target: TrackedTarget | undefined
  readonly findings: readonly Finding[]
  readonly actions: readonly NextAction[]
}

/** The conclusions for each of one's own targets; for the first target where none is one's own. None before the first run. */
export function conclusions(
  history: RankHistory,
  given: {
    readonly compare: ComparisonDay | null
    readonly measure: MetricOptions
    /** Of AI answers; only those of the last day count. */
    readonly citations: readonly Citation[]
  },
): readonly Conclusions[] {
  if (history.days.length === 0) return []
  const own = history.targets.flatMap((target, place) => (target.own ? [place] : []))
  const parts = partsOf(history, given.measure.kind)
  const first = historyOfParts(history, parts.slice(0, 1))
  const statuses = keywordStatuses(first, given.compare)
  const ofAnswers = historyOfParts(
    history,
    parts.filter(({ kind }) => kind === 'reference'),
  )
  const answers = keywordStatuses(ofAnswers, given.compare)
  return (own.length === 0 ? [0] : own).map((target) => {
    const facts = factsOf(first, { ...given, target, statuses })
    const ofTarget = answers.filter(({ series }) => series.target === target)
    return {
      target: history.targets[target],
      findings: findings(facts),
      actions: nextActions(facts, { statuses: ofTarget, citations: given.citations }),
    }
  })
}
