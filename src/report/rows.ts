import type { ObservationState, Row } from '../model/result.ts'
import { count } from '../model/text.ts'
import { valueRank } from './cells.ts'
import { type KeywordStatus, keywordStatuses } from './history/keyword-status.ts'
import { type ComparisonDay, type Observed, replacesForDay } from './history/movement.ts'
import type { Keyword, RankHistory, TrackedTarget } from './history/rank-history.ts'
import { bestRank } from './metrics/best-rank.ts'

/** Where the targets of a job stand: rows, and what the history says of each of them, in the same order. */
export interface RankedRows {
  readonly rows: readonly Row[]
  readonly statuses: readonly KeywordStatus[]
}

export interface RankReport extends RankedRows {
  /** What was observed once and is no longer asked: queries, and targets of queries that still are. */
  readonly leftOut: { readonly queries: number; readonly targets: number }
}

/** The last day of a history, as rows of the `rankings` view. */
export interface LatestDay {
  /** What the newest run asks, as if nothing were known of it. */
  readonly asked: Iterable<Row>
  /** What the runs of that day observed, in the order of the runs. */
  readonly observed: Iterable<Row>
}

/**
 * One row per query and target that the newest run asks for, in its order: the latest day beside the day that it is
 * compared with and the best ever. What that run has not observed yet is `unknown`, and no older rank stands in for it.
 *
 * @param compare the day to compare with; null for the nearest one before
 */
export function rankRows(
  history: RankHistory,
  { asked, observed }: LatestDay,
  compare: ComparisonDay | null = null,
): RankedRows {
  const latest = new Map<string, Row>()
  for (const row of observed) {
    const key = keyOfRow(row)
    const before = latest.get(key)
    if (before === undefined || replacesForDay(observedIn(row), observedIn(before))) latest.set(key, row)
  }
  const statuses = new Map(
    keywordStatuses(history, compare).map((one) => [
      keyOf(one.keyword, history.targets[one.series.target] as TrackedTarget),
      one,
    ]),
  )
  const lines = [...asked].flatMap((row) => {
    const key = keyOfRow(row)
    const status = statuses.get(key)
    // What was filtered out of the history is no row either.
    return status === undefined ? [] : [{ row: asAsked(latest.get(key), row), status }]
  })
  return {
    rows: lines.map(({ row, status }) => reportRow(row, status, history)),
    statuses: lines.map(({ status }) => status),
  }
}

/** What was observed, under the names and with the tags, volume and landing page that the newest run gives it. */
function asAsked(observed: Row | undefined, asked: Row): Row {
  if (observed === undefined) return asked
  const said = ['target', 'tags', 'own', 'volume', 'intended_url', 'labels']
  return { ...observed, ...Object.fromEntries(said.map((name) => [name, asked[name] ?? null])) }
}

function reportRow(latest: Row, { series, baseline, change }: KeywordStatus, { days }: RankHistory): Row {
  const best = bestRank(series.cells)
  return {
    ...latest,
    previous_date: baseline === null ? null : (days[baseline.day] ?? null),
    previous_state: baseline?.value.state ?? null,
    previous_rank: baseline?.value.rank ?? null,
    change: change.change,
    movement: change.movement,
    best_rank: best?.rank ?? null,
    best_date: best === null ? null : (days[best.day] ?? null),
  }
}

/** The same operation, text and params, and the same target matched in the same way: like is compared with like. */
function keyOfRow({ query, operation, params, target_site, target_match, target_also }: Row): string {
  return JSON.stringify([query, operation, params, target_site, target_match, target_also])
}

function keyOf({ query, operation, params }: Keyword, { site, match, also }: TrackedTarget): string {
  return JSON.stringify([query, operation, JSON.stringify(params), site, match, JSON.stringify(also)])
}

function observedIn({ state, rank, unbroken_depth, results_ended }: Row): Observed {
  return {
    state: state as ObservationState,
    rank: rank === null ? null : Number(rank),
    unbrokenDepth: results_ended === 1 ? Number.POSITIVE_INFINITY : Number(unbroken_depth),
  }
}

/** The rank of a row as tables for people write it, with a mark where it is suspect. */
export function rankCell({ suspect }: Row, { current }: KeywordStatus): string {
  return `${valueRank(current)}${suspect === 1 ? '!' : ''}`
}

/** What the mark of doubt means, and how often it stands; nothing where it does not. */
export function suspectLines(rows: readonly Row[]): readonly string[] {
  const suspect = rows.filter((row) => row.suspect === 1).length
  return suspect === 0
    ? []
    : [
        `!: suspect, because the service answered a different query than requested: ${count(suspect, 'observation')}. What differs is in echo_mismatch of the view answers.`,
      ]
}
