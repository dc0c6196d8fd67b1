import { dirname, resolve } from 'node:path'
import { firstMistake, mistakePrinter, type Report } from '../jobfile/source.ts'
import { workspaceFolder } from '../jobfile/upward.ts'
import type { WorkspaceFile } from '../jobfile/workspace.ts'
import { UsageError } from '../model/errors.ts'
import { noFile, type Problem } from '../model/job.ts'
import type { Workspace } from '../model/settings/workspace.ts'

/** The workspace of a folder, empty where it has no `rankline.yaml`. Throws one sentence where that file has a mistake. */
export async function openWorkspace(folder: string): Promise<Workspace> {
  const mistakes: Problem[] = []
  const read = await readWorkspace(folder, (mistake) => mistakes.push(mistake))
  if (read !== null) return read.workspace
  throw new UsageError(firstMistake(mistakes) ?? `${folder} cannot be read`)
}

/** The workspace that a job file is in; that of the working folder for a job that has no file. */
export async function workspaceOf(jobFile: string): Promise<Workspace> {
  return await openWorkspace(folderOf(jobFile))
}

/** The mistakes of the workspaces of these job files, by the whole path of their folders; each was logged as one line. */
export async function brokenWorkspaces(
  jobFiles: readonly string[],
  { log, all }: { readonly log: (line: string) => void; readonly all: boolean },
): Promise<ReadonlyMap<string, readonly Problem[]>> {
  const named = jobFiles.map((file) => workspaceFolder(folderOf(file)))
  const folders = new Map(named.map((folder) => [resolve(folder), folder]))
  const broken = new Map<string, readonly Problem[]>()
  for (const [path, folder] of folders) {
    const mistakes: Problem[] = []
    const { report, end } = mistakePrinter(log, all)
    await readWorkspace(folder, (mistake) => {
      mistakes.push(mistake)
      report(mistake)
    })
    if (end() > 0) broken.set(path, mistakes)
  }
  return broken
}

/** The whole path of the workspace of a job file; that of the working folder for a job that has none. */
export function workspacePath(jobFile: string): string {
  return resolve(workspaceFolder(folderOf(jobFile)))
}

function folderOf(jobFile: string): string {
  return jobFile === noFile ? '.' : dirname(jobFile)
}

async function readWorkspace(folder: string, report: Report): Promise<WorkspaceFile | null> {
  const { readWorkspace: read } = await import('../jobfile/workspace.ts')
  return await read(folder, report)
}
