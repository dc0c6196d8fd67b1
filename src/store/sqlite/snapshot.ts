import type { Database, Statement } from 'better-sqlite3'
import type { Cell, ExportFilter, ExportView, Snapshot } from '../rows.ts'
import { conditionsOf } from './rows.ts'

type Row = readonly Cell[]

/**
 * Begins to read what is stored at this moment. The connection is in one transaction until the end: nothing must be
 * written through it meanwhile.
 */
export function openSnapshot(db: Database): Snapshot {
  db.exec('BEGIN')
  return {
    newest: (view) =>
      db
        .prepare<[], number>(`SELECT coalesce(max(id), 0) FROM ${deliveriesOf(view)}`)
        .pluck()
        .get() ?? 0,
    markOf: (view, number) =>
      db
        .prepare<[number], string>(marks[view === 'calls' ? 'calls' : 'results'])
        .pluck()
        .get(number) ?? null,
    labelNames: ({ job, run }) =>
      db
        .prepare<unknown[], string>(
          `SELECT DISTINCT l.key AS name FROM run_queries rq JOIN runs_ r ON r.id = rq.run_id, json_each(rq.labels) l
          WHERE rq.labels <> '{}' AND (@job IS NULL OR r.job = @job) AND (@run IS NULL OR r.id = @run) ORDER BY 1`,
        )
        .pluck()
        .all({ job: job ?? null, run: run ?? null }),
    rows: (view, columns, filter) =>
      view === 'calls' ? callRows(db, columns, filter) : resultRows(db, view, columns, filter),
    [Symbol.dispose]: () => {
      // A damaged file may have ended it.
      if (db.inTransaction) db.exec('COMMIT')
    },
  }
}

/** Two databases may give the same numbers, but not for what came in the same millisecond. */
const marks = {
  calls: `SELECT c.id || ' ' || c.sent_at FROM call_deliveries d JOIN calls_ c ON c.id = d.call_id WHERE d.id = ?`,
  results: `SELECT t.id || ' ' || a.fetched_at FROM deliveries d JOIN tasks_ t ON t.id = d.task_id
    JOIN answers_ a ON a.id = t.answer_id WHERE d.id = ?`,
} as const

function deliveriesOf(view: ExportView): string {
  return view === 'calls' ? 'call_deliveries' : 'deliveries'
}

function* callRows(
  db: Database,
  columns: readonly string[],
  { after, ...filter }: ExportFilter,
): Generator<Row> {
  const { conditions, values } = conditionsOf('calls', filter, 'sent_at')
  const since = after === 0 ? [] : ['call_id IN (SELECT call_id FROM call_deliveries WHERE id > ?)']
  yield* db
    .prepare<unknown[], Row>(
      `SELECT ${columns.join(', ')} FROM calls ${where([...conditions, ...since])} ORDER BY call_id`,
    )
    .raw()
    .iterate(...values, ...(after === 0 ? [] : [after])) as Iterable<Row>
}

/** Columns that are the same in all results of a task. */
const ofTask = new Set([
  ...['run_id', 'job', 'query', 'operation', 'engine', 'gl', 'hl', 'location', 'page', 'fetched_at'],
  ...['params', 'labels'],
])

/**
 * Task by task: so nothing is sorted but the numbers of tasks, however many results there are, and however long their
 * texts; and what all results of a task share is read once.
 */
function* resultRows(
  db: Database,
  view: ExportView,
  columns: readonly string[],
  filter: ExportFilter,
): Generator<Row> {
  const read = (some: readonly string[]) =>
    db
      .prepare<[number]>(`SELECT ${some.join(', ')} FROM ${view} WHERE task_id = ? ORDER BY place`)
      .raw() as Statement<[number], Row>
  const own = [...columns.filter((name) => !ofTask.has(name)), 'place']
  const shared = [...columns.filter((name) => ofTask.has(name)), 'task_id']
  const ownOf = read(own)
  const sharedOf = read(shared)
  const places = columns.map((name) =>
    ofTask.has(name) ? own.length + shared.indexOf(name) : own.indexOf(name),
  )
  for (const task of tasks(db, filter)) {
    const rows = ownOf.all(task)
    if (rows.length === 0) continue
    const same = sharedOf.get(task) as Row
    for (const row of rows)
      yield places.map((place) => (place < own.length ? row[place] : same[place - own.length]) as Cell)
  }
}

/** Tasks whose results can be read, those of one run after those of another, in the order in which they were planned. */
function tasks(
  db: Database,
  { job, run, query, operation, from, until, after }: ExportFilter,
): Iterable<number> {
  const tests: readonly (readonly [test: string, value: unknown])[] = [
    ['d.id > ?', after],
    ['r.job = ?', job],
    ['t.run_id = ?', run],
    ['q.text = ?', query],
    ['q.operation = ?', operation],
    ['a.fetched_at >= ?', from && Date.parse(from)],
    ['a.fetched_at < ?', until && Date.parse(until)],
  ]
  const asked = tests.filter(([, value]) => value !== undefined)
  // What is new is little, and stands together in the order of deliveries; all of it is found run by run.
  const join = after > 0 ? 'CROSS JOIN' : 'JOIN'
  return db
    .prepare<unknown[], number>(
      `SELECT t.id FROM deliveries d ${join} tasks_ t ON t.id = d.task_id JOIN runs_ r ON r.id = t.run_id
        JOIN queries q ON q.id = t.query_id JOIN answers_ a ON a.id = t.answer_id
      ${where(asked.map(([test]) => test))} ORDER BY t.run_id, t.id`,
    )
    .pluck()
    .iterate(...asked.map(([, value]) => value))
}

function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
}
