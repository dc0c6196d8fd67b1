import { existsSync, statSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../errors.ts'

/** Writes a file whole: beside its name first, then renamed, so that nobody ever reads half of it. */
export async function writeWhole(path: string, pieces: AsyncIterable<string>): Promise<void> {
  const folder = dirname(path)
  if (!existsSync(folder))
    throw new UsageError(`The folder ${folder} does not exist. Create it with: mkdir -p ${folder}`)
  if (existsSync(path) && statSync(path).isDirectory())
    throw new UsageError(`${path} is a folder. Give --out the name of a file in it`)
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
    throw error
  }
}
