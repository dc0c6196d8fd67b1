import { chmodSync } from 'node:fs'
import Database from 'better-sqlite3'
import { UsageError } from '../../errors.ts'
import { explained, isLocked } from './troubles.ts'

/** A lock that the operating system takes back when its owner dies, however it dies. */
export interface Lock {
  release(): void
}

/** Takes the lock that a file stands for; null where another process holds it. The file is made where it is missing. */
export function tryLock(path: string): Lock | null {
  const db = openLock(path)
  try {
    // Nothing is ever written under it, so that no journal has to find room either.
    db.pragma('journal_mode = MEMORY')
    // SQLite's exclusive lock is one of the operating system's on the file.
    db.exec('BEGIN EXCLUSIVE')
    return { release: () => db.close() }
  } catch (error) {
    db.close()
    if (isLocked(error)) return null
    throw explained(error, path)
  }
}

function openLock(path: string): Database.Database {
  try {
    const db = new Database(path, { timeout: 0 })
    letOthersLock(path)
    return db
  } catch (error) {
    throw new UsageError(
      `The lock file ${path} cannot be made or opened. Check that its folder exists and may be written`,
      { cause: error },
    )
  }
}

/** Another user of this machine with the same key waits for the same lock. */
function letOthersLock(path: string): void {
  try {
    chmodSync(path, 0o666)
  } catch {
    // It is another user's, who did so.
  }
}
