import type { Database } from 'better-sqlite3'
import { and, eq, lt, max, min, ne, sql } from 'drizzle-orm'
import type { QueryPaging } from '../../../model/query.ts'
import type { Target } from '../../../model/target.ts'
import type { QueryState, QueryUpdate, WatchedTarget } from '../../../rank/advance.ts'
import type { EndKind, TargetHistory } from '../../../rank/paging.ts'
import type { Page, PageState } from '../../../rank/ranks.ts'
import type { ResultRecorder } from '../../journal.ts'
import type { AnswerRecord, ReadAnswer, TaskCountChange } from '../../results.ts'
import { type StoreCache, type TargetRow, targetFromRow } from '../cache.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import {
  insertFrom,
  lazy,
  once,
  orm,
  prepared,
  raw,
  updateOrFail,
  type Values,
} from '../connection/statements.ts'
import { skippedForBalance } from '../planning/fit.ts'
import { unobserved } from '../rankings/observations.ts'
import { answers, runQueries as rq, runs, observations as seen, tasks, unusableMark } from '../schema.ts'
import type { ResultWriter } from './write-results.ts'

/** The state of a query of a run, with the rows that it was read from. */
interface StoredQueryState {
  readonly runId: number
  readonly queryId: number
  readonly query: QueryState
  readonly rows: readonly PageRow[]
  readonly end: StoredEnd
  /** The task that this change completes; its row does not say so yet. */
  readonly done: number | null
}

/** Why no page follows, and the kind of the end; nulls while pages may follow. */
interface StoredEnd {
  readonly because: string | null
  readonly kind: EndKind | null
}

/** A page of a query with its task, as SQLite gives it. */
type PageList = readonly [
  taskId: number,
  page: number,
  state: string,
  cause: string | null,
  ready: number,
  answerId: number | null,
  /** When its answer came; null without an answer. */
  fetchedAt: number | null,
  rankBase: number,
  ranks: string | null,
  /** 1 if the service says that no page follows. */
  isLast: number | null,
  /** 1 if its answer repeats another query than the one sent. */
  mismatched: number | null,
  /** 1 where retention dropped its results. */
  pruned: number | null,
  ...paging: PagingList | readonly [maxPages: null, ...unknown[]],
]

type PageRow = ReturnType<typeof pageRow>

type PagingList = readonly [
  maxPages: QueryPaging['maxPages'],
  pageSize: QueryPaging['pageSize'],
  depth: QueryPaging['depth'],
  because: string | null,
  kind: EndKind | null,
  /** 1 if the query has its own targets. */
  hasTargets: number,
]

type WatchedRow = TargetRow<Target & { readonly id: number }> & { readonly adopted: number }

const pagingColumns = "rq.pages, rq.page_size, rq.depth, rq.paging_end, rq.paging_kind, rq.targets <> '[]'"

const unplanned: PagingList = [1, null, null, null, null, 1]

const pageStates: Readonly<Record<string, PageState>> = {
  failed: 'failed',
  skipped: 'ended',
}

/** Read only for mismatched answers, because the settings of a job with many targets are large. */
const strictEcho = prepared(($: Values<{ run: number }>) =>
  orm
    .select({ value: sql<number | null>`${runs.settings} ->> 'strictEcho'` })
    .from(runs)
    .where(eq(runs.id, $.run)),
)

/**
 * Reads the state of a query of a run inside the current transaction. The task whose results this transaction has just stored
 * counts as done.
 */
export function queryStateReader(
  db: Database,
  { targets, items, refresh }: StoreCache,
): (runId: number, queryId: number, done?: number | null) => StoredQueryState {
  // The driver returns arrays here: objects would double the time.
  const paging = db
    .prepare<[number, number], PagingList>(
      `SELECT ${pagingColumns} FROM run_queries rq WHERE rq.run_id = ? AND rq.query_id = ?`,
    )
    .raw()
  const watchedBy = (which: string): string =>
    // A query's targets are in its own list, or are targets of the whole job.
    `SELECT tg.id, tg.site, tg.match, tg.also, rt.label, rt.own, rq.planned_targets IS NOT NULL
        AND tg.id IN (SELECT value FROM json_each(rq.targets))
        AND tg.id NOT IN (SELECT value FROM json_each(rq.planned_targets)) AS adopted
    FROM run_queries rq CROSS JOIN run_targets rt ON rt.run_id = rq.run_id AND ${which} JOIN targets tg ON tg.id = rt.target_id
    WHERE rq.run_id = @run AND rq.query_id = @query`
  const ownTargets = db.prepare<unknown[], WatchedRow>(
    // Without the targets of other queries, of which there may be very many.
    `${watchedBy('rt.everywhere = 1')} UNION ALL ${watchedBy(
      'rt.everywhere = 0 AND rt.target_id IN (SELECT value FROM json_each(rq.targets))',
    )} ORDER BY id`,
  )
  const pages = db
    .prepare<[number, number], PageList>(
      `SELECT t.id, t.page, t.state, t.cause, t.ready, t.answer_id, a.fetched_at, t.rank_base, t.ranks, a.has_next_page = 0,
        a.echo_mismatch IS NOT NULL, a.pruned_at IS NOT NULL, ${pagingColumns}
      FROM tasks_ t LEFT JOIN answers_ a ON a.id = t.answer_id
        LEFT JOIN run_queries rq ON rq.run_id = t.run_id AND rq.query_id = t.query_id
      WHERE t.run_id = ? AND t.query_id = ? ORDER BY t.page`,
    )
    .raw()
  const readPage = (row: PageRow, done: number | null): Page => {
    const { taskId, page, state, cause, answerId, isLast, mismatched, pruned } = row
    // Of a page whose results were dropped nothing is known any more.
    const isDone = (taskId === done || state === 'done') && pruned !== 1
    return {
      page,
      // A page that was left out for the balance was not checked.
      state: isDone ? 'done' : cause === skippedForBalance ? 'open' : (pageStates[state] ?? 'open'),
      items: isDone && answerId !== null ? items.of(answerId) : [],
      ...(isLast === 1 ? { isLast: true } : {}),
      ...(isDone && mismatched === 1 ? { mismatched: true } : {}),
    }
  }
  return (runId, queryId, done = null) => {
    refresh()
    const lists = pages.all(runId, queryId)
    const [first] = lists
    // Each page has what its query has, so that one statement reads all of it.
    const planned = first === undefined ? paging.get(runId, queryId) : pagingOf(first)
    const [maxPages, pageSize, depth, because, kind, hasTargets] = planned ?? unplanned
    const rows = lists.map(pageRow)
    const isStrict =
      rows.some(({ mismatched }) => mismatched === 1) && strictEcho.get(db, { run: runId })?.value === 1
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
        history: () => targetHistories(db, { run: runId, query: queryId, pages: maxPages }),
      },
    }
  }
}

function pagingOf(page: PageList): PagingList | undefined {
  const planned = page.slice(-unplanned.length) as unknown as PagingList | [null]
  return planned[0] === null ? undefined : (planned as PagingList)
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
  pruned,
]: PageList) {
  // One literal: made of several, it takes several times as long.
  return {
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
    pruned,
  }
}

function watchedOf({ adopted, ...row }: WatchedRow): WatchedTarget {
  const target = targetFromRow(row)
  return adopted === 1 ? { ...target, backfilled: true } : target
}

type Earlier = { run: number; query: number }

const seenBefore = ($: Values<Earlier>) => and(eq(seen.queryId, $.query), lt(seen.runId, $.run))

const allHistories = prepared(($: Values<Earlier & { pages: number }>) =>
  orm
    .select({
      targetId: seen.targetId,
      firstAt: min(seen.observedAt),
      lastDeepAt: sql<
        number | null
      >`max(CASE WHEN ${seen.unbrokenPages} >= ${$.pages} THEN ${seen.observedAt} END)`,
      lastRankedAt: sql<number | null>`max(CASE WHEN ${seen.state} = 'ranked' THEN ${seen.observedAt} END)`,
    })
    .from(seen)
    .where(and(seenBefore($), ne(seen.state, 'unknown')))
    .groupBy(seen.targetId),
)

/** SQLite takes the other columns from the row with the maximum. */
const lastPages = prepared(($: Values<Earlier>) =>
  orm
    .select({ targetId: seen.targetId, page: seen.page, at: max(seen.observedAt) })
    .from(seen)
    .where(and(seenBefore($), eq(seen.state, 'ranked')))
    .groupBy(seen.targetId),
)

/** The observations of earlier runs for the targets of a query. */
function targetHistories(
  db: Database,
  { pages, ...earlier }: Earlier & { pages: number },
): ReadonlyMap<number, TargetHistory> {
  const pageOf = new Map(lastPages.all(db, earlier).map(({ targetId, page }) => [targetId, page]))
  return new Map(
    allHistories
      .all(db, { ...earlier, pages })
      .map(({ targetId, ...rest }) => [targetId, { ...rest, lastPage: pageOf.get(targetId) ?? null }]),
  )
}

/** Answers whose content is looked up together. */
const together = 128

/** Records the content of answers. */
export function resultRecorder(
  db: Database,
  writer: GroupCommit,
  memory: StoreCache,
  results: (db: Database, memory: StoreCache) => ResultWriter,
): ResultRecorder {
  const writerOf = once(() => results(db, memory))
  const record = lazy(() => answerRecorder(db, memory, writerOf().keep))
  /** Handed over, and not looked up yet, in their order. */
  const waiting: ReadAnswer[] = []
  const recordRead = (change: AnswerRecord, read: ReadAnswer): TaskCountChange => {
    // The first of those that share a change looks up for all.
    const own = waiting.indexOf(read)
    if (own >= 0) writerOf().prepare(waiting.splice(0, Math.max(own + 1, together)))
    return record(change)
  }
  return {
    unobserved: async (runId, after, most) =>
      unobserved(db, runId, { from: after + 1, to: Number.MAX_SAFE_INTEGER }, most),
    // A lost failure would be paid for again; the content of an answer can be derived again.
    recordAnswer: (change) => {
      const { outcome } = change
      if (outcome === 'as-stored') return writer.writeDerived(() => record(change))
      if ('failed' in outcome) return writer.writePaid(() => record(change))
      waiting.push(outcome.done)
      return writer.writeDerived(() => recordRead(change, outcome.done))
    },
  }
}

const failTask = prepared(($: Values<{ task: number; cause: string }>) =>
  orm
    .update(tasks)
    .set({ state: 'failed', cause: sql`${$.cause}` })
    .where(eq(tasks.id, $.task)),
)

/** So that no task uses it, although another answer may take its place. */
const distrustAnswer = prepared(($: Values<{ task: number }>) =>
  orm
    .update(answers)
    .set({ normaliser: unusableMark })
    .where(
      sql`${answers.id} = (SELECT ${tasks.answerId} FROM ${tasks} WHERE ${tasks.id} = ${$.task}) AND ${answers.normaliser} IS NULL`,
    ),
)

function answerRecorder(
  db: Database,
  memory: StoreCache,
  keepResults: (read: ReadAnswer) => void,
): (change: AnswerRecord) => TaskCountChange {
  const readQuery = queryStateReader(db, memory)
  const follow = queryUpdateWriter(db, memory)

  /** Stores the outcome; returns the task that is done, whose state is written with its ranks. */
  const note = ({ taskId, outcome }: AnswerRecord): number | null => {
    if (outcome === 'as-stored') return null
    if ('failed' in outcome) {
      if (taskId === null) return null
      failTask.run(db, { task: taskId, cause: outcome.failed })
      distrustAnswer.run(db, { task: taskId })
      return null
    }
    keepResults(outcome.done)
    return taskId
  }

  return (change) => {
    const done = note(change)
    const read = readQuery(change.runId, change.queryId, done)
    return follow(read, change.follow(read.query))
  }
}

const makeReady = prepared(($: Values<{ run: number; query: number; page: number }>) => {
  const { runId, queryId, page, state, priority, credits } = tasks
  return insertFrom(
    tasks,
    { runId, queryId, page: $.page, state: sql`'pending'`, ready: 1, priority, credits },
    sql`FROM ${tasks} WHERE ${runId} = ${$.run} AND ${queryId} = ${$.query} AND ${page} = 1`,
    { ready: 1, state: sql`CASE ${state} WHEN 'skipped' THEN 'pending' ELSE ${state} END` },
  )
})

const skipRest = prepared(($: Values<{ run: number; query: number; cause: string }>) =>
  orm
    .update(tasks)
    .set({ state: 'skipped', cause: sql`${$.cause}` })
    .where(
      and(
        ...[eq(tasks.runId, $.run), eq(tasks.queryId, $.query)],
        ...[eq(tasks.state, 'pending'), eq(tasks.ready, 0)],
      ),
    ),
)

/**
 * Writes what follows from a page: its state, ranks, observations, and the page that may be sent next. Values that have not
 * changed since the query was read are not written again.
 */
export function queryUpdateWriter(
  db: Database,
  memory: Pick<StoreCache, 'items' | 'dictionary'>,
): (read: StoredQueryState, consequences: QueryUpdate) => TaskCountChange {
  const rank = rankWriter(db)
  const observe = observationWriter(db, memory)
  const setEnd = db.prepare(
    raw`UPDATE ${rq} SET ${rq.pagingEnd} = ?, ${rq.pagingKind} = ? WHERE ${rq.runId} = ? AND ${rq.queryId} = ?`,
  )
  const end = ({ runId, queryId, end: before }: StoredQueryState, now: StoredEnd): void => {
    if (now.because !== before.because || now.kind !== before.kind)
      setEnd.run(now.because, now.kind, runId, queryId)
  }

  return (read, { ranks, observations, paging }) => {
    const { runId: run, queryId: query, rows } = read
    // What was observed while its results were stored stays as it is.
    if (read.done === null && rows.some(({ pruned }) => pruned === 1)) return { added: 0, skipped: 0 }
    rank(read, ranks)
    for (const observation of observations) observe(read, observation)
    if (paging === null) return { added: 0, skipped: 0 }
    if ('next' in paging) {
      const planned = rows.find(({ page }) => page === paging.next)
      if (planned === undefined || planned.ready === 0 || planned.state === 'skipped')
        makeReady.run(db, { run, query, page: paging.next })
      // A page that had failed permanently may have been bought since.
      end(read, pagingGoesOn)
      return { added: planned === undefined ? 1 : 0, skipped: 0 }
    }
    end(read, paging)
    const waits = rows.some(({ state, ready }) => state === 'pending' && ready === 0)
    return { added: 0, skipped: waits ? skipRest.run(db, { cause: paging.because, run, query }).changes : 0 }
  }
}

const pagingGoesOn: StoredEnd = { because: null, kind: null }

/** Writes changed ranks, and the state of the page that is done. */
function rankWriter(db: Database): (read: StoredQueryState, ranks: QueryUpdate['ranks']) => void {
  const rank = db.prepare(
    raw`${updateOrFail} ${tasks} SET ${tasks.rankBase} = ?, ${tasks.ranks} = ? WHERE ${tasks.id} = ?`,
  )
  const end = db.prepare(
    raw`${updateOrFail} ${tasks} SET ${tasks.state} = 'done', ${tasks.cause} = NULL, ${tasks.rankBase} = ?,
      ${tasks.ranks} = ? WHERE ${tasks.id} = ?`,
  )
  return ({ rows, done }, ranks) => {
    const ranksOf = new Map(ranks.map((one) => [one.page, one]))
    for (const { taskId, page, rankBase, ranks: before } of rows) {
      const now = ranksOf.get(page)
      const base = now?.base ?? rankBase
      const list = now === undefined ? before : exceptionalRanks(now)
      if (taskId === done) end.run(base, list, taskId)
      else if (base !== rankBase || list !== before) rank.run(base, list, taskId)
    }
  }
}

/** Ranks as JSON; null if they simply continue those of the pages before. */
function exceptionalRanks({ base, ranks }: QueryUpdate['ranks'][number]): string | null {
  return ranks.every((rank, index) => rank === base + index + 1) ? null : JSON.stringify(ranks)
}

type Observed = QueryUpdate['observations'][number]

/** Writes an observation, replacing an earlier one of the same run and target. */
function observationWriter(
  db: Database,
  { items, dictionary }: Pick<StoreCache, 'items' | 'dictionary'>,
): (read: StoredQueryState, observed: Observed) => void {
  const write = db.prepare(
    `INSERT OR REPLACE INTO observations (run_id, query_id, target_id, observed_at, state, rank, exactness, depth,
      link_id, title_id, page, unbroken_depth, unbroken_pages, places, suspect)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const itemAt = (rows: readonly PageRow[], { page, place }: Observed['places'][number]) => {
    const answerId = rows.find((row) => row.page === page)?.answerId ?? null
    return answerId === null ? undefined : items.of(answerId)[place]
  }
  return ({ runId, queryId, rows }, { targetId, places, ...observed }) => {
    const fetched = rows.flatMap(({ fetchedAt }) => fetchedAt ?? [])
    if (fetched.length === 0) return
    const found = places.map((place) => ({ ...place, item: itemAt(rows, place) }))
    const [best] = found
    write.run(
      runId,
      queryId,
      targetId,
      Math.max(...fetched),
      observed.state,
      observed.rank,
      observed.exactness,
      observed.depth,
      best?.item?.linkId ?? null,
      dictionary.texts([best?.item?.title ?? null])[0] ?? null,
      best?.page ?? null,
      observed.unbrokenDepth,
      observed.unbrokenPages,
      found.length > 1 ? JSON.stringify(found.map(({ rank, item }) => [rank, item?.linkId ?? null])) : null,
      observed.suspect ? 1 : 0,
    )
  }
}
