import { expect, test } from 'vitest'
import { beginDesk } from '../../src/actions/desk.ts'
import { aStore } from '../store/build.ts'

test('a thread that does not come to start says why, and its end hides nothing', async () => {
  const { store, path } = await aStore()
  const work = async (): Promise<void> => {
    // From the sources there are no threads to be started.
    await using threads = beginDesk()
    await using desk = await threads.open({ store, database: path }, [])
    await desk.store.hasPending([])
  }
  await expect(work()).rejects.toThrow(/Cannot find module .*(store|keeper)-thread\.js/)
})

test('a database that nobody else sees is left to this thread', async () => {
  const { store } = await aStore()
  await using threads = beginDesk()
  const desk = await threads.open({ store, database: ':memory:' }, [])
  expect(desk.store).toBe(store)
})
