import { expect, test } from 'vitest'
import type { Task } from '../../src/model/task.ts'
import type { TaskEnd } from '../../src/run/task-end.ts'
import { inFlightTwins } from '../../src/run/twins.ts'

function aTask(id: number, queryId: number): Task {
  return {
    id,
    runId: id,
    queryId,
    operation: 'alpha.images',
    text: 'desk',
    params: {},
    page: 1,
    priority: 0,
    credits: 1,
    tries: 0,
    cause: null,
    reusable: null,
  }
}

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
  let end: (end: TaskEnd) => void = () => {}
  const followed = twins.goOn(
    aTask(1, 7),
    () =>
      new Promise((resolve) => {
        end = resolve
      }),
  )
  const twin = twins.run(aTask(2, 7))
  await twins.run(aTask(3, 8))
  expect(bought).toEqual([3])

  end({ answerId: 1 })

  expect(await followed).toEqual({ answerId: 1 })
  expect(await twin).toBe('open')
  await twins.run(aTask(2, 7))
  expect(bought).toEqual([3, 2])
})
