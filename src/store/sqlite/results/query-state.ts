import type { Database } from 'better-sqlite3'
import type { QueryPaging } from '../../../model/query.ts'
import { groupedBy } from '../../../model/text.ts'
import type {
  EndKind,
  Page,
  PageState,
  QueryState,
  QueryUpdate,
  TargetHistory,
  WatchedTarget,
} from '../../../rank/paging.ts'
import type { AnswerRecord, ReadAnswer, TaskCountChange } from '../../journal.ts'
import { type StoreCache, storedTargets, type TargetRow } from '../cache.ts'
import type { GroupCommit } from '../connection/group-commit.ts'
import { lazy, named, once, raw, updateOrFail } from '../connection/statements.ts'
import { skippedForBalance } from '../planning/staging.ts'
import { unobserved } from '../rankings/observations.ts'
import { answers, runQueries as rq, runs, observations as seen, tasks, unusableMark } from '../schema.ts'
import type { ResultWriter } from './write-results.ts'

/** The state of a query of a run, with the rows that it was read from. */
interface StoredQueryState {
  readonly runId: number
  readonly queryId: number
  readonly query: QueryState
  readonly rows: readonly PageRow[]
  /** Why no page follows, and the kind of the end; nulls while pages may follow. */
  readonly end: { readonly because: string | null; readonly kind: EndKind | null }
  /** The task that this change completes; its row does not say so yet. */
  readonly done: number | null
}

/** A page of a query with its task, as SQLite gives it. */
type PageList = readonly [
  queryId: number,
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

type WatchedRow = TargetRow & { readonly adopted: number }

const pagingColumns = "rq.pages, rq.page_size, rq.depth, rq.paging_end, rq.paging_kind, rq.targets <> '[]'"

const unplanned: PagingList = [1, null, null, null, null, 1]

const pageStates: Readonly<Record<string, PageState>> = {
  failed: 'failed',
  skipped: 'ended',
}

type QueryToRead = Pick<StoredQueryState, 'queryId' | 'done'>

/**
 * Reads states of queries of runs inside the current transaction. Tasks whose results this transaction has just stored
 * count as done.
 */
export function queryStateReader(db: Database, { targets, items, refresh }: StoreCache) {
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
    .prepare<[string, number], PageList>(
      `SELECT t.query_id, t.id, t.page, t.state, t.cause, t.ready, t.answer_id, a.fetched_at, t.rank_base, t.ranks,
        a.has_next_page = 0, a.echo_mismatch IS NOT NULL, a.pruned_at IS NOT NULL, ${pagingColumns}
      FROM json_each(?) wanted CROSS JOIN tasks_ t ON t.run_id = ? AND t.query_id = wanted.value
        LEFT JOIN answers_ a ON a.id = t.answer_id
        LEFT JOIN run_queries rq ON rq.run_id = t.run_id AND rq.query_id = t.query_id`,
    )
    .raw()
  // Read only for mismatched answers, because the settings of a job with many targets are large.
  const strictEcho = once(() =>
    db
      .prepare<[run: number], number | null>(
        raw`SELECT ${runs.settings} ->> 'strictEcho' FROM ${runs} WHERE ${runs.id} = ?`,
      )
      .pluck(),
  )
  const historyOf = historyReader(db)
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
  const stateOf = (
    runId: number,
    { queryId, done }: QueryToRead,
    lists: readonly PageList[] | undefined,
  ): StoredQueryState => {
    const first = lists?.[0]
    // Each page has what its query has, so that one statement reads all of it.
    const planned = first === undefined ? paging.get(runId, queryId) : pagingOf(first)
    const [maxPages, pageSize, depth, because, kind, hasTargets] = planned ?? unplanned
    const rows = lists?.map(pageRow) ?? []
    if (rows.length > 1) rows.sort((a, b) => a.page - b.page)
    const isStrict = rows.some(isMismatched) && strictEcho().get(runId) === 1
    const pages: Page[] = []
    for (const row of rows) pages.push(readPage(row, done))
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
        pages,
        ...(isStrict ? { strictEcho: true } : {}),
        end: because === null || kind === null ? null : { because, kind },
        history: () => historyOf({ run: runId, query: queryId, pages: maxPages }),
      },
    }
  }

  const all = (runId: number, queries: readonly QueryToRead[]): readonly StoredQueryState[] => {
    refresh()
    const rows = groupedBy(pages.all(JSON.stringify(queries.map(queryOf)), runId), queryOfPage)
    const states: StoredQueryState[] = []
    for (const query of queries) states.push(stateOf(runId, query, rows.get(query.queryId)))
    return states
  }
  return {
    /** The states of several queries of a run, each of them named once, in their order. */
    all,
    one: (runId: number, queryId: number) => all(runId, [{ queryId, done: null }])[0] as StoredQueryState,
  }
}

function queryOf({ queryId }: QueryToRead): number {
  return queryId
}

function queryOfPage([queryId]: PageList): number {
  return queryId
}

function isMismatched({ mismatched }: PageRow): boolean {
  return mismatched === 1
}

function pagingOf(page: PageList): PagingList | undefined {
  const planned = page.slice(-unplanned.length) as unknown as PagingList | [null]
  return planned[0] === null ? undefined : (planned as PagingList)
}

function pageRow([
  _,
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
  const target = storedTargets.fromRow(row)
  return adopted === 1 ? { ...target, backfilled: true } : target
}

/** Reads the observations of earlier runs for the targets of a query. */
function historyReader(
  db: Database,
): (earlier: {
  readonly run: number
  readonly query: number
  readonly pages: number
}) => ReadonlyMap<number, TargetHistory> {
  const before = raw`o.${seen.queryId} = @query AND o.${seen.runId} < @run`
  const histories = once(() =>
    db.prepare<unknown[], Omit<TargetHistory, 'lastPage'> & { readonly targetId: number }>(
      raw`SELECT ${named('o', { targetId: seen.targetId })}, min(o.${seen.observedAt}) AS firstAt,
        max(CASE WHEN o.${seen.unbrokenPages} >= @pages THEN o.${seen.observedAt} END) AS lastDeepAt,
        max(CASE WHEN o.${seen.state} = 'ranked' THEN o.${seen.observedAt} END) AS lastRankedAt
      FROM ${seen} o WHERE ${before} AND o.${seen.state} <> 'unknown' GROUP BY o.${seen.targetId}`,
    ),
  )
  // SQLite takes the other columns from the row with the maximum.
  const lastPages = once(() =>
    db
      .prepare<unknown[], [targetId: number, page: number | null, at: number]>(
        raw`SELECT o.${seen.targetId}, o.${seen.page}, max(o.${seen.observedAt}) FROM ${seen} o
        WHERE ${before} AND o.${seen.state} = 'ranked' GROUP BY o.${seen.targetId}`,
      )
      .raw(),
  )
  return ({ run, query, pages }) => {
    const pageOf = new Map(
      lastPages()
        .all({ run, query })
        .map(([target, page]) => [target, page]),
    )
    return new Map(
      histories()
        .all({ run, query, pages })
        .map(({ targetId, ...rest }) => [targetId, { ...rest, lastPage: pageOf.get(targetId) ?? null }]),
    )
  }
}

/** What answers say, and what follows from it. */
export function resultRecorder(
  db: Database,
  writer: GroupCommit,
  memory: StoreCache,
  results: (db: Database, memory: StoreCache) => ResultWriter,
) {
  const record = lazy(() => answerRecorder(db, memory, results(db, memory)))
  return {
    /**
     * The next queries of a run, up to a number, after the one of that id (0 for the first ones), that have answers, but
     * no observation of some target that is new to them.
     */
    unobserved: async (runId: number, after: number, most: number): Promise<readonly number[]> =>
      unobserved(db, runId, { from: after + 1, to: Number.MAX_SAFE_INTEGER }, most),
    /** Stores what an answer says (unless it is stored already) and what follows for its query. */
    recordAnswer: (change: AnswerRecord): Promise<TaskCountChange> =>
      // A lost failure would be paid for again; the content of an answer can be derived again.
      isFailure(change)
        ? writer.writePaid(() => record([change])[0] as TaskCountChange)
        : writer.writeDerived(record, change),
  }
}

function isFailure({ outcome }: AnswerRecord): boolean {
  return outcome !== 'as-stored' && 'failed' in outcome
}

/** Records several answers inside one transaction; returns what came of each. */
function answerRecorder(
  db: Database,
  memory: StoreCache,
  results: ResultWriter,
): (changes: readonly AnswerRecord[]) => readonly TaskCountChange[] {
  const states = queryStateReader(db, memory)
  const follow = queryUpdateWriter(db, memory)
  const failTask = once(() =>
    db.prepare(raw`UPDATE ${tasks} SET ${tasks.state} = 'failed', ${tasks.cause} = ? WHERE ${tasks.id} = ?`),
  )
  // So that no task uses it, although another answer may take its place.
  const distrustAnswer = once(() =>
    db.prepare(
      raw`UPDATE ${answers} SET ${answers.normaliser} = ${unusableMark} WHERE ${answers.normaliser} IS NULL
        AND ${answers.id} = (SELECT t.${tasks.answerId} FROM ${tasks} t WHERE t.${tasks.id} = ?)`,
    ),
  )
  /** Stores the outcome; returns the task that is done, whose state is written with its ranks. */
  const note = ({ taskId, outcome }: AnswerRecord): number | null => {
    if (outcome === 'as-stored') return null
    if ('failed' in outcome) {
      if (taskId === null) return null
      failTask().run(outcome.failed, taskId)
      distrustAnswer().run(taskId)
      return null
    }
    results.keep(outcome.done)
    return taskId
  }

  /** Records answers to different queries of a run. */
  const recordOfRun = (runId: number, changes: readonly AnswerRecord[]): readonly TaskCountChange[] => {
    const queries: QueryToRead[] = []
    for (const change of changes) queries.push({ queryId: change.queryId, done: note(change) })
    const updates: StoredUpdate[] = []
    for (const [index, read] of states.all(runId, queries).entries())
      updates.push({ read, update: (changes[index] as AnswerRecord).follow(read.query) })
    const effects = follow(updates)
    for (const update of updates) if (hasEnded(update)) dropItems(update.read)
    return effects
  }

  const dropItems = ({ rows }: StoredQueryState): void => {
    for (const { answerId } of rows) if (answerId !== null) memory.items.drop(answerId)
  }

  const recordAll = (changes: readonly AnswerRecord[]): readonly TaskCountChange[] => {
    const effects = new Map<AnswerRecord, TaskCountChange>()
    // What follows for a query is decided page by page.
    for (const [runId, ofRun] of groupedBy(changes, runOf))
      for (let open = ofRun; open.length > 0; ) {
        const queries = new Set<number>()
        const next: AnswerRecord[] = []
        const later: AnswerRecord[] = []
        for (const change of open) {
          ;(queries.has(change.queryId) ? later : next).push(change)
          queries.add(change.queryId)
        }
        for (const [index, effect] of recordOfRun(runId, next).entries())
          effects.set(next[index] as AnswerRecord, effect)
        open = later
      }
    const all: TaskCountChange[] = []
    for (const change of changes) all.push(effects.get(change) as TaskCountChange)
    return all
  }

  return (changes) => {
    const reads: ReadAnswer[] = []
    for (const { outcome } of changes)
      if (outcome !== 'as-stored' && 'done' in outcome) reads.push(outcome.done)
    return reads.length === 0 ? recordAll(changes) : results.together(reads, () => recordAll(changes))
  }
}

function runOf({ runId }: AnswerRecord): number {
  return runId
}

interface StoredUpdate {
  readonly read: StoredQueryState
  readonly update: QueryUpdate
}

/** Whether no page follows in this run. */
function hasEnded({ update: { paging } }: StoredUpdate): boolean {
  return paging !== null && !('next' in paging)
}

/**
 * Writes what follows from pages of different queries: their states, ranks, observations, and the pages that may be sent next. Values
 * that have not changed since the queries were read are not written again. Returns what came of each.
 */
export function queryUpdateWriter(
  db: Database,
  memory: Pick<StoreCache, 'items' | 'dictionary'>,
): (updates: readonly StoredUpdate[]) => readonly TaskCountChange[] {
  const rank = rankWriter(db)
  const observe = observationWriter(db, memory)
  const setEnd = db.prepare(
    raw`UPDATE ${rq} SET ${rq.pagingEnd} = ?, ${rq.pagingKind} = ? WHERE ${rq.runId} = ?
      AND ${rq.queryId} IN (SELECT value FROM json_each(?))`,
  )
  const endTasks = db.prepare(
    raw`${updateOrFail} ${tasks} SET ${tasks.state} = 'done', ${tasks.cause} = NULL
      WHERE ${tasks.id} IN (SELECT value FROM json_each(?))`,
  )

  const makeReady = once(() =>
    db.prepare(
      raw`INSERT INTO ${tasks} (${tasks.runId}, ${tasks.queryId}, ${tasks.page}, ${tasks.state}, ${tasks.ready},
          ${tasks.priority}, ${tasks.credits})
        SELECT ${tasks.runId}, ${tasks.queryId}, @page, 'pending', 1, ${tasks.priority}, ${tasks.credits} FROM ${tasks}
        WHERE ${tasks.runId} = @run AND ${tasks.queryId} = @query AND ${tasks.page} = 1
        ON CONFLICT DO UPDATE SET ${tasks.ready} = 1,
          ${tasks.state} = CASE ${tasks.state} WHEN 'skipped' THEN 'pending' ELSE ${tasks.state} END`,
    ),
  )
  const skipRest = once(() =>
    db.prepare(
      raw`UPDATE ${tasks} SET ${tasks.state} = 'skipped', ${tasks.cause} = ? WHERE ${tasks.runId} = ?
        AND ${tasks.queryId} = ? AND ${tasks.state} = 'pending' AND ${tasks.ready} = 0`,
    ),
  )

  const follow = (
    { read, update: { ranks, observations, paging } }: StoredUpdate,
    ended: number[],
    ends: EndInRun[],
  ): TaskCountChange => {
    const { runId: run, queryId: query, rows, done } = read
    // What was observed while its results were stored stays as it is.
    if (done === null && rows.some(({ pruned }) => pruned === 1)) return noChange
    if (!rank(read, ranks) && done !== null) ended.push(done)
    for (const observation of observations) observe(read, observation)
    if (paging === null) return noChange
    // A page that had failed permanently may have been bought since.
    const { because, kind } = 'next' in paging ? pagingGoesOn : paging
    if (because !== read.end.because || kind !== read.end.kind) ends.push([run, query, because, kind])
    if ('next' in paging) {
      const planned = rows.find(({ page }) => page === paging.next)
      if (planned === undefined || planned.ready === 0 || planned.state === 'skipped')
        makeReady().run({ run, query, page: paging.next })
      return { added: planned === undefined ? 1 : 0, skipped: 0 }
    }
    const waits = rows.some(({ state, ready }) => state === 'pending' && ready === 0)
    return { added: 0, skipped: waits ? skipRest().run(paging.because, run, query).changes : 0 }
  }

  return (updates) => {
    /** Tasks that are done, and whose ranks are as they were. */
    const ended: number[] = []
    const ends: EndInRun[] = []
    const effects: TaskCountChange[] = []
    for (const update of updates) effects.push(follow(update, ended, ends))
    if (ended.length > 0) endTasks.run(JSON.stringify(ended))
    for (const alike of groupedBy(ends, endOf).values()) {
      const [run, , because, kind] = alike[0] as EndInRun
      setEnd.run(because, kind, run, JSON.stringify(alike.map(([, query]) => query)))
    }
    return effects
  }
}

type EndInRun = readonly [run: number, query: number, because: string | null, kind: EndKind | null]

/** Ends that are alike are written together. */
function endOf([run, , because, kind]: EndInRun): string {
  return `${run} ${kind} ${because}`
}

const noChange: TaskCountChange = { added: 0, skipped: 0 }

const pagingGoesOn: StoredQueryState['end'] = { because: null, kind: null }

/** Writes changed ranks, with them the state of the page that is done; returns whether it wrote that. */
function rankWriter(db: Database): (read: StoredQueryState, ranks: QueryUpdate['ranks']) => boolean {
  const rank = db.prepare(
    raw`${updateOrFail} ${tasks} SET ${tasks.rankBase} = ?, ${tasks.ranks} = ? WHERE ${tasks.id} = ?`,
  )
  const end = db.prepare(
    raw`${updateOrFail} ${tasks} SET ${tasks.state} = 'done', ${tasks.cause} = NULL, ${tasks.rankBase} = ?,
      ${tasks.ranks} = ? WHERE ${tasks.id} = ?`,
  )
  return ({ rows, done }, ranks) => {
    const ranksOf = new Map<number, QueryUpdate['ranks'][number]>()
    for (const one of ranks) ranksOf.set(one.page, one)
    let isEnded = false
    for (const { taskId, page, rankBase, ranks: before } of rows) {
      const now = ranksOf.get(page)
      const base = now?.base ?? rankBase
      const list = now === undefined ? before : exceptionalRanks(now)
      if (base === rankBase && list === before) continue
      isEnded ||= taskId === done
      if (taskId === done) end.run(base, list, taskId)
      else rank.run(base, list, taskId)
    }
    return isEnded
  }
}

/** Ranks as JSON; null if they simply continue those of the pages before. */
function exceptionalRanks({ base, ranks }: QueryUpdate['ranks'][number]): string | null {
  for (const [index, rank] of ranks.entries()) if (rank !== base + index + 1) return JSON.stringify(ranks)
  return null
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
