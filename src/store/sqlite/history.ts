import { inflateSync } from 'node:zlib'
import type { Database } from 'better-sqlite3'
import type { Target } from '../../model/target.ts'
import type { AskedQuery, HistoryStore, QueryToDerive, StoredBody } from '../history.ts'
import { deriver } from './derive.ts'
import type { Dictionary } from './dictionary.ts'
import { queryReader } from './query-reader.ts'
import { targetIds } from './targets.ts'
import { fillUnknown } from './unknown.ts'
import type { Writer } from './writer.ts'

/** Looks again at what is stored, in SQLite. */
export function historyStore(db: Database, writer: Writer, words: Dictionary): HistoryStore {
  const deriveAgain = deriver(db, words)
  return {
    *askedQueries(job) {
      yield* db
        .prepare<[string], AskedQuery>(
          `SELECT rq.run_id AS runId, r.started_at AS startedAt, rq.query_id AS queryId, q.operation, q.text
          FROM run_queries rq JOIN runs_ r ON r.id = rq.run_id JOIN queries q ON q.id = rq.query_id
          WHERE r.job = ? ORDER BY rq.query_id, rq.run_id`,
        )
        .iterate(job)
    },
    storedQuery: queryReader(db),
    // Reports ask for it, and must not write where nothing is new.
    adoptTargets: async (job, targets) =>
      lacks(db, job, targets) ? await writer.write(() => adoptTargets(db, job, targets)) : 0,
    adoptQueryTargets: (runId) => writer.write(() => adoptQueryTargets(db, runId)),
    fillUnknown: (job) =>
      writer.write(() => {
        const ended = db
          .prepare<[string], { id: number; finishedAt: number }>(
            'SELECT id, finished_at AS finishedAt FROM runs_ WHERE job = ? AND finished_at IS NOT NULL',
          )
          .all(job)
        for (const { id, finishedAt } of ended) fillUnknown(db, id, finishedAt)
      }),
    queriesToDerive: (which, after, limit) =>
      db
        .prepare<unknown[], QueryToDerive>(
          `SELECT q.id AS queryId, q.operation, q.params FROM queries q
          WHERE q.id > @after AND EXISTS (SELECT 1 FROM answers_ a WHERE a.query_id = q.id AND ${isToDerive})
          ORDER BY q.id LIMIT @limit`,
        )
        .all({ ...which, after, limit }),
    *bodiesOf(queryId, which) {
      const bodies = db.prepare<unknown[], StoredBody & { body: Buffer }>(
        `SELECT a.id AS answerId, a.fetched_at AS fetchedAt, b.body FROM answers_ a JOIN raw_answers b ON b.answer_id = a.id
        WHERE a.query_id = @queryId AND ${isToDerive} ORDER BY a.id`,
      )
      for (const { body, ...answer } of bodies.iterate({ ...which, queryId }))
        yield { ...answer, body: inflated(body) }
    },
    deriveAgain: (queryId, answers, weigh) => writer.write(() => deriveAgain(queryId, answers, weigh)),
  }
}

/** A body as it came; null where it was damaged since. */
function inflated(body: Buffer): Buffer | null {
  try {
    return inflateSync(body)
  } catch {
    return null
  }
}

/** Answers `a` whose body is still there; those that nobody has read yet are for whoever goes on with their run. */
const isToDerive = `(@unless IS NULL OR a.normaliser IS NOT @unless)
  AND NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.answer_id = a.id AND t.state = 'answered')
  AND (@job IS NULL OR EXISTS (SELECT 1 FROM tasks_ t JOIN runs_ r ON r.id = t.run_id
    WHERE t.answer_id = a.id AND r.job = @job))
  AND EXISTS (SELECT 1 FROM raw_answers b WHERE b.answer_id = a.id)`

function lacks(db: Database, job: string, targets: readonly Target[]): boolean {
  const run = db.prepare(
    `SELECT 1 FROM runs_ r WHERE r.job = @job AND NOT EXISTS (
      SELECT 1 FROM run_targets rt JOIN targets tg ON tg.id = rt.target_id WHERE rt.run_id = r.id AND rt.everywhere = 1
        AND tg.site = @site AND tg.match = @match AND tg.also = @also) LIMIT 1`,
  )
  return targets.some(
    ({ site, match, also }) => run.get({ job, site, match, also: JSON.stringify(also) }) !== undefined,
  )
}

function adoptTargets(db: Database, job: string, targets: readonly Target[]): number {
  const idOf = targetIds(db)
  const adopt = db.prepare(
    `INSERT INTO run_targets (run_id, target_id, label, own, everywhere)
    SELECT id, @target, @label, @own, 1 FROM runs_ WHERE job = @job
    ON CONFLICT DO UPDATE SET everywhere = 1 WHERE everywhere = 0`,
  )
  return targets.reduce(
    (sum, target) =>
      sum + adopt.run({ job, target: idOf(target), label: target.label, own: target.own ? 1 : 0 }).changes,
    0,
  )
}

function adoptQueryTargets(db: Database, run: number): number {
  const older =
    'SELECT old.id FROM runs_ old JOIN runs_ r ON r.job = old.job WHERE r.id = @run AND old.id < @run'
  db.prepare(
    `INSERT INTO run_targets (run_id, target_id, label, own, everywhere)
    SELECT o.id, n.target_id, n.label, n.own, 0 FROM run_targets n, (${older}) o
    WHERE n.run_id = @run AND n.everywhere = 0 ON CONFLICT DO NOTHING`,
  ).run({ run })
  return db
    .prepare(
      `UPDATE run_queries SET targets = (SELECT json_group_array(value) FROM (
        SELECT value FROM json_each(run_queries.targets) UNION SELECT value FROM json_each(n.targets)))
      FROM run_queries n WHERE n.run_id = @run AND n.query_id = run_queries.query_id AND run_queries.run_id IN (${older})
        AND EXISTS (SELECT value FROM json_each(n.targets) EXCEPT SELECT value FROM json_each(run_queries.targets))`,
    )
    .run({ run }).changes
}
