import { expect, test } from 'vitest'
import { openFiler } from '../../src/run/filer.ts'
import { openKeeper } from '../../src/run/keeper.ts'
import { begin, settlement } from '../store/answers.ts'
import { aStore, firstTask, noon, plan, text } from '../store/build.ts'

const aPage = '{"organic_results": [{"position": 1, "title": "a", "link": "https://a.example/"}]}'

/** An answer that came for the only task of a run. */
async function arrived(body: string) {
  const { store, sql } = await aStore()
  const run = await plan(store, { queries: text('a') })
  const task = await firstTask(store, run)
  const { id, runId, queryId, page, operation, params } = task
  const answer = {
    ...{ callId: await begin(store, task), settlement: settlement(), fetchedAt: noon, operation, params },
    ...{ task: { id, runId, queryId, page }, plain: Buffer.from(body) },
  }
  const state = () => sql('SELECT state, cause, answer_id IS NOT NULL AS answered FROM tasks_')
  return { store, sql, run, answer, state, read: { taskId: id, runId, queryId, page, operation, params } }
}

test('what arrives is kept and read in one change', async () => {
  const { store, run, answer, state, sql } = await arrived(aPage)
  const { settled } = await openKeeper(openFiler(store, [run])).keep(answer)
  expect(settled).toEqual({ end: 'done', effect: { added: 0, skipped: 0 } })
  expect(state()).toEqual([{ state: 'done', cause: null, answered: 1 }])
  expect(sql('SELECT link FROM organic_results')).toEqual([{ link: 'https://a.example/' }])
})

test('a body that is no answer is kept, and fails its task', async () => {
  const { store, run, answer, state } = await arrived('<html>')
  const { answerId, settled } = await openKeeper(openFiler(store, [run])).keep(answer)
  expect(settled).toMatchObject({ end: 'failed' })
  expect(state()).toEqual([{ state: 'failed', cause: expect.stringContaining('no JSON'), answered: 1 }])
  expect(await store.rawAnswer(answerId)).not.toBeNull()
})

test('what was paid for is kept where reading it meets an error of ours, which is heard of afterwards', async () => {
  const { store, answer, state, read, sql } = await arrived(aPage)
  // It does not know the run.
  const filer = openFiler(store, [])
  const { answerId, settled } = await openKeeper(filer).keep(answer)
  expect(settled).toBeNull()
  expect(state()).toEqual([{ state: 'answered', cause: null, answered: 1 }])
  expect(sql('SELECT outcome, billed FROM calls_')).toEqual([{ outcome: 'answered', billed: 1 }])
  expect(sql('SELECT count(*) AS n FROM results')).toEqual([{ n: 0 }])
  await expect(filer.read({ ...read, answerId })).rejects.toThrow(TypeError)
})
