import type Database from 'better-sqlite3'
import { UsageError } from '../../errors.ts'
import type { Store } from '../store.ts'
import { answerStore } from './answers.ts'
import { callStore } from './calls.ts'
import { openDatabase } from './database.ts'
import { historyStore } from './history.ts'
import { refuseMissing } from './inspect.ts'
import { ledgerStore } from './ledger.ts'
import { memoryOf } from './memory.ts'
import { openDraft } from './plan-draft.ts'
import { reportStore } from './rows.ts'
import { runStore } from './runs.ts'
import { openSnapshot } from './snapshot.ts'
import { type Log, watchSpace } from './space.ts'
import { trackingStore } from './tracking.ts'
import { explaining } from './troubles.ts'
import { groupWriter } from './writer.ts'

/** Opens the database at that path, making or migrating it where needed. `:memory:` is one that nobody else sees. */
export async function openStore(path: string): Promise<Store> {
  const db = await openDatabase(path)
  const memory = memoryOf(db)
  const space = watchSpace(path, logOf(db))
  const writer = groupWriter(db, { rolledBack: memory.forget, full: space.full, makeRoom: space.release })
  const store: Store = {
    space,
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
    [Symbol.asyncDispose]: async () => {
      await writer.flush()
      db.close()
    },
  }
  return explaining(store, path)
}

/** Opens the database at that path for whoever only reads of it; throws a sentence where there is none. */
export async function openExisting(path: string): Promise<Store> {
  refuseMissing(path)
  return await openStore(path)
}

const smallestLogPages = 32

function logOf(db: Database.Database): Log {
  return {
    shrink: () => db.pragma('wal_checkpoint(TRUNCATE)'),
    limit: (bytes) => {
      const pages = Math.floor(bytes / Number(db.pragma('page_size', { simple: true })))
      db.pragma(`wal_autocheckpoint = ${Math.max(smallestLogPages, pages)}`)
    },
  }
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
