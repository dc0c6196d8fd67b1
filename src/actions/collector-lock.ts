import { setTimeout as sleep } from 'node:timers/promises'
import { databasePath, serviceSettings } from '../config.ts'
import { busyExitCode, RanklineError, UsageError } from '../errors.ts'
import { databaseLock, keyLock } from '../store/sqlite/lock.ts'
import { note, type Terminal } from '../terminal.ts'
import { duration, span } from '../words.ts'
import { ownerOf, tryTurn } from './turns.ts'
import { keyHash, type WireFlags } from './wire.ts'

export interface LockFlags extends WireFlags {
  readonly wait?: string
}

/** The right to collect: one process at a time has it for a database, and one for a key. */
export interface CollectorLock extends Disposable {
  /** Waits for its turn, once, saying for whom; rejected with exit code 7 when that takes longer than allowed. */
  acquire(): Promise<void>
}

const defaultWaitMs = 3_600_000
const lookEveryMs = 200

export function collectorLock(flags: LockFlags, terminal: Terminal): CollectorLock {
  // Always in this order, so that two processes never wait for each other.
  const paths = [databaseLock(databasePath(flags)), keyLock(keyHash(serviceSettings(flags)))]
  return waitForTurns(paths, flags.wait, terminal)
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
        note(
          terminal,
          `Waiting at most ${duration(waitMs / 1000)} for another process to finish (${ownerOf(path)}).`,
        )
      await sleep(lookEveryMs)
    }
  }

  const acquireAll = async (): Promise<void> => {
    const until = performance.now() + waitMs
    for (const path of paths) await acquireOne(path, until)
  }
  let acquired: Promise<void> | null = null

  return {
    acquire: async () => {
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
  const waitMs = span(/\d$/.test(text) ? `${text}s` : text, 'smhd')
  if (waitMs !== null) return waitMs
  throw new UsageError(`--wait cannot be '${text}'; write a time such as 90s, 30m or 1h, or 0`)
}
