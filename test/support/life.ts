import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { HttpClient, HttpResponse } from '../../src/api/http.ts'
import { countdown, type Interruption } from './interruption.ts'
import { openPromise } from './open-promise.ts'

/** One process, as far as it can be killed. From its death on nothing that it does arrives anywhere. */
export interface Life {
  readonly isDead: () => boolean
  readonly death: Promise<'died'>
  /** The same, but never fulfilled or rejected once the process is dead. */
  guard<T>(work: Promise<T>): Promise<T>
  /** Makes one commit; the process may die in the middle of it, or right after. */
  commit<T>(db: Database.Database, change: () => T): T
  exchange(wire: HttpClient): HttpClient['exchange']
  /** Waits until what was in the air has left, and leaves the files as they were at the death. */
  bury(): Promise<void>
  /** Requests that left. */
  sent(): number
  /** Whether a commit found no room. */
  wasFull(): boolean
}

export interface LifeOptions {
  /** The database. */
  readonly path: string
  readonly interruption: Interruption | null
  readonly stop: () => void
  /** Asked with each exchange: whether it finds nobody. */
  readonly isUnreachable: () => boolean
}

class Dead extends Error {}

const files = ['', '-wal'] as const
const never = new Promise<never>(() => {})
const nobody: HttpResponse = { failure: 'unreachable', status: null, error: 'nobody is there' }

export function newLife({ path, interruption, stop, isUnreachable }: LifeOptions): Life {
  const count = countdown(interruption)
  const flights: { sent: boolean; over: boolean }[] = []
  let dead = false
  let full = false
  const death = openPromise<'died'>()
  let handle: Database.Database | null = null

  /** What is not on the disk now never was. */
  const die = (): void => {
    dead = true
    for (const file of files) if (existsSync(path + file)) copyFileSync(path + file, `${path}.dead${file}`)
    death.fulfil('died')
  }
  const interrupt = (): void => (interruption?.how === 'crash' ? die() : stop())

  const commit: Life['commit'] = (db, change) => {
    handle = db
    if (dead) throw new Dead()
    const end = count.commit()
    const value = db
      .transaction(() => {
        const changed = change()
        full ||= end === 'failed'
        if (end === 'failed') throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL')
        if (end !== 'lost') return changed
        die()
        throw new Dead()
      })
      .immediate()
    if (end === 'last') interrupt()
    return value
  }

  const fly = async (send: (onSent: () => void) => Promise<HttpResponse>, onSent: () => void) => {
    const flight = { sent: false, over: false }
    flights.push(flight)
    const ended = await send(() => {
      flight.sent = true
      onSent()
    })
    flight.over = true
    return ended
  }

  const exchange: Life['exchange'] = (wire) => {
    death.promise.then(() => wire.close())
    return async (request, onSent) => {
      if (dead) return await never
      const moment = count.exchange()
      if (moment === 'before') interrupt()
      if (dead) return await never
      const left = (): void => {
        if (!dead) onSent()
        if (moment === 'sent') interrupt()
      }
      const ended = isUnreachable() ? nobody : await fly((sent) => wire.exchange(request, sent), left)
      if ('failure' in ended || ended.status !== 200) count.trouble()
      if (moment === 'answered' && !dead) interrupt()
      return dead ? await never : ended
    }
  }

  return {
    isDead: () => dead,
    death: death.promise,
    guard: (work) =>
      new Promise((resolve, reject) => {
        work.then(
          (value) => dead || resolve(value),
          (error) => dead || reject(error),
        )
      }),
    commit,
    exchange,
    bury: async () => {
      while (flights.some(({ sent, over }) => !sent && !over)) await sleep(1)
      handle?.close()
      for (const file of [...files, '-shm']) rmSync(path + file, { force: true })
      for (const file of files)
        if (existsSync(`${path}.dead${file}`)) copyFileSync(`${path}.dead${file}`, path + file)
    },
    wasFull: () => full,
    sent: () => flights.filter(({ sent }) => sent).length,
  }
}
