import { explainMatch } from '../rank/explain.ts'
import { isOpaque } from '../rank/unwrap.ts'
import type { QueryRecord, ResultRecord, TargetRecord } from '../store/rows.ts'
import { type LookedPage, lookedPages, whyState } from './why.ts'

/** Everything that is known of one query in one run, as programs get it; its names stay. */
export interface Explanation {
  readonly job: string
  readonly run_id: number
  readonly date: string
  readonly query: string
  readonly operation: string
  readonly params: Readonly<Record<string, string | number>>
  /** Pages that were asked for at most. */
  readonly max_pages: number
  /** Why no page follows; null where pages may follow. */
  readonly paging_end: string | null
  readonly targets: readonly ExplainedTarget[]
  readonly pages: readonly ExplainedPage[]
}

export interface ExplainedTarget {
  readonly target: string
  readonly site: string
  readonly match: string
  readonly also: readonly string[]
  readonly own: boolean
  readonly state: string
  readonly rank: number | null
  readonly exactness: string | null
  readonly depth: number
  readonly unbroken_depth: number
  readonly why: string
}

export interface ExplainedPage {
  readonly page: number
  /** done, failed, open, skipped or passed */
  readonly state: LookedPage['state']
  readonly cause: string | null
  readonly fetched_at: string | null
  readonly results: readonly ExplainedResult[]
}

export interface ExplainedResult {
  readonly kind: string
  readonly rank: number
  readonly position: number | null
  readonly title: string | null
  readonly link: string | null
  /** A redirect that does not say whereto: it may be anybody's. */
  readonly opaque: boolean
  readonly matches: readonly Verdict[]
  /** Targets that it nearly matches, or looks as if it did. */
  readonly near: readonly Verdict[]
}

export interface Verdict {
  readonly target: string
  readonly reason: string
  /** To be read after the link. */
  readonly text: string
}

/** Why a query says what it says of each target, from what its run left. */
export function explanationOf(record: QueryRecord): Explanation {
  return {
    job: record.job,
    run_id: record.run,
    date: record.date,
    query: record.text,
    operation: record.operation,
    params: record.params,
    max_pages: record.maxPages,
    paging_end: record.end?.because ?? null,
    targets: record.targets.map((target) => explainTarget(record, target)),
    pages: lookedPages(record).map(({ page, state, cause, fetchedAt, results }) => ({
      page,
      state,
      cause,
      fetched_at: fetchedAt,
      results: results.map((result) => explainResult(result, record.targets)),
    })),
  }
}

function explainTarget(record: QueryRecord, target: TargetRecord): ExplainedTarget {
  const { label, site, match, also, own, state, rank, exactness, depth, unbrokenDepth } = target
  return {
    target: label,
    site,
    match,
    also,
    own,
    state,
    rank,
    exactness,
    depth,
    unbroken_depth: unbrokenDepth,
    why: whyState(record, target),
  }
}

function explainResult(result: ResultRecord, targets: readonly TargetRecord[]): ExplainedResult {
  const { kind, rank, position, title, link } = result
  const verdicts = targets.flatMap((target) => {
    const verdict = link === null ? null : explainMatch(target, link)
    return verdict === null ? [] : [{ ...verdict, target: target.label }]
  })
  const brief = ({ target, reason, text }: Verdict): Verdict => ({ target, reason, text })
  return {
    kind,
    rank,
    position,
    title,
    link,
    opaque: link !== null && isOpaque(link),
    matches: verdicts.filter(({ matches }) => matches).map(brief),
    near: verdicts.filter(({ near }) => near).map(brief),
  }
}
