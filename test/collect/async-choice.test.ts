import { describe, expect, test } from 'vitest'
import { asyncDecision } from '../../src/collect/task.ts'
import { testTable } from '../support/test-table.ts'

/** A choice that has seen answers of `alpha.images` that took so long. */
function after(...latencies: readonly number[]) {
  const choice = asyncDecision()
  for (const latency of latencies) choice.note('alpha.images', latency)
  return choice
}

const times = (count: number, latency: number) => Array<number>(count).fill(latency)

describe('what the job says is obeyed', () => {
  testTable([
    ['never', times(200, 60_000), false],
    ['never', [], false],
    ['always', times(200, 1), true],
    ['always', [], true],
  ] as const)('%s', (policy, latencies, wanted) => {
    expect(after(...latencies).wanted('alpha.images', policy)).toBe(wanted)
  })
})

describe('auto makes plain calls', () => {
  testTable([
    ['before anything is known', []],
    ['after nine slow answers', times(9, 30_000)],
    ['after ten answers of five seconds', times(10, 5_000)],
    ['where ten answers took less in the mean', [...times(9, 4_999), 5_009]],
    ['where the last ten were quick, whatever was before', [...times(20, 30_000), ...times(10, 100)]],
    ['after 99 answers of two seconds', times(99, 2_000)],
    ['after 100 answers of one second', times(100, 1_000)],
  ])('%s', (_, latencies) => {
    expect(after(...latencies).wanted('alpha.images', 'auto')).toBe(false)
  })
})

describe('auto makes asynchronous jobs', () => {
  testTable([
    ['after ten answers of more than five seconds', times(10, 5_001)],
    ['where ten answers took more in the mean', [...times(9, 4_999), 5_010]],
    ['where the last ten were slow, whatever was before', [...times(20, 100), ...times(10, 6_000)]],
    [
      'after 100 answers, where the last ten took more than a second',
      [...times(90, 10), ...times(10, 1_001)],
    ],
  ])('%s', (_, latencies) => {
    expect(after(...latencies).wanted('alpha.images', 'auto')).toBe(true)
  })
})

test('each operation is judged by its own answers', () => {
  const choice = after(...times(10, 9_000))
  for (let answer = 0; answer < 10; answer++) choice.note('alpha.search', 200)
  expect(choice.wanted('alpha.images', 'auto')).toBe(true)
  expect(choice.wanted('alpha.search', 'auto')).toBe(false)
  expect(choice.wanted('gamma.images', 'auto')).toBe(false)
})
