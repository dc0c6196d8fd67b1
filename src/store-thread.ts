import { parentPort, workerData } from 'node:worker_threads'
import type { DeskControl, DeskData } from './actions/desk.ts'
import { openKeeper } from './run/keeper.ts'
import { openStore } from './store/sqlite/open.ts'
import type { Store } from './store/store.ts'
import { type Port, serve } from './thread/serve.ts'

/** The thread of a desk apart: it keeps and reads answers while another thread buys them. */
const { path, runs } = workerData as DeskData
let store: Store | null = null

const control: DeskControl = {
  open: async () => {
    store = await openStore(path)
    Object.assign(served, { store, space: store.space, keeper: openKeeper(store, runs) })
  },
  close: async () => await store?.[Symbol.asyncDispose](),
}
const served: Record<string, object> = { control }

serve(parentPort as Port, served)
