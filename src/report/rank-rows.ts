import type { ObservationState } from '../model/observation.ts'
import type { Cell } from '../store/rows.ts'
import { compare } from './movement.ts'

export type Row = Readonly<Record<string, Cell>>

/**
 * One row per query and target of a job: its latest observation beside the one before and the best ever.
 * Several runs on one local day count as one: the last of them that observed anything speaks for the day.
 *
 * @param rankings rows of the `rankings` view, in the order of date and run
 */
export function rankRows(rankings: Iterable<Row>): readonly Row[] {
  const series = new Map<string, Row[]>()
  for (const row of rankings) {
    const key = JSON.stringify([
      row.query,
      row.operation,
      row.params,
      row.target_site,
      row.target_match,
      row.target_also,
    ])
    const days = series.get(key)
    if (days === undefined) series.set(key, [row])
    else addDay(days, row)
  }
  return [...series.values()].map(reportRow)
}

function addDay(days: Row[], row: Row): void {
  const last = days.at(-1)
  if (last?.date !== row.date) days.push(row)
  else if (row.state !== 'unknown' || last?.state === 'unknown') days[days.length - 1] = row
}

function reportRow(days: readonly Row[]): Row {
  const current = days.at(-1) as Row
  const previous = days.at(-2) ?? null
  const best = days.reduce<Row | null>(
    (best, day) =>
      day.rank !== null && (best === null || Number(day.rank) < Number(best.rank)) ? day : best,
    null,
  )
  const { movement, change } = compare(observed(current), previous === null ? null : observed(previous))
  return {
    ...current,
    previous_date: previous?.date ?? null,
    previous_state: previous?.state ?? null,
    previous_rank: previous?.rank ?? null,
    change,
    movement,
    best_rank: best?.rank ?? null,
    best_date: best?.date ?? null,
  }
}

function observed({ state, rank, depth }: Row) {
  return {
    state: state as ObservationState,
    rank: rank === null ? null : Number(rank),
    depth: Number(depth ?? 0),
  }
}
