import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { RanklineError } from '../../model/errors.ts'
import { systemClock } from '../../model/time.ts'
import { databaseSetting, type ServiceFlags, settingsOfShell, version } from '../../run/config.ts'
import { ownerOf } from '../../run/lock.ts'
import { refuseFolder, refuseNetworkFolder } from '../../store/sqlite/connection/database.ts'
import { freeBytes } from '../../store/sqlite/connection/disk-space.ts'
import { mayWrite, needsMigration } from '../../store/sqlite/connection/inspect.ts'
import { databaseLock, isHeld, keyLock, realFile } from '../../store/sqlite/connection/lock.ts'
import { quickCheck } from '../../store/sqlite/maintenance/check.ts'
import { type CheckFinding, checks } from './checks.ts'
import type { CronFacts, DatabaseCondition, InstallationFacts, LockFacts, ProgramFacts } from './facts.ts'
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

function programFacts(): ProgramFacts {
  const { versions, platform, arch } = process
  const hour = (timeZone: string): string =>
    new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' }).format(0)
  return {
    version,
    node: versions.node,
    platform: `${platform} ${arch}`,
    zoneData: versions.tz ?? null,
    knowsZones: hour('Asia/Tokyo') === '09' && hour('UTC') === '00',
    zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
  }
}

/** Databases up to this size are read whole: it takes some seconds. */
const quicklyChecked = 500_000_000

/** What there is of a database; nothing is made or changed. */
async function databaseFacts(
  path: string,
  { isNamed }: { readonly isNamed: boolean },
): Promise<DatabaseCondition> {
  try {
    const folder = existingFolder(path)
    if (!existsSync(path)) {
      if (isNamed) refuseFolder(path)
      refuseNetworkFolder(folder)
      const makeable = isWritable(folder)
        ? null
        : `This user may not write into ${folder}: no run can make the database there. Work elsewhere, or name another with --db`
      return { state: 'missing', path, makeable }
    }
    refuseNetworkFolder(dirname(realFile(path)))
    const bytes = statSync(path).size
    const isOlder = needsMigration(path)
    const isChecked = bytes <= quicklyChecked
    const damage = isChecked ? await quickCheck(path) : null
    return { state: 'there', path, bytes, isWritable: mayWrite(path), isOlder, damage, isChecked }
  } catch (error) {
    if (!(error instanceof RanklineError)) throw error
    return { state: 'unusable', path, mistake: error.message }
  }
}

/** The nearest folder above a file that is there. */
function existingFolder(file: string): string {
  let folder = dirname(resolve(file))
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  return folder
}

/** @param keyHash null where there is no key */
function lockFacts(database: string, keyHash: string | null): readonly LockFacts[] {
  const files = [['database', databaseLock(database)] as const]
  return [...files, ...(keyHash === null ? [] : [['key', keyLock(keyHash)] as const])].map(([of, file]) => ({
    of,
    file,
    owner: isHeld(file) ? ownerText(file) : null,
    isUsable: isWritable(existsSync(file) ? file : existingFolder(file)),
  }))
}

function ownerText(file: string): string {
  const owner = ownerOf(file)
  return owner.startsWith('process') ? owner : 'another process'
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Where cron looks for programs, on Debian and most others. */
const cronPath = ['/usr/bin', '/bin']

function cronFacts(): CronFacts {
  return {
    onlyInShell: settingsOfShell(),
    findsNode: process.platform === 'win32' || cronPath.some((folder) => existsSync(`${folder}/node`)),
  }
}
