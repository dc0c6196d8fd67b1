import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import Database from 'better-sqlite3'
import { onTestFinished } from 'vitest'
import { billableOperations } from '../../src/catalog/index.ts'
import type { Settlement } from '../../src/model/call.ts'
import type { JobQuery, JobSettings } from '../../src/model/job.ts'
import type { PlannedQuery } from '../../src/model/plan.ts'
import type { AnswerFacts, Result, ResultKind, Understood } from '../../src/model/result.ts'
import type { Run } from '../../src/model/run.ts'
import type { Task } from '../../src/model/task.ts'
import { planQuery } from '../../src/plan/plan.ts'
import { followPage, pagingRules } from '../../src/run/follow.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import type { LeaseRequest, PlannedJob, Store } from '../../src/store/store.ts'
import { aJobQuery } from '../plan/build.ts'

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

export interface TempStore {
  readonly store: Store
  readonly path: string
  /** Rows as another program sees them, which opens the file by itself. */
  sql<T = Record<string, unknown>>(query: string, ...values: readonly unknown[]): readonly T[]
  /** Changes the file as another program would. */
  exec(statements: string): void
}

/** A store in a file of its own, closed at the end of the test. */
export async function aStore(): Promise<TempStore> {
  const path = join(await aFolder(), 'rankline.db')
  const store = await openStore(path)
  onTestFinished(() => store[Symbol.asyncDispose]())
  const beside = <T>(options: Database.Options, use: (db: Database.Database) => T): T => {
    const db = new Database(path, options)
    try {
      return use(db)
    } finally {
      db.close()
    }
  }
  return {
    store,
    path,
    sql: <T>(query: string, ...values: readonly unknown[]) =>
      beside({ readonly: true }, (db) => db.prepare(query).all(...values) as T[]),
    exec: (statements) => beside({}, (db) => void db.exec(statements)),
  }
}

/** Settings of a job, of which only what matters is named. */
export function aJob(settings: Partial<JobSettings> = {}): JobSettings {
  return {
    name: 'acme',
    file: '/jobs/acme.yaml',
    style: 'get',
    async: 'auto',
    paging: 'all',
    until: 'own',
    deepEveryMs: 7 * 86_400_000,
    freshnessMs: null,
    timezone: 'UTC',
    schedule: null,
    targets: [],
    budget: { maxCredits: null, keep: null },
    ...settings,
  }
}

export function aQuery(query: Partial<JobQuery> = {}): PlannedQuery {
  return planQuery(aJobQuery(query))
}

interface Plan {
  readonly job?: Partial<JobSettings>
  readonly queries: readonly Partial<JobQuery>[]
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

export function plannedJob(job: {
  readonly settings?: JobSettings
  readonly continues?: number | null
  readonly date?: string | undefined
  readonly freshSince?: number | null
}): PlannedJob {
  const { settings = aJob(), continues = null, date = '2026-03-01', freshSince = null } = job
  return { settings, continues, date, freshSince }
}

/** Lets tasks of one run through: all that are ready, unless less is asked for. */
export function lease(store: Store, runId: number, request: Partial<LeaseRequest> = {}) {
  const runs = request.runs ?? [{ runId, budget: 1_000_000, keep: 0, freshSince: null }]
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

export function settlement<O extends Settlement['outcome'] = 'answered'>(
  change: Partial<Settlement> & { readonly outcome?: O } = {},
): Settlement & { readonly outcome: O } {
  return {
    outcome: 'answered' as O,
    httpStatus: 200,
    billed: 1,
    finishedAt: noon,
    latencyMs: 321,
    error: null,
    ...change,
  }
}

export function aResult(kind: ResultKind, result: Partial<Result> = {}): Result {
  return {
    kind,
    position: null,
    title: null,
    link: null,
    source: null,
    snippet: null,
    displayedLink: null,
    snippetMatched: null,
    news: null,
    video: null,
    image: null,
    ...result,
  }
}

/** What is understood of an answer with these results. */
export function understood(results: readonly Result[], facts: Partial<AnswerFacts> = {}): Understood {
  return {
    results,
    malformed: [],
    facts: {
      totalResults: null,
      timeTaken: null,
      notice: null,
      hasNextPage: null,
      nextPage: null,
      currentPage: null,
      searchParameters: null,
      knowledgeGraph: null,
      aiMarkdown: null,
      aiBlocks: null,
      ...facts,
    },
  }
}

/** An answer of web results, one a letter: `https://a.example/` for `a`. */
export function webPage(letters: string, facts: Partial<AnswerFacts> = {}): Understood {
  return understood(
    [...letters].map((letter, index) =>
      aResult('organic', { position: index + 1, title: letter, link: `https://${letter}.example/` }),
    ),
    facts,
  )
}

/** A body as it is stored. */
export const aBody = deflateSync('{}')

/** Sends a task's call and keeps a body; answers the answer's id. */
export async function keep(store: Store, task: Task, at = noon): Promise<number> {
  const callId = await begin(store, task, at - 500)
  return await store.keepAnswer({
    callId,
    task,
    settlement: settlement({ finishedAt: at }),
    fetchedAt: at,
    body: aBody,
    encoding: 'deflate',
  })
}

export function begin(store: Store, task: Task, sentAt = noon): Promise<number> {
  const { runId, id: taskId, operation, credits } = task
  return store.beginCall({ runId, taskId, operation, credits, sentAt, keyHash: 'k' })
}

/** Stores what an answer says and everything that follows for its query. */
export function read(store: Store, task: Task, run: Run, answerId: number, says: Understood) {
  return store.understand({
    taskId: task.id,
    runId: task.runId,
    queryId: task.queryId,
    outcome: { done: { answerId, normaliser: 1, understood: says } },
    follow: (query) => followPage(query, task.page, says, pagingRules(run)),
  })
}

/** Sends a task, keeps and reads its answer. */
export async function answer(store: Store, task: Task, run: Run, says: Understood, at = noon) {
  return await read(store, task, run, await keep(store, task, at), says)
}

/** Sends a task that fails for good. */
export async function fail(store: Store, task: Task, run: Run, outcome: 'rejected' | 'server-error') {
  const callId = await begin(store, task)
  await store.settleCall(callId, settlement({ outcome, billed: 0, httpStatus: 500, error: 'Oops' }), null)
  return await store.understand({
    taskId: task.id,
    runId: task.runId,
    queryId: task.queryId,
    outcome: { failed: 'Oops' },
    follow: (query) => followPage(query, task.page, { failed: outcome }, pagingRules(run)),
  })
}

/** Works through a run: each page is answered by what `pages` says of it, a missing one fails. */
export async function work(
  store: Store,
  run: Run,
  pages: (task: Task) => Understood | null,
  at = noon,
): Promise<void> {
  for (;;) {
    const tasks = await lease(store, run.id)
    if (tasks.length === 0) return
    for (const task of tasks) {
      const says = pages(task)
      if (says === null) await fail(store, task, run, 'server-error')
      else await answer(store, task, run, says, at)
    }
  }
}
