import type { Database } from 'better-sqlite3'
import type { Cell, ReportStore, RowFilter, RowView } from '../rows.ts'
import { queryRecorder } from './query-record.ts'
import { serpReader } from './serps.ts'
import { namedTargets } from './targets.ts'
import { askedByRun } from './views.ts'

interface Readable {
  /** Column that `from` and `until` speak of. */
  readonly time: string
  readonly order: string
}

const result: Readable = { time: 'fetched_at', order: 'run_id, task_id, place' }

const readables: Readonly<Record<RowView, Readable>> = {
  answers: { time: 'fetched_at', order: 'run_id, answer_id' },
  organic_results: result,
  news_results: result,
  video_results: result,
  image_results: result,
  ai_references: result,
  suggestions: result,
  related_searches: result,
  calls: { time: 'sent_at', order: 'call_id' },
  rankings: { time: 'date', order: 'job, date, run_id, query, operation, params, target' },
}

/** Streams rows of the public views. */
export function reportStore(db: Database): Omit<ReportStore, 'snapshot'> {
  return {
    // A generator, so that nothing is open before the first row is taken.
    *rows(view, filter) {
      const { time, order } = readables[view]
      const { conditions, values } = conditionsOf(view, filter, time)
      const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
      const sql = `SELECT * FROM ${view} ${where} ORDER BY ${order}`
      yield* db.prepare<unknown[], Record<string, Cell>>(sql).iterate(...values)
    },
    *askedBy(run, targets) {
      const named = namedTargets(targets)
      yield* db.prepare<unknown[], Record<string, Cell>>(askedByRun).iterate({ run, named })
    },
    queryRecords: async (look) => queryRecorder(db)(look),
    queryTexts: async (job) =>
      db
        .prepare<[string], { text: string }>(
          `SELECT DISTINCT q.text FROM queries q WHERE EXISTS (SELECT 1 FROM runs_ r
            JOIN run_queries rq ON rq.run_id = r.id AND rq.query_id = q.id WHERE r.job = ?) ORDER BY q.text`,
        )
        .all(job)
        .map(({ text }) => text),
    ...serpReader(db),
  }
}

/** What a filter asks of the rows of a view, as conditions with a value each. */
export function conditionsOf(view: RowView, filter: RowFilter, time: string) {
  const tests: [string, unknown][] = []
  const job = view === 'calls' ? 'run_id IN (SELECT id FROM runs_ WHERE job = ?)' : 'job = ?'
  if (filter.job !== undefined) tests.push([job, filter.job])
  if (filter.run !== undefined) tests.push(['run_id = ?', filter.run])
  const query =
    view === 'calls'
      ? 'task_id IN (SELECT t.id FROM queries q JOIN tasks_ t ON t.query_id = q.id WHERE q.text = ?)'
      : 'query = ?'
  if (filter.query !== undefined) tests.push([query, filter.query])
  if (filter.operation !== undefined) tests.push(['operation = ?', filter.operation])
  if (filter.from !== undefined) tests.push([`${time} >= ?`, filter.from])
  if (filter.until !== undefined) tests.push([`${time} < ?`, filter.until])
  return { conditions: tests.map(([test]) => test), values: tests.map(([, value]) => value) }
}
