import { parentPort, workerData } from 'node:worker_threads'
import type { DeskThread } from './actions/desk.ts'
import type { Filer } from './run/filer.ts'
import { openKeeper } from './run/keeper.ts'
import { remote } from './thread/remote.ts'
import { type Port, serve } from './thread/serve.ts'

/** The thread of a desk that packs and reads what arrives. */
const { way } = workerData as DeskThread

serve(parentPort as Port, { keeper: openKeeper(remote(way).object<Filer>('filer')) })
