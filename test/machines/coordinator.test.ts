import { expect, test } from 'vitest'
import { stopSignal } from '../../src/collect/stop.ts'
import { type CoordinatorOptions, collectOnMachines } from '../../src/machines/coordinator.ts'
import { systemClock } from '../../src/model/time.ts'
import { settlement } from '../store/answers.ts'
import { aRun } from '../support/tasks.ts'

test('what workers bring while their answers are read is not put into chunks again', async () => {
  const chunks: number[] = []
  let state: 'planned' | 'leased' | 'done' = 'planned'
  // Answers that are here, and those that are in the journal.
  let [here, there] = [0, 0]
  const counts = () => ({ planned: 5, done: here, failed: 0, pending: 5 - here })
  const options = {
    ...{ clock: systemClock, stop: stopSignal(), keyHash: 'k', coordinator: 'c', random: () => 0 },
    ...{ maxOutageMs: 0, maxThrottlingMs: 0, fitBalance: false, notice: () => {}, onProgress: () => {} },
    service: {
      rateLimiter: { setLimits: () => {} },
      lookup: async () => ({
        ...{ callId: 0, sentAt: 0, settlement: settlement({ billed: 0 }), headers: {} },
        body: Buffer.from('{"remaining":5,"total_used":0,"rate_limit":{}}'),
      }),
    },
    store: {
      sharedRunId: async () => 'run',
      sharedGroupId: async () => 'group',
      linkRun: async () => {},
      saveUsage: async () => {},
      runs: async () => [],
      taskCounts: async () => counts(),
      openQueries: async (_: number, after: unknown) =>
        after === null
          ? Array.from({ length: counts().pending }, (_, index) => ({
              ...{ taskId: index, queryId: index, settledPages: 0 },
              query: { key: Buffer.from([index]), tags: [], priority: 0, credits: 1, pages: 1 },
            }))
          : [],
    },
    journal: {
      calls: { saveUsage: async () => {} },
      plans: {
        publish: async () => 1,
        failedPages: async () => [],
        queriesInWork: async () => [],
        addChunks: async (_: string, __: string, group: { chunks: readonly { queries: object[] }[] }) => {
          chunks.push(...group.chunks.map(({ queries }) => queries.length))
        },
        progress: async () => ({
          chunks: { planned: 0, released: 0, leased: 0, done: 0, cancelled: 0, dead: 0, [state]: 1 },
        }),
        cancelChunks: async () => {},
      },
      spending: {
        sumsOf: async () => new Map(),
        release: async () => {
          state = 'leased'
          there = 2
        },
      },
    },
    sync: async () => {
      here = there
      if (state !== 'leased') return
      there = 5
      state = 'done'
    },
  } as unknown as CoordinatorOptions

  await collectOnMachines(options, [aRun({ settings: { ...aRun().settings, paging: 'full' } as never })])

  expect(counts().pending).toBe(0)
  expect(chunks).toEqual([5])
})
