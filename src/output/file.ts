import { closeSync, existsSync, lstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { RanklineError, UsageError } from '../model/errors.ts'
import { count } from '../model/text.ts'

/**
 * Writes a file completely under another name, then renames it: no reader sees half of it.
 *
 * @param by the option or variable that named the file
 * @param mode permissions, whatever the mask of the process takes away; its own rules if not given
 */
export async function writeFileAtomically(
  named: string,
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  by = '--out',
  mode?: number,
): Promise<void> {
  const path = writablePath(named, by)
  const partial = `${path}.${process.pid}.partial`
  try {
    const file = await open(partial, 'w')
    try {
      // `write` may write only a part without an error.
      for await (const piece of pieces) await file.appendFile(piece)
      if (mode !== undefined) await file.chmod(mode)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(partial, path)
    await syncFolder(dirname(path))
  } catch (error) {
    // The same error may occur again.
    await rm(partial, { force: true }).catch(() => {})
    throw explained(error, named)
  }
}

/** The path that a file of that name is written to; throws one sentence if it cannot be written. */
export function writablePath(named: string, by: string): string {
  if (named.trim() === '') throw new UsageError(`${by} is empty. Give it the name of a file`)
  // A link stays a link: its target is written.
  const path = existsSync(named) ? realpathSync(named) : resolve(named)
  if (!existsSync(path) && isLink(path))
    throw new UsageError(`${named} is a link to nothing. Give ${by} the name of a file`)
  const folder = dirname(named)
  if (!existsSync(folder))
    throw new UsageError(
      `The folder ${folder}, for ${by}, does not exist. Create it with: mkdir -p ${folder}`,
    )
  if (existsSync(path) && statSync(path).isDirectory())
    throw new UsageError(`${path} is a folder. Give ${by} the name of a file in it`)
  if (existsSync(path) && !statSync(path).isFile())
    throw new UsageError(`${path} is not a regular file. Give ${by} the name of one, or leave it out`)
  if (holdsDatabase(path, by) || isDatabaseSideFile(path, by))
    throw new UsageError(
      `${path} is a database or a part of one, which would be lost. Give ${by} the name of another file`,
    )
  return path
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    // There is no file, and there can be none.
    return false
  }
}

/** Makes the new name survive a power failure; later writes rely on it. */
async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open folders.
  if (process.platform === 'win32') return
  const opened = await open(folder)
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}

/** Exit code for temporary errors: the same command can be run again. */
const tryAgain = 6

function explained(error: unknown, named: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new RanklineError(
      `${named} cannot be written because the disk is full. Free some space, or name a file elsewhere`,
      tryAgain,
      { cause: error },
    )
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new UsageError(`${named} cannot be written. Check the permissions of its folder`, { cause: error })
  if (code !== undefined && unfitNames.has(code))
    return new UsageError(`${named} cannot be written (${code}). Name another file`, { cause: error })
  return error
}

/** Errors of a wrong name: too long, below a file, or in a folder that takes no files. */
const unfitNames: ReadonlySet<string> = new Set(['ENAMETOOLONG', 'ENOTDIR', 'ENOENT', 'EINVAL', 'ELOOP'])

/** Whether it is a file that SQLite keeps next to a database, with changes that are not in the database yet. */
function isDatabaseSideFile(path: string, by: string): boolean {
  const database = path.replace(/-(?:wal|shm|journal)$/, '')
  return database !== path && holdsDatabase(database, by)
}

/** Whether the file is a database, by its first bytes. A file that cannot be read may be one. */
function holdsDatabase(path: string, by: string): boolean {
  if (!existsSync(path)) return false
  const start = Buffer.alloc(15)
  try {
    const file = openSync(path, 'r')
    readSync(file, start)
    closeSync(file)
  } catch (error) {
    throw new UsageError(
      `${path} is there and cannot be read, so it may be a database. Give ${by} the name of another file`,
      { cause: error },
    )
  }
  return start.toString('latin1') === 'SQLite format 3'
}

/** Lines of a change that are shown. */
const shownLines = 20

/** What a change makes of a file, line by line; `before` is null for a new file. Lines that stay are left out. */
export function changedLines(path: string, before: string | null, after: string): readonly string[] {
  const old = before === null ? [] : before.trimEnd().split(/\r?\n/)
  const changes: string[] = []
  let at = 0
  for (const line of after.trimEnd().split(/\r?\n/)) {
    if (line === old[at]) at++
    else if (at < old.length && isRewritten(old[at] as string, line))
      changes.push(`-${old[at++]}`, `+${line}`)
    else changes.push(`+${line}`)
  }
  const more = changes.length - shownLines
  return [
    `--- ${before === null ? '/dev/null' : path}`,
    `+++ ${path}`,
    ...changes.slice(0, shownLines),
    ...(more > 0 ? [`… and ${count(more, 'line')} more`] : []),
  ]
}

/** Whether one line is another one with something put in: all its signs are there in their order. */
function isRewritten(line: string, next: string): boolean {
  let at = 0
  for (const sign of next) if (sign === line[at]) at++
  return line !== '' && at === line.length
}
