import type { Database } from 'better-sqlite3'
import type { AnsweredTask, AnswerStore, Effect, RawAnswer, Understanding } from '../answers.ts'
import { damagedMark } from '../packing.ts'
import { callSettler } from './calls.ts'
import { follower } from './follower.ts'
import { lazily } from './lazily.ts'
import type { Memory } from './memory.ts'
import { updateOne } from './one-row.ts'
import { queryReader } from './query-reader.ts'
import { resultWriter } from './results.ts'
import { unobserved } from './unknown.ts'
import type { Writer } from './writer.ts'

/** Answers and what they say, in SQLite. */
export function answerStore(db: Database, writer: Writer, memory: Memory): AnswerStore {
  const settle = callSettler(db)
  const insertAnswer = db.prepare(
    `INSERT INTO answers_ (query_id, page, run_id, call_id, fetched_at) VALUES (?, ?, ?, ?, ?)`,
  )
  const insertBody = db.prepare('INSERT INTO raw_answers (answer_id, encoding, body) VALUES (?, ?, ?)')
  const answered = db.prepare(
    `${updateOne} tasks_ SET state = 'answered', answer_id = ?, reused = ? WHERE id = ?`,
  )
  const markDamaged = db.prepare(
    `UPDATE raw_answers SET encoding = '${damagedMark}' || encoding
    WHERE answer_id = ? AND encoding NOT LIKE '${damagedMark}%'`,
  )
  const waitAgain = db.prepare(
    "UPDATE tasks_ SET state = 'pending', answer_id = NULL WHERE id = ? AND state = 'answered'",
  )
  const jobBilled = db.prepare('UPDATE calls_ SET billed = 1, job_ended_at = ? WHERE id = ?')
  const jobEnded = db.prepare('DELETE FROM async_jobs WHERE task_id = ?')
  const understand = lazily(() => understander(db, memory))

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
        answered.run(answer, 0, task.id)
        return answer
      }),
    answerOfCall: async (callId, { queryId, page }) =>
      db
        .prepare<[number, number, number], { id: number }>(
          'SELECT id FROM answers_ WHERE query_id = ? AND page = ? AND call_id = ?',
        )
        .get(queryId, page, callId)?.id ?? null,
    reuseAnswer: (task, answer) =>
      writer.write(() => {
        answered.run(answer, 1, task)
      }),
    noteDamaged: (task, answer) =>
      writer.write(() => {
        markDamaged.run(answer)
        waitAgain.run(task)
      }),
    answeredTasks: async (runIds) =>
      db
        .prepare<[string], Omit<AnsweredTask, 'params'> & { params: string }>(
          `SELECT t.id AS taskId, t.run_id AS runId, t.query_id AS queryId, t.page, q.operation, q.text, q.params,
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
    understand: (change) =>
      isFailure(change) ? writer.keep(() => understand(change)) : writer.write(() => understand(change)),
  }
}

function isFailure({ outcome }: Understanding): boolean {
  return outcome !== 'as-stored' && 'failed' in outcome
}

function understander(db: Database, memory: Memory): (change: Understanding) => Effect {
  const keepResults = resultWriter(db, memory)
  const readQuery = queryReader(db, memory)
  const follow = follower(db, memory.items)
  const failed = db.prepare("UPDATE tasks_ SET state = 'failed', cause = ? WHERE id = ?")

  /** Stores the outcome; that a task is done is written with its ranks. Answers the task that is. */
  const note = ({ taskId, outcome }: Understanding): number | null => {
    if (outcome === 'as-stored') return null
    if ('failed' in outcome) {
      failed.run(outcome.failed, taskId)
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
