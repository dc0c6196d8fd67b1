import { expect, test } from 'vitest'
import type { Task } from '../../src/model/task.ts'
import { openFiler } from '../../src/run/filer.ts'
import { openKeeper } from '../../src/run/keeper.ts'
import { begin, settlement } from '../store/answers.ts'
import { aStore, firstTask, lease, meansOf, noon, plan, text as texts } from '../store/build.ts'

const aPage = '{"organic_results": [{"position": 1, "title": "a", "link": "https://a.example/"}]}'

/** An answer that came for the only task of a run. */
async function arrived(body: string) {
  const { store, sql, exec } = await aStore()
  const run = await plan(store, { queries: texts('a') })
  const task = await firstTask(store, run)
  const { id, runId, queryId, page, operation, text, params } = task
  const answer = {
    ...{ callId: await begin(store, task), settlement: settlement(), fetchedAt: noon },
    ...{
      task: { id, runId, queryId, page },
      asked: { operation, text, params, page },
      plain: Buffer.from(body),
    },
  }
  const stored = () => ({
    task: sql('SELECT state, cause FROM tasks_')[0],
    call: sql('SELECT outcome, billed FROM calls_')[0],
    links: sql<{ link: string }>('SELECT link FROM organic_results').map(({ link }) => link),
  })
  return {
    store,
    run,
    answer,
    stored,
    exec,
    read: { taskId: id, runId, queryId, page, operation, text, params },
  }
}

const paid = { outcome: 'answered', billed: 1 }

test('what arrives is safe before it is read', async () => {
  const { store, run, answer, stored, read } = await arrived(aPage)
  const keeper = openKeeper(openFiler(store, [run]))
  const { answerId } = await keeper.keep(answer)
  expect(stored()).toEqual({ task: { state: 'answered', cause: null }, call: paid, links: [] })
  expect(await keeper.read({ ...read, answerId })).toEqual({ end: 'done', effect: { added: 0, skipped: 0 } })
  expect(stored()).toMatchObject({ task: { state: 'done' }, links: ['https://a.example/'] })
})

test('whoever did not keep an answer reads it from the store', async () => {
  const { store, run, answer, stored, read } = await arrived(aPage)
  const { answerId } = await openKeeper(openFiler(store, [run])).keep(answer)
  await openKeeper(openFiler(store, [run])).read({ ...read, answerId })
  expect(stored()).toMatchObject({ task: { state: 'done' }, links: ['https://a.example/'] })
})

test('a body that is no answer is kept, and fails its task', async () => {
  const { store, run, answer, stored, read } = await arrived('<html>')
  const keeper = openKeeper(openFiler(store, [run]))
  const { answerId, problem } = await keeper.keep(answer)
  expect(problem).toContain('no JSON')
  expect(await keeper.read({ ...read, answerId })).toMatchObject({ end: 'failed' })
  expect(stored().task).toEqual({ state: 'failed', cause: expect.stringContaining('no JSON') })
  expect(await store.rawAnswer(answerId)).not.toBeNull()
})

test('an error of ours in what follows leaves the answer to whoever goes on', async () => {
  const { store, answer, stored, read } = await arrived(aPage)
  // It does not know the run.
  const keeper = openKeeper(openFiler(store, []))
  const { answerId } = await keeper.keep(answer)
  await expect(keeper.read({ ...read, answerId })).rejects.toThrow(TypeError)
  expect(stored()).toEqual({ task: { state: 'answered', cause: null }, call: paid, links: [] })
})

test.each<[string, string]>([
  ['is damaged', "UPDATE raw_answers SET body = x'00'"],
  ['is cut', 'UPDATE raw_answers SET body = substr(body, 1, 9)'],
  ['is packed in a way that nobody knows', "UPDATE raw_answers SET encoding = 'zip'"],
  ['is gone', 'DELETE FROM raw_answers'],
])(
  'a body that %s before it was read is told of, and its page waits to be bought again',
  async (_, damage) => {
    const { store, run, answer, stored, exec } = await arrived(aPage)
    const { answerId } = await openKeeper(openFiler(store, [run])).keep(answer)
    exec(damage)
    expect(await openFiler(store, [run]).catchUp([run.id])).toEqual({ settled: [], damaged: [answerId] })
    expect(stored()).toEqual({ task: { state: 'pending', cause: null }, call: paid, links: [] })
    expect(await openFiler(store, [run]).catchUp([run.id])).toEqual({ settled: [], damaged: [] })
  },
)

test('in a closed run it fails its task, for nothing is bought there any more', async () => {
  const { store, run, answer, stored, exec } = await arrived(aPage)
  const { answerId } = await openKeeper(openFiler(store, [run])).keep(answer)
  exec("UPDATE raw_answers SET body = x'00'")
  const filer = openFiler(store, [{ ...run, closedAt: noon }])
  expect(await filer.catchUp([run.id])).toMatchObject({ settled: [{ end: 'failed' }], damaged: [answerId] })
  expect(stored().task).toEqual({ state: 'failed', cause: 'its stored answer is damaged' })
})

test('a damaged body is given to no task instead of a call', async () => {
  const { store, run, answer, read, stored, exec } = await arrived(aPage)
  const filer = openFiler(store, [run])
  const { answerId } = await openKeeper(filer).keep(answer)
  await filer.read({ ...read, answerId })
  const later = await plan(store, { queries: texts('a') })
  const [task] = await lease(store, later.id, { runs: [meansOf(later.id, { freshSince: noon })] })
  const { id, runId, queryId, page, reusable } = task as Task
  exec("UPDATE raw_answers SET body = x'00'")
  expect(reusable).toBe(answerId)
  expect(await filer.reuse({ taskId: id, runId, queryId, page }, answerId)).toBe(false)
  await store.release([id])
  const [again] = await lease(store, later.id, { runs: [meansOf(later.id, { freshSince: noon })] })
  expect(again).toMatchObject({ id, reusable: null })
  expect(stored().links).toEqual(['https://a.example/'])
})
