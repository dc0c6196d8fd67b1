import type { Database } from 'better-sqlite3'
import { groupedBy } from '../../../model/text.ts'
import { errorIs } from './errors.ts'

/** Commits changes in groups. */
export interface GroupCommit {
  /** Fulfilled with what the change returns once it is durable; rejected, alone, with what it throws. */
  write<T>(change: () => T): Promise<T>
  /** The same of what one function writes: that of one commit it is given together, and returns what came of each. */
  writeTogether<Of, T>(changeAll: (together: readonly Of[]) => readonly T[], one: Of): Promise<T>
  /** The same for paid answers: on a full disk they may use the reserved room, and wait where that is too small. */
  writePaid<T>(change: () => T): Promise<T>
  /** The same of paid answers that one function writes together. */
  writePaidTogether<Of, T>(changeAll: (together: readonly Of[]) => readonly T[], one: Of): Promise<T>
  /**
   * The same for what is derived from stored answers: it waits for more of its kind while other changes keep coming.
   */
  writeDerived<Of, T>(changeAll: (together: readonly Of[]) => readonly T[], one: Of): Promise<T>
  /** Fulfilled when everything handed over so far is durable. */
  flush(): Promise<void>
  /** Reports an error from elsewhere: a failing disk ends all writing, other errors are ignored. */
  note(error: unknown): void
  /** Whether the disk has failed. This connection then writes nothing more. */
  hasFailed(): boolean
}

type Urgency = 'paid' | 'usual' | 'derived'

interface Waiting {
  readonly changeAll: (together: readonly never[]) => readonly unknown[]
  /** What it is to write. */
  readonly one: unknown
  readonly urgency: Urgency
  readonly done: (value: never) => void
  readonly failed: (error: unknown) => void
}

/** How long changes wait for another program to release its lock, or to make room on the disk. Nothing is sent meanwhile. */
const patienceMs = 20_000
const pollEveryMs = 100
/** How many waiting changes a commit does not wait longer for. */
const flushThreshold = 64
/**
 * Changes that one function is given together at most, and so many derived ones wait no longer. More would write pages of indexes less often,
 * but all that comes from the network waits meanwhile.
 */
const mostTogether = 128

/**
 * Puts changes that arrive in consecutive turns of the event loop into one transaction, with one fsync and without a timer. A
 * change that throws is rolled back alone. While the file is locked, changes wait in memory; while the disk is full, paid
 * answers do.
 *
 * After a disk error nothing more is written. A failed sync is not tried again: the system reports it once and then forgets
 * it, so the next sync would succeed although data is missing.
 */
export function groupCommit(
  db: Database,
  {
    rolledBack,
    full,
    makeRoom,
    lacksRoom,
    committed,
  }: {
    /** Called after a rollback: rows written before may be gone. */
    readonly rolledBack: () => void
    /** Called when the disk is full. */
    readonly full: () => void
    /** Makes room on a full disk; false where it cannot. */
    readonly makeRoom: () => boolean
    /** Whether the disk has no room for a file. At a quota, SQLite reports only that a write failed. */
    readonly lacksRoom: () => boolean
    /** Called after each commit; an error that it throws is reported as in `note`. */
    readonly committed: () => void
  },
): GroupCommit {
  // Made once: to make a transaction takes as long as to begin one.
  const write = db.transaction(changed).immediate
  let waiting: Waiting[] = []
  let derived: Waiting[] = []
  /** So many derived changes wait that the next commit is theirs. */
  let derivedAreNext = false
  let scheduled = false
  let troubledSince: number | null = null
  /** The disk was full once: since then only the reserved room is used. */
  let isFull = false
  let failure: { readonly error: unknown } | null = null

  /** Commits at the end of the first turn that adds no further change. */
  const commitSoon = (): void => {
    const seen = waiting.length
    setImmediate(() => (waiting.length > seen && waiting.length < flushThreshold ? commitSoon() : commit()))
  }

  const commit = (): void => {
    scheduled = false
    const group = takeGroup()
    if (group.length === 0) return
    let values: readonly unknown[] = []
    try {
      if (failure !== null) throw failure.error
      values = write(group)
    } catch (error) {
      rolledBack()
      if (wasFull(error)) findRoom(group, error)
      else if (errorIs.diskFailure(error)) giveUp(group, error)
      else if (errorIs.locked(error)) waitForOthers(group, error)
      else if (group.length === 1) group[0]?.failed(error)
      else for (const one of group) commitAlone(one)
      return
    }
    if (!isFull) troubledSince = null
    checkLog()
    for (const [index, { done }] of group.entries()) done(values[index] as never)
  }

  /**
   * The changes for the next commit. Derived ones are left waiting while they are few and other changes are there. Many of them have
   * a commit of their own, behind the others: calls that wait for theirs leave meanwhile.
   */
  const takeGroup = (): readonly Waiting[] => {
    if (waiting.length === 0 || troubledSince !== null) {
      const group = [...waiting, ...derived]
      waiting = []
      derived = []
      derivedAreNext = false
      return group
    }
    const group = derivedAreNext ? derived : waiting
    if (derivedAreNext) derived = []
    else waiting = []
    derivedAreNext = !derivedAreNext && derived.length >= mostTogether
    if (waiting.length + derived.length > 0) schedule()
    return group
  }

  const commitAlone = (one: Waiting): void => {
    try {
      if (failure !== null) throw failure.error
      one.done(write([one])[0] as never)
      checkLog()
    } catch (error) {
      rolledBack()
      if (wasFull(error)) findRoom([one], error)
      else if (errorIs.diskFailure(error)) giveUp([one], error)
      else if (errorIs.locked(error)) waitForOthers([one], error)
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
    failure === null && (errorIs.diskFull(error) || (errorIs.writeFailure(error) && lacksRoom()))

  const note = (error: unknown): void => {
    if (errorIs.diskFailure(error)) giveUp([], error)
  }

  const giveUp = (group: readonly Waiting[], error: unknown): void => {
    failure ??= { error }
    const refused = [...group, ...waiting, ...derived]
    waiting = []
    derived = []
    derivedAreNext = false
    for (const { failed } of refused) failed(failure.error)
  }

  /** Paid answers wait as long as it takes; other changes wait for a limited time. */
  const waitForOthers = (group: readonly Waiting[], error: unknown): void => {
    const patient = mayWait()
    const waits = group.filter(({ urgency }) => urgency === 'paid' || patient)
    for (const one of group) if (!waits.includes(one)) one.failed(error)
    if (waits.length > 0) waitAgain(waits, pollEveryMs)
  }

  /** Only paid answers are written on a full disk. */
  const findRoom = (group: readonly Waiting[], error: unknown): void => {
    full()
    isFull = true
    for (const { failed } of group.filter(({ urgency }) => urgency !== 'paid')) failed(error)
    const paidFor = group.filter(({ urgency }) => urgency === 'paid')
    if (paidFor.length === 0) return
    const patient = mayWait()
    if (makeRoom()) waitAgain(paidFor, 0)
    else if (patient) waitAgain(paidFor, pollEveryMs)
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

  const enqueue = <Of, T>(
    changeAll: (together: readonly Of[]) => readonly T[],
    one: Of,
    urgency: Urgency,
  ): Promise<T> =>
    new Promise<T>((done, failed) => {
      if (failure !== null) return failed(failure.error)
      const queue = urgency === 'derived' ? derived : waiting
      queue.push({ changeAll, one, urgency, done, failed })
      schedule()
    })

  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    // While the file is locked or the disk is full, each attempt costs: few are made.
    if (troubledSince === null) commitSoon()
    else setTimeout(commit, pollEveryMs)
  }

  return {
    write: (change) => enqueue(eachAlone<ReturnType<typeof change>>, change, 'usual'),
    writeTogether: (changeAll, one) => enqueue(changeAll, one, 'usual'),
    writePaid: (change) => enqueue(eachAlone<ReturnType<typeof change>>, change, 'paid'),
    writePaidTogether: (changeAll, one) => enqueue(changeAll, one, 'paid'),
    writeDerived: (changeAll, one) => enqueue(changeAll, one, 'derived'),
    flush: async () => {
      while (waiting.length > 0 || derived.length > 0) await new Promise((resolve) => setImmediate(resolve))
    },
    note,
    hasFailed: () => failure !== null,
  }
}

function eachAlone<T>(changes: readonly (() => T)[]): readonly T[] {
  return changes.map((change) => change())
}

/** Makes changes in their order, but those that one function writes together where the first of them stands; returns what came of each. */
function changed(group: readonly Waiting[]): readonly unknown[] {
  const values: unknown[] = Array(group.length)
  for (const [changeAll, all] of groupedBy([...group.entries()], ([, change]) => change.changeAll))
    for (let from = 0; from < all.length; from += mostTogether) {
      const some = all.slice(from, from + mostTogether)
      const made = changeAll(some.map(([, { one }]) => one as never))
      for (const [index, [place]] of some.entries()) values[place] = made[index]
    }
  return values
}
