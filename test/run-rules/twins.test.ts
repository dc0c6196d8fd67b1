import { expect, test } from 'vitest'
import type { TaskEnd } from '../../src/run/task-end.ts'
import { inFlightTwins } from '../../src/run/twins.ts'
import { openPromise } from '../support/open-promise.ts'
import { aTask } from '../support/task.ts'

/** Each task is of a run of its own. */
const taskOf = (runId: number, queryId: number) => aTask({ id: runId, runId, queryId })

/** Several runs that ask for the same, with the answers that are stored by now; notes what becomes of tasks. */
function severalRuns(stored: Readonly<Record<number, number>> = {}, damaged: readonly number[] = []) {
  const bought: number[] = []
  const reused: (readonly [task: number, answer: number])[] = []
  const twins = inFlightTwins(true, {
    buy: async ({ id }) => {
      bought.push(id)
      return { answerId: id }
    },
    reuse: async ({ id }, answerId) => {
      if (damaged.includes(answerId)) return false
      reused.push([id, answerId])
      return true
    },
    stored: async ({ queryId }) => stored[queryId] ?? null,
  })
  return { twins, bought, reused }
}

test('a job that an earlier process had submitted is waited for by the other runs that ask for the same', async () => {
  const { twins, bought } = severalRuns()
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

test('two jobs for the same are both waited for, whichever ends first', async () => {
  const { twins, bought } = severalRuns()
  const [first, second] = [openPromise<TaskEnd>(), openPromise<TaskEnd>()]
  const followed = twins.goOn(taskOf(1, 7), () => first.promise)
  const other = twins.goOn(taskOf(2, 7), () => second.promise)
  first.fulfil({ failed: 'it failed' })
  await followed

  const twin = twins.run(taskOf(3, 7))
  second.fulfil({ answerId: 2 })

  expect(await other).toEqual({ answerId: 2 })
  expect(await twin).toBe('open')
  expect(bought).toEqual([])
})

test('what was stored before, or was bought since the task was let through, is taken and not bought', async () => {
  const { twins, bought, reused } = severalRuns({ 8: 31 })
  expect(await twins.run({ ...taskOf(1, 7), reusable: 30 })).toEqual({ answerId: 30 })
  expect(await twins.run(taskOf(2, 8))).toEqual({ answerId: 31 })
  expect(reused).toEqual([
    [1, 30],
    [2, 31],
  ])
  expect(bought).toEqual([])
})

test('an answer that is damaged is taken by no task: it is let through again, to be bought', async () => {
  const { twins, bought, reused } = severalRuns({ 8: 31 }, [30, 31])
  expect(await twins.run({ ...taskOf(1, 7), reusable: 30 })).toBe('open')
  expect(await twins.run(taskOf(2, 8))).toBe('open')
  expect([bought, reused]).toEqual([[], []])
})
