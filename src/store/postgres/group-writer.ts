import { JournalUnreachable } from '../shared/journal.ts'
import { patiently } from '../shared/patience.ts'
import type { Postgres, Statements } from './connection.ts'

/** Writes entries in groups: one statement at a time, and in the next one all that came meanwhile. */
export interface GroupWriter<Entry, Result> {
  /** Fulfilled when the entry is durable. Waits while the database cannot be reached. */
  write(entry: Entry): Promise<Result>
  /** Fulfilled when nothing waits. */
  idle(): Promise<void>
  /** Rejects what waits: the process ends. */
  abandon(): void
}

/** Entries of one statement at most, so that none grows beyond what the database takes. */
const mostInGroup = 256

export function groupWriter<Entry, Result>(
  postgres: Postgres,
  writeGroup: (statements: Statements, group: readonly Entry[]) => Promise<readonly Result[]>,
): GroupWriter<Entry, Result> {
  interface Waiting {
    readonly entry: Entry
    readonly resolve: (result: Result) => void
    readonly reject: (error: unknown) => void
  }
  let waiting: Waiting[] = []
  let writing: Promise<void> | null = null
  const abandoned = new AbortController()

  const writeAll = async (): Promise<void> => {
    // What else comes in this turn of the event loop belongs to the same group.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const group = waiting.slice(0, mostInGroup)
      waiting = waiting.slice(mostInGroup)
      try {
        const entries = group.map(({ entry }) => entry)
        const results = await patiently(() => writeGroup(postgres, entries), { signal: abandoned.signal })
        group.forEach(({ resolve }, index) => {
          resolve(results[index] as Result)
        })
      } catch (error) {
        for (const { reject } of group) reject(error)
      }
    }
    writing = null
  }

  return {
    write: (entry) =>
      new Promise((resolve, reject) => {
        if (abandoned.signal.aborted) return reject(abandoned.signal.reason)
        waiting.push({ entry, resolve, reject })
        writing ??= writeAll()
      }),
    idle: async () => {
      while (writing !== null) await writing
    },
    abandon: () =>
      abandoned.abort(new JournalUnreachable('the process ends before the queue can be reached again')),
  }
}
