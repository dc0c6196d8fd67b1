import { JournalAbandoned } from '../../store/shared/journal.ts'
import { whenReachable } from '../../store/shared/waiting.ts'
import type { Postgres, Statements } from './connection.ts'

/** Writes entries in groups: one statement at a time, and in the next one all that came meanwhile. */
export interface GroupWriter<Entry, Result> {
  /** Fulfilled when the entry is durable. Waits while the database cannot be reached. */
  write(entry: Entry): Promise<Result>
  /** The same, for an entry that nothing waits for: it goes with the next group, or makes one of its own a little later. */
  writeLater(entry: Entry): Promise<Result>
  /** Fulfilled when nothing waits. */
  idle(): Promise<void>
  /** Rejects what waits: the process ends. */
  abandon(): void
}

/**
 * Entries of one statement at most, so that none grows beyond what the database takes. A statement that fails is tried again with half of
 * them: a smaller one may be within the limits of the server, and an entry that cannot be written keeps no other one out.
 */
const mostInGroup = 256
const laterMs = 100

export function groupWriter<Entry, Result>(
  postgres: Postgres,
  writeGroup: (statements: Statements, group: readonly Entry[]) => Promise<readonly Result[]>,
): GroupWriter<Entry, Result> {
  interface WaitingEntry {
    readonly entry: Entry
    readonly resolve: (result: Result) => void
    readonly reject: (error: unknown) => void
  }
  let waiting: WaitingEntry[] = []
  let most = mostInGroup
  let writing: Promise<void> | null = null
  /** Whether any of what waits is to be written at once. */
  let isUrgent = false
  let timer: NodeJS.Timeout | undefined
  const abandoned = new AbortController()

  const writeAll = async (): Promise<void> => {
    // What else comes in this turn of the event loop belongs to the same group.
    await new Promise((resolve) => setImmediate(resolve))
    while (isUrgent) {
      let group: readonly WaitingEntry[] = []
      const writeNext = (): Promise<readonly Result[]> => {
        group = waiting.slice(0, most)
        isUrgent = waiting.length > group.length
        const entries = group.map(({ entry }) => entry)
        return writeGroup(postgres, entries)
      }
      const halve = (): void => {
        most = Math.max(1, group.length >> 1)
      }
      try {
        const results = await whenReachable(writeNext, { signal: abandoned.signal, onWait: halve })
        waiting = waiting.slice(group.length)
        most = Math.min(mostInGroup, most * 2)
        group.forEach(({ resolve }, index) => {
          resolve(results[index] as Result)
        })
      } catch (error) {
        if (group.length > 1 && !abandoned.signal.aborted) {
          halve()
          isUrgent = true
          continue
        }
        waiting = waiting.slice(group.length)
        for (const { reject } of group) reject(error)
      }
    }
    writing = null
  }
  const writeNow = (): void => {
    clearTimeout(timer)
    timer = undefined
    isUrgent = waiting.length > 0
    if (isUrgent) writing ??= writeAll()
  }
  const add = (entry: Entry): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (abandoned.signal.aborted) return reject(abandoned.signal.reason)
      waiting.push({ entry, resolve, reject })
    })

  return {
    write: (entry) => {
      const written = add(entry)
      writeNow()
      return written
    },
    writeLater: (entry) => {
      const written = add(entry)
      timer ??= setTimeout(writeNow, laterMs)
      return written
    },
    idle: async () => {
      writeNow()
      while (writing !== null) await writing
    },
    abandon: () => {
      abandoned.abort(new JournalAbandoned())
      for (const { reject } of waiting) reject(abandoned.signal.reason)
      waiting = []
    },
  }
}
