import type { JobQuery } from '../../src/model/job.ts'
import type { Run } from '../../src/model/run.ts'
import type { Task } from '../../src/model/task.ts'
import { followPage, pagingRules } from '../../src/run/follow.ts'
import type { Means, Store } from '../../src/store/store.ts'
import {
  answer,
  aQuery,
  aStore,
  fail,
  keep,
  lease,
  noon,
  plan,
  plannedJob,
  type TempStore,
  webPage,
  work,
} from './build.ts'

export type Queries = readonly Partial<JobQuery>[]

export const text = (...texts: readonly string[]): readonly Partial<JobQuery>[] =>
  texts.map((text) => ({ text }))

type RunMeans = Partial<Means['runs'][number]> & { readonly calls?: number }

/** Fits runs into a balance, each by these means; what is not said is no limit. */
export function fitInto(
  { store }: Pick<TempStore, 'store'>,
  credits: number,
  runs: readonly Run[],
  { calls = 10_000, ...change }: RunMeans = {},
) {
  const means = { budget: 10_000, keep: 0, freshSince: null, ...change }
  return store.fit({ runs: runs.map(({ id }) => ({ runId: id, ...means })), credits, calls })
}

/** Pages of a run in that state, as `query/page`, in the order in which they were planned. */
export function pages({ sql }: Pick<TempStore, 'sql'>, { id }: Run, state: string): string {
  const rows = sql<{ task: string }>(
    "SELECT query || '/' || page AS task FROM tasks WHERE run_id = ? AND state = ? ORDER BY task_id",
    id,
    state,
  )
  return rows.map(({ task }) => task).join(' ')
}

/** Asks these queries, each in a run of its own, at an instant of its own. */
export async function askedAt(
  { store }: Pick<TempStore, 'store'>,
  instants: Readonly<Record<string, number>>,
  query: Partial<JobQuery> = {},
): Promise<void> {
  for (const [text, at] of Object.entries(instants)) {
    const run = await plan(store, { job: { name: `of ${text}` }, queries: [{ ...query, text }] })
    await work(store, run, ({ page }) => webPage(`${text}${page}`), at)
  }
}

/** The first task of a run, let through. */
export async function firstTask(store: Store, { id }: Run): Promise<Task> {
  const [task] = await lease(store, id, { limit: 1 })
  if (task === undefined) throw new Error('no task')
  return task
}

/** Keeps a body for a task that nobody can read: the task fails. */
export async function malformed(store: Store, task: Task, run: Run, at = noon): Promise<void> {
  await keep(store, task, at)
  const { id: taskId, runId, queryId, page } = task
  await store.understand({
    taskId,
    runId,
    queryId,
    outcome: { failed: 'no JSON' },
    follow: (query) => followPage(query, page, { failed: 'malformed' }, pagingRules(run)),
  })
}

/** Plans a run again as it is, or with other queries. */
export const planAgain = ({ store }: TempStore, run: Run, queries: Queries) =>
  plan(store, { job: run.settings, queries, continues: run.id })

/** What a plan foretells of a run that goes on: credits at most, and queries that would be left out of a balance. */
export async function foretold(
  { store }: TempStore,
  run: Run,
  queries: Queries,
  { credits = 0, freshSince = null }: { readonly credits?: number; readonly freshSince?: number | null } = {},
) {
  await using draft = await store.draft()
  await draft.add(run.job, queries.map(aQuery))
  const job = plannedJob({ settings: run.settings, continues: run.id, freshSince })
  const runs = new Map([[run.job, { budget: 1_000, keep: 0 }]])
  const rest = await draft.fit([job], { runs, credits, calls: 1_000 })
  const summary = await draft.summary(job)
  return {
    left: rest.get(run.job) ?? null,
    done: summary.done,
    reused: summary.reused,
    max: summary.credits.max,
  }
}

/** A run of one query of so many pages, of which the first ones end so: `+` answered, `0` with nothing on it, `-` failed. */
export async function begun(ends: string, count: number, job: Parameters<typeof plan>[1]['job'] = {}) {
  const temp = await aStore()
  const queries = [{ text: 'a', depth: 10 * count }]
  const run = await plan(temp.store, { job, queries })
  for (const end of ends) {
    const task = await firstTask(temp.store, run)
    if (end === '-') await fail(temp.store, task, run, 'server-error')
    else if (end === '!') await fail(temp.store, task, run, 'rejected')
    else await answer(temp.store, task, run, webPage(end === '0' ? '' : `${task.page}x`))
  }
  return { temp, run, queries }
}
