import { closeSync, ftruncateSync, openSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { databasePath } from '../config.ts'
import { busyExitCode, RanklineError, UsageError } from '../errors.ts'
import { databaseLock, keyLock, makeForAll, tryLock } from '../store/sqlite/lock.ts'
import { harmless, type Terminal } from '../terminal.ts'
import { duration, span } from '../words.ts'
import type { Connection, WireFlags } from './wire.ts'

export interface LockFlags extends WireFlags {
  readonly wait?: string
}

/** The right to collect: one process at a time has it for a database, and one for a key. */
export interface CollectorLock extends Disposable {
  /** Waits for its turn, saying for whom; rejected with exit code 7 when that takes longer than allowed. */
  acquire(): Promise<void>
}

const defaultWaitMs = 3_600_000
const lookEveryMs = 200

export function collectorLock(
  flags: LockFlags,
  { keyHash, store }: Pick<Connection, 'keyHash' | 'store'>,
  terminal: Terminal,
): CollectorLock {
  // Always in this order, so that two processes never wait for each other.
  const paths = [databaseLock(databasePath(flags)), keyLock(keyHash)]
  const turns = waitForTurns(paths, flags.wait, terminal)
  return {
    acquire: async () => {
      await turns.acquire()
      await store.refuseDamage()
    },
    [Symbol.dispose]: () => turns[Symbol.dispose](),
  }
}

/** The rights that these files stand for, taken one after the other. */
export function waitForTurns(
  paths: readonly string[],
  wait: string | undefined,
  terminal: Terminal,
): CollectorLock {
  const waitMs = readWait(wait)
  const held: Disposable[] = []

  const acquireOne = async (path: string, until: number): Promise<void> => {
    for (let told = false; ; told = true) {
      const turn = tryTurn(path)
      if (turn !== null) {
        held.push(turn)
        return
      }
      if (performance.now() >= until)
        throw new RanklineError(
          `Another process collects for this database or key (${ownerOf(path)}). Nothing was sent; let it finish, or allow a longer --wait`,
          busyExitCode,
        )
      if (!told)
        terminal.say(
          `Waiting at most ${duration(waitMs / 1000)} for another process to finish (${ownerOf(path)}).`,
        )
      await sleep(lookEveryMs)
    }
  }

  return {
    acquire: async () => {
      const until = performance.now() + waitMs
      for (const path of paths) await acquireOne(path, until)
    },
    [Symbol.dispose]: () => {
      for (const turn of held) turn[Symbol.dispose]()
    },
  }
}

/** Takes the right that a file stands for, and says beside it who has it; null where another process does. */
export function tryTurn(path: string): Disposable | null {
  const lock = tryLock(path)
  if (lock === null) return null
  const owner = ownerFile(path)
  nameOwner(owner)
  return {
    [Symbol.dispose]: () => {
      forgetOwner(owner)
      lock.release()
    },
  }
}

/** For those who wait; the lock holds without it. */
function nameOwner(path: string): void {
  try {
    makeForAll(path)
    const file = openSync(path, 'r+')
    try {
      ftruncateSync(file)
      writeSync(file, `process ${process.pid}, since ${new Date().toISOString()}`)
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

function ownerOf(path: string): string {
  try {
    return harmless(readFileSync(ownerFile(path), 'utf8')) || unknownOwner
  } catch {
    return unknownOwner
  }
}

const unknownOwner = 'not known which'

function readWait(text: string | undefined): number {
  if (text === undefined) return defaultWaitMs
  const waitMs = span(/\d$/.test(text) ? `${text}s` : text, 'smhd')
  if (waitMs !== null) return waitMs
  throw new UsageError(`--wait cannot be '${text}'; write a time such as 90s, 30m or 1h, or 0`)
}
