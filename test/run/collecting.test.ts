import { expect } from 'vitest'
import { stopSignal } from '../../src/collect/stop.ts'
import { RanklineError } from '../../src/model/errors.ts'
import type { FinishReason } from '../../src/model/run.ts'
import { type App, clocks } from '../../src/run/app.ts'
import { collections } from '../../src/run/run-jobs.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import { fakeTime } from '../api/fake-time.ts'
import { answer, webPage } from '../store/answers.ts'
import { aStore, firstTask, noon, plan, text } from '../store/build.ts'
import { testTable } from '../support/test-table.ts'

type Broken = (error: Error) => Partial<Store>

const fails = (error: Error) => async () => {
  throw error
}
const beforeItBegan: Broken = (error) => ({ runsWithOpenWork: fails(error) })
const atTheStart: Broken = (error) => ({ creditsOf: fails(error) })
const beforeTheFirstCall: Broken = (error) => ({ operationsBilled: fails(error) })

const ours = new TypeError('x is not a function')
const foreseen = new RanklineError('The disk cannot be written. Make room', 6)

testTable<[string, Broken, Error, { interrupted?: true; done?: true }, FinishReason]>([
  ['an error of ours before anything began', beforeItBegan, ours, {}, 'crashed'],
  ['one after that', atTheStart, ours, {}, 'crashed'],
  ['one before the first call', beforeTheFirstCall, ours, {}, 'crashed'],
  ['one that was foreseen', beforeTheFirstCall, foreseen, {}, 'unavailable'],
  ['one after Ctrl-C', beforeTheFirstCall, ours, { interrupted: true }, 'interrupted'],
  ['one where nothing was left to do', beforeTheFirstCall, ours, { done: true }, 'completed'],
])(
  '%s is thrown, and the run ends as what it is',
  async (_, broken, error, { interrupted, done }, reason) => {
    const { store, sql } = await aStore()
    const run = await plan(store, { queries: text('a') })
    if (done) await answer(store, await firstTask(store, run), run, webPage('a'))
    const stop = stopSignal()
    if (interrupted) stop.request({ reason: 'interrupted', message: '' })
    const connection: Partial<App> = {
      store: { ...store, ...broken(error) },
      database: ':memory:',
      serviceWith: () => ({}) as App['service'],
      keyHash: 'k',
      machines: null,
      clock: { ...fakeTime().clock, wall: () => noon },
      clockCheck: clocks.unchecked,
    }

    const collected = collections.finish(connection as App, [{ run, show: 'collect' }], {
      ...collections.usual,
      stop,
    })

    await expect(collected).rejects.toBe(error)
    expect(sql('SELECT finish_reason AS reason FROM runs_')).toEqual([{ reason }])
  },
)
