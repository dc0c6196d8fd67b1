import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Run, Task } from '../../src/model/run.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import type { PlannedJob } from '../../src/store/sqlite/planning/staging.ts'
import { keepPolled, read } from './answers.ts'
import { aStore, everyOperation, noon } from './build.ts'
import { askedBefore, aWorld, end, fullPage, type RandomJob, randomJob } from './random-jobs.ts'

const limit = fc.oneof(fc.nat(15), fc.constant(1_000))
const anything = fc.record({
  jobs: fc.array(
    fc.record({ job: randomJob, means: fc.record({ budget: limit, keep: fc.constantFrom(0, 0, 3) }) }),
    { minLength: 1, maxLength: 3 },
  ),
  asked: askedBefore,
  /** A limit of all jobs together. */
  together: limit,
  credits: limit,
  calls: limit,
})
type Example = typeof anything extends fc.Arbitrary<infer E> ? E : never
const turns = fc.infiniteStream(fc.record({ tasks: fc.integer({ min: 1, max: 3 }), end }))
type Turns = typeof turns extends fc.Arbitrary<infer T> ? T : never

let examples = 0

/** Plays what was before, plans the jobs, and fits them; answers what was foretold and what was left out. */
async function fitted(store: Store, { jobs, asked, ...most }: Example) {
  examples += 1
  const world = aWorld(store, examples)
  for (const one of asked) await world.ask(one)
  const plans: (PlannedJob & Example['jobs'][number])[] = []
  for (const [index, one] of jobs.entries()) {
    const name = `job ${index}`
    plans.push({ ...one, ...world.planned(name, one.job, await world.begin(name, one.job)) })
  }
  const continued = plans.flatMap(({ continues }) => continues ?? [])
  // What the service works on is paid already. Two pages may follow it, which nothing leaves out: they are covered, and what is kept.
  const more = (await store.acceptedJobs(continued)).length * (2 + 3)
  const funds = { credits: most.credits + more, calls: most.calls + more }
  const together = most.together + more
  const meansOf = ({ means: { budget, keep } }: Example['jobs'][number]) => ({ budget: budget + more, keep })
  await using draft = await store.draft()
  for (const { settings, job } of plans) await draft.add(settings.name, world.own(job.queries))
  const byJob = new Map(plans.map((one) => [one.settings.name, meansOf(one)]))
  const limits = [{ runs: new Set(byJob.keys()), left: together }]
  const foretold = await draft.fit(plans, { ...funds, runs: byJob, limits })

  await store.recover(continued, noon)
  const runs = await draft.commit(plans, noon)
  const means = plans.map((one, index) => ({
    runId: (runs[index] as Run).id,
    fresh: one.fresh,
    ...meansOf(one),
  }))
  const ofRuns = { runs: means, limits: [{ runIds: runs.map(({ id }) => id), tag: null, left: together }] }
  const left = await store.fit({ ...funds, ...ofRuns })
  return { world, runs, funds: { ...funds, ...ofRuns }, foretold, left }
}

/** Buys what is covered, and reads what the service works on first; answers how many credits were spent. */
async function bought(
  store: Store,
  { world, runs, funds }: Awaited<ReturnType<typeof fitted>>,
  turns: Turns,
) {
  let { credits, calls } = funds
  const runOf = ({ runId }: Task) => runs.find(({ id }) => id === runId) as Run
  const pay = ({ runId, credits: price }: Task, times: 1 | -1): void => {
    credits -= times * price
    calls -= times
    for (const one of funds.runs) if (one.runId === runId) one.budget -= times * price
    for (const one of funds.limits) one.left -= times * price
  }
  const jobs = [...(await store.acceptedJobs(runs.map(({ id }) => id)))]
  for (const turn of turns) {
    const isPaid = turn.end === 'answered' || turn.end === 'empty'
    const job = jobs.pop()
    if (job !== undefined) {
      const { task, taskId } = job
      if (isPaid) await read(store, task, runOf(task), await keepPolled(store, task, job), fullPage(task))
      else {
        await store.endJob(job, 0, noon, { taskId, tries: 1, nextRound: false })
        pay(task, -1)
      }
      continue
    }
    const asked = { operations: everyOperation, limit: turn.tasks, shared: true }
    const tasks = await store.lease({ ...funds, ...asked, credits, calls })
    if (tasks.length === 0) break
    for (const task of tasks) {
      const run = runOf(task)
      const known = task.reusable ?? (await store.groupAnswer(task))
      if (known !== null) {
        await store.reuseAnswer(task.id, known)
        await read(store, task, run, known, fullPage(task))
        continue
      }
      await world.endTask(task, run, turn.end)
      // A query that several jobs share is covered once; where a call for it fails, that is not the end of its cover.
      if (isPaid) pay(task, 1)
    }
  }
  return funds.credits - credits
}

/** The same job, where all pages that came had results and none is still awaited. */
function allAnswered({ before, ...job }: RandomJob): RandomJob {
  if (before === null) return { ...job, before }
  const ends = before.ends.map((end) => (end === 'empty' || end === 'accepted' ? 'answered' : end))
  return { ...job, before: { ...before, ends } }
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
    await fc.assert(
      fc.asyncProperty(anything, turns, async (example, turns) => {
        const fit = await fitted(store, example)
        await bought(store, fit, turns)
        for (const { id } of fit.runs) expect((await store.tally(id)).tasks.pending).toBe(0)
      }),
      { numRuns: 12 },
    )
  })

  test('what all of it costs at most covers all of it, and a credit less does not', async () => {
    const { store } = await aStore()
    const answered = fc.infiniteStream(fc.constant({ tasks: 2, end: 'answered' } as const))
    await fc.assert(
      fc.asyncProperty(anything, answered, async ({ jobs, asked }, turns) => {
        const means = { budget: 1_000, keep: 0 as const }
        const example = { jobs: jobs.map(({ job }) => ({ job: allAnswered(job), means })), asked }
        const fitInto = (credits: number) =>
          fitted(store, { ...example, together: 1_000, calls: 1_000, credits })
        const cost = await bought(store, await fitInto(1_000), turns)
        expect((await fitInto(cost)).left).toEqual([])
        if (cost > 0) expect((await fitInto(cost - 1)).left).not.toEqual([])
      }),
      { numRuns: 12 },
    )
  })
})
