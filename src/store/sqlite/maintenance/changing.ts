import Database from 'better-sqlite3'
import { busyExitCode, RanklineError, UsageError } from '../../../model/errors.ts'
import { inspect, openFile, setPragmas } from '../connection/database.ts'
import { describeError } from '../connection/errors.ts'
import { migrate } from '../migrate.ts'

/** Opens a database to change what keeps it in order. */
export async function changing<T>(
  path: string,
  change: (db: Database.Database) => T | Promise<T>,
): Promise<T> {
  // Refuses a file that is not a database of rankline before anything is written.
  await inspect(path, () => {})
  const db = openFile(path)
  try {
    setPragmas(db)
    await migrate(db, path)
    return await change(db)
  } catch (error) {
    throw describeError(unchanged(error, path), path)
  } finally {
    db.close()
  }
}

function unchanged(error: unknown, path: string): unknown {
  const code = error instanceof Database.SqliteError ? error.code : ''
  if (code === 'SQLITE_FULL')
    return new UsageError(
      `The disk of ${path} is full. Make room first; --vacuum needs as much as a copy of the database`,
      { cause: error },
    )
  if (code.startsWith('SQLITE_BUSY'))
    return new RanklineError(
      `Another process writes into ${path} and does not stop. Let it finish, then run this again`,
      busyExitCode,
      { cause: error },
    )
  return error
}
