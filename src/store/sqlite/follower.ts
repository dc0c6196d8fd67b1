import type { Database } from 'better-sqlite3'
import type { Consequences, Effect } from '../answers.ts'
import type { Items } from './items.ts'
import { updateOne } from './one-row.ts'
import type { PageRow, ReadQuery, StoredEnd } from './query-reader.ts'

/**
 * Writes what follows from a page: that it is done, ranks, observations, and which page may be sent next. What stands
 * there already, as the query was read in the same change, is not written again.
 */
export function follower(
  db: Database,
  items: Items,
): (read: ReadQuery, consequences: Consequences) => Effect {
  const rank = ranker(db)
  const observe = observationWriter(db, items)
  const ready = db.prepare(
    `INSERT INTO tasks_ (run_id, query_id, page, state, ready, priority, credits)
    SELECT run_id, query_id, @page, 'pending', 1, priority, credits FROM tasks_
      WHERE run_id = @run AND query_id = @query AND page = 1
    ON CONFLICT (run_id, query_id, page) DO UPDATE SET ready = 1,
      state = CASE state WHEN 'skipped' THEN 'pending' ELSE state END`,
  )
  const skip = db.prepare(
    "UPDATE tasks_ SET state = 'skipped', cause = ? WHERE run_id = ? AND query_id = ? AND state = 'pending' AND ready = 0",
  )
  const setEnd = db.prepare(
    'UPDATE run_queries SET paging_end = ?, paging_kind = ? WHERE run_id = ? AND query_id = ?',
  )
  const end = ({ runId, queryId, end: before }: ReadQuery, now: StoredEnd): void => {
    if (now.because !== before.because || now.kind !== before.kind)
      setEnd.run(now.because, now.kind, runId, queryId)
  }

  return (read, { ranks, observations, paging }) => {
    const { runId: run, queryId: query, rows } = read
    rank(read, ranks)
    for (const observation of observations) observe(read, observation)
    if (paging === null) return { added: 0, skipped: 0 }
    if ('next' in paging) {
      const planned = rows.find(({ page }) => page === paging.next)
      if (planned === undefined || planned.ready === 0 || planned.state === 'skipped')
        ready.run({ run, query, page: paging.next })
      // A page that failed for good may have been bought again since.
      end(read, pagingGoesOn)
      return { added: planned === undefined ? 1 : 0, skipped: 0 }
    }
    end(read, paging)
    const waits = rows.some(({ state, ready }) => state === 'pending' && ready === 0)
    return { added: 0, skipped: waits ? skip.run(paging.because, run, query).changes : 0 }
  }
}

const pagingGoesOn: StoredEnd = { because: null, kind: null }

/** Writes ranks where they are others than before, with the page that is done. */
function ranker(db: Database): (read: ReadQuery, ranks: Consequences['ranks']) => void {
  const rank = db.prepare(`${updateOne} tasks_ SET rank_base = ?, ranks = ? WHERE id = ?`)
  const end = db.prepare(
    `${updateOne} tasks_ SET state = 'done', cause = NULL, rank_base = ?, ranks = ? WHERE id = ?`,
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

/** Ranks as JSON; null where they simply count on from those of the pages before. */
function exceptionalRanks({ base, ranks }: Consequences['ranks'][number]): string | null {
  return ranks.every((rank, index) => rank === base + index + 1) ? null : JSON.stringify(ranks)
}

type Observed = Consequences['observations'][number]

/** Writes an observation in place of the one that its run made of the target before. */
function observationWriter(db: Database, items: Items): (read: ReadQuery, observed: Observed) => void {
  const write = db.prepare(
    `INSERT OR REPLACE INTO observations (run_id, query_id, target_id, observed_at, state, rank, exactness, depth,
      link_id, title_id, page, unbroken_depth, unbroken_pages, places, suspect)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const itemAt = (rows: readonly PageRow[], { page, place }: Observed['places'][number]) => {
    const answerId = rows.find((row) => row.page === page)?.answerId ?? null
    return answerId === null ? undefined : items.of(answerId)[place]
  }
  return ({ runId, queryId, rows }, { targetId, places, ...said }) => {
    const fetched = rows.flatMap(({ fetchedAt }) => fetchedAt ?? [])
    if (fetched.length === 0) return
    const found = places.map((place) => ({ ...place, item: itemAt(rows, place) }))
    const [best] = found
    write.run(
      runId,
      queryId,
      targetId,
      Math.max(...fetched),
      said.state,
      said.rank,
      said.exactness,
      said.depth,
      best?.item?.linkId ?? null,
      best?.item?.titleId ?? null,
      best?.page ?? null,
      said.unbrokenDepth,
      said.unbrokenPages,
      found.length > 1 ? JSON.stringify(found.map(({ rank, item }) => [rank, item?.linkId ?? null])) : null,
      said.suspect ? 1 : 0,
    )
  }
}
