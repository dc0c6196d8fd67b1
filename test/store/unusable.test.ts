import { expect } from 'vitest'
import { testTable } from '../support/test-table.ts'
import { begin, conclude, keep, settlement } from './answers.ts'
import { aStore, lease, plan, text } from './build.ts'

/** Ends tasks of two operations in turn, one letter each: `-` an answer that cannot be used, `u` one that cannot even be read, `n` not read yet, `x` no answer, `+` used. */
async function ended(ends: Readonly<Record<string, string>>) {
  const { store, exec } = await aStore()
  for (const [operation, letters] of Object.entries(ends)) {
    const job = { name: operation }
    const queries = text(...[...letters].map((_, index) => `${operation} ${index}`)).map((query) => ({
      ...query,
      operation,
    }))
    const run = await plan(store, { job, queries })
    const tasks = await lease(store, run.id)
    for (const [index, task] of tasks.entries()) {
      const end = letters[index]
      if (end === 'u' || end === 'x') {
        const callId = await begin(store, task)
        const how =
          end === 'u'
            ? ({ outcome: 'unreadable' } as const)
            : ({ outcome: 'server-error', billed: 0 } as const)
        await store.settleCall(callId, settlement(how), null)
        continue
      }
      const answerId = await keep(store, task)
      if (end === '-') await conclude(store, task, { failed: 'no JSON' })
      if (end === '+') exec(`UPDATE answers_ SET normaliser = 1 WHERE id = ${answerId}`)
    }
  }
  return store
}

testTable<[string, string, boolean]>([
  ['three that cannot be used', '---', true],
  ['too few to tell', '--', false],
  ['one of the last three was used', '-----+--', false],
  ['the last three, whatever was before', '+++++---', true],
  ['some of them cannot even be read', '+-u-', true],
  ['one is not read yet', '--n', false],
  ['calls that cost nothing say nothing', '---xx', true],
])('%s: %s → %s', async (_, ends, expected) => {
  const store = await ended({ 'alpha.search': ends, 'alpha.news': '+--' })
  expect(await store.operationsUnusable()).toEqual(expected ? ['alpha.search'] : [])
})
