import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { billableOperations } from '../../src/catalog/index.ts'
import type { JobSettings } from '../../src/model/job.ts'
import type { JobQuery, PlannedQuery } from '../../src/model/query.ts'
import type { Run, Task } from '../../src/model/run.ts'
import type { TimeSpan } from '../../src/model/time.ts'
import { planQuery } from '../../src/run/job-files.ts'
import type { Funds, LeaseRequest } from '../../src/store/journal.ts'
import { openStore, type Store } from '../../src/store/sqlite/open.ts'
import type { PlannedJob } from '../../src/store/sqlite/planning/staging.ts'
import { aJob, aJobQuery } from '../run/build.ts'
import { readBeside } from '../support/stored-rows.ts'

export const everyOperation = billableOperations.map(({ name }) => name)

/** An instant, in milliseconds that no rounding would keep by accident. */
export const noon = Date.UTC(2026, 2, 1, 12, 0, 0, 789)
export const hour = 3_600_000

/** A folder that lasts as long as the test. */
export async function aFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rankline-store-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A database file of a test. */
export interface TempFile {
  readonly path: string
  /** Rows as another program sees them, which opens the file by itself. */
  sql<T = Record<string, unknown>>(query: string, ...values: readonly unknown[]): readonly T[]
  /** Changes the file as another program would. */
  exec(statements: string): void
}

export interface TempStore extends TempFile {
  readonly store: Store
}

/** To migrate a database takes longer than most tests: one of each kind is made, and the others are its copies. */
const contents = new Map<string, Promise<Buffer>>()

/** A closed database in a file of its own, with what `fill` has once put into one of that kind. */
export async function aFile(kind: string, fill: (store: Store) => Promise<void>): Promise<TempFile> {
  const path = join(await aFolder(), 'rankline.db')
  if (!contents.has(kind)) contents.set(kind, filled(join(await aFolder(), 'rankline.db'), fill))
  await writeFile(path, (await contents.get(kind)) as Buffer)
  return {
    path,
    sql: (query, ...values) => readBeside(path, query, ...values),
    exec: (statements) => {
      const db = new Database(path)
      try {
        db.exec(statements)
      } finally {
        db.close()
      }
    },
  }
}

async function filled(path: string, fill: (store: Store) => Promise<void>): Promise<Buffer> {
  const store = await openStore(path)
  await fill(store)
  await store[Symbol.asyncDispose]()
  return await readFile(path)
}

/** A store in a file of its own, closed at the end of the test; a new one, or what `fill` makes of it. */
export async function aStore(
  kind = 'new',
  fill: (store: Store) => Promise<void> = async () => {},
): Promise<TempStore> {
  const file = await aFile(kind, fill)
  const store = await openStore(file.path)
  onTestFinished(() => store[Symbol.asyncDispose]())
  return { ...file, store }
}

export function aQuery(query: Partial<JobQuery> = {}): PlannedQuery {
  return planQuery(aJobQuery(query))
}

/** Queries, of which only what matters is named. */
export type Queries = readonly Partial<JobQuery>[]

/** Web searches for these texts. */
export const text = (...texts: readonly string[]): Queries => texts.map((text) => ({ text }))

interface Plan {
  readonly job?: Partial<JobSettings>
  readonly queries: Queries
  readonly continues?: number | null
  readonly date?: string
  readonly now?: number
}

/** Plans one job and commits it. */
export async function plan(store: Store, { job, queries, continues, date, now = noon }: Plan): Promise<Run> {
  const settings = aJob(job)
  await using draft = await store.draft()
  await draft.add(settings.name, queries.map(aQuery))
  const [run] = await draft.commit([plannedJob({ settings, continues: continues ?? null, date })], now)
  return run as Run
}

/** Plans several jobs, given by their names, as one command does. */
export async function planJobs(
  store: Store,
  jobs: Readonly<Record<string, Queries>>,
): Promise<readonly Run[]> {
  await using draft = await store.draft()
  for (const [name, queries] of Object.entries(jobs)) await draft.add(name, queries.map(aQuery))
  const planned = Object.keys(jobs).map((name) => plannedJob({ settings: aJob({ name }) }))
  return await draft.commit(planned, noon)
}

export function plannedJob(job: {
  readonly settings?: JobSettings
  readonly continues?: number | null
  readonly date?: string | undefined
  readonly fresh?: TimeSpan | null
}): PlannedJob {
  const { settings = aJob(), continues = null, date = '2026-03-01', fresh = null } = job
  return { settings, continues, date, fresh }
}

/** Answers from an instant on. */
export function since(from: number): TimeSpan {
  return { from, until: Number.MAX_SAFE_INTEGER }
}

type RunMeans = Funds['runs'][number]

/** What a run may spend; what is not said is no limit. */
export function meansOf(runId: number, means: Partial<RunMeans> = {}): RunMeans {
  return { runId, budget: 1_000_000, keep: 0, fresh: null, ...means }
}

/** Lets tasks of one run through: all that are ready, unless less is asked for. */
export function lease(store: Store, runId: number, request: Partial<LeaseRequest> = {}) {
  const { runs = [meansOf(runId)] } = request
  return store.lease({
    operations: everyOperation,
    credits: 1_000_000,
    calls: 10_000,
    limit: 10_000,
    shared: false,
    ...request,
    runs,
  })
}

/** Tasks of a run as `query/page state`, in the order in which they were planned. */
export function tasksOf({ sql }: Pick<TempStore, 'sql'>, run: number): readonly string[] {
  return sql<{ task: string }>(
    "SELECT query || '/' || page || ' ' || state AS task FROM tasks WHERE run_id = ? ORDER BY task_id",
    run,
  ).map(({ task }) => task)
}

/** The first task of a run, let through. */
export async function firstTask(store: Store, { id }: Pick<Run, 'id'>): Promise<Task> {
  const [task] = await lease(store, id, { limit: 1 })
  if (task === undefined) throw new Error('no task')
  return task
}
