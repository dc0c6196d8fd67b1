import {
  accessSync,
  closeSync,
  constants,
  ftruncateSync,
  openSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import Database from 'better-sqlite3'
import { describeLimit, RanklineError, tryAgainExitCode, UsageError } from '../../../model/errors.ts'

const sqliteErrors: readonly {
  /** How SQLite's name of the error begins. */
  readonly code: string
  readonly message: string
  /** The disk, not a setting, is to blame. */
  readonly passes?: true
}[] = [
  { code: 'SQLITE_NOTADB', message: 'is not a SQLite database. Name another file with --db' },
  {
    code: 'SQLITE_CORRUPT',
    message: 'is damaged. Restore it from a backup, or name another file with --db',
  },
  {
    code: 'SQLITE_CANTOPEN',
    message: 'cannot be opened. Check that the file and its folder may be read and written',
  },
  {
    code: 'SQLITE_READONLY',
    message: 'cannot be written. Check the permissions of the file and its folder',
  },
  {
    code: 'SQLITE_FULL',
    message:
      'cannot grow, for the disk (or the one for temporary files) is full. Make room, then run the same command again',
    passes: true,
  },
  {
    code: 'SQLITE_IOERR_SHMSIZE',
    message: 'cannot grow, for the disk is full. Make room, then run the same command again',
    passes: true,
  },
  {
    code: 'SQLITE_IOERR',
    message:
      'cannot be read or written, for the disk reports an error. Check the disk, then run the same command again',
    passes: true,
  },
  {
    code: 'SQLITE_BUSY',
    message: 'is locked by another program. Close it there, then run the same command again',
    passes: true,
  },
]

/**
 * An error of the database in one sentence with what to do; other errors as they are.
 *
 * @param loss what became of its file, where that is lost: then nothing else is the reason
 */
export function describeError(error: unknown, path: string, loss: string | null = null): unknown {
  const code = codeOf(error)
  if (loss !== null && code !== '') return new RanklineError(loss, tryAgainExitCode, { cause: error })
  const found = causes.find(([begin]) => code.startsWith(begin))?.[1](realPath(path)) ?? null
  if (found !== null) return new RanklineError(found, tryAgainExitCode, { cause: error })
  const known = sqliteErrors.find((one) => code.startsWith(one.code))
  if (known === undefined) return error
  const sentence = `${path} ${known.message}.`
  return known.passes
    ? new RanklineError(sentence, tryAgainExitCode, { cause: error })
    : new UsageError(sentence, { cause: error })
}

/** The file itself, beside which SQLite has its others. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

type FindCause = (path: string) => string | null

/** SQLite names the file that it could not use; these look for the reason. */
const causes: readonly (readonly [code: string, find: FindCause])[] = [
  ['SQLITE_CANTOPEN', (path) => noFilesLeft(path) ?? sideFileOfOthers(path)],
  ['SQLITE_READONLY', sideFileOfOthers],
  ['SQLITE_IOERR_WRITE', largestFile],
  ['SQLITE_FULL', largestFile],
  ['SQLITE_CORRUPT', logBeside],
]

function noFilesLeft(path: string): string | null {
  try {
    closeSync(openSync(path, 'r'))
    return null
  } catch (error) {
    const limit = describeLimit(error)
    return limit instanceof RanklineError ? limit.message : null
  }
}

/** A file beside the database that another user left, as a command with sudo does. */
function sideFileOfOthers(path: string): string | null {
  for (const side of ['-wal', '-shm']) {
    const owner = statSync(path + side, { throwIfNoEntry: false })?.uid
    if (owner === undefined || mayUse(path + side)) continue
    return `${path} cannot be used: ${path}${side} beside it belongs to the user with the number ${owner}, and may not be read and written. Run the command as that user, or give that user's files to this one: chown <user> ${path}*`
  }
  return null
}

function mayUse(file: string): boolean {
  try {
    accessSync(file, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}

const nextBytes = 1_000_000

/** Whether the system forbids a file to be as large as the database, or its log, would be next. */
function largestFile(path: string): string | null {
  const sizes = ['', '-wal'].map((side) => statSync(path + side, { throwIfNoEntry: false })?.size ?? 0)
  const probe = `${path}.probe`
  try {
    const fd = openSync(probe, 'w')
    try {
      // Nothing is written: the file has a length, and takes no room.
      ftruncateSync(fd, Math.max(...sizes) + nextBytes)
    } finally {
      closeSync(fd)
    }
    return null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EFBIG') return null
    const limit = describeLimit(error)
    return limit instanceof RanklineError ? `${path} cannot grow. ${limit.message}` : null
  } finally {
    rmSync(probe, { force: true })
  }
}

/** A log that was left beside a file which took the place of another. */
function logBeside(path: string): string | null {
  const bytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  return bytes === 0
    ? null
    : `${path} is damaged, or ${path}-wal beside it belongs to another database: where this one is a backup that was copied here, move the file ending in -wal away, and put backups back with rankline db restore <file>`
}

/** Whether the database wants space that the disk does not have. */
function isDiskFull(error: unknown): boolean {
  return ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].includes(codeOf(error))
}

/** Whether a write failed: at a quota of the file system for want of room, else because the disk fails. */
function isWriteFailure(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_IOERR_WRITE'
}

/** Whether the disk cannot be read or written, full or not. */
function isDiskFailure(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_IOERR')
}

/** Whether another connection is writing. */
function isLocked(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}

function codeOf(error: unknown): string {
  if (error instanceof Database.SqliteError) return error.code
  // Of a file beside the database, from the system itself.
  return error instanceof Error && 'code' in error && error.code === 'EIO' ? 'SQLITE_IOERR' : ''
}

/** The same object, whose methods explain the errors of the database. */
export function describingErrors<T extends object>(
  target: T,
  path: string,
  loss: () => string | null = () => null,
): T {
  const describe = (error: unknown): unknown => describeError(error, path, loss())
  const methods = Reflect.ownKeys(target).map((name) => {
    const member = target[name as keyof T]
    return [name, typeof member === 'function' ? explainingMethod(member.bind(target), describe) : member]
  })
  return Object.fromEntries(methods) as T
}

type Method = (...args: readonly unknown[]) => unknown

function explainingMethod(method: Method, describe: (error: unknown) => unknown): Method {
  return (...args) => {
    try {
      const value = method(...args)
      if (value instanceof Promise) return value.catch((error: unknown) => Promise.reject(describe(error)))
      return isIterator(value) ? explainingRows(value, describe) : value
    } catch (error) {
      throw describe(error)
    }
  }
}

function isIterator(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && value !== null && 'next' in value && Symbol.iterator in value
}

function* explainingRows(rows: Iterable<unknown>, describe: (error: unknown) => unknown): Generator<unknown> {
  try {
    yield* rows
  } catch (error) {
    throw describe(error)
  }
}

/** What an error of SQLite or of the disk means. */
export const errorIs = {
  diskFull: isDiskFull,
  locked: isLocked,
  diskFailure: isDiskFailure,
  writeFailure: isWriteFailure,
}
