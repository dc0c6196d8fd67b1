import type { Database } from 'better-sqlite3'

/** Kilobytes that a large sort may take; the rest goes through a temporary file. */
const sortSize = 8_000

/** Does what sorts very many rows. SQLite sorts in as much memory as its cache may have, beside the cache. */
export function sorting<T>(db: Database, work: () => T): T {
  const cacheSize = Number(db.pragma('cache_size', { simple: true }))
  db.pragma(`cache_size = -${sortSize}`)
  try {
    return work()
  } finally {
    db.pragma(`cache_size = ${cacheSize}`)
  }
}
