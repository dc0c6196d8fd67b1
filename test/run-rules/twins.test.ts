import { expect, test } from 'vitest'
import type { TaskEnd } from '../../src/run/task-end.ts'
import { inFlightTwins } from '../../src/run/twins.ts'
import { openPromise } from '../support/open-promise.ts'
import { aTask } from '../support/task.ts'

/** Each task is of a run of its own. */
const taskOf = (runId: number, queryId: number) => aTask({ id: runId, runId, queryId })

test('a job that an earlier process had submitted is waited for by the other runs that ask for the same', async () => {
  const bought: number[] = []
  const twins = inFlightTwins(true, {
    buy: async ({ id }) => {
      bought.push(id)
      return { answerId: id }
    },
    reuse: async () => {},
    stored: async () => null,
  })
  const waited = openPromise<TaskEnd>()
  const followed = twins.goOn(taskOf(1, 7), () => waited.promise)
  const twin = twins.run(taskOf(2, 7))
  await twins.run(taskOf(3, 8))
  expect(bought).toEqual([3])

  waited.fulfil({ answerId: 1 })

  expect(await followed).toEqual({ answerId: 1 })
  expect(await twin).toBe('open')
  await twins.run(taskOf(2, 7))
  expect(bought).toEqual([3, 2])
})
