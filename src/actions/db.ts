import { databasePath, type SettingFlags } from '../config.ts'
import { UsageError } from '../errors.ts'
import { backUp } from '../store/sqlite/backup.ts'
import { harmless, type Terminal } from '../terminal.ts'
import { count, nearest, size } from '../words.ts'

export interface DbFlags extends SettingFlags {
  readonly what: string
  readonly file?: string
  readonly json?: boolean
}

const works = { backup }

/** `rankline db`: what keeps the database: copies of it. */
export async function db(flags: DbFlags, terminal: Terminal): Promise<number> {
  return await works[chosenWork(flags.what)](flags, terminal)
}

function chosenWork(what: string): keyof typeof works {
  if (Object.hasOwn(works, what)) return what as keyof typeof works
  const known = Object.keys(works)
  const near = nearest(what, known)
  throw new UsageError(
    `rankline db does not know '${what}'. ${near === null ? `Write one of ${known.join(', ')}` : `Did you mean ${near}?`}`,
  )
}

/** `rankline db backup`: a whole copy in a single file, also while another process collects. */
async function backup(flags: DbFlags, terminal: Terminal): Promise<number> {
  if (flags.file === undefined) throw new UsageError('Say where the copy goes: rankline db backup <file>')
  const { bytes, runs } = await backUp(databasePath(flags), flags.file)
  await terminal.out(
    flags.json === true
      ? `${JSON.stringify({ file: flags.file, bytes, runs }, null, 2)}\n`
      : `Backed up to ${harmless(flags.file)}: ${size(bytes)}, ${count(runs, 'run')}.\n`,
  )
  return 0
}
