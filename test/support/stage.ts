import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts'
import { type Workspace, workspace } from './rankline.ts'

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
