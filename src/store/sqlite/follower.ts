import type { Database } from 'better-sqlite3'
import { kindCodes } from '../../model/result.ts'
import type { Consequences, Effect } from '../answers.ts'

/** Writes what follows from a page: ranks, observations, and which page may be sent next. */
export function follower(
  db: Database,
): (runId: number, queryId: number, consequences: Consequences) => Effect {
  const rank = db.prepare(
    'UPDATE tasks_ SET rank_base = ?, ranks = ? WHERE run_id = ? AND query_id = ? AND page = ?',
  )
  const observe = observationWriter(db)
  const isTask = db.prepare('SELECT 1 FROM tasks_ WHERE run_id = ? AND query_id = ? AND page = ?')
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
  const end = db.prepare(
    'UPDATE run_queries SET paging_end = ?, paging_kind = ? WHERE run_id = ? AND query_id = ?',
  )

  return (run, query, { ranks, observations, paging }) => {
    for (const { page, base, ranks: list } of ranks) {
      const countsOn = list.every((value, index) => value === base + index + 1)
      rank.run(base, countsOn ? null : JSON.stringify(list), run, query, page)
    }
    for (const observation of observations) observe(run, query, observation)
    if (paging === null) return { added: 0, skipped: 0 }
    if ('next' in paging) {
      const planned = isTask.get(run, query, paging.next) !== undefined
      ready.run({ run, query, page: paging.next })
      // A page that failed for good may have been bought again since.
      end.run(null, null, run, query)
      return { added: planned ? 0 : 1, skipped: 0 }
    }
    end.run(paging.because, paging.kind, run, query)
    return { added: 0, skipped: skip.run(paging.because, run, query).changes }
  }
}

type Observed = Consequences['observations'][number]

/** Writes an observation in place of the one that its run made of the target before. */
function observationWriter(db: Database): (run: number, query: number, observed: Observed) => void {
  const write = db.prepare(
    `INSERT OR REPLACE INTO observations (run_id, query_id, target_id, observed_at, state, rank, exactness, depth,
      link_id, title_id, page, unbroken_depth, unbroken_pages, places)
    SELECT @run, @query, @target, max(a.fetched_at), @state, @rank, @exactness, @depth, @link, @title, @page,
      @unbrokenDepth, @unbrokenPages, @places
    FROM tasks_ t JOIN answers_ a ON a.id = t.answer_id
    WHERE t.run_id = @run AND t.query_id = @query HAVING count(*) > 0`,
  )
  const result = db.prepare<unknown[], { link: number | null; title: number | null }>(
    `SELECT x.link_id AS link, x.title_id AS title FROM tasks_ t JOIN results x ON x.answer_id = t.answer_id
      AND x.kind <> ${kindCodes.related} AND x.place = @place
    WHERE t.run_id = @run AND t.query_id = @query AND t.page = @page`,
  )
  return (run, query, { targetId, places, ...observed }) => {
    const found = places.map(({ rank, page, place }) => ({
      rank,
      page,
      ...result.get({ run, query, page, place }),
    }))
    const [best] = found
    write.run({
      ...observed,
      run,
      query,
      target: targetId,
      link: best?.link ?? null,
      title: best?.title ?? null,
      page: best?.page ?? null,
      places: found.length > 1 ? JSON.stringify(found.map(({ rank, link }) => [rank, link ?? null])) : null,
    })
  }
}
