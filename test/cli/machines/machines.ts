import { onTestFinished } from 'vitest'
import type { SandboxOptions } from '../../../src/sandbox/options.ts'
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts'
import { sharedPostgres } from '../../support/postgres.ts'
import { type Started, type Workspace, workspace } from '../../support/rankline.ts'

export interface Machines {
  readonly sandbox: Sandbox
  readonly queue: { readonly RANKLINE_QUEUE: string }
  /** A host of its own. */
  readonly host: () => Promise<Workspace>
  /** Starts a worker, which is killed with the test. */
  readonly worker: (...args: readonly string[]) => Promise<Started>
}

/** A service, an empty queue, and hosts that share it, for one test. */
export async function machines(options: SandboxOptions = {}): Promise<Machines> {
  const sandbox = await startSandbox(options)
  onTestFinished(() => sandbox.close())
  const queue = { RANKLINE_QUEUE: await (await sharedPostgres()).database() }
  const host = async (): Promise<Workspace> => {
    const place = await workspace(sandbox)
    onTestFinished(() => place[Symbol.asyncDispose]())
    return place
  }
  const worker = async (...args: readonly string[]): Promise<Started> => {
    const lease = args.includes('--lease') ? [] : ['--lease', '1s']
    const started = (await host()).start(['worker', ...lease, ...args], queue)
    onTestFinished(async () => {
      started.child.kill('SIGKILL')
      await started.ended
    })
    return started
  }
  return { sandbox, queue, host, worker }
}

/** Queries of a job file. */
export function list(count: number, word: string): string {
  return Array.from({ length: count }, (_, index) => `  - ${word} ${index}\n`).join('')
}
