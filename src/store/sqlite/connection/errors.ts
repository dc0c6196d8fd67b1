import Database from 'better-sqlite3'
import { RanklineError, UsageError } from '../../../model/errors.ts'

/** Exit code for what may pass: the same command can be run again. */
const tryAgain = 6

interface Trouble {
  /** How SQLite's name of the error begins. */
  readonly code: string
  readonly message: string
  /** The disk, not a setting, is to blame. */
  readonly passes?: true
}

const sqliteErrors: readonly Trouble[] = [
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
  if (loss !== null && code !== '') return new RanklineError(loss, tryAgain, { cause: error })
  const known = sqliteErrors.find((one) => code.startsWith(one.code))
  if (known === undefined) return error
  const sentence = `${path} ${known.message}.`
  return known.passes
    ? new RanklineError(sentence, tryAgain, { cause: error })
    : new UsageError(sentence, { cause: error })
}

/** Whether the database wants space that the disk does not have. */
export function isDiskFull(error: unknown): boolean {
  return ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE'].includes(codeOf(error))
}

/** Whether a write failed: at a quota of the file system for want of room, else because the disk fails. */
export function isWriteFailure(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_IOERR_WRITE'
}

/** Whether the disk cannot be read or written, full or not. */
export function isDiskFailure(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_IOERR')
}

/** Whether another connection is writing. */
export function isLocked(error: unknown): boolean {
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
