import { existsSync } from 'node:fs'
import { databaseSetting, type SettingFlags } from '../config.ts'
import { refuseMissing } from '../store/sqlite/inspect.ts'
import { openRuns, type RunList } from '../store/sqlite/open-runs.ts'
import type { Store } from '../store/store.ts'

/** Opens the database to read it. One that was named has to be there; without one of the usual name, nothing has run. */
export async function openWhatIsStored(flags: SettingFlags): Promise<Store> {
  const { path, isNamed } = databaseSetting(flags)
  if (isNamed) refuseMissing(path)
  const { openReader, openStore } = await import('../store/sqlite/open.ts')
  return existsSync(path) ? await openReader(path) : await openStore(':memory:')
}

/** The same for runs alone. */
export async function openRunList(flags: SettingFlags): Promise<RunList> {
  const { path, isNamed } = databaseSetting(flags)
  if (isNamed) refuseMissing(path)
  if (existsSync(path)) return await openRuns(path)
  const { openStore } = await import('../store/sqlite/open.ts')
  return await openStore(':memory:')
}
