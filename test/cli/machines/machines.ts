import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { stopSignal } from '../../../src/collect/stop.ts'
import { runWorker } from '../../../src/machines/worker.ts'
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts'
import type { SandboxOptions } from '../../../src/sandbox/state.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import { type Started, type Workspace, workspace } from '../../support/rankline.ts'
import { putEmptyDatabase } from '../../support/stage.ts'

type WorkerSettings = Partial<Parameters<typeof runWorker>[1]>

export interface Machines {
  readonly sandbox: Sandbox
  readonly queue: { readonly RANKLINE_QUEUE: string }
  /** A host of its own. */
  readonly host: () => Promise<Workspace>
  /** Starts a worker in this process, at a tenth of the cost of one of its own; it stops with the test. */
  readonly worker: (settings?: WorkerSettings) => Promise<void>
  /** Starts a worker in a process of its own, which is killed with the test. */
  readonly workerProcess: () => Promise<Started>
}

/** A service, an empty queue, and hosts that share it, for one test. */
export async function machines(options: SandboxOptions = {}): Promise<Machines> {
  const sandbox = await startSandbox(options)
  onTestFinished(() => sandbox.close())
  const queue = { RANKLINE_QUEUE: await (await sharedPostgres()).database() }
  const host = async (): Promise<Workspace> => {
    const place = await workspace(sandbox)
    await putEmptyDatabase(place)
    onTestFinished(() => place[Symbol.asyncDispose]())
    return place
  }
  const worker: Machines['worker'] = (settings) => workerHere(sandbox, queue.RANKLINE_QUEUE, settings)
  const workerProcess = async (): Promise<Started> => {
    const started = (await host()).start(['worker', '--lease', '1s'], queue)
    onTestFinished(async () => {
      started.child.kill('SIGKILL')
      await started.ended
    })
    return started
  }
  return { sandbox, queue, host, worker, workerProcess }
}

/** Starts a worker with the key of this service in this process, until the end of the test. */
export async function workerHere(
  { url: baseUrl, key }: Pick<Sandbox, 'url' | 'key'>,
  queue: string,
  settings?: WorkerSettings,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'rankline-worker-'))
  const apiKeyFile = join(folder, 'key')
  await writeFile(apiKeyFile, key)
  const stop = stopSignal()
  const ended = runWorker(
    { baseUrl, apiKeyFile },
    {
      url: queue,
      concurrency: 16,
      leaseMs: 1_000,
      once: false,
      maxOutageMs: 60_000,
      maxThrottlingMs: 60_000,
      stop,
      notice: () => {},
      onUp: () => {},
      onState: () => {},
      ...settings,
    },
  )
  onTestFinished(async () => {
    stop.request({ reason: 'interrupted', message: 'The test is over.' })
    await ended
    await rm(folder, { recursive: true })
  })
}

/** Queries of a job file. */
export function list(count: number, word: string): string {
  return Array.from({ length: count }, (_, index) => `  - ${word} ${index}\n`).join('')
}
