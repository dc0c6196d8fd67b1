import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { settingsOfShell, version } from '../../app/config.ts'
import { ownerOf } from '../../app/lock.ts'
import { RanklineError } from '../../model/errors.ts'
import { refuseFolder, refuseNetworkFolder } from '../../store/sqlite/connection/database.ts'
import { mayWrite, needsMigration } from '../../store/sqlite/connection/inspect.ts'
import { databaseLock, isHeld, keyLock, realFile } from '../../store/sqlite/connection/lock.ts'
import { quickCheck } from '../../store/sqlite/maintenance/check.ts'
import type { CronFacts, DatabaseCondition, LockFacts, ProgramFacts } from './facts.ts'

export function programFacts(): ProgramFacts {
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
export async function databaseFacts(
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
export function existingFolder(file: string): string {
  let folder = dirname(resolve(file))
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  return folder
}

/** @param keyHash null where there is no key */
export function lockFacts(database: string, keyHash: string | null): readonly LockFacts[] {
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

export function cronFacts(): CronFacts {
  return {
    onlyInShell: settingsOfShell(),
    findsNode: process.platform === 'win32' || cronPath.some((folder) => existsSync(`${folder}/node`)),
  }
}
