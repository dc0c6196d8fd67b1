import type { Database } from 'better-sqlite3'
import type { Target } from '../../model/target.ts'
import type { QueryPaging } from '../../model/task.ts'
import type { Page, PageState } from '../../rank/pages.ts'
import type { EndKind } from '../../rank/paging.ts'
import type { Sightings } from '../../rank/smart.ts'
import type { StoredQuery, WatchedTarget } from '../answers.ts'
import { leftOutCause } from './fit.ts'
import type { Memory } from './memory.ts'
import { type TargetRow, toTarget } from './targets.ts'

/** A query of a run as it was read for a change: what it says, and the rows that say it. */
export interface ReadQuery {
  readonly runId: number
  readonly queryId: number
  readonly query: StoredQuery
  readonly rows: readonly PageRow[]
  readonly end: StoredEnd
  /** The task that this change brings to its end; its row does not say so yet. */
  readonly done: number | null
}

/** Why no page follows any more, and what kind of end that is; nulls while pages may follow. */
export interface StoredEnd {
  readonly because: string | null
  readonly kind: EndKind | null
}

/** A page of a query, with its task. */
export interface PageRow {
  readonly taskId: number
  readonly page: number
  readonly state: string
  readonly cause: string | null
  readonly ready: number
  readonly answerId: number | null
  /** When its answer came; null where it has none. */
  readonly fetchedAt: number | null
  readonly rankBase: number
  readonly ranks: string | null
  /** 1 where the service says that no page follows it. */
  readonly isLast: number | null
  /** 1 where its answer repeats another question than asked. */
  readonly mismatched: number | null
}

type PageList = readonly [
  taskId: number,
  page: number,
  state: string,
  cause: string | null,
  ready: number,
  answerId: number | null,
  fetchedAt: number | null,
  rankBase: number,
  ranks: string | null,
  isLast: number | null,
  mismatched: number | null,
]

type PagingList = readonly [
  maxPages: QueryPaging['maxPages'],
  pageSize: QueryPaging['pageSize'],
  depth: QueryPaging['depth'],
  because: string | null,
  kind: EndKind | null,
  /** 1 where the query has targets of its own. */
  hasTargets: number,
]

type WatchedRow = TargetRow<Target & { readonly id: number }> & { readonly adopted: number }

const unplanned: PagingList = [1, null, null, null, null, 1]

const pageStates: Readonly<Record<string, PageState>> = {
  failed: 'failed',
  skipped: 'ended',
}

/**
 * Reads a query of a run as it stands, inside the change that is under way: with that task done, whose results have been
 * stored by it.
 */
export function queryReader(
  db: Database,
  { targets, items, refresh }: Memory,
): (runId: number, queryId: number, done?: number | null) => ReadQuery {
  // As lists: an object with names would take as long to make as all the rest.
  const paging = db
    .prepare<[number, number], PagingList>(
      `SELECT pages, page_size, depth, paging_end, paging_kind, targets <> '[]' FROM run_queries
      WHERE run_id = ? AND query_id = ?`,
    )
    .raw()
  const watchedBy = (which: string): string =>
    // What a query was planned for is in its own list, or watched everywhere and not in it.
    `SELECT tg.id, tg.site, tg.match, tg.also, rt.label, rt.own, rq.planned_targets IS NOT NULL
        AND tg.id IN (SELECT value FROM json_each(rq.targets))
        AND tg.id NOT IN (SELECT value FROM json_each(rq.planned_targets)) AS adopted
    FROM run_queries rq CROSS JOIN run_targets rt ON rt.run_id = rq.run_id AND ${which} JOIN targets tg ON tg.id = rt.target_id
    WHERE rq.run_id = @run AND rq.query_id = @query`
  const ownTargets = db.prepare<unknown[], WatchedRow>(
    // Those of other queries are not looked at, which may be very many.
    `${watchedBy('rt.everywhere = 1')} UNION ALL ${watchedBy(
      'rt.everywhere = 0 AND rt.target_id IN (SELECT value FROM json_each(rq.targets))',
    )} ORDER BY id`,
  )
  const pages = db
    .prepare<[number, number], PageList>(
      `SELECT t.id, t.page, t.state, t.cause, t.ready, t.answer_id, a.fetched_at, t.rank_base, t.ranks, a.has_next_page = 0,
        a.echo_mismatch IS NOT NULL
      FROM tasks_ t LEFT JOIN answers_ a ON a.id = t.answer_id WHERE t.run_id = ? AND t.query_id = ? ORDER BY t.page`,
    )
    .raw()
  // Looked up only where an answer is in doubt: settings hold every target of the job.
  const strictEcho = db
    .prepare<[number], number | null>("SELECT settings ->> 'strictEcho' FROM runs_ WHERE id = ?")
    .pluck()
  const readSightings = sightingsReader(db)
  const readPage = (row: PageRow, done: number | null): Page => {
    const { taskId, page, state, cause, answerId, isLast, mismatched } = row
    const isDone = taskId === done || state === 'done'
    return {
      page,
      // What was left out was not looked at.
      state: isDone ? 'done' : cause === leftOutCause ? 'open' : (pageStates[state] ?? 'open'),
      items: isDone && answerId !== null ? items.of(answerId) : [],
      ...(isLast === 1 ? { isLast: true } : {}),
      ...(isDone && mismatched === 1 ? { mismatched: true } : {}),
    }
  }
  return (runId, queryId, done = null) => {
    refresh()
    const [maxPages, pageSize, depth, because, kind, hasTargets] = paging.get(runId, queryId) ?? unplanned
    const rows = pages.all(runId, queryId).map(pageRow)
    const isStrict = rows.some(({ mismatched }) => mismatched === 1) && strictEcho.get(runId) === 1
    return {
      runId,
      queryId,
      rows,
      end: { because, kind },
      done,
      query: {
        maxPages,
        pageSize,
        depth,
        targets:
          hasTargets === 1
            ? ownTargets.all({ run: runId, query: queryId }).map(watchedOf)
            : targets.of(runId),
        pages: rows.map((row) => readPage(row, done)),
        ...(isStrict ? { strictEcho: true } : {}),
        end: because === null || kind === null ? null : { because, kind },
        sightings: () => readSightings(runId, queryId, maxPages),
      },
    }
  }
}

function pageRow([
  taskId,
  page,
  state,
  cause,
  ready,
  answerId,
  fetchedAt,
  rankBase,
  ranks,
  isLast,
  mismatched,
]: PageList): PageRow {
  return { taskId, page, state, cause, ready, answerId, fetchedAt, rankBase, ranks, isLast, mismatched }
}

function watchedOf({ adopted, ...row }: WatchedRow): WatchedTarget {
  const target = toTarget(row)
  return adopted === 1 ? { ...target, adopted: true } : target
}

/** What runs before this one saw of the targets of a query. */
function sightingsReader(
  db: Database,
): (runId: number, queryId: number, pages: number) => ReadonlyMap<number, Sightings> {
  const all = db.prepare<unknown[], Sightings & { targetId: number }>(
    `SELECT target_id AS targetId, min(observed_at) AS firstAt,
      max(CASE WHEN unbroken_pages >= @pages THEN observed_at END) AS lastDeepAt,
      max(CASE WHEN state = 'ranked' THEN observed_at END) AS lastRankedAt, NULL AS lastPage
    FROM observations WHERE query_id = @query AND run_id < @run AND state <> 'unknown' GROUP BY target_id`,
  )
  // SQLite takes the other columns from the row that holds the maximum.
  const lastPage = db.prepare<unknown[], { targetId: number; page: number | null }>(
    `SELECT target_id AS targetId, page, max(observed_at) FROM observations
    WHERE query_id = @query AND run_id < @run AND state = 'ranked' GROUP BY target_id`,
  )
  return (run, query, pages) => {
    const pageOf = new Map(lastPage.all({ query, run }).map(({ targetId, page }) => [targetId, page]))
    return new Map(
      all
        .all({ query, run, pages })
        .map(({ targetId, ...seen }) => [targetId, { ...seen, lastPage: pageOf.get(targetId) ?? null }]),
    )
  }
}
