import { databasePath } from '../config.ts'
import { UsageError } from '../errors.ts'
import { backUp } from '../store/sqlite/backup.ts'
import { checkDatabase, type Finding } from '../store/sqlite/check.ts'
import { harmless, type Terminal } from '../terminal.ts'
import { count, grouped, nearest, size } from '../words.ts'
import { type PruneFlags, prune } from './prune.ts'

export interface DbFlags extends PruneFlags {
  readonly what: string
  readonly file?: string
}

const works = { backup, check, prune }
const flagsOfPrune = ['answers', 'dry-run', 'vacuum'] as const
const brokenExitCode = 3

/** `rankline db`: what keeps the database: copies, checks, and room. */
export async function db(flags: DbFlags, terminal: Terminal): Promise<number> {
  const what = chosenWork(flags.what)
  if (what !== 'backup' && flags.file !== undefined)
    throw new UsageError(`rankline db ${what} takes no '${flags.file}'. Name the database with --db`)
  const stray = flagsOfPrune.find((name) => flags[name] !== undefined)
  if (what !== 'prune' && stray !== undefined)
    throw new UsageError(`rankline db ${what} takes no --${stray}. It belongs to: rankline db prune`)
  return await works[what](flags, terminal)
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

/** `rankline db check`: whether the file is whole, and says what it must; changes nothing. */
async function check(flags: DbFlags, terminal: Terminal): Promise<number> {
  const database = databasePath(flags)
  const { findings, ...looked } = await checkDatabase(database)
  const whole = findings.length === 0
  if (flags.json === true)
    await terminal.out(`${JSON.stringify({ database, whole, ...looked, findings }, null, 2)}\n`)
  else if (whole)
    await terminal.out(
      `${harmless(database)} is whole: ${count(looked.runs ?? 0, 'run')}, ${count(looked.calls ?? 0, 'call')}, ${count(looked.answers ?? 0, 'answer')} checked.\n`,
    )
  else
    await terminal.out(
      `${[`${harmless(database)} is not whole.`, ...findings.map(told), advice].join('\n')}\n`,
    )
  return whole ? 0 : brokenExitCode
}

function told({ what, count: n, first }: Finding): string {
  return `  ${what}: ${grouped(n)}${first === null ? '' : `, first ${harmless(first)}`}.`
}

const advice =
  'Keep the file as it is, and go on with the newest backup that is whole: rankline --db <backup> db check'
