import type { Database } from 'better-sqlite3'
import { isDiskFailure, isDiskFull, isLocked, isWriteFailure } from './errors.ts'

/** Commits changes in groups. */
export interface GroupCommit {
  /** Fulfilled with what the change returns once it is durable; rejected, alone, with what it throws. */
  write<T>(change: () => T): Promise<T>
  /** The same for what was paid for: it has the reserve, and waits where even that is too little. */
  writePaid<T>(change: () => T): Promise<T>
  /** The same for what is derived from stored answers: while other changes keep coming it waits until many share a commit. */
  writeDerived<T>(change: () => T): Promise<T>
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

type Urgency = 'paid' | 'usual' | 'derived'

interface Waiting {
  readonly change: () => unknown
  readonly urgency: Urgency
  readonly done: (value: never) => void
  readonly failed: (error: unknown) => void
}

/** What another program holds, or fills, it may give back: changes wait this long for it. Nothing is sent meanwhile. */
const patienceMs = 20_000
const lookEveryMs = 100
/** So many changes need not wait for more. */
const flushThreshold = 64
/** Pages of the dictionary's indexes lie anywhere: the more answers share a commit, the fewer times each page is written. */
const derivedFlushThreshold = 384

/**
 * Puts all changes that come in turns of the event loop, one right after the other, into one transaction: one fsync for all
 * that is ready, and no timer. A change that throws is rolled back alone. Where the file is locked, changes wait in memory;
 * where the disk is full, those that were paid for do.
 *
 * After an error of the disk nothing is written any more. A sync that failed is not tried again: the system reports it once,
 * then forgets it, and what it did not write may be missing though the next sync succeeds.
 */
export function groupCommit(
  db: Database,
  { rolledBack, full, makeRoom, lacksRoom, committed }: WriterHooks,
): GroupCommit {
  const immediately = <T>(change: () => T): T => db.transaction(change).immediate()
  let waiting: Waiting[] = []
  let derived: Waiting[] = []
  let scheduled = false
  let troubledSince: number | null = null
  /** The disk was full once: what is written since has the reserve alone. */
  let isFull = false
  let failure: { readonly error: unknown } | null = null

  /** At the end of this turn, or of the first one that brings no more: what comes together shares a commit. */
  const commitSoon = (): void => {
    const seen = waiting.length
    setImmediate(() => (waiting.length > seen && waiting.length < flushThreshold ? commitSoon() : commit()))
  }

  const commit = (): void => {
    scheduled = false
    const group = takeGroup()
    if (group.length === 0) return
    const values: unknown[] = []
    try {
      if (failure !== null) throw failure.error
      immediately(() => {
        for (const { change } of group) values.push(change())
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
    for (const [index, { done }] of group.entries()) done(values[index] as never)
  }

  /** All that waits; without what is derived where that is not much yet, and other changes come. */
  const takeGroup = (): readonly Waiting[] => {
    const derivedToo =
      waiting.length === 0 || derived.length >= derivedFlushThreshold || troubledSince !== null
    const group = derivedToo ? [...waiting, ...derived] : waiting
    waiting = []
    if (derivedToo) derived = []
    else if (derived.length > 0) schedule()
    return group
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
    const refused = [...group, ...waiting, ...derived]
    waiting = []
    derived = []
    for (const { failed } of refused) failed(failure.error)
  }

  /** What was paid for waits as long as it takes. */
  const waitForOthers = (group: readonly Waiting[], error: unknown): void => {
    const patient = mayWait()
    const waits = group.filter(({ urgency }) => urgency === 'paid' || patient)
    for (const one of group) if (!waits.includes(one)) one.failed(error)
    if (waits.length > 0) waitAgain(waits, lookEveryMs)
  }

  /** What was paid for comes first; nothing else may take its room. */
  const findRoom = (group: readonly Waiting[], error: unknown): void => {
    full()
    isFull = true
    for (const { failed } of group.filter(({ urgency }) => urgency !== 'paid')) failed(error)
    const paidFor = group.filter(({ urgency }) => urgency === 'paid')
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

  const enqueue = <T>(change: () => T, urgency: Urgency): Promise<T> =>
    new Promise<T>((done, failed) => {
      if (failure !== null) return failed(failure.error)
      const queue = urgency === 'derived' ? derived : waiting
      queue.push({ change, urgency, done, failed })
      schedule()
    })

  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    // In trouble, the fewer commits the better.
    if (troubledSince === null) commitSoon()
    else setTimeout(commit, lookEveryMs)
  }

  return {
    write: (change) => enqueue(change, 'usual'),
    writePaid: (change) => enqueue(change, 'paid'),
    writeDerived: (change) => enqueue(change, 'derived'),
    flush: async () => {
      while (waiting.length > 0 || derived.length > 0) await new Promise((resolve) => setImmediate(resolve))
    },
    note,
    hasFailed: () => failure !== null,
  }
}
