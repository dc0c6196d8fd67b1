import { expect, test } from 'vitest'
import { limitsOf, type PeriodLimit } from '../../src/ledger/period-limits.ts'
import { releaser } from '../../src/machines/releasing.ts'
import { systemClock } from '../../src/model/time.ts'
import type { SharedRun } from '../../src/store/sync.ts'
import { aRun } from '../support/tasks.ts'
import {
  aChunk,
  aKey,
  aSharedRun,
  coordinator,
  planned,
  type TestJournal,
  withJournal,
} from './postgres/journal.ts'

let shared: TestJournal
withJournal((opened) => {
  shared = opened
})

/** What a host releases of a run whose chunk needs 350 credits, by limits that know no other job yet. */
async function releasedBy(
  run: SharedRun,
  limits: readonly PeriodLimit[],
  ownJobs: readonly Pick<SharedRun, 'keyHash' | 'job'>[] = [run],
): Promise<number> {
  const options = {
    ...{ clock: systemClock, keyHash: run.keyHash, coordinator, notice: () => {}, sharedLimits: limits },
    store: { ownJobs: async () => ownJobs },
    journal: shared,
  } as unknown as Parameters<typeof releaser>[0]
  const reader = { age: () => 0, again: async () => {} }
  const here = aRun({ job: run.job, settings: { ...aRun().settings, name: run.job } })
  const { grants } = await releaser(options, new Map([[run.id, here]]), reader).next(9)
  return grants.reduce((sum, { credits }) => sum + credits, 0)
}

/** A limit of 600 credits for a folder, or for what has a tag in it, as a host sees it that knows its own job alone. */
function limitOf(scope: 'folder' | 'tag', job: string, elsewhere: readonly string[] = []) {
  return limitsOf(
    { perDay: 600, perMonth: null },
    { scope, name: scope === 'tag' ? 'brand' : '/jobs', timezone: 'UTC', jobs: [job], elsewhere },
  )
}

async function aPlannedRun(keyHash: string, job: string): Promise<SharedRun> {
  await shared.sql(
    `INSERT INTO rankline.readings (key_hash, asked_at, read_at, remaining, total_used, record)
    VALUES ($1, 1, 1, 9000, 0, '{"remaining": 9000, "total_used": 0}')`,
    keyHash,
  )
  const chunk = aChunk([job], { mostCredits: 350, tags: ['brand'] })
  return await planned(shared, aSharedRun({ keyHash, job }), chunk)
}

test.each([['folder'], ['tag']] as const)(
  'the limit of a %s counts the jobs of all hosts, also those that a host does not know yet',
  async (scope) => {
    const key = aKey()
    const [one, two] = [await aPlannedRun(key, 'one'), await aPlannedRun(key, 'two')]

    expect(await releasedBy(one, limitOf(scope, 'one'))).toBe(350)
    expect(await releasedBy(two, limitOf(scope, 'two'))).toBe(250)
  },
)

test('a job that is known to lie in another folder does not count', async () => {
  const key = aKey()
  const [one, two] = [await aPlannedRun(key, 'one'), await aPlannedRun(key, 'two')]
  expect(await releasedBy(one, limitOf('folder', 'one'))).toBe(350)

  expect(await releasedBy(two, limitOf('folder', 'two', ['one']))).toBe(350)
})

test('what a host collected with a former key counts, and what others do with another key does not', async () => {
  const [former, other, key] = [aKey(), aKey(), aKey()]
  const before = await aPlannedRun(former, 'one')
  const foreign = await aPlannedRun(other, 'one')
  const run = await aPlannedRun(key, 'one')
  for (const one of [before, foreign]) expect(await releasedBy(one, limitOf('folder', 'one'))).toBe(350)

  expect(await releasedBy(run, limitOf('folder', 'one'), [before, run])).toBe(250)
})
