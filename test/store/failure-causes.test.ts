import { expect, test } from 'vitest'
import { begin, conclude } from './answers.ts'
import { aStore, lease, plan, text } from './build.ts'

test('what made tasks of a run fail is told by kind, the most frequent first, whatever answers began with', async () => {
  const { store } = await aStore()
  const causes = [
    'no JSON (it begins: <a>)',
    'Oops',
    'no JSON (it begins: <b (it begins: >)',
    'Bad query',
    'no JSON',
    'Bad query',
    'Bad query (IT BEGINS: x)',
  ]
  const run = await plan(store, { queries: text(...causes.map((_, index) => `q${index}`)) })
  const other = await plan(store, { job: { name: 'other' }, queries: text('q') })
  for (const one of [run, other])
    for (const [index, task] of (await lease(store, one.id)).entries()) {
      await begin(store, task)
      await conclude(store, task, { failed: causes[index] as string })
    }
  expect(await store.failureCauses(run.id, 3)).toEqual([
    { kind: 'no JSON', tasks: 3, answered: 0 },
    { kind: 'Bad query', tasks: 2, answered: 0 },
    { kind: 'Bad query (IT BEGINS: x)', tasks: 1, answered: 0 },
  ])
  expect(await store.failureCauses(run.id, 9)).toHaveLength(4)
  expect(await store.failureCauses(other.id, 9)).toEqual([{ kind: 'no JSON', tasks: 1, answered: 0 }])
})
