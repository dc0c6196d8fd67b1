import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Run } from '../model/run.ts'
import type { CollectParts } from '../run/collect.ts'
import { type Filer, openFiler } from '../run/filer.ts'
import { type Keeper, openKeeper } from '../run/keeper.ts'
import type { Store } from '../store/store.ts'
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
 * the disk, answers are taken from the network and calls leave on time. The other one packs and reads what arrives.
 */
export function beginDesk(): DeskThreads {
  const { port1, port2 } = new MessageChannel()
  const atStore = begin('store-thread', port1)
  const atKeeper = begin('keeper-thread', port2)
  const both = [atStore, atKeeper]
  let isBroken = false
  for (const { thread, name } of both) {
    const broken = (reason: Error): void => {
      isBroken = true
      for (const { there } of both) there.broken(reason)
    }
    thread.on('error', broken)
    // A thread that starts undoes it.
    thread.on('online', keepHeapSmall)
    thread.on('exit', () => broken(new Error(`The ${name} has ended`)))
  }
  const control = atStore.there.object<DeskControl>('control')
  const open: OpenDesk = async (place, runs) => {
    // Nobody else sees a database in memory.
    if (place.database === ':memory:') return await deskHere(place, runs)
    await control.open(place.database, runs)
    return {
      store: atStore.there.object('store'),
      space: atStore.there.object('space'),
      filer: atStore.there.object<Filer>('filer'),
      keeper: atKeeper.there.object<Keeper>('keeper'),
      [Symbol.asyncDispose]: async () => {
        // Whoever waited for a thread that broke has heard why; asking it once more would only hide that.
        if (!isBroken) await control.close()
      },
    }
  }
  return {
    open,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(both.map(({ thread }) => thread.terminate()))
    },
  }
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
