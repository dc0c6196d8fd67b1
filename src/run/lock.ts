import { closeSync, ftruncateSync, openSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { busyExitCode, RanklineError, UsageError } from '../model/errors.ts'
import { duration, parseDuration } from '../model/text.ts'
import { sanitize } from '../output/terminal.ts'
import { databaseLock, keyLock, type LockUse, makeForAll, tryLock } from '../store/sqlite/connection/lock.ts'
import { type CommandOptions, databaseFile, keyHash, queueSettings, serviceSettings } from './config.ts'

/** Prints a line of information for the user. */
type Notify = (line: string) => void

/** This process's turn to collect, which it may have to wait for. */
export type Turn = Omit<ReturnType<typeof waitForLocks>, typeof Symbol.dispose>

const defaultWaitMs = 3_600_000
const pollEveryMs = 200

/** The right to collect: one process of this machine at a time has it for a database, and one for a key. What other machines do, it does not see. */
function collectorLock(options: CommandOptions, notify: Notify) {
  const key = keyLock(keyHash(serviceSettings(options)))
  // With a queue the key has one limit and one budget for all its processes; one without would break them.
  const use = queueSettings.url(options) === null ? 'alone' : 'shared'
  // Always in this order, so that two processes never wait for each other.
  return waitForLocks([databaseLock(databaseFile.path(options)), { path: key, use }], options.wait, notify)
}

/** A lock by its file; a plain path is one that is held alone. */
type WantedLock = string | { readonly path: string; readonly use: LockUse }

/** The locks of these files, taken one after the other. */
function waitForLocks(wanted: readonly WantedLock[], wait: string | undefined, notify: Notify) {
  const waitMs = readWait(wait)
  const held: Disposable[] = []

  const acquireOne = async (lock: WantedLock, until: number): Promise<void> => {
    const { path, use } = typeof lock === 'string' ? { path: lock, use: 'alone' as const } : lock
    for (let notified = false; ; notified = true) {
      const turn = tryCollectorLock(path, use)
      if (turn !== null) {
        held.push(turn)
        return
      }
      if (performance.now() >= until)
        throw new RanklineError(
          `Another process on this machine is collecting for this database or key (${ownerOf(path)}). Nothing was sent; let it finish, or set a longer --wait`,
          busyExitCode,
        )
      if (!notified)
        notify(
          `Waiting at most ${duration(waitMs / 1000)} for another process on this machine to finish (${ownerOf(path)}). Other machines are not waited for.`,
        )
      await sleep(pollEveryMs)
    }
  }

  const acquireAll = async (): Promise<void> => {
    const until = performance.now() + waitMs
    for (const lock of wanted) await acquireOne(lock, until)
  }
  let acquired: Promise<void> | null = null

  return {
    /** How long it waits for others. */
    waitMs,
    notify,
    /** Waits for its turn, once, saying for whom; rejected with exit code 7 when that takes longer than allowed. */
    acquire: async (): Promise<void> => {
      acquired ??= acquireAll()
      await acquired
    },
    [Symbol.dispose]: () => {
      for (const turn of held) turn[Symbol.dispose]()
    },
  }
}

function readWait(text: string | undefined): number {
  if (text === undefined) return defaultWaitMs
  const waitMs = parseDuration(/\d$/.test(text) ? `${text}s` : text, 'smhd')
  if (waitMs !== null) return waitMs
  throw new UsageError(`--wait cannot be '${text}'; write a time such as 90s, 30m or 1h, or 0`)
}

/** Takes the lock of this file and writes its owner into a second file; null where another process holds it. */
function tryCollectorLock(path: string, use: LockUse = 'alone'): Disposable | null {
  const lock = tryLock(path, use)
  if (lock === null) return null
  const owner = ownerFile(path)
  const since = `process ${process.pid}, since ${new Date().toISOString()}`
  nameOwner(owner, use === 'alone' ? since : `it works for a queue: use --queue here, too; ${since}`)
  // Others may share it still.
  if (use === 'shared') return { [Symbol.dispose]: () => lock.release() }
  return {
    [Symbol.dispose]: () => {
      forgetOwner(owner)
      lock.release()
    },
  }
}

/** For those who wait; the lock holds without it. */
function nameOwner(path: string, name: string): void {
  try {
    makeForAll(path)
    const file = openSync(path, 'r+')
    try {
      ftruncateSync(file)
      writeSync(file, name)
    } finally {
      closeSync(file)
    }
  } catch {
    // A full disk.
  }
}

function forgetOwner(path: string): void {
  try {
    truncateSync(path)
    rmSync(path)
  } catch {
    // Another user made it, who alone may remove it.
  }
}

function ownerFile(path: string): string {
  return `${path}.owner`
}

/** Who holds the lock of this file, as far as is known. */
function ownerOf(path: string): string {
  try {
    return sanitize(readFileSync(ownerFile(path), 'utf8')) || unknownOwner
  } catch {
    return unknownOwner
  }
}

const unknownOwner = 'not known which'

/** Turns that processes on a machine take. */
export const turns = {
  ownerOf,
  wait: waitForLocks,
  tryCollector: tryCollectorLock,
  ofCollector: collectorLock,
}
