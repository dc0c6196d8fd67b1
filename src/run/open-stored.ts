import { existsSync } from 'node:fs'
import type { Store } from '../store/sqlite/open.ts'
import type { RunReads } from '../store/sqlite/runs.ts'
import { type CommandOptions, databaseFile } from './config.ts'
import { turns } from './lock.ts'

/**
 * Opens the database to read it. One that was named must be there, unless the command would make it; without one of the usual name,
 * nothing has run.
 */
async function openWhatIsStored(
  options: CommandOptions,
  named: 'must be there' | 'may be missing' = 'must be there',
): Promise<Store> {
  const path = await databaseToRead(options, named)
  const { openReader, openStore } = await import('../store/sqlite/open.ts')
  return path === null ? await openStore(':memory:') : await openReader(path)
}

/** What a list of runs reads. */
type RunList = Pick<Store, keyof RunReads | typeof Symbol.asyncDispose>

/** The same for runs alone. */
async function openRunList(options: CommandOptions): Promise<RunList> {
  const path = await databaseToRead(options)
  if (path === null) return await (await import('../store/sqlite/open.ts')).openStore(':memory:')
  return await openRuns(path)
}

/** Opens the database to read runs alone: to load the rest would take longer than to read them. One of an older rankline is read through a copy. */
export async function openRuns(path: string): Promise<RunList> {
  const [{ openToRead, refuseEmpty }, { describeError, describingErrors }, migrations, { runReads }] =
    await Promise.all([
      import('../store/sqlite/connection/database.ts'),
      import('../store/sqlite/connection/errors.ts'),
      import('../store/sqlite/migrate.ts'),
      import('../store/sqlite/runs.ts'),
    ])
  const { db, close } = openToRead(path)
  try {
    if (refuseEmpty(db, path) === migrations.newestMigration) {
      migrations.shadowViews(db)
      const list: RunList = {
        ...runReads(db),
        [Symbol.asyncDispose]: async () => close(),
      }
      return describingErrors(list, path)
    }
  } catch (error) {
    close()
    throw describeError(error, path)
  }
  close()
  const { openCopy } = await import('../store/sqlite/open.ts')
  return await openCopy(path)
}

/** The driver is loaded here, not with the commands: their help needs none. */
async function databaseToRead(
  options: CommandOptions,
  named: 'must be there' | 'may be missing' = 'must be there',
): Promise<string | null> {
  const { requireDatabase } = await import('../store/sqlite/connection/database.ts')
  const { path, isNamed } = databaseFile.setting(options)
  if (isNamed && named === 'must be there') requireDatabase(path)
  return existsSync(path) ? path : null
}

/**
 * Opens the database to change what it says of jobs, alerts and messages.
 *
 * @param wait how long to wait for another process that collects
 * @param beside whether a run may go on meanwhile: then only a migration needs the turn of this process
 */
async function openToChange(
  database: string,
  {
    wait,
    beside,
    log,
  }: {
    readonly wait?: string | undefined
    readonly beside: boolean
    readonly log: (line: string) => void
  },
) {
  const [{ needsMigration }, { databaseLock }, { openStore }] = await Promise.all([
    import('../store/sqlite/connection/database.ts'),
    import('../store/sqlite/connection/lock.ts'),
    import('../store/sqlite/open.ts'),
  ])
  const turn = turns.wait([databaseLock(database)], wait, log)
  try {
    if (!beside || needsMigration(database)) await turn.acquire()
    const store = await openStore(database)
    return {
      store,
      [Symbol.asyncDispose]: async () => {
        await store[Symbol.asyncDispose]()
        turn[Symbol.dispose]()
      },
    }
  } catch (error) {
    turn[Symbol.dispose]()
    throw error
  }
}

/** What is stored, opened without a key. */
export const storedData = {
  read: openWhatIsStored,
  change: openToChange,
  runs: openRunList,
}
