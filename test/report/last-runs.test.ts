import { expect, test } from 'vitest'
import type { RunQuality } from '../../src/model/run.ts'
import { lastRuns } from '../../src/report/build-data.ts'
import { aRun } from '../support/tasks.ts'

const qualityOf = (run: number): RunQuality => ({
  run,
  date: '2026-03-01',
  finishReason: 'completed',
  tasks: { planned: 1, done: 1, failed: 0 },
  spent: 1,
  ambiguous: 0,
})

test.each([
  [0, []],
  [2, [1, 2]],
  [40, Array.from({ length: 30 }, (_, index) => 11 + index)],
])('of %i runs the last 30 are told of, the newest last', (count, told) => {
  const newestFirst = Array.from({ length: count }, (_, index) => aRun({ id: count - index }))
  expect(lastRuns(newestFirst, { runQuality: qualityOf })).toEqual(told.map(qualityOf))
})
