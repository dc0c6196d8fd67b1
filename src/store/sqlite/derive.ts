import type { Database } from 'better-sqlite3'
import type { HistoryStore } from '../history.ts'
import { follower } from './follower.ts'
import type { Memory } from './memory.ts'
import { queryReader } from './query-reader.ts'
import { countsForgetter } from './rank-counts.ts'
import { resultWriter } from './results.ts'

type Derive = HistoryStore['deriveAgain'] extends (...args: infer A) => Promise<infer D>
  ? (...args: A) => D
  : never

/** Derives the results of a query again, and what follows from them for its runs. Inside a transaction. */
export function deriver(db: Database, memory: Memory): Derive {
  const keepResults = resultWriter(db, memory)
  const readQuery = queryReader(db, memory)
  const follow = follower(db, memory.items)
  const forgetCounts = countsForgetter(db)
  const mend = db.prepare(
    "UPDATE tasks_ SET state = 'done', cause = NULL WHERE answer_id = ? AND state = 'failed'",
  )
  // By way of the answers: the tasks of a query stand among those of all others.
  const runsOf = db.prepare<[number], { runId: number }>(
    `SELECT DISTINCT t.run_id AS runId FROM answers_ a JOIN tasks_ t ON t.answer_id = a.id AND t.state = 'done'
    WHERE a.query_id = ? ORDER BY t.run_id`,
  )
  const observed = db.prepare<[number, number], { targetId: number; state: string; rank: number | null }>(
    'SELECT target_id AS targetId, state, rank FROM observations WHERE run_id = ? AND query_id = ?',
  )
  const said = (run: number, query: number) =>
    new Map(observed.all(run, query).map(({ targetId, ...what }) => [targetId, JSON.stringify(what)]))

  return (queryId, answers, weigh) => {
    let mended = 0
    for (const answer of answers) {
      keepResults(answer, 'anew')
      mended += mend.run(answer.answerId).changes
    }
    let changed = 0
    const runs = runsOf.all(queryId)
    for (const { runId } of runs) {
      const before = said(runId, queryId)
      forgetCounts(runId)
      const read = readQuery(runId, queryId)
      follow(read, { ...weigh(read.query), paging: null })
      for (const [target, what] of said(runId, queryId)) if (before.get(target) !== what) changed += 1
    }
    return { weighed: runs.length, changed, mended }
  }
}
