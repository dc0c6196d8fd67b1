import { closeSync, ftruncateSync, openSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs'
import { makeForAll, tryLock } from '../store/sqlite/lock.ts'
import { harmless } from '../terminal.ts'

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

/** Who has the right that a file stands for, as far as is known. */
export function ownerOf(path: string): string {
  try {
    return harmless(readFileSync(ownerFile(path), 'utf8')) || unknownOwner
  } catch {
    return unknownOwner
  }
}

const unknownOwner = 'not known which'
