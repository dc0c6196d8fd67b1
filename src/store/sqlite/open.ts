import Database from 'better-sqlite3'
import { UsageError } from '../../errors.ts'
import type { Space, Store } from '../store.ts'
import { answerStore } from './answers.ts'
import { newestMigration } from './applied.ts'
import { callStore } from './calls.ts'
import { openDatabase } from './database.ts'
import { historyStore } from './history.ts'
import { copyToChange, openToRead, type Reading, refuseEmpty } from './inspect.ts'
import { ledgerStore } from './ledger.ts'
import { type Memory, memoryOf } from './memory.ts'
import { shadowViews } from './migrate.ts'
import { openDraft } from './plan-draft.ts'
import { reportStore } from './rows.ts'
import { runStore } from './runs.ts'
import { openSnapshot } from './snapshot.ts'
import { type Log, watchSpace } from './space.ts'
import { trackingStore } from './tracking.ts'
import { explained, explaining } from './troubles.ts'
import { groupWriter, type Writer } from './writer.ts'

/** Opens the database at that path, making or migrating it where needed. `:memory:` is one that nobody else sees. */
export async function openStore(path: string): Promise<Store> {
  return writingStore(await openDatabase(path), path)
}

/** Opens the database at that path to read it: nothing is made, migrated or changed. One of an older rankline is read through a copy. */
export async function openReader(path: string): Promise<Store> {
  const reading = openToRead(path)
  try {
    if (refuseEmpty(reading.db, path) === newestMigration) return readingStore(reading, path)
  } catch (error) {
    reading.close()
    throw explained(error, path)
  }
  reading.close()
  return await openCopy(path)
}

/** Opens a copy of the database at that path that may be changed, and is gone when it is closed. */
export async function openCopy(path: string): Promise<Store> {
  const copy = copyToChange(path)
  try {
    const db = await openDatabase(copy.path, 'keep-none')
    // What becomes of a copy is nobody's loss.
    db.pragma('synchronous = OFF')
    return writingStore(db, path, copy.remove)
  } catch (error) {
    copy.remove()
    throw explained(error, path)
  }
}

function writingStore(db: Database.Database, path: string, closed = (): void => {}): Store {
  const log = logOf(db, (error) => writer.note(error))
  const memory = memoryOf(db)
  const space = watchSpace(path, log)
  const writer: Writer = groupWriter(db, {
    rolledBack: memory.forget,
    full: space.full,
    makeRoom: space.release,
    lacksRoom: space.lacksRoom,
    committed: log.writeBack,
  })
  const close = async (): Promise<void> => {
    await writer.flush()
    if (writer.hasFailed()) closeUnwritten(db)
    else db.close()
    closed()
  }
  return storeOf({ db, path, memory, space, writer, close })
}

function readingStore({ db, close }: Reading, path: string): Store {
  shadowViews(db)
  db.pragma('cache_size = -8000')
  const memory = memoryOf(db)
  const space = watchSpace(':memory:', { shrink: () => {}, limit: () => {} })
  return storeOf({ db, path, memory, space, writer: refusingWriter, close: async () => close() })
}

/** A writer for those who only read: that they write is a mistake of ours. */
const refusingWriter: Writer = {
  write: async () => {
    throw new Error('The database was opened to be read')
  },
  keep: async () => {
    throw new Error('The database was opened to be read')
  },
  flush: async () => {},
  note: () => {},
  hasFailed: () => false,
}

interface StoreParts {
  readonly db: Database.Database
  readonly path: string
  readonly memory: Memory
  readonly space: Space
  readonly writer: Writer
  readonly close: () => Promise<void>
}

function storeOf({ db, path, memory, space, writer, close }: StoreParts): Store {
  const store: Store = {
    space: explaining(space, path),
    refuseDamage: async () => refuseDamage(db, path),
    ...runStore(db, writer),
    ...callStore(db, writer, memory.keys),
    ...ledgerStore(db, writer),
    ...answerStore(db, writer, memory),
    ...reportStore(db),
    ...trackingStore(db),
    snapshot: () => explaining(openSnapshot(db), path),
    ...historyStore(db, writer, memory),
    draft: async () => explaining(openDraft(db, writer, memory.targets), path),
    [Symbol.asyncDispose]: close,
  }
  return explaining(store, path)
}

const smallestLogPages = 32
/** As SQLite has it, until it is known how many answers come at once. */
const usualLogPages = 1_000

/**
 * The log of a connection. It is written back by us: SQLite would do it inside a commit, and keep to itself that a sync has
 * failed, which it then tries again.
 */
function logOf(db: Database.Database, note: (error: unknown) => void): Log & { writeBack(): void } {
  db.pragma('wal_autocheckpoint = 0')
  const state = db.prepare<[], { log: number; checkpointed: number }>('PRAGMA wal_checkpoint(NOOP)')
  const writeBack = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  let mostPages = usualLogPages
  return {
    shrink: () => {
      try {
        db.pragma('wal_checkpoint(TRUNCATE)')
      } catch (error) {
        note(error)
      }
    },
    limit: (bytes) => {
      const pages = Math.floor(bytes / Number(db.pragma('page_size', { simple: true })))
      mostPages = Math.max(smallestLogPages, pages)
    },
    writeBack: () => {
      const { log, checkpointed } = state.get() ?? { log: 0, checkpointed: 0 }
      if (log >= mostPages && checkpointed < log) writeBack.get()
    },
  }
}

/**
 * Closes a connection whose disk has failed. The last one to be closed would write the log back; beside another one it does
 * not, so that the log stays as it is for the next process.
 */
function closeUnwritten(db: Database.Database): void {
  let other: Database.Database | null = null
  try {
    other = new Database(db.name, { readonly: true })
    other.pragma('schema_version')
  } catch {
    // The disk fails at that, too.
  }
  db.close()
  other?.close()
}

/** Files up to this size are looked through before money is spent; larger ones would keep people waiting. */
const checkedBytes = 64_000_000

function refuseDamage(db: Database.Database, path: string): void {
  const size =
    Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }))
  if (size > checkedBytes) return
  const found = db.pragma('main.quick_check(1)', { simple: true })
  if (found !== 'ok')
    throw new UsageError(
      `${path} is damaged. Nothing was sent. Restore it from a backup, or name another file with --db`,
    )
}
