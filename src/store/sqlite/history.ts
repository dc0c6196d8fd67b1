import type { Database } from 'better-sqlite3'
import type { AskedQuery, HistoryStore, QueryToDerive, StoredBody } from '../history.ts'
import { type Packed, unpackSound } from '../packing.ts'
import { adopter, runsToAdopt } from './adopt.ts'
import { deriver } from './derive.ts'
import { lazily } from './lazily.ts'
import type { Memory } from './memory.ts'
import { queryReader } from './query-reader.ts'
import type { Writer } from './writer.ts'

/** Looks again at what is stored, in SQLite. */
export function historyStore(db: Database, writer: Writer, memory: Memory): HistoryStore {
  const deriveAgain = lazily(() => deriver(db, memory))
  const adopt = lazily(() => adopter(db, memory))
  const readQuery = lazily(() => queryReader(db, memory))
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
    storedQuery: (runId, queryId) => readQuery(runId, queryId).query,
    runsToAdopt: (job, targets, newest) => runsToAdopt(db, job, targets, newest),
    adopt: (adoption, weigh) => writer.write(() => adopt(adoption, weigh)),
    queriesToDerive: (which, after, limit) =>
      db
        .prepare<unknown[], QueryToDerive>(
          `SELECT q.id AS queryId, q.operation, q.text, q.params FROM queries q
          WHERE q.id > @after AND EXISTS (SELECT 1 FROM answers_ a WHERE a.query_id = q.id AND ${isToDerive})
          ORDER BY q.id LIMIT @limit`,
        )
        .all({ ...which, after, limit }),
    *bodiesOf(queryId, which) {
      const bodies = db.prepare<unknown[], StoredBody & Packed>(
        `SELECT a.id AS answerId, a.page, a.fetched_at AS fetchedAt, b.encoding, b.body
        FROM answers_ a JOIN raw_answers b ON b.answer_id = a.id
        WHERE a.query_id = @queryId AND ${isToDerive} ORDER BY a.id`,
      )
      for (const { encoding, body, ...answer } of bodies.iterate({ ...which, queryId }))
        yield { ...answer, body: unpackSound({ encoding, body }) }
    },
    deriveAgain: (queryId, answers, weigh) => writer.write(() => deriveAgain(queryId, answers, weigh)),
  }
}

/** Answers `a` whose body is still there; those that nobody has read yet are for whoever goes on with their run. */
const isToDerive = `(@unless IS NULL OR a.normaliser IS NOT @unless)
  AND NOT EXISTS (SELECT 1 FROM tasks_ t WHERE t.answer_id = a.id AND t.state = 'answered')
  AND (@job IS NULL OR EXISTS (SELECT 1 FROM tasks_ t JOIN runs_ r ON r.id = t.run_id
    WHERE t.answer_id = a.id AND r.job = @job))
  AND EXISTS (SELECT 1 FROM raw_answers b WHERE b.answer_id = a.id)`
