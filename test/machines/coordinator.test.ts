import { expect, test } from 'vitest'
import { stopSignal } from '../../src/collect/stop.ts'
import { type CoordinatorOptions, collectOnMachines, workerWatch } from '../../src/machines/coordinator.ts'
import { syncAll } from '../../src/machines/sync.ts'
import { systemClock } from '../../src/model/time.ts'
import { settlement } from '../store/answers.ts'
import { aRun } from '../support/tasks.ts'

const transaction = {
  id: '5',
  pid: 4711,
  prepared: null,
  application: 'psql',
  user: 'bob',
  database: 'other',
}
const blocked = { from: '5', until: '9', blockedBy: { ...transaction, since: Date.UTC(2026, 2, 1, 9, 30) } }

/** A run of five queries, and a journal in which its workers do nothing. */
function aCoordinator() {
  const chunks: number[] = []
  const counts = { done: 0 }
  const taskCounts = () => ({ planned: 5, done: counts.done, failed: 0, pending: 5 - counts.done })
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
      ownJobs: async () => [],
      sharedGroupId: async () => 'group',
      linkRun: async () => {},
      saveUsage: async () => {},
      runs: async () => [],
      taskCounts: async () => taskCounts(),
      openQueries: async (_: number, after: unknown) =>
        after === null
          ? Array.from({ length: taskCounts().pending }, (_, index) => ({
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
        cancelChunks: async () => {},
      },
      spending: { sumsOf: async () => new Map() },
    },
  }
  return { options, counts, chunks }
}

const noChunks = { planned: 0, released: 0, leased: 0, done: 0, cancelled: 0, dead: 0 }
const theRun = aRun({ settings: { ...aRun().settings, paging: 'full' } as never })

test.each([
  [false, 'while their answers are read'],
  [true, 'and what a transaction keeps back'],
])('what workers bring (%s: %s) is not put into chunks again', async (kept) => {
  const { options, counts, chunks } = aCoordinator()
  let looks = 0
  let state: 'planned' | 'leased' | 'done' = 'planned'
  /** Answers that are in the journal. */
  let there = 0
  const { journal } = options
  const all = {
    ...options,
    journal: {
      ...journal,
      plans: { ...journal.plans, progress: async () => ({ chunks: { ...noChunks, [state]: 1 } }) },
      spending: {
        ...journal.spending,
        release: async () => {
          state = 'leased'
          there = 2
        },
      },
    },
    sync: async () => {
      // A transaction keeps the last of it back, for one look.
      const isKept = kept && state === 'done' && ++looks === 1
      if (!isKept) counts.done = there
      if (state === 'leased') {
        there = 5
        state = 'done'
      }
      return { unread: isKept ? blocked : null }
    },
  } as unknown as CoordinatorOptions

  await collectOnMachines(all, [theRun])

  expect(counts.done).toBe(5)
  expect(chunks).toEqual([5])
})

test('A coordinator looks less often while workers have enough to take or nothing waits for release, and often again when they have not', async () => {
  const { options, counts } = aCoordinator()
  // Of each look: chunks that are planned, that are released, and that are leased.
  const looks = [
    [9, 0, 1],
    [9, 10, 4],
    [9, 10, 4],
    [9, 10, 4],
    // They take more than a quarter of what is left in two seconds, then less.
    [9, 20, 4],
    [9, 15, 4],
    [9, 12, 4],
    [9, 5, 4],
    [9, 6, 4],
    [9, 0, 12],
    [0, 5, 4],
    [0, 1, 4],
    [0, 0, 5],
    // Four of five tasks are done at once: the last one may be, too. Then it is not.
    [0, 0, 5],
    [0, 0, 5],
    [0, 0, 4],
    [0, 0, 0],
  ] as const
  let look = 0
  const waits: number[] = []
  const { journal, clock } = options
  const all = {
    ...options,
    clock: {
      ...clock,
      after: (ms: number, then: () => void) => {
        waits.push(ms)
        setImmediate(then)
        return () => {}
      },
    },
    journal: {
      ...journal,
      plans: {
        ...journal.plans,
        progress: async () => {
          const [planned, released, leased] = looks[look] ?? [0, 0, 0]
          return { chunks: { ...noChunks, planned, released, leased } }
        },
      },
      spending: {
        release: async () => {},
        // Something was bought, and could be used.
        sumsOf: async () => new Map([['run', { spent: look, ambiguous: 0 }]]),
      },
    },
    sync: async () => {
      look += 1
      counts.done = look < 14 ? 1 : look < looks.length - 1 ? 4 : 5
      return { unread: null }
    },
  } as unknown as CoordinatorOptions

  await collectOnMachines(all, [theRun])

  expect(waits.slice(0, 16)).toEqual([
    ...[250, 500, 1_000, 2_000, 2_000],
    ...[1_000, 2_000],
    ...[250, 500],
    ...[250, 500, 1_000, 1_000],
    ...[250, 500],
    250,
  ])
})

/** A clock whose time passes with the waits alone. */
function waitingClock() {
  let now = 0
  const after = (ms: number, then: () => void) => {
    now += ms
    setImmediate(then)
    return () => {}
  }
  return { monotonic: () => now, after }
}

test('who keeps changes back for ten seconds is named once, and reading goes on when that is over', async () => {
  const clock = waitingClock()
  const said: string[] = []
  // What came after it began is not waited for.
  const sync = async () => ({
    unread: clock.monotonic() < 30_000 ? blocked : { ...blocked, from: '9', until: '12' },
  })

  await syncAll(sync, clock, { notice: (line) => said.push(line) })

  expect(clock.monotonic()).toBe(30_000)
  expect(said).toEqual([
    'A transaction of process 4711 on the database server (psql, user bob, database other) has kept tables of the queue locked since 2026-03-01 09:30 UTC. What the machines did meanwhile can be read when it ends. To end it: SELECT pg_terminate_backend(4711)',
  ])
})

test.each([
  [
    { prepared: 'x', pid: null, application: null, since: null },
    "The prepared transaction 'x' (user bob, database other) has kept tables of the queue locked. What the machines did meanwhile can be read when it ends. To end it: ROLLBACK PREPARED 'x'",
  ],
  [
    { pid: null, application: '', user: null, database: null, since: null },
    'A transaction has kept tables of the queue locked. What the machines did meanwhile can be read when it ends.',
  ],
  [
    { application: 'a\u001b[31m', since: null },
    'A transaction of process 4711 on the database server (a [31m, user bob, database other) has kept tables of the queue locked. What the machines did meanwhile can be read when it ends. To end it: SELECT pg_terminate_backend(4711)',
  ],
])('a sync that gives up says of %j: %s', async (known, line) => {
  const said: string[] = []
  const unread = { ...blocked, blockedBy: { ...blocked.blockedBy, ...known } }

  await syncAll(async () => ({ unread }), waitingClock(), {
    notice: (one) => said.push(one),
    givesUp: true,
  })

  expect(said).toEqual([line])
})

const minute = 60_000
const [ours, others] = ['k', 'another']

test.each([
  ['no worker is up', [], 'No worker takes what is to be bought.'],
  ['those that are up have other keys', [[others, 0, 1]], 'No worker takes what is to be bought.'],
  ['the one of this key died', [[ours, 5 * minute, 1]], 'No worker takes what is to be bought.'],
  ['the one of this key is busy', [[ours, 0, 2]], '1 worker of this key is busy with other runs.'],
  [
    'all of them are busy',
    [
      [ours, 0, 2],
      [ours, 100, 1],
    ],
    '2 workers of this key are busy with other runs.',
  ],
  [
    'one of them has nothing to do',
    [
      [ours, 0, 2],
      [ours, 0, 0],
    ],
    '2 workers of this key are up, and none takes',
  ],
] as const)('why nothing is taken for ten seconds is said once: %s', async (_, workers, said) => {
  let now = 0
  const notices: string[] = []
  const wall = Date.UTC(2026, 2, 1)
  const status = async () => ({
    runs: [{ run: 'their run', isPaused: true }],
    workers: workers.map(([key, ageMs, chunks]) => ({ keys: [key], seenAt: wall - ageMs, chunks })),
  })
  const watch = workerWatch({
    clock: { ...systemClock, monotonic: () => now, wall: () => wall },
    notice: (line: string) => void notices.push(line),
    keyHash: ours,
    journal: { operations: { status } },
    isOwn: (run: string) => run === 'own run',
  } as unknown as Parameters<typeof workerWatch>[0])

  for (const [atMs, leased] of [
    [0, 0],
    [9_000, 1],
    [18_900, 0],
  ] as const) {
    now = atMs
    await watch({ planned: 2, leased, released: 3 })
  }
  expect(notices).toEqual([])
  for (const atMs of [19_000, 40_000]) {
    now = atMs
    await watch({ planned: 2, leased: 0, released: 3 })
  }

  expect(notices).toEqual([expect.stringContaining(said)])
})

test('a run that is paused says so once, and nothing of workers', async () => {
  let now = 0
  const notices: string[] = []
  const paused = { runs: [{ run: 'own run', isPaused: true }], workers: [] }
  const watch = workerWatch({
    clock: { ...systemClock, monotonic: () => now },
    notice: (line: string) => void notices.push(line),
    keyHash: ours,
    journal: { operations: { status: async () => paused } },
    isOwn: (run: string) => run === 'own run',
  } as unknown as Parameters<typeof workerWatch>[0])

  for (now of [0, 9_000, 10_000, 30_000]) await watch({ planned: 2, leased: 0, released: 0 })

  expect(notices).toEqual([
    'Paused by rankline queue pause: nothing more is bought until rankline queue resume',
  ])
})
