import type { Target } from '../model/job.ts'
import type { ObservationState, Row } from '../model/result.ts'
import { count } from '../model/text.ts'
import { valueRank } from './cells.ts'
import { type KeywordStatus, keywordStatuses } from './history/keyword-status.ts'
import { type ComparedObservation, type ComparisonDay, replacesForDay } from './history/movement.ts'
import type { Keyword, RankHistory } from './history/rank-history.ts'
import { bestRank } from './metrics/positions.ts'

/** The rows of a report, and the status of each in the history, in the same order. */
export type RankedRows = ReturnType<typeof rankRows>

export interface RankReport extends RankedRows {
  /** Queries that are no longer asked, and targets that are no longer asked of queries that still are. */
  readonly leftOut: { readonly queries: number; readonly targets: number }
}

/**
 * One row per query and target that the newest run asks for, in its order: the latest day, the compared day and the best rank
 * ever. A row that the run has not observed yet is `unknown`; an older rank does not replace it. What a run of a part of its job
 * left out keeps its older row, with its own date.
 *
 * @param compare the day to compare with; null for the nearest earlier one
 */
export function rankRows(
  history: RankHistory,
  {
    asked,
    observed,
  }: {
    /** A row for each query and target that the newest run asks, as unknown. */
    readonly asked: Iterable<Row>
    /**
     * The observations of its runs, in their order; where these asked a part of the job, those of the days before too, the newest day
     * first, back to a day on which all was asked.
     */
    readonly observed: Iterable<Iterable<Row>>
  },
  compare: ComparisonDay | null = null,
) {
  const latest = new Map<string, Row>()
  for (const day of observed) for (const [key, row] of ofDay(day)) if (!latest.has(key)) latest.set(key, row)
  const statuses = new Map(
    keywordStatuses(history, compare).map((one) => [
      keyOf(one.keyword, history.targets[one.series.target] as Target),
      one,
    ]),
  )
  const lines = [...asked].flatMap((row) => {
    const key = keyOfRow(row)
    const status = statuses.get(key)
    // No status: a filter removed it from the history.
    return status === undefined ? [] : [{ row: asAsked(latest.get(key), row), status }]
  })
  return {
    rows: lines.map(({ row, status }) => reportRow(row, status, history)),
    statuses: lines.map(({ status }) => status),
  }
}

/** What a day came to: of several observations the last that knows more. */
function ofDay(rows: Iterable<Row>): ReadonlyMap<string, Row> {
  const day = new Map<string, Row>()
  for (const row of rows) {
    const key = keyOfRow(row)
    const before = day.get(key)
    if (before === undefined || replacesForDay(observedIn(row), observedIn(before))) day.set(key, row)
  }
  return day
}

/** The observation with the names, tags and landing page of the newest run. */
function asAsked(observed: Row | undefined, asked: Row): Row {
  if (observed === undefined) return asked
  const ofNewestRun = ['target', 'tags', 'own', 'intended_url', 'labels']
  return { ...observed, ...Object.fromEntries(ofNewestRun.map((name) => [name, asked[name] ?? null])) }
}

function reportRow(
  latest: Row,
  { series, keyword, baseline, change }: KeywordStatus,
  { days }: RankHistory,
): Row {
  const best = bestRank(series.cells)
  return {
    ...latest,
    volume: keyword.volume,
    previous_date: baseline === null ? null : (days[baseline.day] ?? null),
    previous_state: baseline?.value.state ?? null,
    previous_rank: baseline?.value.rank ?? null,
    change: change.change,
    movement: change.movement,
    best_rank: best?.rank ?? null,
    best_date: best === null ? null : (days[best.day] ?? null),
  }
}

/** Names a query and a target in one text. Targets that are matched in another way are other targets. */
function keyOfRow({ query, operation, params, target_site, target_match, target_also }: Row): string {
  return JSON.stringify([query, operation, params, target_site, target_match, target_also])
}

function keyOf({ query, operation, params }: Keyword, { site, match, also }: Target): string {
  return JSON.stringify([query, operation, JSON.stringify(params), site, match, JSON.stringify(also)])
}

function observedIn({ state, rank, unbroken_depth, results_ended }: Row): ComparedObservation {
  return {
    state: state as ObservationState,
    rank: rank === null ? null : Number(rank),
    unbrokenDepth: results_ended === 1 ? Number.POSITIVE_INFINITY : Number(unbroken_depth),
  }
}

/** The rank of a row for people, with a mark if it is suspect. */
export function rankCell({ suspect }: Row, { current }: KeywordStatus): string {
  return `${valueRank(current)}${suspect === 1 ? '!' : ''}`
}

/** Explains the mark of suspect ranks and counts them; nothing if there are none. */
export function suspectLines(rows: readonly Row[]): readonly string[] {
  const suspect = rows.filter((row) => row.suspect === 1).length
  return suspect === 0
    ? []
    : [
        `!: suspect, because the service answered a different query than requested: ${count(suspect, 'observation')}. What differs is in echo_mismatch of the view answers.`,
      ]
}
