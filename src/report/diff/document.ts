import type { Target } from '../../model/target.ts'
import { matcherOf } from '../../rank/match.ts'
import type { SerpQuery } from '../../store/reports.ts'
import { diffSerps, type SerpSnapshot, type SnapshotResult } from './serp-diff.ts'

/** What changed in the results of a query, for programs. Names do not change between versions. */
export type DiffDocument = ReturnType<typeof diffDocument>

export type DiffSide = ReturnType<typeof sideOf>
export type DiffResult = ReturnType<ReturnType<typeof diffResultOf>>
export type ChangedResult = DiffDocument['changed'][number]

/** Two snapshots of a query; null for one that is not stored. */
export interface Snapshots {
  readonly from: SerpSnapshot | null
  readonly to: SerpSnapshot | null
}

export interface DiffOptions {
  readonly job: string
  /** Only results with this rank or better on either day. */
  readonly depth?: number | undefined
  /** The targets whose results are marked. */
  readonly targets: readonly Target[]
}

export function diffDocument(
  { text, operation, params }: Pick<SerpQuery, 'text' | 'operation' | 'params'>,
  { from, to }: Snapshots,
  { job, depth, targets }: DiffOptions,
) {
  const diff = from === null || to === null ? null : diffSerps(from, to, depth)
  const { entered = [], left = [], moved = [], changed = [] } = diff ?? {}
  const resultOf = diffResultOf(targets)
  return {
    job,
    query: text,
    operation,
    params,
    /** The earlier day; null where there is nothing to compare with. */
    from: from === null ? null : sideOf(from, diff?.notCompared.from ?? 0),
    /** The later day; null where no results are stored at all. */
    to: to === null ? null : sideOf(to, diff?.notCompared.to ?? 0),
    /** Both days were checked down to here without a gap; null where only one was. */
    compared_depth: diff?.comparedDepth ?? null,
    entered: entered.map(resultOf),
    left: left.map(resultOf),
    moved: moved.map(({ before, after }) => ({
      ...resultOf(after),
      previous_rank: before.rank,
      /** Ranks gained, negative when lost. */
      change: before.rank - after.rank,
    })),
    changed: changed.map(({ before, after }) => ({
      ...resultOf(after),
      previous_rank: before.rank,
      previous_title: before.title,
      previous_snippet: before.snippet,
    })),
    same: diff?.same ?? 0,
    /** Share of the first ten that differs from before, from 0 to 1. */
    turnover_top10: diff?.turnover ?? null,
  }
}

function sideOf(snapshot: SerpSnapshot, notCompared: number) {
  return {
    run_id: snapshot.run,
    date: snapshot.date,
    fetched_at: snapshot.fetchedAt,
    /** Distinct results that were checked. */
    depth: snapshot.depth,
    /** Those without a gap from the first one on. */
    unbroken_depth: snapshot.unbrokenDepth,
    results_ended: snapshot.resultsEnded,
    /** Results that the other day does not have, deeper than it was checked without a gap. */
    not_compared: notCompared,
    /** What became of the pages that were not checked. */
    missed: snapshot.missed,
  }
}

function diffResultOf(targets: readonly Target[]) {
  const matchers = targets.map((target) => ({ target, matches: matcherOf(target) }))
  return ({ rank, title, link, snippet }: SnapshotResult) => ({
    rank,
    title,
    link,
    snippet,
    /** The targets that it belongs to. */
    targets: matchers
      .filter(({ matches }) => link !== null && matches(link))
      .map(({ target: { label, own } }) => ({ target: label, own })),
  })
}
