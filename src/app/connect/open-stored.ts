import { existsSync } from 'node:fs'
import type { RunList } from '../../store/sqlite/open-runs.ts'
import type { Store } from '../../store/store.ts'
import { databaseSetting, type SettingFlags } from '../config.ts'

/**
 * Opens the database to read it. One that was named must be there, unless the command would make it; without one of the usual name,
 * nothing has run.
 */
export async function openWhatIsStored(
  flags: SettingFlags,
  named: 'must be there' | 'may be missing' = 'must be there',
): Promise<Store> {
  const path = await databaseToRead(flags, named)
  const { openReader, openStore } = await import('../../store/sqlite/open.ts')
  return path === null ? await openStore(':memory:') : await openReader(path)
}

/** The same for runs alone. */
export async function openRunList(flags: SettingFlags): Promise<RunList> {
  const path = await databaseToRead(flags)
  if (path === null) return await (await import('../../store/sqlite/open.ts')).openStore(':memory:')
  return await (await import('../../store/sqlite/open-runs.ts')).openRuns(path)
}

/** The driver is loaded here, not with the commands: their help needs none. */
async function databaseToRead(
  flags: SettingFlags,
  named: 'must be there' | 'may be missing' = 'must be there',
): Promise<string | null> {
  const { requireDatabase } = await import('../../store/sqlite/connection/inspect.ts')
  const { path, isNamed } = databaseSetting(flags)
  if (isNamed && named === 'must be there') requireDatabase(path)
  return existsSync(path) ? path : null
}
