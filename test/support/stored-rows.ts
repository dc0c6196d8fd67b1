import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { type StoredBodyRow, storedBodies } from '../../src/store/sqlite/ledger/calls.ts'

/** Rows of a database as another program sees them; none while there is no database. */
export function query<T>(path: string, sql: string, ...values: readonly unknown[]): readonly T[] {
  if (!existsSync(path)) return []
  const db = new Database(path)
  try {
    return db.prepare(sql).all(...values) as T[]
  } finally {
    db.close()
  }
}

const reading = new Map<string, Database.Database>()

/**
 * Rows of a database as another program sees them, which opens it by itself: once for all that is read in a moment, for that takes as long as most
 * reads.
 */
export function readBeside<T>(path: string, sql: string, ...values: readonly unknown[]): readonly T[] {
  let db = reading.get(path)
  if (db === undefined) {
    const opened = new Database(path, { readonly: true })
    queueMicrotask(() => {
      reading.delete(path)
      opened.close()
    })
    reading.set(path, opened)
    db = opened
  }
  return db.prepare(sql).all(...values) as T[]
}

/** How many asynchronous jobs are waited for. */
export function waitingJobs(path: string): number {
  return query(path, 'SELECT 1 FROM async_jobs').length
}

/** A row of the ledger, with what it was for. */
export interface CallRow {
  readonly id: number
  readonly runId: number | null
  readonly groupId: number | null
  readonly job: string | null
  readonly taskId: number | null
  readonly operation: string
  readonly text: string | null
  readonly page: number | null
  readonly sentAt: number
  readonly finishedAt: number | null
  readonly status: number | null
  readonly outcome: string | null
  readonly billed: 0 | 1 | null
  readonly credits: number
  readonly error: string | null
  readonly jobEndedAt: number | null
  /** Of its answer, or null. */
  readonly answerId: number | null
  /** Whether it submitted a job that is still waited for. */
  readonly isJob: 0 | 1
}

/** The whole ledger, in the order in which calls were begun. */
export function callRows(path: string): readonly CallRow[] {
  return query<CallRow>(
    path,
    `SELECT c.id, c.run_id AS runId, r.group_id AS groupId, r.job, c.task_id AS taskId, c.operation, q.text, t.page,
      c.sent_at AS sentAt, c.finished_at AS finishedAt, c.http_status AS status, c.outcome, c.billed, c.credits,
      c.error, c.job_ended_at AS jobEndedAt, (SELECT a.id FROM answers_ a WHERE a.call_id = c.id) AS answerId,
      EXISTS (SELECT 1 FROM async_jobs j WHERE j.call_id = c.id) AS isJob
    FROM calls_ c LEFT JOIN tasks_ t ON t.id = c.task_id LEFT JOIN queries q ON q.id = t.query_id
      LEFT JOIN runs_ r ON r.id = c.run_id ORDER BY c.id`,
  )
}

/** A task with its query, its answer and how the paging of its query ended. */
export interface TaskRow {
  readonly id: number
  readonly runId: number
  readonly groupId: number
  readonly job: string
  readonly closed: 0 | 1
  readonly queryId: number
  readonly operation: string
  readonly text: string
  readonly page: number
  readonly state: string
  readonly cause: string | null
  readonly reused: 0 | 1
  readonly answerId: number | null
  readonly normaliser: number | null
  readonly hasNextPage: 0 | 1 | null
  /** As it came; null where it is not stored. */
  readonly body: Buffer | null
  readonly results: number
  /** Of the last call for it that cost, or null. */
  readonly outcome: string | null
  readonly pagingEnd: string | null
}

export function taskRows(path: string): readonly TaskRow[] {
  const unpack = storedBodies.reader()
  return query<TaskRow & Omit<StoredBodyRow, 'body' | 'answerId'>>(
    path,
    `SELECT t.id, t.run_id AS runId, r.group_id AS groupId, r.job, r.closed_at IS NOT NULL AS closed,
      t.query_id AS queryId, q.operation, q.text, t.page, t.state, t.cause, t.reused, t.answer_id AS answerId,
      a.normaliser, a.has_next_page AS hasNextPage, w.body, w.encoding, w.block_id AS blockId, k.block, k.bodies,
      (SELECT count(*) FROM results x WHERE x.answer_id = t.answer_id AND x.kind <> 7) AS results,
      (SELECT c.outcome FROM calls_ c WHERE c.task_id = t.id AND c.credits > 0 ORDER BY c.id DESC LIMIT 1) AS outcome,
      rq.paging_end AS pagingEnd
    FROM tasks_ t JOIN runs_ r ON r.id = t.run_id JOIN queries q ON q.id = t.query_id
      JOIN run_queries rq ON rq.run_id = t.run_id AND rq.query_id = t.query_id
      LEFT JOIN answers_ a ON a.id = t.answer_id LEFT JOIN raw_answers w ON w.answer_id = a.id
      LEFT JOIN body_blocks k ON k.id = w.block_id
    ORDER BY t.run_id, t.query_id, t.page`,
  ).map(({ encoding, blockId, block, bodies, ...row }) => {
    const { answerId, body } = row
    if (answerId === null || body === null) return row
    return { ...row, body: unpack({ answerId, encoding, body, blockId, block, bodies }) }
  })
}
