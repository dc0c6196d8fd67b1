import { databasePath } from '../config.ts'
import { UsageError } from '../errors.ts'
import { backUp } from '../store/sqlite/backup.ts'
import { checkDatabase, type Finding } from '../store/sqlite/check.ts'
import { needsMigration, refuseMissing } from '../store/sqlite/inspect.ts'
import { openStore } from '../store/sqlite/open.ts'
import { harmless, type Terminal } from '../terminal.ts'
import { count, grouped, nearest, size } from '../words.ts'
import { type PruneFlags, prune, turnOf } from './prune.ts'

export interface DbFlags extends PruneFlags {
  readonly what: string
  readonly file?: string
}

const works = { backup, check, migrate, prune }
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
  const { findings, openCalls, isDamaged, ...looked } = await checkDatabase(database)
  const whole = findings.length === 0
  if (flags.json === true)
    await terminal.out(
      `${JSON.stringify({ database, whole, ...looked, open_calls: openCalls, findings }, null, 2)}\n`,
    )
  else if (whole)
    await terminal.out(
      `${harmless(database)} is whole: ${count(looked.runs ?? 0, 'run')}, ${count(looked.calls ?? 0, 'call')}, ${count(looked.answers ?? 0, 'answer')} checked.\n${openLine(openCalls ?? 0)}`,
    )
  else
    await terminal.out(
      `${[`${harmless(database)} is not whole.`, ...findings.map(told), advice(isDamaged)].join('\n')}\n`,
    )
  return whole ? 0 : brokenExitCode
}

function told({ what, count: n, first }: Finding): string {
  return `  ${what}: ${grouped(n)}${first === null ? '' : `, first ${harmless(first)}`}.`
}

/** `rankline db migrate`: brings a database of an older rankline up to date, as every command that writes does. */
async function migrate(flags: DbFlags, terminal: Terminal): Promise<number> {
  const database = databasePath(flags)
  refuseMissing(database)
  const isOld = needsMigration(database)
  if (isOld) {
    using _turn = turnOf(database, 'it cannot be changed beside that. Let the other one finish')
    await (await openStore(database))[Symbol.asyncDispose]()
  }
  await terminal.out(
    flags.json === true
      ? `${JSON.stringify({ database, migrated: isOld }, null, 2)}\n`
      : `${harmless(database)} ${isOld ? 'is brought up to date' : 'is up to date'}.\n`,
  )
  return 0
}

/** Calls in the air are no damage. */
function openLine(calls: number): string {
  if (calls === 0) return ''
  const have = calls === 1 ? 'has' : 'have'
  return `${count(calls, 'call')} ${have} no end yet: in the air now, or left by a process that died. The next run counts what is left as ambiguous.\n`
}

function advice(isDamaged: boolean): string {
  const backup = 'A backup lacks what was paid for since it was made'
  return isDamaged
    ? `Copy the file and its -wal before anything else. ${backup}: save first what can still be read, with: sqlite3 <copy> .recover | sqlite3 saved.db`
    : `All the rest is sound, and rankline can go on with the file. ${backup}: take from it only what is broken here`
}
