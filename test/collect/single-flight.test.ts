import { expect, test } from 'vitest'
import type { TaskEnd } from '../../src/collect/answers.ts'
import { singleFlight } from '../../src/collect/task.ts'
import { openPromise } from '../support/open-promise.ts'
import { aTask } from '../support/tasks.ts'

/** Each task is of a run of its own. */
const taskOf = (runId: number, queryId: number) => aTask({ id: runId, runId, queryId })

/** Several runs that ask for the same, with the answers that are stored by now; notes what becomes of tasks. */
function severalRuns(stored: Readonly<Record<number, number>> = {}, damaged: readonly number[] = []) {
  const bought: number[] = []
  const reused: (readonly [task: number, answer: number])[] = []
  const flights = singleFlight(true, {
    fetchPage: async ({ id }) => {
      bought.push(id)
      return { answerId: id }
    },
    reuse: async ({ id }, answerId) => {
      if (damaged.includes(answerId)) return false
      reused.push([id, answerId])
      return true
    },
    stored: async ({ queryId }) => stored[queryId] ?? null,
    onWaiting: () => {},
  })
  return { flights, bought, reused }
}

test('a job that an earlier process had submitted is waited for by the other runs that ask for the same', async () => {
  const { flights, bought } = severalRuns()
  const waited = openPromise<TaskEnd>()
  const followed = flights.resume(taskOf(1, 7), () => waited.promise)
  const second = flights.run(taskOf(2, 7))
  await flights.run(taskOf(3, 8))
  expect(bought).toEqual([3])

  waited.fulfil({ answerId: 1 })

  expect(await followed).toEqual({ answerId: 1 })
  expect(await second).toBe('released')
  await flights.run(taskOf(2, 7))
  expect(bought).toEqual([3, 2])
})

test('two jobs for the same are both waited for, whichever ends first', async () => {
  const { flights, bought } = severalRuns()
  const [first, second] = [openPromise<TaskEnd>(), openPromise<TaskEnd>()]
  const followed = flights.resume(taskOf(1, 7), () => first.promise)
  const other = flights.resume(taskOf(2, 7), () => second.promise)
  first.fulfil({ failed: 'it failed' })
  await followed

  const third = flights.run(taskOf(3, 7))
  second.fulfil({ answerId: 2 })

  expect(await other).toEqual({ answerId: 2 })
  expect(await third).toBe('released')
  expect(bought).toEqual([])
})

test('what was stored before, or was bought since the task was let through, is taken and not bought', async () => {
  const { flights, bought, reused } = severalRuns({ 8: 31 })
  expect(await flights.run({ ...taskOf(1, 7), reusable: 30 })).toEqual({ answerId: 30 })
  expect(await flights.run(taskOf(2, 8))).toEqual({ answerId: 31 })
  expect(reused).toEqual([
    [1, 30],
    [2, 31],
  ])
  expect(bought).toEqual([])
})

test('an answer that is damaged is taken by no task: it is let through again, to be bought', async () => {
  const { flights, bought, reused } = severalRuns({ 8: 31 }, [30, 31])
  expect(await flights.run({ ...taskOf(1, 7), reusable: 30 })).toBe('released')
  expect(await flights.run(taskOf(2, 8))).toBe('released')
  expect([bought, reused]).toEqual([[], []])
})
