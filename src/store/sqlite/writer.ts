import type { Database } from 'better-sqlite3'

/** Commits changes in groups. */
export interface Writer {
  /** Fulfilled with what the change returns once it is durable; rejected, alone, with what it throws. */
  write<T>(change: () => T): Promise<T>
  /** Fulfilled when everything handed over so far is durable. */
  flush(): Promise<void>
}

interface Waiting {
  readonly change: () => unknown
  readonly done: (value: never) => void
  readonly failed: (error: unknown) => void
}

/**
 * Puts all changes of one turn of the event loop into one transaction: one fsync for all that is ready, and
 * never a timer in the way of a single one. A change that throws is rolled back alone.
 *
 * @param rolledBack called whenever rows written before may be gone again
 */
export function groupWriter(db: Database, rolledBack: () => void): Writer {
  const immediately = <T>(change: () => T): T => db.transaction(change).immediate()
  let waiting: Waiting[] = []
  let scheduled = false

  const commit = (): void => {
    scheduled = false
    const group = waiting
    waiting = []
    const values: unknown[] = []
    try {
      immediately(() => {
        for (const { change } of group) values.push(change())
      })
    } catch (error) {
      rolledBack()
      if (group.length === 1) group[0]?.failed(error)
      else for (const one of group) commitAlone(one)
      return
    }
    for (const [index, { done }] of group.entries()) done(values[index] as never)
  }

  const commitAlone = ({ change, done, failed }: Waiting): void => {
    try {
      done(immediately(change) as never)
    } catch (error) {
      rolledBack()
      failed(error)
    }
  }

  return {
    write: <T>(change: () => T) =>
      new Promise<T>((done, failed) => {
        waiting.push({ change, done, failed })
        if (scheduled) return
        scheduled = true
        setImmediate(commit)
      }),
    flush: async () => {
      while (waiting.length > 0) await new Promise((resolve) => setImmediate(resolve))
    },
  }
}
