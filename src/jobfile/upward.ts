import { existsSync, type Stats, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, relative, resolve } from 'node:path'

/** The file that holds what the jobs of a workspace share. */
export const workspaceFile = 'rankline.yaml'

/**
 * The nearest folder that holds such a file, from a folder upward; null where there is none. The search ends with the home folder and
 * the root, and at the first folder that is another owner's or that everyone may write into, as `/tmp`: no other user may say where a
 * key is sent.
 *
 * @param isHere whether a folder of ours holds what is sought
 */
export function upwardFrom(folder: string, isHere: (folder: string) => boolean): string | null {
  const owners = ownersFor(folder)
  for (let here = resolve(folder); ; here = dirname(here)) {
    if (isHere(here)) return here
    const parent = dirname(here)
    if (here === homedir() || parent === here) return null
    const found = stated(parent)
    if (found !== null && (!owners.has(found.uid) || isForAll(found))) return null
  }
}

/** The same for a file of that name, which may be no folder. */
export function folderOfFile(name: string, folder: string): string | null {
  const owners = ownersFor(folder)
  let isStart = true
  return upwardFrom(folder, (here) => {
    const found = stated(resolve(here, name))
    // What lies beside a job was chosen with it.
    const isOurs = found !== null && !found.isDirectory() && (isStart || owners.has(found.uid))
    isStart = false
    return isOurs
  })
}

/** The folder of `rankline.yaml` for a job file's folder; that folder itself where there is none. */
export function workspaceFolder(folder: string): string {
  const found = folderOfFile(workspaceFile, folder)
  return found === null || found === resolve(folder) ? folder : shownPath(found)
}

/** Endings of files with queries. */
export const tableExtensions: readonly string[] = ['.csv', '.tsv', '.txt']
/** Endings of job files, in the order in which a name is tried with them. */
export const jobExtensions: readonly string[] = ['.yaml', '.yml', ...tableExtensions]

/** The file or folder of jobs that was named, with or without its ending; null where there is none. */
export function jobFileNamed(text: string): string | null {
  if (existsSync(text)) return text
  const found = jobExtensions.find((ending) => existsSync(`${text}${ending}`))
  return found === undefined ? null : `${text}${found}`
}

/** What cannot be looked at is none: who reads it says why. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** A path as a user of the working folder would write it. */
export function shownPath(path: string): string {
  const short = relative('', path) || '.'
  return short.startsWith('..') ? resolve(path) : short
}

/** Windows knows no such mode. */
function isForAll({ mode }: Stats): boolean {
  return process.platform !== 'win32' && (mode & 0o002) !== 0
}

/** Whose files may speak for a folder: this user's, the folder owner's and the system's. */
function ownersFor(folder: string): ReadonlySet<number> {
  return new Set([0, process.getuid?.() ?? 0, stated(folder)?.uid ?? 0])
}

function stated(path: string): Stats | null {
  try {
    return existsSync(path) ? statSync(path) : null
  } catch {
    return null
  }
}
