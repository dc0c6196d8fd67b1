import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { RanklineError, UsageError } from '../errors.ts'

/** Writes a file whole: beside its name first, then renamed, so that nobody ever reads half of it. */
export async function writeWhole(named: string, pieces: AsyncIterable<string>): Promise<void> {
  if (named.trim() === '') throw new UsageError('--out is empty. Give it the name of a file')
  // A link stays a link; what it points to is written.
  const path = existsSync(named) ? realpathSync(named) : named
  const folder = dirname(path)
  if (!existsSync(folder))
    throw new UsageError(`The folder ${folder} does not exist. Create it with: mkdir -p ${folder}`)
  if (existsSync(path) && statSync(path).isDirectory())
    throw new UsageError(`${path} is a folder. Give --out the name of a file in it`)
  if (existsSync(path) && !statSync(path).isFile())
    throw new UsageError(`${path} is no plain file. Leave --out away to write to stdout, or name a file`)
  if (holdsDatabase(path))
    throw new UsageError(`${path} is a database, which would be lost. Give --out the name of another file`)
  const beside = `${path}.${process.pid}.partial`
  try {
    const file = await open(beside, 'w')
    try {
      // Not `write`, which may take a part of it and say so to nobody.
      for await (const piece of pieces) await file.appendFile(piece)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(beside, path)
  } catch (error) {
    await rm(beside, { force: true })
    throw explained(error, named)
  }
}

/** Exit code for what may pass: the same command can be run again. */
const tryAgain = 6

function explained(error: unknown, named: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new RanklineError(
      `${named} cannot be written, for the disk is full. Make room, or name a file elsewhere`,
      tryAgain,
      { cause: error },
    )
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new UsageError(`${named} cannot be written. Check the permissions of its folder`, { cause: error })
  return error
}

/** Whether the file begins as SQLite's do. */
function holdsDatabase(path: string): boolean {
  if (!existsSync(path)) return false
  const start = Buffer.alloc(15)
  const file = openSync(path, 'r')
  readSync(file, start)
  closeSync(file)
  return start.toString('latin1') === 'SQLite format 3'
}
