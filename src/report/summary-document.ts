import type { Standing } from './cohort.ts'
import { definitionOf } from './definitions.ts'
import { type ComparedFigure, type HeadlineName, headlineNames } from './headline.ts'
import type { AbsentAs } from './metrics/average-position.ts'
import { top } from './metrics/distribution.ts'
import type { Figure } from './metrics/figure.ts'
import { metrics } from './metrics/index.ts'
import type { Mover } from './metrics/winners.ts'
import type { Summary, TargetSummary } from './summary.ts'

/** A summary for programs: every figure with its definition, what it is made of, and what it covers. */
export function summaryDocument(summary: Summary) {
  const { curve } = summary
  return {
    job: summary.job,
    date: summary.date,
    compared_with: summary.compared,
    ctr_curve: { name: curve.name, version: curve.version, source: curve.source },
    keywords: { asked: summary.keywords, added: summary.added, removed: summary.removed },
    targets: summary.targets.map((one) => targetDocument(one, summary)),
  }
}

function targetDocument(one: TargetSummary, { absent }: Summary) {
  const { target, figures, against } = one
  const { distribution, top_ranks, movements, gain, head_to_head } = metrics
  return {
    target: target.label,
    site: target.site,
    own: target.own,
    figures: headlineNames.map((name) => figureDocument(name, figures[name], absent)),
    distribution: { definition: distribution.definition, ...one.distribution },
    top_ranks: {
      definition: top_ranks.definition,
      top_3: top(one.distribution, 3),
      top_10: top(one.distribution, 10),
    },
    movements: { definition: movements.definition, ...one.movements },
    movers: {
      definition: gain.definition,
      unit: gain.unit,
      winners: one.winners.map(moverDocument),
      losers: one.losers.map(moverDocument),
    },
    head_to_head: against.map(({ other, ...counts }) => ({
      against: other.label,
      definition: head_to_head.definition,
      ...counts,
    })),
  }
}

function figureDocument(metric: HeadlineName, figure: ComparedFigure, absent: AbsentAs) {
  const { label, unit, better, definition, denominator: by } = definitionOf(metric, { absent })
  const { cohort } = figure
  return {
    metric,
    label,
    unit,
    better,
    definition,
    divided_by: by,
    ...numbers(figure),
    same_keywords:
      cohort === null
        ? null
        : { now: numbers(cohort.now), before: numbers(cohort.before), delta: cohort.delta },
  }
}

function numbers({ value, numerator, denominator, coverage, uncounted }: Figure) {
  return { value, numerator, denominator, ...coverage, uncounted }
}

function moverDocument({ standing, gain }: Mover) {
  const { keyword, current, baseline, change }: Standing = standing
  return {
    query: keyword.query,
    operation: keyword.operation,
    params: keyword.params,
    volume: keyword.volume,
    movement: change.movement,
    rank: current.rank,
    previous_rank: baseline?.value.rank ?? null,
    change: change.change,
    gain,
  }
}
