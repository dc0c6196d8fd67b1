import type { ObservationState } from '../model/observation.ts'
import type { Cell } from '../store/rows.ts'
import { type AskedDay, isBetterBaseline, movementSince } from './baseline.ts'
import { speaksForDay } from './day-value.ts'
import type { Observed } from './movement.ts'

export type Row = Readonly<Record<string, Cell>>

/** Where the targets of a job stand. */
export interface RankReport {
  readonly rows: readonly Row[]
  /** What was observed once and is no longer asked: queries, and targets of queries that still are. */
  readonly leftOut: { readonly queries: number; readonly targets: number }
}

export interface RankOptions {
  /**
   * What the job asks now: every query and target of its newest run, as a row of the `rankings` view on the day of
   * that run that knows nothing. Only these are reported; a run that has not observed them yet is `unknown`, and
   * no older rank stands in for it. Without it, everything is reported that was ever observed.
   */
  readonly asked?: Iterable<Row>
  /** The day to compare with; the nearest one before where none was asked for. */
  readonly compare?: AskedDay | null
}

/** What one query and target came to, day by day. */
interface Series {
  readonly first: string
  current: Row
  baseline: Row | null
  best: Row | null
}

/**
 * One row per query and target of a job: its latest day beside the day that it is compared with and the best ever.
 *
 * @param rankings rows of the `rankings` view, in the order of date and run
 */
export function rankRows(rankings: Iterable<Row>, { asked, compare = null }: RankOptions = {}): RankReport {
  const all = new Map<string, Series>()
  for (const row of rankings) add(all, row, compare)
  if (asked === undefined)
    return {
      rows: [...all.values()].map((one) => reportRow(one, compare)),
      leftOut: { queries: 0, targets: 0 },
    }
  const wanted = new Map<string, Row>()
  for (const row of asked) {
    const key = keyOf(row)
    wanted.set(key, row)
    const known = all.get(key)
    if (known === undefined || dateOf(known.current) < dateOf(row)) add(all, row, compare)
  }
  const kept = [...all].filter(([key]) => wanted.has(key))
  const left = [...all].flatMap(([key, { current }]) => (wanted.has(key) ? [] : [current]))
  return { rows: kept.map(([, one]) => reportRow(one, compare)), leftOut: countLeft(left, wanted.values()) }
}

function add(all: Map<string, Series>, row: Row, compare: AskedDay | null): void {
  const key = keyOf(row)
  const series = all.get(key)
  if (series === undefined) all.set(key, { first: dateOf(row), current: row, baseline: null, best: null })
  else if (series.current.date !== row.date) {
    const { current, baseline } = series
    if (isBetterBaseline(dated(current), baseline === null ? null : dated(baseline), compare))
      series.baseline = current
    series.best = better(series.best, current)
    series.current = row
  } else if (speaksForDay(observed(row), observed(series.current))) series.current = row
}

function reportRow({ first, current, baseline, best: before }: Series, asked: AskedDay | null): Row {
  const best = better(before, current)
  const previous = baseline === null ? null : observed(baseline)
  const { movement, change } = movementSince(observed(current), previous, { first, asked })
  return {
    ...current,
    previous_date: baseline?.date ?? null,
    previous_state: baseline?.state ?? null,
    previous_rank: baseline?.rank ?? null,
    change,
    movement,
    best_rank: best?.rank ?? null,
    best_date: best?.date ?? null,
  }
}

/** The first of the days with the best rank. */
function better(best: Row | null, day: Row): Row | null {
  if (day.rank === null) return best
  return best === null || Number(day.rank) < Number(best.rank) ? day : best
}

function countLeft(left: readonly Row[], asked: Iterable<Row>): RankReport['leftOut'] {
  const queries = new Set([...asked].map(queryOf))
  const gone = left.filter((row) => !queries.has(queryOf(row)))
  const others = left.filter((row) => queries.has(queryOf(row)))
  return { queries: new Set(gone.map(queryOf)).size, targets: new Set(others.map(targetOf)).size }
}

/** The same operation, text and params, and the same target matched in the same way: like is compared with like. */
function keyOf(row: Row): string {
  return `${queryOf(row)}${targetOf(row)}`
}

function queryOf({ query, operation, params }: Row): string {
  return JSON.stringify([query, operation, params])
}

function targetOf({ target_site, target_match, target_also }: Row): string {
  return JSON.stringify([target_site, target_match, target_also])
}

function dateOf({ date }: Row): string {
  return String(date)
}

function dated(row: Row) {
  return { date: dateOf(row), state: row.state as ObservationState }
}

function observed({ state, rank, unbroken_depth, results_ended }: Row): Observed {
  return {
    state: state as ObservationState,
    rank: rank === null ? null : Number(rank),
    unbrokenDepth: results_ended === 1 ? Number.POSITIVE_INFINITY : Number(unbroken_depth),
  }
}
