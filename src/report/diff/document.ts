import type { Target } from '../../model/target.ts'
import { matcherOf } from '../../rank/match.ts'
import type { SerpQuery } from '../../store/reports.ts'
import { diffSerps, type Pair, type SerpDiff, type SerpResult, type Snapshot } from './serp-diff.ts'

/** What became of the results of a query, as programs get it; its names stay. */
export interface DiffDocument {
  readonly job: string
  readonly query: string
  readonly operation: string
  readonly params: Readonly<Record<string, string | number>>
  /** The earlier day; null where there is nothing to compare with. */
  readonly from: DiffSide | null
  /** The later day; null where no results are stored at all. */
  readonly to: DiffSide | null
  /** Down to here both days looked without a gap; null where only one did. */
  readonly compared_depth: number | null
  readonly entered: readonly DiffResult[]
  readonly left: readonly DiffResult[]
  readonly moved: readonly MovedResult[]
  readonly changed: readonly ChangedResult[]
  readonly same: number
  /** Share of the first ten that are others than before, from 0 to 1. */
  readonly turnover_top10: number | null
}

export interface DiffSide {
  readonly run_id: number
  readonly date: string
  readonly fetched_at: string | null
  /** Distinct results looked at. */
  readonly depth: number
  /** Those without a gap from the first one on. */
  readonly unbroken_depth: number
  readonly results_ended: boolean
  /** Results that the other day does not have, deeper than it looked without a gap: nothing is said of them. */
  readonly not_compared: number
  /** What became of the pages that were not looked at. */
  readonly missed: readonly string[]
}

export interface DiffResult {
  readonly rank: number
  readonly title: string | null
  readonly link: string | null
  readonly snippet: string | null
  /** Whose it is. */
  readonly targets: readonly { readonly target: string; readonly own: boolean }[]
}

export interface MovedResult extends DiffResult {
  readonly previous_rank: number
  /** Ranks gained, negative when lost. */
  readonly change: number
}

export interface ChangedResult extends DiffResult {
  readonly previous_rank: number
  readonly previous_title: string | null
  readonly previous_snippet: string | null
}

/** Two snapshots of a query; null for what is not stored. */
export interface Snapshots {
  readonly from: Snapshot | null
  readonly to: Snapshot | null
}

export interface DiffOptions {
  readonly job: string
  /** Only results that stand among so many on either day. */
  readonly depth?: number | undefined
  /** Whose results are to be marked. */
  readonly targets: readonly Target[]
}

/** What became of a query's results between two snapshots. */
export function diffDocument(
  { text, operation, params }: Pick<SerpQuery, 'text' | 'operation' | 'params'>,
  { from, to }: Snapshots,
  { job, depth, targets }: DiffOptions,
): DiffDocument {
  const diff = from === null || to === null ? null : diffSerps(from, to, depth)
  const toDiffResult = diffResultOf(targets)
  return {
    job,
    query: text,
    operation,
    params,
    from: from === null ? null : sideOf(from, diff?.notCompared.from ?? 0),
    to: to === null ? null : sideOf(to, diff?.notCompared.to ?? 0),
    compared_depth: diff?.comparedDepth ?? null,
    ...listsOf(diff, toDiffResult),
    same: diff?.same ?? 0,
    turnover_top10: diff?.turnover ?? null,
  }
}

function sideOf(snapshot: Snapshot, notCompared: number): DiffSide {
  return {
    run_id: snapshot.run,
    date: snapshot.date,
    fetched_at: snapshot.fetchedAt,
    depth: snapshot.depth,
    unbroken_depth: snapshot.unbrokenDepth,
    results_ended: snapshot.resultsEnded,
    not_compared: notCompared,
    missed: snapshot.missed,
  }
}

type ToDiffResult = (result: SerpResult) => DiffResult

function listsOf(
  diff: SerpDiff | null,
  toDiffResult: ToDiffResult,
): Pick<DiffDocument, 'entered' | 'left' | 'moved' | 'changed'> {
  if (diff === null) return { entered: [], left: [], moved: [], changed: [] }
  return {
    entered: diff.entered.map(toDiffResult),
    left: diff.left.map(toDiffResult),
    moved: diff.moved.map(({ before, after }: Pair) => ({
      ...toDiffResult(after),
      previous_rank: before.rank,
      change: before.rank - after.rank,
    })),
    changed: diff.changed.map(({ before, after }: Pair) => ({
      ...toDiffResult(after),
      previous_rank: before.rank,
      previous_title: before.title,
      previous_snippet: before.snippet,
    })),
  }
}

function diffResultOf(targets: readonly Target[]): ToDiffResult {
  const matchers = targets.map((target) => ({ target, matches: matcherOf(target) }))
  return ({ rank, title, link, snippet }) => ({
    rank,
    title,
    link,
    snippet,
    targets: matchers
      .filter(({ matches }) => link !== null && matches(link))
      .map(({ target: { label, own } }) => ({ target: label, own })),
  })
}
