import { expect } from 'vitest'
import type { Settlement } from '../../src/model/call.ts'
import { testTable } from '../support/test-table.ts'
import { begin, conclude, keep, settlement } from './answers.ts'
import { aStore, lease, plan, text } from './build.ts'

/** Ends tasks of two operations in turn, one letter each: `-` an answer that cannot be used, `u` one that cannot even be read, `n` not read yet, `x` no answer, `0` none for any query (404), `f` the same for free (403), `b` none for this query (400), `j` a job that was lost, `+` used. */
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
      const how = withoutAnswer[end ?? '']
      if (how !== undefined) {
        const callId = await begin(store, task)
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

const withoutAnswer: Readonly<Record<string, Partial<Settlement>>> = {
  u: { outcome: 'unreadable' },
  x: { outcome: 'server-error', httpStatus: 500, billed: 0 },
  '0': { outcome: 'not-found', httpStatus: 404, billed: null },
  f: { outcome: 'rejected', httpStatus: 403, billed: 0 },
  b: { outcome: 'rejected', httpStatus: 400, billed: 0 },
  j: { outcome: 'accepted', httpStatus: 202, billed: null },
}

testTable<[string, string, number | null]>([
  ['three that cannot be used', '---', 3],
  ['too few to tell', '--', null],
  ['one of the last three was used', '-----+--', null],
  ['the last three, whatever was before', '+++++---', 3],
  ['some of them cannot even be read', '+-u-', 3],
  ['one is not read yet', '--n', null],
  ['calls that cost nothing say nothing', '---xx', 3],
  ['twenty calls without an answer', '0'.repeat(20), 20],
  ['nineteen, and one that was used', `+${'0'.repeat(19)}`, null],
  ['twenty of every kind of no use', `+0-fj${'0f'.repeat(8)}x`, 20],
  ['queries that the service refuses', 'b'.repeat(30), null],
])('%s: %s → %s', async (_, ends, expected) => {
  const store = await ended({ 'alpha.search': ends, 'alpha.news': '+--' })
  expect([...(await store.operationsUnusable())]).toEqual(
    expected === null ? [] : [['alpha.search', expected]],
  )
})
