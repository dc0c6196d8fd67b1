import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { queriesCsv, type Workspace, workspace } from './rankline.ts'

/** A workspace with `job.csv`, three queries that were collected once for a target, and the service that was called. */
export interface CollectedJob extends AsyncDisposable {
  readonly place: Workspace
  readonly sandbox: Sandbox
}

/** What collects the job. */
export const collecting: readonly string[] = ['run', 'job.csv', '--target', 'northdesk.example']

export async function collectedJob(): Promise<CollectedJob> {
  const sandbox = await startSandbox()
  const place = await workspace(sandbox)
  await place.file('job.csv', queriesCsv(3))
  const { code, stderr } = await place.run(collecting)
  if (code !== 0) throw new Error(`rankline ${collecting.join(' ')}: ${code}\n${stderr}`)
  return {
    place,
    sandbox,
    [Symbol.asyncDispose]: async () => {
      await place[Symbol.asyncDispose]()
      await sandbox.close()
    },
  }
}
