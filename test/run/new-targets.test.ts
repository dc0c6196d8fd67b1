import timers from 'node:timers/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { backfillAndNotify } from '../../src/run/derive.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import { replaced } from '../support/replaced.ts'
import { aTarget } from './build.ts'

const happened: string[] = []
let now = 0

let pauses: Disposable
beforeAll(() => {
  const setTimeout = async (ms?: number): Promise<void> => {
    happened.push(`paused for ${ms}`)
    now += ms ?? 0
  }
  pauses = replaced(timers, { setTimeout: setTimeout as typeof timers.setTimeout })
})
afterAll(() => pauses[Symbol.dispose]())

/** A store whose runs are adopted in so many changes each, of which every one takes so long. */
function aStore(runs: number, changes: number, ms: number): Store {
  const store: Pick<Store, 'runsToBackfill' | 'backfill' | 'countRanks'> = {
    countRanks: async () => {},
    runsToBackfill: () => Array.from({ length: runs }, (_, index) => index + 1),
    backfill: async ({ run, after }) => {
      happened.push(`run ${run} after ${after}`)
      now += ms
      return { looked: 2, next: after + 1 < changes ? after + 1 : null }
    },
  }
  return store as Store
}

async function observed(runs: number, changes: number, ms: number): Promise<readonly string[]> {
  happened.length = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const job = { name: 'acme', targets: [aTarget('x.example')] }
  await backfillAndNotify(aStore(runs, changes, ms), job, null, (words) => happened.push(words))
  clock.mockRestore()
  return happened
}

test('new targets are looked up change by change, and others may write after a third of a second', async () => {
  expect(await observed(2, 3, 150)).toEqual([
    ...['run 1 after 0', 'run 1 after 1', 'paused for 120', 'run 1 after 2'],
    ...['run 2 after 0', 'paused for 120', 'run 2 after 1', 'run 2 after 2', 'paused for 120'],
    'acme: targets are new; 12 stored queries were evaluated again for them, at no cost.',
  ])
})

test('nobody is kept waiting where that is quick', async () => {
  expect(await observed(9, 1, 30)).toHaveLength(9 + 1)
})

test('nothing is said where no target is new', async () => {
  expect(await observed(0, 1, 30)).toEqual([])
})
