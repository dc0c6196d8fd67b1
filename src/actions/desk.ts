import { Worker } from 'node:worker_threads'
import type { Run } from '../model/run.ts'
import type { CollectParts } from '../run/collect.ts'
import { openKeeper } from '../run/keeper.ts'
import type { Store } from '../store/store.ts'
import { remote } from '../thread/remote.ts'

/** Where the ledger is written, and answers are kept and read, while runs are collected. */
export type Desk = AsyncDisposable & Pick<CollectParts, 'store' | 'space' | 'keeper'>

/** Opens a desk for these runs, on a store that is open already. */
export type OpenDesk = (
  place: { readonly store: Store; readonly database: string },
  runs: readonly Run[],
) => Promise<Desk>

/** What the thread of a desk is started with. */
export interface DeskData {
  readonly path: string
  readonly runs: readonly Run[]
}

/** What that thread can be told besides. */
export interface DeskControl {
  open(): Promise<void>
  close(): Promise<void>
}

/** In this thread: for few calls. */
export const deskHere: OpenDesk = async ({ store }, runs) => ({
  store,
  space: store.space,
  keeper: openKeeper(store, runs),
  [Symbol.asyncDispose]: async () => {},
})

/** Answers come and go: little room does for what lives as shortly as they do. */
const youngMegabytes = 8

/**
 * In a thread of its own, with its own connection to the database. While a commit waits for the disk, answers are read
 * from the network and calls leave on time.
 */
export const deskApart: OpenDesk = async (place, runs) => {
  const path = place.database
  // Nobody else sees a database in memory.
  if (path === ':memory:') return await deskHere(place, runs)
  const data: DeskData = { path, runs }
  const thread = new Worker(new URL('./store-thread.js', import.meta.url), {
    workerData: data,
    resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
  })
  const there = remote(thread)
  thread.on('error', there.broken)
  thread.on('exit', () => there.broken(new Error('The thread that keeps answers has ended')))
  const control = there.object<DeskControl>('control')
  const end = async (): Promise<void> => void (await thread.terminate())
  try {
    await control.open()
  } catch (error) {
    await end()
    throw error
  }
  return {
    store: there.object('store'),
    space: there.object('space'),
    keeper: there.object('keeper'),
    [Symbol.asyncDispose]: async () => {
      await control.close()
      await end()
    },
  }
}
