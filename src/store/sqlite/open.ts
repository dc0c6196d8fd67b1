import Database from 'better-sqlite3'
import { UsageError } from '../../model/errors.ts'
import type { DatabaseFile, DiskSpace } from '../journal.ts'
import { type StoreCache, storeCache } from './cache.ts'
import { clickStore } from './clicks/clicks.ts'
import { volumeStore } from './clicks/volumes.ts'
import {
  copyToChange,
  openDatabase,
  openScratch,
  openToRead,
  type ReadConnection,
  refuseEmpty,
} from './connection/database.ts'
import { describeError, describingErrors } from './connection/errors.ts'
import { type GroupCommit, groupCommit } from './connection/group-commit.ts'
import { type Log, unwatchedFile, watchDiskSpace, watchFile } from './connection/watch.ts'
import { importReads } from './imports/reads.ts'
import { jobStore } from './jobs.ts'
import { answerStore, journal } from './ledger/calls.ts'
import { ledgerStore } from './ledger/sums.ts'
import { newestMigration, rejectForeignDatabase, shadowViews, staleMade } from './migrate.ts'
import { draftOpener, type PlanDraft } from './planning/draft.ts'
import { plannedReads } from './planning/planned.ts'
import { keywordReader } from './rankings/keywords.ts'
import { openSnapshot, reportStore, type Snapshot } from './rankings/rows.ts'
import { textSearch } from './rankings/text-index.ts'
import { trackingStore } from './rankings/tracking.ts'
import { historyStore } from './results/derive.ts'
import { resultRecorder } from './results/query-state.ts'
import {
  passingItems,
  passingResultWriter,
  type ResultWriter,
  resultWriter,
} from './results/write-results.ts'
import { runStore } from './runs.ts'
import { syncStore } from './sync.ts'
import { alertStore } from './unattended/alerts.ts'
import { outboxStore } from './unattended/outbox.ts'

/**
 * Everything that rankline remembers. Methods are whole changes: each is durable, entirely, when its promise is
 * fulfilled, and leaves nothing behind when it is rejected. Instants are epoch milliseconds.
 */
export interface Store
  extends AsyncDisposable,
    ReturnType<typeof runStore>,
    ReturnType<typeof jobStore>,
    ReturnType<typeof plannedReads>,
    ReturnType<typeof journal>,
    ReturnType<typeof ledgerStore>,
    ReturnType<typeof answerStore>,
    ReturnType<typeof resultRecorder>,
    ReturnType<typeof reportStore>,
    ReturnType<typeof trackingStore>,
    ReturnType<typeof keywordReader>,
    ReturnType<typeof textSearch>,
    ReturnType<typeof historyStore>,
    ReturnType<typeof alertStore>,
    ReturnType<typeof outboxStore>,
    ReturnType<typeof clickStore>,
    ReturnType<typeof importReads>,
    ReturnType<typeof volumeStore>,
    ReturnType<typeof syncStore> {
  readonly space: DiskSpace
  readonly file: DatabaseFile
  /** Rejected with a sentence where the file is damaged; large files are only looked at as far as they are read. */
  rejectDamaged(): Promise<void>
  /**
   * What is stored now, readable while other processes write. Until it is disposed of, all reads through this store are of that
   * moment, and nothing may be written through it.
   */
  snapshot(): Snapshot
  /** Starts a plan that nothing else sees until it is committed. */
  draft(): Promise<PlanDraft>
}

/** What collecting needs of the store. */
export type CollectStore = ReturnType<typeof journal> &
  ReturnType<typeof answerStore> &
  ReturnType<typeof resultRecorder> &
  Pick<
    Store,
    | 'space'
    | 'file'
    | 'ambiguousSince'
    | 'chargedCalls'
    | 'creditsOf'
    | 'creditsSent'
    | 'creditsSentByTag'
    | 'saveUsage'
    | 'lastUsage'
    | 'openJobsOfOthers'
    | 'groupSize'
    | 'taskCounts'
  >

/** Opens the database at that path, making or migrating it where needed. `:memory:` is private to the caller. */
export async function openStore(path: string): Promise<Store> {
  return writingStore(await openDatabase(path), path)
}

/**
 * Opens an empty store in memory, for work that is done some hundred times in a process: in a tenth of the time of `:memory:`. It collects
 * as any other, and keeps no results.
 */
export async function openScratchStore(): Promise<Store> {
  const db = await openScratch()
  return writingStore(db, ':memory:', {
    memory: storeCache(db, passingItems()),
    results: passingResultWriter,
  })
}

/** Opens the database at that path to read it, and changes nothing. One of an older rankline is read through a copy. */
export async function openReader(path: string): Promise<Store> {
  const reading = openToRead(path)
  try {
    if (refuseEmpty(reading.db, path) === newestMigration) return readingStore(reading, path)
  } catch (error) {
    reading.close()
    throw describeError(error, path)
  }
  reading.close()
  return await openCopy(path)
}

/** Opens the database at that path to read it; null where it was not made yet, or is of an older rankline: that is left to the next run. */
export async function openCurrent(path: string): Promise<Store | null> {
  const reading = openToRead(path)
  try {
    if (rejectForeignDatabase(reading.db, path) === newestMigration && staleMade(reading.db).length === 0)
      return readingStore(reading, path)
  } catch (error) {
    reading.close()
    throw describeError(error, path)
  }
  reading.close()
  return null
}

/** Opens a copy of the database at that path that may be changed, and is gone when it is closed. */
export async function openCopy(path: string): Promise<Store> {
  const copy = copyToChange(path)
  try {
    const db = await openDatabase(copy.path, 'keep-none')
    // A copy may be lost.
    db.pragma('synchronous = OFF')
    return writingStore(db, path, { closed: copy.remove })
  } catch (error) {
    copy.remove()
    throw describeError(error, path)
  }
}

type WriterOfResults = (db: Database.Database, memory: StoreCache) => ResultWriter

function writingStore(
  db: Database.Database,
  path: string,
  {
    memory = storeCache(db),
    results = resultWriter,
    closed = () => {},
  }: {
    readonly memory?: StoreCache
    readonly results?: WriterOfResults
    readonly closed?: () => void
  } = {},
): Store {
  const log = logOf(db, (error) => writer.note(error))
  const space = watchDiskSpace(path, log)
  const file = watchFile(db)
  const writer: GroupCommit = groupCommit(db, {
    rolledBack: () => {
      memory.forget()
      file.isLost()
    },
    full: space.full,
    makeRoom: space.giveUp,
    lacksRoom: space.lacksRoom,
    committed: () => {
      memory.expire()
      // Before the log is written back into it.
      file.isLost()
      log.writeBack()
    },
  })
  const close = async (): Promise<void> => {
    await writer.flush()
    if (writer.hasFailed()) closeUnwritten(db)
    else db.close()
    closed()
  }
  return storeOf({ db, path, memory, results, space, file, writer, close })
}

function readingStore({ db, close }: ReadConnection, path: string): Store {
  shadowViews(db)
  db.pragma('cache_size = -8000')
  const memory = storeCache(db)
  const space = watchDiskSpace(':memory:', { shrink: () => {}, limit: () => {} })
  const writer = refusingWriter
  const file = unwatchedFile
  return storeOf({ db, path, memory, results: resultWriter, space, file, writer, close: async () => close() })
}

const refuse = async (): Promise<never> => {
  throw new Error('The database was opened to be read')
}

/** A write through a reader is a mistake in this program. */
const refusingWriter: GroupCommit = {
  write: refuse,
  writeTogether: refuse,
  writePaid: refuse,
  writePaidTogether: refuse,
  writeDerived: refuse,
  flush: async () => {},
  note: () => {},
  hasFailed: () => false,
}

function storeOf({
  db,
  path,
  memory,
  results,
  space,
  file,
  writer,
  close,
}: {
  readonly db: Database.Database
  readonly path: string
  readonly memory: StoreCache
  readonly results: WriterOfResults
  readonly space: DiskSpace
  readonly file: DatabaseFile
  readonly writer: GroupCommit
  readonly close: () => Promise<void>
}): Store {
  const openDraft = draftOpener(db, writer, memory.targets)
  const store: Store = {
    space: describingErrors(space, path),
    file,
    rejectDamaged: async () => rejectDamaged(db, path),
    ...runStore(db, writer),
    ...jobStore(db, writer),
    ...plannedReads(db),
    ...journal(db, writer, memory.keys),
    ...ledgerStore(db, writer),
    ...answerStore(db, writer),
    ...resultRecorder(db, writer, memory, results),
    ...reportStore(db),
    ...trackingStore(db),
    ...keywordReader(db),
    ...textSearch(db),
    snapshot: () => describingErrors(openSnapshot(db), path),
    ...historyStore(db, writer, memory),
    ...alertStore(db, writer),
    ...outboxStore(db, writer),
    ...clickStore(db, writer),
    ...importReads(db),
    ...volumeStore(db, writer),
    ...syncStore(db, writer, memory.keys),
    draft: async () => describingErrors(openDraft(), path),
    [Symbol.asyncDispose]: close,
  }
  return describingErrors(store, path, file.loss)
}

const smallestLogBytes = 131_072
/** SQLite's own default, which is 1,000 pages of 4 KB. */
const usualLogBytes = 4_096_000

/**
 * The write-ahead log of a connection, with our own checkpoints: SQLite would make them inside a commit, and hide that a sync
 * has failed.
 */
function logOf(db: Database.Database, note: (error: unknown) => void): Log & { writeBack(): void } {
  db.pragma('wal_autocheckpoint = 0')
  const state = db.prepare<[], { log: number; checkpointed: number }>('PRAGMA wal_checkpoint(NOOP)')
  const writeBack = db.prepare('PRAGMA wal_checkpoint(PASSIVE)')
  const pageSize = Number(db.pragma('page_size', { simple: true }))
  let mostPages = Math.floor(usualLogBytes / pageSize)
  return {
    shrink: () => {
      try {
        db.pragma('wal_checkpoint(TRUNCATE)')
      } catch (error) {
        note(error)
      }
    },
    limit: (bytes) => {
      mostPages = Math.floor(Math.max(smallestLogBytes, bytes) / pageSize)
    },
    writeBack: () => {
      const { log, checkpointed } = state.get() ?? { log: 0, checkpointed: 0 }
      if (log >= mostPages && checkpointed < log) writeBack.get()
    },
  }
}

/**
 * Closes a connection whose disk has failed. The last connection of a file writes the log back as it closes; while another one is
 * open it does not, and the log stays as it is for the next process.
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

/** Files up to this size are checked before money is spent; larger ones would take too long. */
const checkedBytes = 64_000_000

function rejectDamaged(db: Database.Database, path: string): void {
  const size =
    Number(db.pragma('page_count', { simple: true })) * Number(db.pragma('page_size', { simple: true }))
  if (size > checkedBytes) return
  const found = db.pragma('main.quick_check(1)', { simple: true })
  if (found !== 'ok')
    throw new UsageError(
      `${path} is damaged. Nothing was sent. Restore it from a backup, or name another file with --db`,
    )
}
