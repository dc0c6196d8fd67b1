import type { Database } from 'better-sqlite3'

/** Numbers of API keys, which are known by their digests alone. */
export interface Keys {
  /** The number of a key, given where it has none yet. Inside a transaction. */
  idOf(hash: string): number
  /** Forgets what it remembers, after a rollback. */
  forget(): void
}

export function keyNumbers(db: Database): Keys {
  const add = db.prepare('INSERT INTO keys (hash) VALUES (?) ON CONFLICT DO NOTHING')
  const find = db.prepare<[string], number>('SELECT id FROM keys WHERE hash = ?').pluck()
  // A process has few keys, and asks for one with every call.
  const known = new Map<string, number>()
  return {
    idOf: (hash) => {
      const before = known.get(hash)
      if (before !== undefined) return before
      add.run(hash)
      const id = find.get(hash) as number
      known.set(hash, id)
      return id
    },
    forget: () => known.clear(),
  }
}
