import { type OptionSpecs, switchOption } from '../model/option.ts'
import { note, type Terminal } from '../output/terminal.ts'
import { type CommandOptions, databasePath, makeDefaultFolder, ownKeyHash } from '../run/config.ts'
import { waitForLocks } from '../run/lock.ts'
import { databaseLock } from '../store/sqlite/connection/lock.ts'
import { queueFlags } from './flags.ts'

export const syncFirstFlags = {
  ...queueFlags,
  sync: switchOption('First bring what machines did into this database, as rankline sync does'),
} satisfies OptionSpecs

/** Brings the shared journal into the database that a command is about to read, where its flags say so. */
export async function syncFirst(
  flags: CommandOptions & { readonly sync?: boolean | undefined },
  terminal: Terminal,
): Promise<void> {
  if (flags.sync !== true) return
  const { keptAnswers, neededQueue, syncDatabase } = await import('../machines/queue.ts')
  const url = neededQueue(flags)
  const database = databasePath(flags)
  makeDefaultFolder(database)
  const notice = (line: string): void => note(terminal, line)
  using lock = waitForLocks([databaseLock(database)], undefined, notice)
  await lock.acquire()
  await syncDatabase({ url, database, ownKey: ownKeyHash(flags), ...keptAnswers, notice })
}
