import { describe, expect, test } from 'vitest'
import { worstReason } from '../../src/cli/commands/collect/collect-runs.ts'
import { finishRuns } from '../../src/collect/stop.ts'
import type { SpendingLimit } from '../../src/ledger/budget.ts'
import { exitCodes, type FinishReason, type RunTotals, type StopCause } from '../../src/model/run.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import { noon } from '../store/build.ts'
import { aRun } from '../support/tasks.ts'
import { testTable } from '../support/test-table.ts'

interface Left {
  readonly pending?: number
  readonly failed?: number
  readonly limit?: SpendingLimit
}

/** How these runs end, by their tasks and what kept them from buying more. */
async function ends(
  lefts: readonly Left[],
  reason: StopCause['reason'] | null,
): Promise<readonly FinishReason[]> {
  const ended: FinishReason[] = []
  const store = {
    taskCounts: async (id: number) => {
      const { pending = 0, failed = 0 } = lefts[id - 1] as Left
      return { pending, failed } as RunTotals['tasks']
    },
    finishRun: async (_id: number, why: FinishReason) => {
      ended.push(why)
    },
    countRanks: async () => {},
  }
  const limits = new Map(
    lefts.flatMap(({ limit }, index) => (limit === undefined ? [] : [[index + 1, limit] as const])),
  )
  const stop = reason === null ? null : { reason, message: '' }
  await finishRuns(
    store as Partial<Store> as Store,
    lefts.map((_, index) => aRun({ id: index + 1 })),
    { stop, limits },
    noon,
  )
  return ended
}

describe('a run ends', () => {
  testTable<[string, Left, StopCause['reason'] | null, FinishReason]>([
    ['where every task is done', {}, null, 'completed'],
    ['where some failed', { failed: 2 }, null, 'completed_with_failures'],
    ['whole, though the others were stopped', {}, 'auth', 'completed'],
    [
      'whole but for failures, though the others were stopped',
      { failed: 1 },
      'interrupted',
      'completed_with_failures',
    ],
    ['by its budget', { pending: 3, limit: 'budget' }, null, 'budget'],
    ['by the quota of the key', { pending: 3, failed: 1, limit: 'quota' }, null, 'quota'],
    ['by the stop', { pending: 1 }, 'unavailable', 'unavailable'],
    [
      'by the stop, though its budget would have ended it',
      { pending: 1, limit: 'budget' },
      'interrupted',
      'interrupted',
    ],
    ['by the balance where nothing else is known', { pending: 1 }, null, 'balance'],
  ])('%s', async (_, left, stop, reason) => {
    expect(await ends([left], stop)).toEqual([reason])
  })

  test('each by its own tasks and limit', async () => {
    const lefts: readonly Left[] = [
      {},
      { pending: 1, limit: 'budget' },
      { pending: 1, limit: 'balance' },
      { failed: 1 },
    ]
    expect(await ends(lefts, null)).toEqual(['completed', 'budget', 'balance', 'completed_with_failures'])
  })
})

describe('of several runs', () => {
  testTable<[readonly FinishReason[], FinishReason, number]>([
    [[], 'completed', 0],
    [['completed', 'completed_with_failures'], 'completed_with_failures', 3],
    [['completed_with_failures', 'budget', 'completed'], 'budget', 4],
    [['budget', 'balance'], 'balance', 4],
    [['quota', 'unavailable'], 'unavailable', 6],
    [['unavailable', 'auth'], 'auth', 5],
    [['auth', 'interrupted'], 'interrupted', 130],
    [['interrupted', 'crashed'], 'crashed', 1],
  ])('%j, one decides the exit code', (reasons, gravest, code) => {
    expect(worstReason(reasons)).toBe(gravest)
    expect(worstReason(reasons.toReversed())).toBe(gravest)
    expect(exitCodes[gravest]).toBe(code)
  })
})
