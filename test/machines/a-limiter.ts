import type { AcquireOptions, Permit } from '../../src/api/rate-limiter.ts'
import { databaseClock } from '../../src/machines/database-clock.ts'
import type { LeaseAnswer } from '../../src/machines/postgres/rates.ts'
import { sharedLimiter } from '../../src/machines/shared-limiter.ts'
import { fakeTime } from '../api/fake-time.ts'

/** The clock of the database is so far ahead. */
const aheadMs = 70_000
export interface Departed {
  readonly name: string
  readonly at: number
}

/** A limiter, and a database that leases send times of that spacing; null is no limit. */
export function aLimiter({
  spacingMs = 100,
  answersAfterMs = 0,
  notesAfterMs = 0,
  ...options
}: Partial<Parameters<typeof sharedLimiter>[0]> & {
  spacingMs?: number | null
  answersAfterMs?: number
  notesAfterMs?: number
} = {}) {
  const time = fakeTime()
  const pause = (ms: number) => new Promise<void>((resolve) => time.clock.after(ms, resolve))
  let next = 0
  let spacing = spacingMs
  const database = {
    leases: [] as number[],
    sendTimes: [] as number[],
    told: [] as string[],
    isHeld: false,
  }
  const inDatabase = (instant: number): number => instant + aheadMs
  const rates: Parameters<typeof sharedLimiter>[0]['rates'] = {
    lease: async (_, asked, { leadMs }): Promise<LeaseAnswer> => {
      if (answersAfterMs > 0) await pause(answersAfterMs)
      const now = time.now()
      database.leases.push(asked)
      if (spacing === null && !database.isHeld) return { unlimited: true, now: inDatabase(now) }
      const given = database.isHeld ? 1 : asked
      const first = Math.max(next, Math.ceil(now + leadMs))
      const each = spacing ?? 0
      next = first + (database.isHeld ? 1_000 : given * each)
      database.sendTimes.push(...Array.from({ length: given }, (_, index) => first + index * each))
      return {
        ...{ firstAt: inDatabase(first), spacingMs: each, given, isProbe: database.isHeld },
        now: inDatabase(now),
      }
    },
    refused: async (_, sentAt, namedMs) => {
      if (notesAfterMs > 0) await pause(notesAfterMs)
      database.told.push(`refused ${sentAt - aheadMs} ${namedMs}`)
      database.isHeld = true
      next = Math.max(next, time.now() + 500)
    },
    passed: async (_, sentAt) => {
      database.told.push(`passed ${sentAt - aheadMs}`)
      database.isHeld = false
    },
    setLimits: async (_, { perSecond }) => {
      spacing = perSecond === null ? null : 1_000 / perSecond
    },
  }
  const clock = databaseClock({ ...time.clock, wall: time.now })
  clock.note(inDatabase(0), 0, 0)
  const errors: unknown[] = []
  const limiter = sharedLimiter({
    ...{ rates, keyHash: 'key', clock, concurrency: 100, onError: (error) => errors.push(error) },
    ...options,
  })
  const departed: Departed[] = []
  const granted = new Map<string, Permit>()
  /** Asks for a place, writes its call for so long, and leaves. */
  const call = async (
    name: string,
    { writingMs = 0, ...asked }: AcquireOptions & { writingMs?: number } = {},
  ) => {
    const permit = await limiter.acquire(asked)
    granted.set(name, permit)
    if (writingMs > 0) await pause(writingMs)
    await permit.departure?.()
    departed.push({ name, at: time.now() })
    return permit
  }
  return { time, pause, limiter, database, departed, granted, call, errors }
}

export const names = (departed: readonly Departed[]) => departed.map(({ name }) => name)
