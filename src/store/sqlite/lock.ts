import Database from 'better-sqlite3'

/** A lock that the operating system takes back when its owner dies, however it dies. */
export interface Lock {
  release(): void
}

/** Takes the lock that a file stands for; null where another process holds it. The file is made where it is missing. */
export function tryLock(path: string): Lock | null {
  const db = new Database(path, { timeout: 0 })
  try {
    // SQLite's exclusive lock is one of the operating system's on the file; nothing is ever written under it.
    db.exec('BEGIN EXCLUSIVE')
    return { release: () => db.close() }
  } catch (error) {
    db.close()
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return null
    throw error
  }
}
