import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { UsageError } from '../../model/errors.ts'
import type { LaidOutFile } from './files.ts'

/** What became of the files of a new workspace. */
export interface LaidOut {
  readonly written: readonly string[]
  /** Files that were there already: they stay as they are. */
  readonly kept: readonly string[]
}

/** Writes the files below a folder, which is made where it is missing. A file that exists is not touched, unless `replace` says so. */
export async function layOut(
  folder: string,
  files: readonly LaidOutFile[],
  { replace }: { readonly replace: boolean },
): Promise<LaidOut> {
  const written: string[] = []
  const kept: string[] = []
  for (const file of files) {
    const isWritten = await writeOne(folder, file, replace ? 'w' : 'wx')
    ;(isWritten ? written : kept).push(file.path)
  }
  return { written, kept }
}

async function writeOne(
  folder: string,
  { path, text, isSecret }: LaidOutFile,
  flag: 'w' | 'wx',
): Promise<boolean> {
  const file = join(folder, path)
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text, { flag, ...(isSecret === true ? { mode: 0o600 } : {}) })
    return true
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await isThere(file))) return false
    throw new UsageError(`${file} cannot be written: ${reasons[code] ?? code}`, { cause: error })
  }
}

/** A folder of the path may be a file: then it is that which exists. */
async function isThere(file: string): Promise<boolean> {
  return await lstat(file).then(
    () => true,
    () => false,
  )
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'you may not write there. Name another folder',
  EPERM: 'you may not write there. Name another folder',
  EROFS: 'the disk is read-only. Name another folder',
  EEXIST: 'a file stands where the folder would be. Name another folder',
  ENOTDIR: 'a file stands where the folder would be. Name another folder',
  ENOSPC: 'the disk is full. Free some space first',
}
