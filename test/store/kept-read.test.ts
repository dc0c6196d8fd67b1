import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Task } from '../../src/model/task.ts'
import { aTarget } from '../plan/build.ts'
import { answer, keep, malformed, read, webPage } from './answers.ts'
import { aStore, lease, plan, type TempStore } from './build.ts'

const tables = [
  ...['answers_', 'raw_answers', 'results', 'texts', 'links', 'hosts', 'tasks_', 'calls_', 'observations'],
  ...['run_queries', 'call_deliveries'],
]

/** Everything that is stored, as far as it does not depend on how many changes brought it there. */
function stored({ sql }: TempStore) {
  const rows = tables.map((table) => [table, sql(`SELECT * FROM ${table} ORDER BY 1, 2`)])
  return [...rows, sql('SELECT task_id FROM deliveries ORDER BY id')]
}

type Way = typeof answer

/** Keeps an answer, and reads it afterwards, as whoever goes on after a full disk. */
const oneAfterTheOther: Way = async (store, task, run, says, at) =>
  await read(store, task, run, await keep(store, task, at), says)

const pages = fc.array(
  fc.record({
    letters: fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'x'), maxLength: 6 }),
    hasNextPage: fc.constantFrom(true, false, null),
    fails: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
)

test('an answer that is kept with what it says is stored like one that is kept, and then read', async () => {
  const work = async (way: Way, says: typeof pages extends fc.Arbitrary<infer Pages> ? Pages : never) => {
    const temp = await aStore()
    const { store } = temp
    const job = { targets: [aTarget('a.example'), aTarget('x.example')] }
    const run = await plan(store, { job, queries: [{ depth: 30 }, { text: 'another', depth: 20 }] })
    for (const { letters, hasNextPage, fails } of says) {
      const [task] = await lease(store, run.id, { limit: 1 })
      if (task === undefined) break
      if (fails) await malformed(store, task as Task, run)
      else await way(store, task as Task, run, webPage(letters, { hasNextPage }))
      // What failed is bought again, and has an answer already.
      if (fails) await store.retryFailed(run.id)
    }
    return stored(temp)
  }
  await fc.assert(
    fc.asyncProperty(pages, async (says) => {
      expect(await work(answer, says)).toEqual(await work(oneAfterTheOther, says))
    }),
    { numRuns: 15 },
  )
})
