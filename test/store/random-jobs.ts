import fc from 'fast-check'
import type { JobQuery } from '../../src/model/query.ts'
import type { Run, Task } from '../../src/model/run.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import type { PlannedJob } from '../../src/store/sqlite/planning/staging.ts'
import { aJob } from '../run/build.ts'
import { answer, fail, malformed, submit, webPage } from './answers.ts'
import { aQuery, hour, lease, meansOf, noon, plannedJob, since } from './build.ts'

/** A job as it was planned first and left, and as it is planned again; at random. */
export interface RandomJob {
  readonly paging: 'all' | 'until-found'
  readonly fresh: boolean
  readonly before: {
    readonly queries: Queries
    readonly credits: number
    readonly ends: readonly End[]
  } | null
  readonly retried: boolean
  readonly queries: Queries
}

type Queries = readonly (Partial<JobQuery> & { readonly text: string })[]

/** How a page ends: with results, with none, or failed; or its process dies, perhaps when the service has taken it as a job. */
const ends = ['answered', 'answered', 'empty', 'server-error', 'rejected'] as const
type End = (typeof ends)[number] | 'malformed' | 'died' | 'accepted'
export const end = fc.constantFrom(...ends)

const query = fc
  .record({
    text: fc.constantFrom('a', 'b', 'c', 'd'),
    operation: fc.constantFrom('alpha.search', 'alpha.search', 'gamma.search', 'alpha.ai', 'alpha.images'),
    depth: fc.constantFrom(null, 10, 20, 30),
    priority: fc.constantFrom(0, 0, 1),
  })
  .map((one) => {
    if (one.operation === 'alpha.ai') return { ...one, depth: null }
    return one.operation === 'alpha.images' && one.depth !== null
      ? { ...one, depth: null, pages: one.depth / 10 }
      : one
  })
const queries = fc.array(query, { minLength: 1, maxLength: 6 })

export const randomJob: fc.Arbitrary<RandomJob> = fc.record({
  paging: fc.constantFrom('all', 'until-found'),
  fresh: fc.boolean(),
  before: fc.option(
    fc.record({
      queries,
      credits: fc.oneof(fc.constant(1_000), fc.nat(8)),
      ends: fc.array(fc.constantFrom(...ends, 'died', 'accepted'), { maxLength: 10 }),
    }),
  ),
  retried: fc.boolean(),
  queries,
})

/** Answers that stood in the store before, of queries of their own runs. */
export const askedBefore = fc.array(
  fc.record({ query, hours: fc.constantFrom(0, 1, 3), end: fc.constantFrom('answered', 'malformed') }),
  { maxLength: 4 },
)

export const fresh = since(noon - 2 * hour)

/** Two results that no other page has, so that another page may follow. */
export const fullPage = ({ page }: Pick<Task, 'page'>) =>
  webPage(String.fromCharCode(0x61 + 2 * page, 0x62 + 2 * page))

/** Texts of each example are its own, so that all may share a store. */
export function aWorld(store: Store, example: number) {
  const own = (queries: Queries) => queries.map((one) => aQuery({ ...one, text: `${one.text} ${example}` }))

  const planned = (
    name: string,
    job: Pick<RandomJob, 'paging' | 'fresh'>,
    continues: number | null,
  ): PlannedJob =>
    plannedJob({
      settings: aJob({ name: `${name} ${example}`, paging: job.paging }),
      continues,
      fresh: job.fresh ? fresh : null,
    })

  const commit = async (job: PlannedJob, queries: Queries): Promise<Run> => {
    await using draft = await store.draft()
    await draft.add(job.settings.name, own(queries))
    return (await draft.commit([job], noon))[0] as Run
  }

  const endTask = async (task: Task, run: Run, end: End, at = noon): Promise<void> => {
    if (end === 'answered') await answer(store, task, run, fullPage(task), at)
    else if (end === 'empty') await answer(store, task, run, webPage(''), at)
    else if (end === 'malformed') await malformed(store, task, run, at)
    else if (end === 'accepted') {
      // Only pictures are fetched by jobs.
      if (task.operation === 'alpha.images') await submit(store, task, at)
      else await answer(store, task, run, fullPage(task), at)
    } else if (end !== 'died') await fail(store, task, run, end)
  }

  return {
    planned,
    own,
    endTask,
    ask: async (asked: { readonly query: Queries[number]; readonly hours: number; readonly end: End }) => {
      const job = planned('earlier', { paging: 'all', fresh: false }, null)
      const run = await commit(job, [asked.query])
      for (;;) {
        const tasks = await lease(store, run.id)
        if (tasks.length === 0) return
        for (const task of tasks) await endTask(task, run, asked.end, noon - asked.hours * hour)
      }
    },
    /** Plays what was before of a job; answers its unfinished run, if there is one. */
    begin: async (name: string, { before, retried, ...job }: RandomJob): Promise<number | null> => {
      if (before === null) return null
      const run = await commit(planned(name, job, null), before.queries)
      const means = meansOf(run.id)
      await store.fit({ runs: [means], credits: before.credits, calls: 1_000 })
      for (const end of before.ends) {
        const [task] = await lease(store, run.id, { limit: 1 })
        if (task !== undefined) await endTask(task, run, end)
      }
      await store.finishRun(run.id, 'interrupted', noon)
      if (retried) await store.retryFailed(run.id)
      return run.id
    },
  }
}
