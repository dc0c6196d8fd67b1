import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { queriesCsv, type Workspace, workspace } from './rankline.ts'

/** A sandbox, and a workspace that calls it. */
export interface Stage extends AsyncDisposable {
  readonly sandbox: Sandbox
  readonly place: Workspace
}

export async function stage(options?: Parameters<typeof startSandbox>[0]): Promise<Stage> {
  const sandbox = await startSandbox(options)
  const place = await workspace(sandbox)
  return {
    sandbox,
    place,
    [Symbol.asyncDispose]: async () => {
      await place[Symbol.asyncDispose]()
      await sandbox.close()
    },
  }
}

/** What collects the job. */
export const collecting: readonly string[] = ['run', 'job.csv', '--target', 'northdesk.example']

/** A workspace with `job.csv`, three queries that were collected once for a target, and the service that was called. */
export async function collectedJob(): Promise<Stage> {
  const staged = await stage()
  const { place } = staged
  await place.file('job.csv', queriesCsv(3))
  const { code, stderr } = await place.call(collecting)
  if (code !== 0) throw new Error(`rankline ${collecting.join(' ')}: ${code}\n${stderr}`)
  return staged
}
