import type { Database } from 'better-sqlite3'
import { type Column, eq, type Table } from 'drizzle-orm'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { mostInBlock } from '../compression.ts'
import { drizzle, raw } from './connection/statements.ts'
import {
  answers,
  bodyBlocks,
  callDeliveries,
  calls,
  countedRuns,
  deliveries,
  rawAnswers,
  runQueries as rq,
  runs,
  tasks as t,
} from './schema.ts'

const deliveredCall = delivered(callDeliveries, callDeliveries.callId, '= NEW.id', 'VALUES (NEW.id)')

/**
 * Triggers keep the numbers of what can be exported, and the rank totals, up to date in every change.
 *
 * An export of what is new must know what came since the last one. No number of a task, call or answer says so: an answer may
 * be parsed long after it was stored, or be used by several tasks, and results are derived again. So a task or call gets a new
 * number whenever its rows are stored or changed.
 */
export const triggers: Readonly<Record<string, string>> = {
  /** A task is done, or other pages of its query changed the ranks of its results. */
  deliver_task: raw`
    AFTER UPDATE OF ${t.state}, ${t.rankBase}, ${t.ranks} ON ${t}
    WHEN NEW.${t.state} = 'done' AND (OLD.${t.state} <> 'done' OR OLD.${t.rankBase} <> NEW.${t.rankBase} OR OLD.${t.ranks} IS NOT NEW.${t.ranks})
    BEGIN ${deliveredTask('= NEW.id', 'VALUES (NEW.id)')} END`,

  /** Results are derived again: those of every task that the answer was for. */
  deliver_answer: raw`
    AFTER UPDATE OF ${answers.normaliser} ON ${answers} WHEN OLD.${answers.normaliser} IS NOT NULL
    BEGIN ${deliveredTasks(raw` WHERE ${t.answerId} = NEW.${answers.id}`)} END`,

  /** A run continues with an edited file: exports show labels beside results. */
  deliver_labels: raw`
    AFTER UPDATE OF ${rq.labels} ON ${rq} WHEN OLD.${rq.labels} <> NEW.${rq.labels}
    BEGIN ${deliveredTasks(raw`
      WHERE ${t.runId} = NEW.${rq.runId} AND ${t.queryId} = NEW.${rq.queryId}`)} END`,

  /** A call in flight is not exported. */
  deliver_new_call: raw`
    AFTER INSERT ON ${calls} WHEN NEW.${calls.outcome} IS NOT NULL
    BEGIN ${deliveredCall} END`,

  /** A call ended, or more became known of it. */
  deliver_call: raw`
    AFTER UPDATE ON ${calls}
    BEGIN ${deliveredCall} END`,

  /** A run that continues observes more: its rank totals are outdated. */
  uncount_run: raw`
    AFTER UPDATE OF ${runs.finishedAt} ON ${runs} WHEN NEW.${runs.finishedAt} IS NULL
    BEGIN DELETE FROM ${countedRuns} WHERE ${countedRuns.runId} = NEW.${runs.id}; END`,

  /** The last body of a block has gone. */
  drop_block: raw`
    AFTER DELETE ON ${rawAnswers} WHEN OLD.${rawAnswers.blockId} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${rawAnswers} b
      WHERE b.${rawAnswers.answerId} BETWEEN OLD.${rawAnswers.blockId} AND OLD.${rawAnswers.blockId} + ${mostInBlock - 1}
        AND b.${rawAnswers.blockId} = OLD.${rawAnswers.blockId})
    BEGIN DELETE FROM ${bodyBlocks} WHERE ${bodyBlocks.id} = OLD.${rawAnswers.blockId}; END`,
}

function deliveredTasks(where: string): string {
  const ids = raw`SELECT ${t.id} FROM ${t}${where} AND ${t.state} = 'done' ORDER BY ${t.id}`
  return deliveredTask(`IN (${ids})`, ids)
}

function deliveredTask(those: string, ids: string): string {
  return delivered(deliveries, deliveries.taskId, those, ids)
}

/**
 * Gives new numbers. Not by OR REPLACE, which a conflict clause of the outer statement would overrule. It cannot fail, and
 * OR IGNORE says so: otherwise SQLite would copy every page that the statement changes, for a rollback.
 */
function delivered(table: Table, column: Column, those: string, ids: string): string {
  return raw`
      DELETE FROM ${table} WHERE ${column} ${those};
      INSERT OR IGNORE INTO ${table} (${column}) ${ids};`
}

/**
 * Statistics for SQLite's planner, as ANALYZE would write them: there are few runs beside all other rows, and a job has
 * hundreds of them. Without them SQLite assumes ten runs a job, and reads all queries of each run to find one. They are constant,
 * so that a statement runs in the same way in every database.
 */
const fewRuns = { tbl: 'runs_', idx: 'runs_job', stat: '10000 300 1' }

const statistics = sqliteTable('sqlite_stat1', { tbl: text(), idx: text(), stat: text() })

/** Stores the statistics unless there are some. Inside a transaction. */
export function writeStatistics(db: Database): void {
  // Makes the table of statistics where there is none.
  db.exec('ANALYZE sqlite_schema')
  const orm = drizzle(db)
  const isAnalysed = orm.select().from(statistics).where(eq(statistics.tbl, fewRuns.tbl)).get() !== undefined
  if (!isAnalysed) orm.insert(statistics).values(fewRuns).run()
  // Reads what it says.
  db.exec('ANALYZE sqlite_schema')
}
