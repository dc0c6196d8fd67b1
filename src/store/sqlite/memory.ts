import type { Database } from 'better-sqlite3'
import { type Dictionary, dictionary } from './dictionary.ts'
import { answerItems, type Items } from './items.ts'
import { type Keys, keyNumbers } from './keys.ts'
import { type RunTargets, runTargets } from './targets.ts'

/** What a process remembers of its database, so that it need not read it with every page. */
export interface Memory {
  /** Words and keys that have a number keep it. */
  readonly words: Dictionary
  readonly keys: Keys
  readonly targets: RunTargets
  readonly items: Items
  /** Forgets what another connection may have changed; to be called in each change before that is used. */
  refresh(): void
  /** Forgets everything, after a rollback. */
  forget(): void
}

export function memoryOf(db: Database): Memory {
  const [words, keys, targets, items] = [dictionary(db), keyNumbers(db), runTargets(db), answerItems(db)]
  // Another number when another connection has committed something.
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()
  let seen = version.get()
  const changeable = [targets, items]
  return {
    words,
    keys,
    targets,
    items,
    refresh: () => {
      const now = version.get()
      if (now !== seen) for (const one of changeable) one.forget()
      seen = now
    },
    forget: () => {
      for (const one of [words, keys, ...changeable]) one.forget()
    },
  }
}
