import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Run } from '../../src/model/run.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import type { PlannedJob } from '../../src/store/sqlite/planning/staging.ts'
import { read } from './answers.ts'
import { aStore, everyOperation, noon } from './build.ts'
import { askedBefore, aWorld, end, fullPage, randomJob } from './random-jobs.ts'

const limit = fc.oneof(fc.nat(15), fc.constant(1_000))
const anything = fc.record({
  jobs: fc.array(
    fc.record({ job: randomJob, means: fc.record({ budget: limit, keep: fc.constantFrom(0, 0, 3) }) }),
    { minLength: 1, maxLength: 2 },
  ),
  asked: askedBefore,
  credits: limit,
  calls: limit,
})
type Example = typeof anything extends fc.Arbitrary<infer E> ? E : never

let examples = 0

/** Plays what was before, plans the jobs, and fits them; answers what was foretold and what was left out. */
async function fitted(store: Store, { jobs, asked, credits, calls }: Example) {
  examples += 1
  const world = aWorld(store, examples)
  for (const one of asked) await world.ask(one)
  const plans: (PlannedJob & Example['jobs'][number])[] = []
  for (const [index, one] of jobs.entries()) {
    const name = `job ${index}`
    plans.push({ ...one, ...world.planned(name, one.job, await world.begin(name, one.job)) })
  }
  await using draft = await store.draft()
  for (const { settings, job } of plans) await draft.add(settings.name, world.own(job.queries))
  const byJob = new Map(plans.map(({ settings, means }) => [settings.name, means]))
  const foretold = await draft.fit(plans, { runs: byJob, credits, calls })

  await store.recover(
    plans.flatMap(({ continues }) => continues ?? []),
    noon,
  )
  const runs = await draft.commit(plans, noon)
  const means = plans.map(({ means, fresh }, index) => ({
    runId: (runs[index] as Run).id,
    fresh,
    ...means,
  }))
  const left = await store.fit({ runs: means, credits, calls })
  return { world, runs, means, foretold, left }
}

describe('whatever was planned, asked and left before', () => {
  test('what a plan says is left out is what the run leaves out', async () => {
    const { store } = await aStore()
    await fc.assert(
      fc.asyncProperty(anything, async (example) => {
        const { runs, foretold, left } = await fitted(store, example)
        const nameOf = (runId: number) => (runs.find(({ id }) => id === runId) as Run).job
        expect(new Map(left.map(({ runId, ...rest }) => [nameOf(runId), rest]))).toEqual(foretold)
      }),
      { numRuns: 12 },
    )
  })

  test('what is not left out is bought to its end', async () => {
    const { store } = await aStore()
    const turns = fc.infiniteStream(fc.record({ tasks: fc.integer({ min: 1, max: 3 }), end }))
    await fc.assert(
      fc.asyncProperty(anything, turns, async (example, turns) => {
        let { credits, calls } = example
        const { world, runs, means } = await fitted(store, example)
        for (const turn of turns) {
          const tasks = await store.lease({
            operations: everyOperation,
            runs: means,
            credits,
            calls,
            limit: turn.tasks,
            shared: true,
          })
          if (tasks.length === 0) break
          for (const task of tasks) {
            const run = runs.find(({ id }) => id === task.runId) as Run
            const own = means.find(({ runId }) => runId === run.id) as { budget: number }
            const known = task.reusable ?? (await store.groupAnswer(task))
            if (known !== null) {
              await store.reuseAnswer(task.id, known)
              await read(store, task, run, known, fullPage(task))
              continue
            }
            await world.endTask(task, run, turn.end)
            // A query that two jobs share is covered once; where a call for it fails, that is not the end of its cover.
            if (turn.end !== 'answered' && turn.end !== 'empty') continue
            credits -= task.credits
            own.budget -= task.credits
            calls -= 1
          }
        }
        for (const { id } of runs) expect((await store.tally(id)).tasks.pending).toBe(0)
      }),
      { numRuns: 12 },
    )
  })
})
