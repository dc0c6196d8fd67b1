import type { Database } from 'better-sqlite3'
import type {
  AnsweredTask,
  AnswerStore,
  Effect,
  Kept,
  NewAnswer,
  RawAnswer,
  Reading,
  Understanding,
} from '../answers.ts'
import type { Space } from '../store.ts'
import { callSettler } from './calls.ts'
import { follower } from './follower.ts'
import { lazily } from './lazily.ts'
import type { Memory } from './memory.ts'
import { updateOne } from './one-row.ts'
import { type DoneTask, queryReader } from './query-reader.ts'
import { resultWriter } from './results.ts'
import { unobserved } from './unknown.ts'
import type { Writer } from './writer.ts'

/** Answers and what they say, in SQLite. */
export function answerStore(
  db: Database,
  writer: Writer,
  memory: Memory,
  { isExhausted }: Pick<Space, 'isExhausted'>,
): AnswerStore {
  const settle = callSettler(db)
  const insertAnswer = db.prepare(
    `INSERT INTO answers_ (query_id, page, run_id, call_id, fetched_at) VALUES (?, ?, ?, ?, ?)`,
  )
  const insertBody = db.prepare('INSERT INTO raw_answers (answer_id, encoding, body) VALUES (?, ?, ?)')
  const answered = db.prepare(
    `${updateOne} tasks_ SET state = 'answered', answer_id = ?, reused = ? WHERE id = ?`,
  )
  const jobBilled = db.prepare('UPDATE calls_ SET billed = 1, job_ended_at = ? WHERE id = ?')
  const jobEnded = db.prepare('DELETE FROM async_jobs WHERE task_id = ?')
  const understander = lazily(() => {
    const made = understanderOf(db, memory)
    return () => made
  })

  const settled = ({ callId, task, settlement, fetchedAt }: NewAnswer): void => {
    if (settlement === null) {
      jobBilled.run(fetchedAt, callId)
      jobEnded.run(task.id)
    } else settle(callId, settlement)
  }
  const keep = (answer: NewAnswer): number => {
    settled(answer)
    const { callId, task, fetchedAt, body, encoding } = answer
    const row = insertAnswer.run(task.queryId, task.page, task.runId, callId, fetchedAt)
    const answerId = Number(row.lastInsertRowid)
    insertBody.run(answerId, encoding, body)
    answered.run(answerId, 0, task.id)
    return answerId
  }

  return {
    keepAnswer: (answer) => writer.keep(() => keep(answer)),
    keepRead: (answer, reading) =>
      writer.keep(() => {
        // What room is left is for answers that are still in the air.
        if (isExhausted()) return { answerId: keep(answer), effect: null }
        settled(answer)
        const { answerId, effect } = understander().keep(answer, reading)
        insertBody.run(answerId, answer.encoding, answer.body)
        return { answerId, effect }
      }),
    reuseAnswer: (task, answer) =>
      writer.write(() => {
        answered.run(answer, 1, task)
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
    unobserved: async (runId, after, most) =>
      unobserved(db, runId, { from: after + 1, to: Number.MAX_SAFE_INTEGER }, most),
    // Forgotten, a failure would be paid for again; what an answer says is read again from it.
    understand: (change) => {
      const understand = () => understander().understand(change)
      return isFailure(change) ? writer.keep(understand) : writer.write(understand)
    },
  }
}

function isFailure({ outcome }: Understanding): boolean {
  return outcome !== 'as-stored' && 'failed' in outcome
}

/** Stores what answers say and what follows from it. */
interface Understander {
  understand(change: Understanding): Effect
  /** Stores an answer that is new, with all that; its body is the caller's. */
  keep(answer: NewAnswer, reading: Reading): Kept & { readonly effect: Effect }
}

function understanderOf(db: Database, memory: Memory): Understander {
  const results = resultWriter(db, memory)
  const readQuery = queryReader(db, memory)
  const follow = follower(db, memory.items)
  const failed = db.prepare("UPDATE tasks_ SET state = 'failed', cause = ? WHERE id = ?")

  /** Stores the outcome; that a task is done is written with its ranks. Answers the task that is. */
  const note = ({ taskId, outcome }: Understanding): DoneTask | null => {
    if (outcome === 'as-stored') return null
    if ('failed' in outcome) {
      failed.run(outcome.failed, taskId)
      return null
    }
    results.derive(outcome.done)
    return taskId === null ? null : { taskId, answer: null }
  }

  return {
    understand: (change) => {
      const read = readQuery(change.runId, change.queryId, note(change))
      return follow(read, change.follow(read.query))
    },
    keep: (answer, { follow: weigh, ...said }) => {
      const answerId = results.add(answer, said)
      const { task, fetchedAt } = answer
      const isLast = said.understood.facts.hasNextPage === false ? 1 : 0
      const done = { taskId: task.id, answer: { answerId, fetchedAt, isLast } }
      const read = readQuery(task.runId, task.queryId, done)
      return { answerId, effect: follow(read, weigh(read.query)) }
    },
  }
}
