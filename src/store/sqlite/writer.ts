import type { Database } from 'better-sqlite3'
import { plentyLearned } from './plenty.ts'
import { isDiskFailure, isDiskFull, isLocked, isWriteFailure } from './troubles.ts'

/** Commits changes in groups. */
export interface Writer {
  /** Fulfilled with what the change returns once it is durable; rejected, alone, with what it throws. */
  write<T>(change: () => T): Promise<T>
  /** The same for what was paid for: it has the reserve, and waits where even that is too little. */
  keep<T>(change: () => T): Promise<T>
  /** Fulfilled when everything handed over so far is durable. */
  flush(): Promise<void>
  /** Ends all writing where this is an error of the disk; others are not its business. */
  note(error: unknown): void
  /** Whether the disk has failed: this connection writes nothing any more. */
  hasFailed(): boolean
}

export interface WriterHooks {
  /** Called whenever rows written before may be gone again. */
  readonly rolledBack: () => void
  /** Called when the disk is full. */
  readonly full: () => void
  /** Makes room on a full disk; false where it cannot. */
  readonly makeRoom: () => boolean
  /** Whether there is no room for a file: at a quota, SQLite tells of a failed write only. */
  readonly lacksRoom: () => boolean
  /** Called after each commit; what it throws is noted. */
  readonly committed: () => void
}

interface Waiting {
  readonly change: () => unknown
  readonly paidFor: boolean
  readonly done: (value: never) => void
  readonly failed: (error: unknown) => void
}

/** What another program holds, or fills, it may give back: changes wait this long for it. Nothing is sent meanwhile. */
const patienceMs = 20_000
const lookEveryMs = 100

/**
 * Puts all changes of one turn of the event loop, or plenty of them, into one transaction: one fsync for all that is
 * ready, never for a part of what was handed over together, and never a timer in the way of a single one. Plenty are
 * committed without waiting for the rest of the turn: whoever waits for them goes on meanwhile. A change that throws is
 * rolled back alone. Where the file is locked, changes wait in memory; where the disk is full, those that were paid for do.
 *
 * After an error of the disk nothing is written any more. A sync that failed is not tried again: the system reports it once,
 * then forgets it, and what it did not write may be missing though the next sync succeeds.
 */
export function groupWriter(
  db: Database,
  { rolledBack, full, makeRoom, lacksRoom, committed }: WriterHooks,
): Writer {
  const immediately = <T>(change: () => T): T => db.transaction(change).immediate()
  const plenty = plentyLearned()
  let waiting: Waiting[] = []
  let scheduled = false
  let troubledSince: number | null = null
  /** The disk was full once: what is written since has the reserve alone. */
  let isFull = false
  let failure: { readonly error: unknown } | null = null

  const commit = (): void => {
    scheduled = false
    if (waiting.length === 0) return
    const group = waiting
    waiting = []
    const values: unknown[] = []
    const began = performance.now()
    let changed = began
    try {
      if (failure !== null) throw failure.error
      immediately(() => {
        for (const { change } of group) values.push(change())
        changed = performance.now()
      })
    } catch (error) {
      rolledBack()
      if (wasFull(error)) findRoom(group, error)
      else if (isDiskFailure(error)) giveUp(group, error)
      else if (isLocked(error)) waitForOthers(group, error)
      else if (group.length === 1) group[0]?.failed(error)
      else for (const one of group) commitAlone(one)
      return
    }
    if (!isFull) troubledSince = null
    checkLog()
    const commitMs = performance.now() - changed
    plenty.note({ changes: group.length, changesMs: changed - began, commitMs })
    for (const [index, { done }] of group.entries()) done(values[index] as never)
  }

  const commitAlone = (one: Waiting): void => {
    try {
      if (failure !== null) throw failure.error
      one.done(immediately(one.change) as never)
      checkLog()
    } catch (error) {
      rolledBack()
      if (wasFull(error)) findRoom([one], error)
      else if (isDiskFailure(error)) giveUp([one], error)
      else if (isLocked(error)) waitForOthers([one], error)
      else one.failed(error)
    }
  }

  const checkLog = (): void => {
    try {
      committed()
    } catch (error) {
      note(error)
    }
  }

  const wasFull = (error: unknown): boolean =>
    failure === null && (isDiskFull(error) || (isWriteFailure(error) && lacksRoom()))

  const note = (error: unknown): void => {
    if (isDiskFailure(error)) giveUp([], error)
  }

  const giveUp = (group: readonly Waiting[], error: unknown): void => {
    failure ??= { error }
    const refused = [...group, ...waiting]
    waiting = []
    for (const { failed } of refused) failed(failure.error)
  }

  /** What was paid for waits as long as it takes. */
  const waitForOthers = (group: readonly Waiting[], error: unknown): void => {
    const patient = mayWait()
    const waits = group.filter(({ paidFor }) => paidFor || patient)
    for (const one of group) if (!waits.includes(one)) one.failed(error)
    if (waits.length > 0) waitAgain(waits, lookEveryMs)
  }

  /** What was paid for comes first; nothing else may take its room. */
  const findRoom = (group: readonly Waiting[], error: unknown): void => {
    full()
    isFull = true
    for (const { failed } of group.filter(({ paidFor }) => !paidFor)) failed(error)
    const paidFor = group.filter((one) => one.paidFor)
    if (paidFor.length === 0) return
    const patient = mayWait()
    if (makeRoom()) waitAgain(paidFor, 0)
    else if (patient) waitAgain(paidFor, lookEveryMs)
    else for (const { failed } of paidFor) failed(error)
  }

  const mayWait = (): boolean => {
    troubledSince ??= performance.now()
    return performance.now() - troubledSince < patienceMs
  }

  const waitAgain = (group: readonly Waiting[], ms: number): void => {
    waiting = [...waiting, ...group]
    if (!scheduled) setTimeout(commit, ms)
    scheduled = true
  }

  const enqueue = <T>(change: () => T, paidFor: boolean): Promise<T> =>
    new Promise<T>((done, failed) => {
      if (failure !== null) return failed(failure.error)
      waiting.push({ change, paidFor, done, failed })
      if (waiting.length === plenty.changes() && troubledSince === null) process.nextTick(commit)
      if (scheduled) return
      scheduled = true
      // In trouble, the fewer commits the better.
      if (troubledSince === null) setImmediate(commit)
      else setTimeout(commit, lookEveryMs)
    })

  return {
    write: (change) => enqueue(change, false),
    keep: (change) => enqueue(change, true),
    flush: async () => {
      while (waiting.length > 0) await new Promise((resolve) => setImmediate(resolve))
    },
    note,
    hasFailed: () => failure !== null,
  }
}
