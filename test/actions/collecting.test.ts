import { expect, test } from 'vitest'
import { collectAndFinish, plainCollection } from '../../src/actions/collecting.ts'
import { deskHere, type OpenDesk } from '../../src/actions/desk.ts'
import type { Connection } from '../../src/actions/wire.ts'
import { RanklineError } from '../../src/errors.ts'
import type { FinishReason } from '../../src/model/run.ts'
import { newStop } from '../../src/run/stop.ts'
import type { Store } from '../../src/store/store.ts'
import { fakeTime } from '../api/fake-time.ts'
import { answer, webPage } from '../store/answers.ts'
import { aStore, firstTask, noon, plan, text } from '../store/build.ts'

type Broken = (error: Error) => { readonly store?: Partial<Store>; readonly openDesk?: OpenDesk }

const fails = (error: Error) => async () => {
  throw error
}
const atTheDesk: Broken = (error) => ({ openDesk: fails(error) })
const atTheStart: Broken = (error) => ({ store: { creditsOf: fails(error) } })
const beforeTheFirstCall: Broken = (error) => ({ store: { operationsBilled: fails(error) } })

const ours = new TypeError('x is not a function')
const foreseen = new RanklineError('The disk cannot be written. Make room', 6)

test.each<[string, Broken, Error, { interrupted?: true; done?: true }, FinishReason]>([
  ['an error of ours as the desk is opened', atTheDesk, ours, {}, 'crashed'],
  ['one before that', atTheStart, ours, {}, 'crashed'],
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
    const { store: change = {}, openDesk = deskHere } = broken(error)
    const stop = newStop()
    if (interrupted) stop.request({ reason: 'interrupted', message: '' })
    const connection: Partial<Connection> = {
      store: { ...store, ...change },
      database: ':memory:',
      serviceOn: () => ({}) as Connection['service'],
      keyHash: 'k',
      clock: { ...fakeTime().clock, wall: () => noon },
    }

    const collected = collectAndFinish(
      connection as Connection,
      [{ run, show: 'collect' }],
      { ...plainCollection, stop },
      openDesk,
    )

    await expect(collected).rejects.toBe(error)
    expect(sql('SELECT finish_reason AS reason FROM runs_')).toEqual([{ reason }])
  },
)
