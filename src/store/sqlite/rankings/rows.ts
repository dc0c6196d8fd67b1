import type { Database, Statement } from 'better-sqlite3'
import { and, eq, isNull, max, sql } from 'drizzle-orm'
import type { Target } from '../../../model/job.ts'
import type { Cell, ResultKind, Row } from '../../../model/result.ts'
import { storedTargets } from '../cache.ts'
import { drizzle, raw } from '../connection/statements.ts'
import { answers, callDeliveries, calls, deliveries, queries, runQueries, runs, tasks } from '../schema.ts'
import { asks } from '../views.ts'
import { serpReader } from './serps.ts'
import { placesIn } from './text-index.ts'

export type ExportView = Exclude<RowView, 'answers' | 'rankings'>
/** Views whose records are numbered as they are stored or changed. */
export type DeliveredView = Exclude<ExportView, 'clicks'>

interface ExportFilter extends RowFilter {
  /** Only what was stored or changed after what had this number; 0 takes all. */
  readonly after: number
  /** Only these results, by their numbers in the dictionary. */
  readonly items?: ReadonlySet<number>
}

/** A view that is exported row by row. */
export type RowView =
  | 'answers'
  | 'organic_results'
  | 'news_results'
  | 'video_results'
  | 'image_results'
  | 'ai_references'
  | 'suggestions'
  | 'related_searches'
  | 'calls'
  | 'rankings'
  | 'clicks'

/** What rows to take; an absent field is no condition. */
export interface RowFilter {
  readonly job?: string
  readonly run?: number
  readonly query?: string
  readonly operation?: string
  /** Of clicks: registrable domains, as a JSON list. */
  readonly sites?: string
  /** Instants in ISO 8601, or days: from (inclusive), until (exclusive). */
  readonly from?: string
  readonly until?: string
}

const result = { time: 'fetched_at', order: 'run_id, task_id, place' }

/** The column of each view that `from` and `until` filter, and the order of its rows. */
const readables: Readonly<Record<RowView, { readonly time: string; readonly order: string }>> = {
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
  clicks: { time: 'date', order: 'table_id, query_id, page_id, country, date' },
}

function select(columns: readonly string[], from: string, conditions: readonly string[], order: string) {
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  return `SELECT ${columns.join(', ')} FROM ${from} ${where} ORDER BY ${order}`
}

/** Streams rows of the public views. */
export function reportStore(db: Database) {
  return {
    // A generator, so that no statement is open before the first row is read.
    /** Rows of a public view, streamed in a stable order: the order in which tasks were planned, page and place. */
    *rows(view: RowView, filter: RowFilter): Iterable<Row> {
      const { conditions, values } = conditionsOf(view, filter)
      const text = select(['*'], view, conditions, readables[view].order)
      yield* db.prepare<unknown[], Record<string, Cell>>(text).iterate(...values)
    },
    /**
     * Every query of a run with each of these targets of the whole job and those of its own, as rows of `rankings` on the
     * run's day that know nothing.
     */
    *askedBy(run: number, targets: readonly Target[]): Iterable<Row> {
      const named = storedTargets.named(targets)
      yield* db.prepare<unknown[], Record<string, Cell>>(asks.everything).iterate({ run, named })
    },
    /** The texts of everything that runs of the job ever asked, in alphabetical order. */
    queryTexts: async (job: string): Promise<readonly string[]> =>
      drizzle(db)
        .selectDistinct({ text: queries.text })
        .from(queries)
        .where(
          and(
            sql`EXISTS (SELECT 1 FROM ${runs} JOIN ${runQueries} ON ${runQueries.runId} = ${runs.id}
              AND ${runQueries.queryId} = ${queries.id} WHERE ${runs.job} = ${job})`,
            isNull(queries.sameAs),
          ),
        )
        .orderBy(queries.text)
        .all()
        .map(({ text }) => text),
    ...serpReader(db),
  }
}

/** The conditions of a filter on the rows of a view. */
function conditionsOf(view: RowView, { job, run, query, operation, sites, from, until }: RowFilter) {
  const { time } = readables[view]
  const isCalls = view === 'calls'
  return given([
    [isCalls ? 'run_id IN (SELECT id FROM runs_ WHERE job = ?)' : 'job = ?', job],
    ['run_id = ?', run],
    [
      isCalls
        ? 'task_id IN (SELECT t.id FROM queries q JOIN tasks_ t ON t.query_id = q.id WHERE q.text = ?)'
        : 'query = ?',
      query,
    ],
    ['operation = ?', operation],
    ['site IN (SELECT value FROM json_each(?))', sites],
    [`${time} >= ?`, from],
    [`${time} < ?`, until],
  ])
}

/** Those of these conditions that have a value. */
function given(tests: readonly (readonly [condition: string, value: unknown])[]) {
  const asked = tests.filter(([, value]) => value !== undefined)
  return { conditions: asked.map(([test]) => test), values: asked.map(([, value]) => value) }
}

type RankingCells = readonly Cell[]

/** A text that differs between databases: equal numbers hardly belong to rows of the same millisecond. */
function callMark(db: Database, id: number): string | undefined {
  return drizzle(db)
    .select({ mark: sql<string>`${calls.id} || ' ' || ${calls.sentAt}` })
    .from(callDeliveries)
    .innerJoin(calls, eq(calls.id, callDeliveries.callId))
    .where(eq(callDeliveries.id, id))
    .get()?.mark
}

/** The same of a result. */
function resultMark(db: Database, id: number): string | undefined {
  return drizzle(db)
    .select({ mark: sql<string>`${tasks.id} || ' ' || ${answers.fetchedAt}` })
    .from(deliveries)
    .innerJoin(tasks, eq(tasks.id, deliveries.taskId))
    .innerJoin(answers, eq(answers.id, tasks.answerId))
    .where(eq(deliveries.id, id))
    .get()?.mark
}

/** Opens a snapshot: a transaction that lasts until the snapshot is disposed of. Nothing may be written meanwhile. */
export function openSnapshot(db: Database) {
  db.exec('BEGIN')
  const orm = drizzle(db)
  return {
    /**
     * Number of what was stored or changed last: results of a task, or a call. Everything that comes later has a higher
     * one. 0 where there is nothing.
     */
    newest: (view: DeliveredView): number => {
      const table = view === 'calls' ? callDeliveries : deliveries
      return (
        orm
          .select({ id: max(table.id) })
          .from(table)
          .get()?.id ?? 0
      )
    },
    /** Which task or call has a number, and since when, as text; null where it has a newer one by now, or none has it. */
    markOf: (view: DeliveredView, id: number): string | null =>
      (view === 'calls' ? callMark(db, id) : resultMark(db, id)) ?? null,
    /** Names of the labels that queries of these runs carry, in alphabetical order. */
    labelNames: ({ job, run }: Pick<RowFilter, 'job' | 'run'>): readonly string[] => {
      const ofJob = job === undefined ? sql`` : sql`AND ${runs.job} = ${job}`
      const ofRun = run === undefined ? sql`` : sql`AND ${runs.id} = ${run}`
      const names = orm.all<{ name: string }>(sql`SELECT DISTINCT label.key AS name
        FROM ${runQueries} JOIN ${runs} ON ${runs.id} = ${runQueries.runId}, json_each(${runQueries.labels}) label
        WHERE ${runQueries.labels} <> '{}' ${ofJob} ${ofRun} ORDER BY 1`)
      return names.map(({ name }) => name)
    },
    /**
     * These columns of the results of tasks that are done, of calls or of clicks, in the order in which they were planned, page and
     * place. Of results, those of a whole task are always taken.
     */
    rows: (view: ExportView, columns: readonly string[], filter: ExportFilter): Iterable<readonly Cell[]> =>
      view === 'calls'
        ? callRows(db, columns, filter)
        : view === 'clicks'
          ? viewRows(db, view, columns, filter)
          : resultRows(db, view, columns, filter),
    /** Tasks whose results `rows` takes, also those that have none in a view. What was pruned is left out: it did not change. */
    taskIds: (filter: ExportFilter): Iterable<number> => tasksOf(db, filter),
    [Symbol.dispose]: () => {
      // A damaged file may have ended the transaction.
      if (db.inTransaction) db.exec('COMMIT')
    },
  }
}

/** What was stored at one moment. */
export type Snapshot = ReturnType<typeof openSnapshot>

function* viewRows(db: Database, view: RowView, columns: readonly string[], filter: RowFilter) {
  const { conditions, values } = conditionsOf(view, filter)
  const text = select(columns, view, conditions, readables[view].order)
  yield* rawRows<unknown[]>(db, text).iterate(...values)
}

function* callRows(db: Database, columns: readonly string[], { after, ...filter }: ExportFilter) {
  const { conditions, values } = conditionsOf('calls', filter)
  const isNew = after === 0 ? [] : ['call_id IN (SELECT call_id FROM call_deliveries WHERE id > ?)']
  const text = select(columns, 'calls', [...conditions, ...isNew], readables.calls.order)
  yield* rawRows<unknown[]>(db, text).iterate(...values, ...(after === 0 ? [] : [after]))
}

function rawRows<Values extends unknown[]>(db: Database, text: string): Statement<Values, RankingCells> {
  return db.prepare<Values, RankingCells>(text).raw() as Statement<Values, RankingCells>
}

/** Columns that are equal in all results of a task. */
const ofTask = new Set([
  ...['run_id', 'job', 'query', 'operation', 'engine', 'gl', 'hl', 'location', 'page', 'fetched_at'],
  ...['params', 'labels'],
])

/** Reads task by task, so that only numbers of tasks are sorted and the columns of a task are read once. */
function* resultRows(db: Database, view: ExportView, columns: readonly string[], filter: ExportFilter) {
  const own = [...columns.filter((name) => !ofTask.has(name)), 'place']
  const shared = [...columns.filter((name) => ofTask.has(name)), 'task_id']
  const read = (some: readonly string[]) =>
    rawRows<[number]>(db, select(some, view, ['task_id = ?'], 'place'))
  const [ownOf, sharedOf] = [read(own), read(shared)]
  const places = columns.map((name) =>
    ofTask.has(name) ? own.length + shared.indexOf(name) : own.indexOf(name),
  )
  const isMeant = filter.items === undefined ? null : meantPlaces(db, view, filter.items)
  for (const task of tasksOf(db, filter)) {
    const meant = isMeant?.(task)
    if (meant?.size === 0) continue
    const all = ownOf.all(task)
    const rows = meant === undefined ? all : all.filter((row) => meant.has(row[own.length - 1] as number))
    if (rows.length === 0) continue
    const same = sharedOf.get(task) as RankingCells
    for (const row of rows)
      yield places.map((place) => (place < own.length ? row[place] : same[place - own.length]) as Cell)
  }
}

const kindsOfViews: Partial<Record<ExportView, ResultKind>> = {
  organic_results: 'organic',
  news_results: 'news',
  video_results: 'video',
  image_results: 'image',
  ai_references: 'reference',
  suggestions: 'suggestion',
  related_searches: 'related',
}

/** Finds the places in a view on which a task has some results. */
function meantPlaces(db: Database, view: ExportView, items: ReadonlySet<number>) {
  const kind = kindsOfViews[view]
  const lists = db
    .prepare<[number], string | null>(
      raw`SELECT a.${answers.items} FROM ${tasks} t JOIN ${answers} a ON a.${answers.id} = t.${tasks.answerId} WHERE t.${tasks.id} = ?`,
    )
    .pluck()
  return (task: number): ReadonlySet<number> =>
    new Set(
      [...placesIn(lists.get(task) ?? null, items)].flatMap((one) => (one.kind === kind ? one.place : [])),
    )
}

/** Tasks whose results are stored, run by run, in the order of the plan. */
function tasksOf(db: Database, { job, run, query, operation, from, until, after }: ExportFilter) {
  const { conditions, values } = given([
    ['d.id > ?', after],
    ['r.job = ?', job],
    ['t.run_id = ?', run],
    ['q.text = ?', query],
    ['q.operation = ?', operation],
    ['a.fetched_at >= ?', from && Date.parse(from)],
    ['a.fetched_at < ?', until && Date.parse(until)],
  ])
  // New deliveries are few and adjacent; a full export goes run by run.
  const join = after > 0 ? 'CROSS JOIN' : 'JOIN'
  const tables = `deliveries d ${join} tasks_ t ON t.id = d.task_id JOIN runs_ r ON r.id = t.run_id
    JOIN queries q ON q.id = t.query_id JOIN answers_ a ON a.id = t.answer_id`
  const text = select(['t.id'], tables, [...conditions, 'a.pruned_at IS NULL'], 't.run_id, t.id')
  return db
    .prepare<unknown[], number>(text)
    .pluck()
    .iterate(...values) as Iterable<number>
}
