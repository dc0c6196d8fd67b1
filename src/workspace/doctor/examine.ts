import { databaseSetting, type ServiceFlags } from '../../app/config.ts'
import { systemClock } from '../../model/time.ts'
import { freeBytes } from '../../store/sqlite/connection/disk-space.ts'
import { type CheckFinding, checks } from './checks.ts'
import type { InstallationFacts } from './facts.ts'
import { cronFacts, databaseFacts, existingFolder, lockFacts, programFacts } from './machine.ts'
import { nothingKnown, serviceFacts, settingsFacts } from './service.ts'
import { folderFacts, workspaceFacts } from './workspace.ts'

/** A check by its name, and what it found. */
export interface Examined extends CheckFinding {
  readonly check: string
}

/** Does every check in the working folder. Makes and changes no database; calls only what is free. */
export async function examine(flags: ServiceFlags): Promise<readonly Examined[]> {
  const facts = await gather(flags)
  return checks.map(({ name, judge }) => ({ check: name, ...judge(facts) }))
}

async function gather(flags: ServiceFlags): Promise<InstallationFacts> {
  const { path, isNamed } = databaseSetting(flags)
  const { facts: settings, keyHash } = settingsFacts(flags)
  // Before the service is asked: while the answer is stored, the database is open.
  const database = await databaseFacts(path, { isNamed })
  const locks = lockFacts(path, keyHash)
  const isQueued = 'isQueued' in settings && settings.isQueued
  const isAlone = !isQueued && locks.every(({ of, owner }) => of !== 'key' || owner === null)
  const asked =
    keyHash === null
      ? { service: null, sharing: nothingKnown }
      : await serviceFacts(flags, database, { isAlone })
  return {
    now: systemClock.wall(),
    program: programFacts(),
    settings,
    ...asked,
    database,
    freeBytes: freeBytes(existingFolder(path)),
    locks,
    cron: cronFacts(),
    folder: folderFacts('.'),
    ...(await workspaceFacts('.', { allowHttp: flags['allow-http'] === true })),
  }
}
