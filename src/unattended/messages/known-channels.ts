import { RanklineError } from '../../model/errors.ts'
import type { Workspace } from '../../model/settings/workspace.ts'
import { workspaceOf, workspacePath } from '../../run/workspace.ts'
import type { OutboxStore } from '../../store/outbox.ts'

/**
 * The channels of the workspace of a job file. While `rankline.yaml` there has mistakes, they are those that it had before: that
 * it has mistakes must be told, too. Commands are not started then: the file may say another one by now.
 */
export async function knownChannels(
  store: Pick<OutboxStore, 'lastChannels'>,
  jobFile: string,
): Promise<Pick<Workspace, 'folder' | 'channels'> & { readonly isSound: boolean }> {
  try {
    return { ...(await workspaceOf(jobFile)), isSound: true }
  } catch (error) {
    const folder = workspacePath(jobFile)
    const last = error instanceof RanklineError ? await store.lastChannels(folder) : null
    if (last === null) throw error
    const safe = Object.entries(last).filter(([, { type }]) => type !== 'exec')
    return { folder, channels: Object.fromEntries(safe), isSound: false }
  }
}
