import { parentPort, workerData } from 'node:worker_threads'
import type { DeskControl, DeskThread } from './actions/desk.ts'
import { openFiler } from './run/filer.ts'
import { openStore } from './store/sqlite/open.ts'
import type { Store } from './store/store.ts'
import { type Port, serve } from './thread/serve.ts'

/** The thread of a desk that has the store: it writes the ledger and files answers while others buy and open them. */
const { way } = workerData as DeskThread
let store: Store | null = null

const control: DeskControl = {
  open: async (path, runs) => {
    store = await openStore(path)
    Object.assign(served, { store, space: store.space, filer: openFiler(store, runs) })
  },
  close: async () => await store?.[Symbol.asyncDispose](),
}
const served: Record<string, object> = { control }

serve(parentPort as Port, served)
serve(way, served)
