import { expect, test } from 'vitest'
import { answerIngest } from '../../src/collect/answers.ts'
import type { Run, Task } from '../../src/model/run.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import { begin, settlement } from '../store/answers.ts'
import { aStore, firstTask, lease, meansOf, noon, plan, since, text } from '../store/build.ts'

const aPage = '{"organic_results": [{"position": 1, "title": "a", "link": "https://a.example/"}]}'

/** An ingest for these runs, what it told, and what it does behind the places of its tasks. */
function anIngest(store: Store, runs: readonly Run[]) {
  const told = {
    settled: [] as Parameters<Parameters<typeof answerIngest>[0]['onSettled']>[0][],
    problems: [] as (string | null)[],
    damaged: [] as number[],
  }
  let behind: Promise<void>[] = []
  const answers = answerIngest(
    {
      store,
      onSettled: (settled) => told.settled.push(settled),
      onBought: (_, problem) => told.problems.push(problem),
      onDamaged: (answerId) => told.damaged.push(answerId),
      background: (work) => behind.push(work),
    },
    runs,
  )
  const settle = async (): Promise<void> => {
    const works = behind
    behind = []
    await Promise.all(works)
  }
  return { ...answers, told, settle }
}

/** An answer that came for the only task of a run. */
async function arrived(body: string) {
  const { store, sql, exec } = await aStore()
  const run = await plan(store, { queries: text('a') })
  const task = await firstTask(store, run)
  const call = { callId: await begin(store, task), settlement: settlement(), fetchedAt: noon }
  return {
    ...{ store, run, task, exec },
    save: async (answers: ReturnType<typeof anIngest>) => {
      const saved = await answers.save(task, Buffer.from(body), call)
      answers.record(task, saved)
      return saved.answerId
    },
    stored: () => ({
      task: sql('SELECT state, cause FROM tasks_')[0],
      call: sql('SELECT outcome, billed FROM calls_')[0],
      links: sql<{ link: string }>('SELECT link FROM organic_results').map(({ link }) => link),
    }),
  }
}

const paid = { outcome: 'answered', billed: 1 }

test('what arrives is safe before what it says is stored', async () => {
  const { store, run, save, stored } = await arrived(aPage)
  const answers = anIngest(store, [run])
  await save(answers)
  expect(stored()).toEqual({ task: { state: 'answered', cause: null }, call: paid, links: [] })
  await answers.settle()
  expect(stored()).toMatchObject({ task: { state: 'done' }, links: ['https://a.example/'] })
  expect(answers.told).toEqual({
    settled: [{ end: 'done', effect: { added: 0, skipped: 0 } }],
    problems: [null],
    damaged: [],
  })
})

/** An answer that is safe, and was not read, for its process died. */
async function left(body = aPage) {
  const came = await arrived(body)
  // What it says is never stored: the change does not come.
  const store = { ...came.store, recordAnswer: () => new Promise<never>(() => {}) }
  return { ...came, answerId: await came.save(anIngest(store, [came.run])) }
}

test('the next process reads it from the store', async () => {
  const { store, run, stored } = await left()
  const answers = anIngest(store, [run])
  await answers.catchUp([run.id])
  expect(answers.told.settled).toMatchObject([{ end: 'done' }])
  expect(stored()).toMatchObject({ task: { state: 'done' }, links: ['https://a.example/'] })
})

test('a body that is no answer is kept, and fails its task', async () => {
  const { store, run, save, stored } = await arrived('<html>')
  const answers = anIngest(store, [run])
  const answerId = await save(answers)
  await answers.settle()
  expect(answers.told).toMatchObject({
    settled: [{ end: 'failed' }],
    problems: [expect.stringContaining('not JSON')],
  })
  expect(stored().task).toEqual({ state: 'failed', cause: expect.stringContaining('not JSON') })
  expect(await store.storedBody(answerId)).not.toBeNull()
})

test('an error of ours in what follows leaves the answer to the next process', async () => {
  const { store, save, stored } = await arrived(aPage)
  // It does not know the run.
  const answers = anIngest(store, [])
  await save(answers)
  await expect(answers.settle()).rejects.toThrow(TypeError)
  expect(stored()).toEqual({ task: { state: 'answered', cause: null }, call: paid, links: [] })
})

test.each<[string, string]>([
  ['is damaged', "UPDATE raw_answers SET body = x'00'"],
  ['is cut', 'UPDATE raw_answers SET body = substr(body, 1, 9)'],
  ['is packed in a way that is not known', "UPDATE raw_answers SET encoding = 'zip'"],
  ['is gone', 'DELETE FROM raw_answers'],
])(
  'a body that %s before it was read is told of, and its page waits to be bought again',
  async (_, damage) => {
    const { store, run, answerId, stored, exec } = await left()
    exec(damage)
    const answers = anIngest(store, [run])
    await answers.catchUp([run.id])
    expect(answers.told).toEqual({ settled: [], problems: [], damaged: [answerId] })
    expect(stored()).toEqual({ task: { state: 'pending', cause: null }, call: paid, links: [] })
    await answers.catchUp([run.id])
    expect(answers.told).toEqual({ settled: [], problems: [], damaged: [answerId] })
  },
)

test('in a closed run it fails its task, for nothing is bought there any more', async () => {
  const { store, run, answerId, stored, exec } = await left()
  exec("UPDATE raw_answers SET body = x'00'")
  const answers = anIngest(store, [{ ...run, closedAt: noon }])
  await answers.catchUp([run.id])
  expect(answers.told).toMatchObject({ settled: [{ end: 'failed' }], damaged: [answerId] })
  expect(stored().task).toEqual({ state: 'failed', cause: 'its stored answer is damaged' })
})

test('a damaged body is given to no task instead of a call', async () => {
  const { store, run, save, stored, exec } = await arrived(aPage)
  const answers = anIngest(store, [run])
  const answerId = await save(answers)
  await answers.settle()
  const later = await plan(store, { queries: text('a') })
  const leaseLater = async () =>
    (await lease(store, later.id, { runs: [meansOf(later.id, { fresh: since(noon) })] }))[0] as Task
  const task = await leaseLater()
  expect(task.reusable).toBe(answerId)
  exec("UPDATE raw_answers SET body = x'00'")
  expect(await answers.reuse(task, answerId)).toBe(false)
  expect(answers.told.damaged).toEqual([answerId])
  await store.release([task.id])
  expect(await leaseLater()).toMatchObject({ id: task.id, reusable: null })
  expect(stored().links).toEqual(['https://a.example/'])
})
