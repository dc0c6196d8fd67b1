import { databasePath, type SettingFlags } from '../config.ts'
import { busyExitCode, RanklineError, UsageError } from '../errors.ts'
import { systemClock } from '../model/clock.ts'
import { needsMigration, refuseMissing } from '../store/sqlite/inspect.ts'
import { databaseLock } from '../store/sqlite/lock.ts'
import { countOld, dropOld, type Pruned, type Room, shrink } from '../store/sqlite/prune.ts'
import type { Terminal } from '../terminal.ts'
import { count, size, span } from '../words.ts'
import { tryTurn } from './turns.ts'

export interface PruneFlags extends SettingFlags {
  readonly answers?: string
  readonly 'dry-run'?: boolean
  readonly vacuum?: boolean
  readonly json?: boolean
}

/** `rankline db prune`: drops the stored bodies of old answers; what was read from them stays. */
export async function prune(flags: PruneFlags, terminal: Terminal): Promise<number> {
  const database = databasePath(flags)
  const now = systemClock.wall()
  const request = { before: now - readAge(flags.answers), now }
  if (flags['dry-run'] === true) {
    await tell(flags, terminal, await countOld(database, request), null)
    return 0
  }
  // Taken before anything is dropped: the whole command is refused, or none of it.
  using _turn = turnFor(database, flags)
  const { fileBytes, freeBytes, ...pruned } = await dropOld(database, request)
  const room = flags.vacuum === true ? await shrink(database) : { fileBytes, freeBytes }
  await tell(flags, terminal, pruned, room)
  return 0
}

function readAge(text: string | undefined): number {
  if (text === undefined)
    throw new UsageError(
      'Say how old the answers are whose bodies are dropped: rankline db prune --answers 90d',
    )
  const age = span(text, 'mhdw')
  if (age !== null && age > 0) return age
  throw new UsageError(`--answers cannot be '${text}'; write a span such as 12h, 90d or 26w`)
}

/** To write the whole file anew would keep a process that collects waiting until it fails; to migrate it would change it under its feet. */
function turnFor(database: string, { vacuum = false }: PruneFlags): Disposable | null {
  refuseMissing(database)
  if (vacuum)
    return turnOf(
      database,
      '--vacuum needs it alone. Nothing was dropped; let it finish, or leave --vacuum out: the room is used again in any case',
    )
  return needsMigration(database)
    ? turnOf(database, 'it has to be brought up to date first. Nothing was dropped; let the other one finish')
    : null
}

/** The turn at a database, at once or not at all. */
export function turnOf(database: string, why: string): Disposable {
  const turn = tryTurn(databaseLock(database))
  if (turn !== null) return turn
  throw new RanklineError(`Another process collects into this database, and ${why}`, busyExitCode)
}

async function tell(
  flags: PruneFlags,
  terminal: Terminal,
  { bodies, bytes, kept }: Pruned,
  room: Room | null,
): Promise<void> {
  const dry = room === null
  if (flags.json === true) {
    const file = dry ? {} : { file_bytes: room.fileBytes, free_bytes: room.freeBytes }
    await terminal.out(`${JSON.stringify({ dry_run: dry, bodies, bytes, kept, ...file }, null, 2)}\n`)
    return
  }
  await terminal.out(
    `${dry ? 'Would drop' : 'Dropped'} ${count(bodies, 'stored body', 'stored bodies')}, ${size(bytes)}.\n`,
  )
  if (kept > 0) terminal.say(`${count(kept, 'body', 'bodies')} of that age stay: a run may still need them.`)
  if (!dry) terminal.say(roomLine(room))
}

function roomLine({ fileBytes, freeBytes }: Room): string {
  if (freeBytes === 0) return `The file has ${size(fileBytes)}.`
  return `The file keeps its ${size(fileBytes)}; ${size(freeBytes)} of it are free for new answers. --vacuum gives them back to the disk.`
}
