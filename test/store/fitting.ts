import type { JobQuery } from '../../src/model/query.ts'
import type { Run } from '../../src/model/run.ts'
import type { TimeSpan } from '../../src/model/time.ts'
import type { Funds } from '../../src/store/journal.ts'
import { answer, fail, webPage, work } from './answers.ts'
import {
  aQuery,
  aStore,
  firstTask,
  meansOf,
  plan,
  plannedJob,
  type Queries,
  type TempStore,
} from './build.ts'

type FitMeans = Partial<Funds['runs'][number]> & { readonly calls?: number }

/** Fits runs into a balance, each by these means; what is not said is no limit. */
export function fitInto(
  { store }: Pick<TempStore, 'store'>,
  credits: number,
  runs: readonly Run[],
  { calls = 10_000, ...means }: FitMeans = {},
) {
  return store.fit({ runs: runs.map(({ id }) => meansOf(id, means)), credits, calls })
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

/** Plans a run again as it is, or with other queries. */
export const planAgain = ({ store }: TempStore, run: Run, queries: Queries) =>
  plan(store, { job: run.settings, queries, continues: run.id })

/** What a plan foretells of a run that goes on: credits at most, and queries that would be left out of a balance. */
export async function foretold(
  { store }: TempStore,
  run: Run,
  queries: Queries,
  { credits = 0, fresh = null }: { readonly credits?: number; readonly fresh?: TimeSpan | null } = {},
) {
  await using draft = await store.draft()
  await draft.add(run.job, queries.map(aQuery))
  const job = plannedJob({ settings: run.settings, continues: run.id, fresh })
  const runs = new Map([[run.job, { budget: 1_000, keep: 0 }]])
  const rest = await draft.fit([job], { runs, limits: [], credits, calls: 1_000 })
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
