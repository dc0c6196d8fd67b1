import type { Database } from 'better-sqlite3'
import { kindCodes } from '../../model/result.ts'
import type { Target } from '../../model/target.ts'
import type { Page, PageState } from '../../rank/pages.ts'
import type {
  AnsweredTask,
  AnswerStore,
  Consequences,
  Effect,
  RawAnswer,
  StoredQuery,
  Understanding,
} from '../store.ts'
import { callSettler } from './calls.ts'
import type { Dictionary } from './dictionary.ts'
import { leftOutCause } from './fit.ts'
import { resultWriter } from './results.ts'
import type { Writer } from './writer.ts'

/** Answers and what they say, in SQLite. */
export function answerStore(db: Database, writer: Writer, words: Dictionary): AnswerStore {
  const settle = callSettler(db)
  const insertAnswer = db.prepare(
    `INSERT INTO answers_ (query_id, page, run_id, call_id, fetched_at) VALUES (?, ?, ?, ?, ?)`,
  )
  const insertBody = db.prepare('INSERT INTO raw_answers (answer_id, encoding, body) VALUES (?, ?, ?)')
  const answered = db.prepare(
    "UPDATE tasks_ SET state = 'answered', answer_id = @answer, reused = @reused WHERE id = @task",
  )
  const jobBilled = db.prepare('UPDATE calls_ SET billed = 1, job_ended_at = ? WHERE id = ?')
  const jobEnded = db.prepare('DELETE FROM async_jobs WHERE task_id = ?')
  const understand = understander(db, words)

  return {
    keepAnswer: ({ callId, task, settlement, fetchedAt, body, encoding }) =>
      writer.keep(() => {
        if (settlement === null) {
          jobBilled.run(fetchedAt, callId)
          jobEnded.run(task.id)
        } else settle(callId, settlement)
        const row = insertAnswer.run(task.queryId, task.page, task.runId, callId, fetchedAt)
        const answer = Number(row.lastInsertRowid)
        insertBody.run(answer, encoding, body)
        answered.run({ task: task.id, answer, reused: 0 })
        return answer
      }),
    reuseAnswer: (task, answer) =>
      writer.write(() => {
        answered.run({ task, answer, reused: 1 })
      }),
    answeredTasks: async (runIds) =>
      db
        .prepare<[string], Omit<AnsweredTask, 'params'> & { params: string }>(
          `SELECT t.id AS taskId, t.run_id AS runId, t.query_id AS queryId, t.page, q.operation, q.params,
            t.answer_id AS answerId
          FROM tasks_ t JOIN queries q ON q.id = t.query_id
          WHERE t.run_id IN (SELECT value FROM json_each(?)) AND t.state = 'answered' ORDER BY t.id`,
        )
        .all(JSON.stringify(runIds))
        .map((row) => ({ ...row, params: JSON.parse(row.params) as AnsweredTask['params'] })),
    rawAnswer: async (answerId) =>
      db
        .prepare<[number], RawAnswer>(
          `SELECT r.body, r.encoding, a.fetched_at AS fetchedAt FROM raw_answers r
          JOIN answers_ a ON a.id = r.answer_id WHERE r.answer_id = ?`,
        )
        .get(answerId) ?? null,
    unobserved: async (runIds) =>
      db
        .prepare<[string], { runId: number; queryId: number }>(
          `SELECT DISTINCT rq.run_id AS runId, rq.query_id AS queryId
          FROM run_queries rq JOIN run_targets rt ON rt.run_id = rq.run_id
          WHERE rq.run_id IN (SELECT value FROM json_each(?))
            AND (rt.everywhere = 1 OR rt.target_id IN (SELECT value FROM json_each(rq.targets)))
            AND EXISTS (SELECT 1 FROM tasks_ t WHERE t.run_id = rq.run_id AND t.query_id = rq.query_id AND t.state = 'done')
            AND NOT EXISTS (SELECT 1 FROM observations o WHERE o.run_id = rq.run_id AND o.query_id = rq.query_id
              AND o.target_id = rt.target_id AND (o.state <> 'unknown' OR o.depth > 0))`,
        )
        .all(JSON.stringify(runIds)),
    understand: (change) => writer.write(() => understand(change)),
  }
}

function understander(db: Database, words: Dictionary): (change: Understanding) => Effect {
  const keepResults = resultWriter(db, words)
  const readQuery = queryReader(db)
  const follow = follower(db)
  const done = db.prepare("UPDATE tasks_ SET state = 'done', cause = NULL WHERE id = ?")
  const failed = db.prepare("UPDATE tasks_ SET state = 'failed', cause = ? WHERE id = ?")

  return ({ taskId, runId, queryId, outcome, follow: decide }) => {
    if (outcome !== 'as-stored') {
      if ('done' in outcome) {
        keepResults(outcome.done)
        done.run(taskId)
      } else failed.run(outcome.failed, taskId)
    }
    return follow(runId, queryId, decide(readQuery(runId, queryId)))
  }
}

interface PageRow {
  readonly page: number
  readonly state: string
  readonly answerId: number | null
}

const pageStates: Readonly<Record<string, PageState>> = {
  done: 'done',
  failed: 'failed',
  skipped: 'ended',
}

/** Reads a query of a run as it stands, inside the change that is under way. */
function queryReader(db: Database): (runId: number, queryId: number) => StoredQuery {
  const paging = db.prepare<[number, number], Omit<StoredQuery, 'targets' | 'pages'>>(
    `SELECT pages AS maxPages, page_size AS pageSize, depth FROM run_queries WHERE run_id = ? AND query_id = ?`,
  )
  const targets = db.prepare<[number, number], Omit<Target, 'own'> & { id: number; own: number }>(
    `SELECT tg.id, tg.site, tg.match, rt.label, rt.own
    FROM run_queries rq JOIN run_targets rt ON rt.run_id = rq.run_id JOIN targets tg ON tg.id = rt.target_id
    WHERE rq.run_id = ? AND rq.query_id = ?
      AND (rt.everywhere = 1 OR tg.id IN (SELECT value FROM json_each(rq.targets))) ORDER BY tg.id`,
  )
  const pages = db.prepare<[number, number], PageRow>(
    // What was left out was not looked at.
    `SELECT page, CASE WHEN cause = '${leftOutCause}' THEN 'pending' ELSE state END AS state, answer_id AS answerId
    FROM tasks_ WHERE run_id = ? AND query_id = ? ORDER BY page`,
  )
  // Related searches come along with web results and have no rank over pages.
  const items = db.prepare<[number], { sameAs: number | null; link: string | null }>(
    `SELECT coalesce(l.same_as, l.id) AS sameAs, l.link FROM results x LEFT JOIN links l ON l.id = x.link_id
    WHERE x.answer_id = ? AND x.kind <> ${kindCodes.related} ORDER BY x.kind, x.place`,
  )
  const readPage = ({ page, state, answerId }: PageRow): Page => ({
    page,
    state: pageStates[state] ?? 'open',
    items: state === 'done' && answerId !== null ? items.all(answerId) : [],
  })
  return (runId, queryId) => {
    const row = paging.get(runId, queryId)
    return {
      maxPages: row?.maxPages ?? 1,
      pageSize: row?.pageSize ?? null,
      depth: row?.depth ?? null,
      targets: targets.all(runId, queryId).map(({ own, ...target }) => ({ ...target, own: own === 1 })),
      pages: pages.all(runId, queryId).map(readPage),
    }
  }
}

/** Writes what follows from a page: ranks, observations, and which page may be sent next. */
function follower(db: Database): (runId: number, queryId: number, consequences: Consequences) => Effect {
  const rank = db.prepare(
    'UPDATE tasks_ SET rank_base = ?, ranks = ? WHERE run_id = ? AND query_id = ? AND page = ?',
  )
  const observe = db.prepare(
    `INSERT OR REPLACE INTO observations
      (run_id, query_id, target_id, observed_at, state, rank, exactness, depth, link_id, title_id)
    SELECT @run, @query, @target, max(a.fetched_at), @state, @rank, @exactness, @depth, x.link_id, x.title_id
    FROM tasks_ t JOIN answers_ a ON a.id = t.answer_id
      LEFT JOIN tasks_ f ON f.run_id = t.run_id AND f.query_id = t.query_id AND f.page = @page
      LEFT JOIN results x ON x.answer_id = f.answer_id AND x.kind <> ${kindCodes.related} AND x.place = @place
    WHERE t.run_id = @run AND t.query_id = @query HAVING count(*) > 0`,
  )
  const isTask = db.prepare('SELECT 1 FROM tasks_ WHERE run_id = ? AND query_id = ? AND page = ?')
  const ready = db.prepare(
    `INSERT INTO tasks_ (run_id, query_id, page, state, ready, priority, credits)
    SELECT run_id, query_id, @page, 'pending', 1, priority, credits FROM tasks_
      WHERE run_id = @run AND query_id = @query AND page = @page - 1
    ON CONFLICT (run_id, query_id, page) DO UPDATE SET ready = 1,
      state = CASE state WHEN 'skipped' THEN 'pending' ELSE state END`,
  )
  const skip = db.prepare(
    "UPDATE tasks_ SET state = 'skipped', cause = ? WHERE run_id = ? AND query_id = ? AND state = 'pending' AND ready = 0",
  )
  const end = db.prepare(
    'UPDATE run_queries SET paging_end = ?, paging_final = ? WHERE run_id = ? AND query_id = ?',
  )

  return (run, query, { ranks, observations, paging }) => {
    for (const { page, base, ranks: list } of ranks) {
      const countsOn = list.every((value, index) => value === base + index + 1)
      rank.run(base, countsOn ? null : JSON.stringify(list), run, query, page)
    }
    for (const { targetId, state, rank, exactness, depth, found } of observations) {
      const place = { page: found?.page ?? null, place: found?.place ?? null }
      observe.run({ run, query, target: targetId, state, rank, exactness, depth, ...place })
    }
    if (paging === null) return { added: 0, skipped: 0 }
    if ('next' in paging) {
      const planned = isTask.get(run, query, paging.next) !== undefined
      ready.run({ run, query, page: paging.next })
      // A page that failed for good may have been bought again since.
      end.run(null, 0, run, query)
      return { added: planned ? 0 : 1, skipped: 0 }
    }
    end.run(paging.because, paging.final ? 1 : 0, run, query)
    return { added: 0, skipped: skip.run(paging.because, run, query).changes }
  }
}
