import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Run } from '../model/run.ts'
import type { CollectParts } from '../run/collect.ts'
import { type Filer, openFiler } from '../run/filer.ts'
import { type Arrived, type Keeper, type Kept, openKeeper } from '../run/keeper.ts'
import type { CollectStore, Store } from '../store/store.ts'
import { type Remote, remote } from '../thread/remote.ts'
import { keepHeapSmall } from './small-heap.ts'

/** Where the ledger is written, and answers are opened and filed, while runs are collected. */
export type Desk = AsyncDisposable & Pick<CollectParts, 'store' | 'space' | 'keeper' | 'filer'>

/** Opens a desk for these runs, on a store that is open already. */
export type OpenDesk = (
  place: { readonly store: Store; readonly database: string },
  runs: readonly Run[],
) => Promise<Desk>

/** What a thread is started with: its end of the way between the two. */
export interface DeskThread {
  readonly way: MessagePort
}

/** What the store's thread is told besides. */
export interface DeskControl {
  open(path: string, runs: readonly Run[]): Promise<void>
  close(): Promise<void>
}

/** In this thread: for few calls. */
export const deskHere: OpenDesk = async ({ store }, runs) => {
  const filer = openFiler(store, runs)
  const keeper = openKeeper(filer)
  return { store, space: store.space, filer, keeper, [Symbol.asyncDispose]: async () => {} }
}

/** Answers come and go: little room does for what lives as shortly as they do. */
const youngMegabytes = 8

/** Threads for a desk, which start while it is still found out what they are for. */
export interface DeskThreads extends AsyncDisposable {
  readonly open: OpenDesk
}

/**
 * For a desk in two threads of its own. One has the store, with its own connection to the database: while a commit waits for
 * the disk, answers are taken from the network and calls leave on time. The other one packs and reads what arrives. Where
 * one of them dies the run stops, and what is still in the air is stored by this process.
 */
export function beginDesk(): DeskThreads {
  const { port1, port2 } = new MessageChannel()
  const atStore = begin('store-thread', port1)
  const atKeeper = begin('keeper-thread', port2)
  const both = [atStore, atKeeper]
  const end = () => Promise.all(both.map(({ thread }) => thread.terminate()))
  /** Fulfilled when both threads have ended, and the connection of one of them with it; null while they live. */
  let ended: Promise<unknown> | null = null
  for (const { thread, name } of both) {
    const broken = (reason: Error): void => {
      if (ended !== null) return
      // The one is of no use without the other, and its connection would be in the way of this process.
      ended = end()
      for (const { there } of both) there.broken(reason)
    }
    thread.on('error', broken)
    // A thread that starts undoes it.
    thread.on('online', keepHeapSmall)
    thread.on('exit', () => broken(new Error(`The ${name} has ended`)))
  }
  /** Does it in the threads, or here where they are dead: whoever asks brings what was paid for. */
  const orHere = async <T>(there: () => Promise<T>, here: () => Promise<T>): Promise<T> => {
    try {
      return await there()
    } catch (error) {
      if (ended === null) throw error
      await ended
      return await here()
    }
  }
  const control = atStore.there.object<DeskControl>('control')
  const open: OpenDesk = async (place, runs) => {
    // Nobody else sees a database in memory.
    if (place.database === ':memory:') return await deskHere(place, runs)
    await control.open(place.database, runs)
    const here = deskAfterDeath(place.store, runs)
    const store = atStore.there.object<CollectStore>('store')
    const filer = atStore.there.object<Filer>('filer')
    const keeper = atKeeper.there.object<Keeper>('keeper')
    return {
      // All other questions fail when the threads are dead, which stops the run.
      store: instead(store, {
        settleCall: (...call) =>
          orHere(
            () => store.settleCall(...call),
            () => here.settleCall(...call),
          ),
        acceptJob: (...job) =>
          orHere(
            () => store.acceptJob(...job),
            () => here.acceptJob(...job),
          ),
      }),
      space: atStore.there.object('space'),
      filer: instead(filer, {
        fail: (...task) =>
          orHere(
            () => filer.fail(...task),
            () => here.fail(...task),
          ),
      }),
      keeper: instead(keeper, {
        keep: (arrived) =>
          orHere(
            () => keeper.keep(arrived),
            () => here.keep(arrived),
          ),
      }),
      [Symbol.asyncDispose]: async () => {
        // Whoever waited for a thread that broke has heard why; asking it once more would only hide that.
        if (ended === null) await control.close()
      },
    }
  }
  return {
    open,
    [Symbol.asyncDispose]: async () => {
      await end()
    },
  }
}

/** What is still stored when the threads are dead, by way of the store that this process has open; it may be stored already. */
function deskAfterDeath(store: Store, runs: readonly Run[]) {
  const filer = openFiler(store, runs)
  const keeper = openKeeper(filer)
  return {
    settleCall: store.settleCall,
    acceptJob: store.acceptJob,
    fail: filer.fail,
    keep: async (arrived: Arrived): Promise<Kept> => {
      const answerId = await store.answerOfCall(arrived.callId, arrived.task)
      return answerId === null ? await keeper.keep(arrived) : { answerId, problem: null }
    },
  }
}

/** An object of another thread, with some of its methods done in another way. */
function instead<T extends object>(there: T, methods: Partial<T>): T {
  return Object.assign(Object.create(there), methods)
}

interface Begun {
  readonly name: string
  readonly thread: Worker
  readonly there: Remote
}

function begin(name: string, way: MessagePort): Begun {
  const thread = new Worker(new URL(`./${name}.js`, import.meta.url), {
    workerData: { way } satisfies DeskThread,
    transferList: [way],
    resourceLimits: { maxYoungGenerationSizeMb: youngMegabytes },
  })
  return {
    name,
    thread,
    there: remote(thread),
  }
}
