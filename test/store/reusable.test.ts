import { expect, test } from 'vitest'
import { answer, keep, malformed, webPage } from './answers.ts'
import { aStore, firstTask, lease, meansOf, noon, plan, since, text } from './build.ts'

/** Lets a task of a run through; answers the stored answer that it may use. */
async function reusableOf(store: Parameters<typeof lease>[0], runId: number): Promise<number | null> {
  const [task] = await lease(store, runId, { runs: [meansOf(runId, { fresh: since(noon) })] })
  if (task === undefined) throw new Error('no task')
  return task.reusable
}

test('an answer that made its task fail is used by no other run', async () => {
  const { store } = await aStore()
  const earlier = await plan(store, { queries: text('a') })
  await malformed(store, await firstTask(store, earlier), earlier)
  const run = await plan(store, { queries: text('a') })
  expect(await reusableOf(store, run.id)).toBe(null)
})

test('an answer that nobody has read yet is used', async () => {
  const { store } = await aStore()
  const earlier = await plan(store, { queries: text('a') })
  const answerId = await keep(store, await firstTask(store, earlier))
  const run = await plan(store, { queries: text('a') })
  expect(await reusableOf(store, run.id)).toBe(answerId)
})

test('an answer that made its task fail is not used when that is tried again, by nobody', async () => {
  const { store } = await aStore()
  const run = await plan(store, { queries: text('a') })
  await malformed(store, await firstTask(store, run), run)
  await store.retryFailed(run.id)
  expect(await reusableOf(store, run.id)).toBe(null)
  const other = await plan(store, { queries: text('a') })
  expect(await reusableOf(store, other.id)).toBe(null)
})

test('the answer that came when it was tried again is used', async () => {
  const { store, sql } = await aStore()
  const run = await plan(store, { queries: text('a') })
  await malformed(store, await firstTask(store, run), run)
  await store.retryFailed(run.id)
  await answer(store, await firstTask(store, run), run, webPage('abc'), noon + 1)
  const other = await plan(store, { queries: text('a') })
  const answers = sql<{ id: number }>('SELECT id FROM answers_ ORDER BY id').map(({ id }) => id)
  expect(await reusableOf(store, other.id)).toBe(answers.at(-1))
})
