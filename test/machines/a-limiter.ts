import type { AcquireOptions, Permit } from '../../src/api/rate-limiter.ts'
import { databaseClock } from '../../src/machines/database-clock.ts'
import type { SlotAnswer } from '../../src/machines/journal.ts'
import { type SlotLimiterOptions, slotLimiter } from '../../src/machines/slot-limiter.ts'
import { fakeTime } from '../api/fake-time.ts'

/** The clock of the database is so far ahead. */
const aheadMs = 70_000
export interface Departed {
  readonly name: string
  readonly at: number
}

/** A limiter, and a database that leases slots of that spacing; null is no limit. */
export function aLimiter({
  spacingMs = 100,
  answersAfterMs = 0,
  notesAfterMs = 0,
  ...options
}: Partial<SlotLimiterOptions> & {
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
    slots: [] as number[],
    told: [] as string[],
    isHeld: false,
  }
  const inDatabase = (instant: number): number => instant + aheadMs
  const rates: SlotLimiterOptions['rates'] = {
    lease: async (_, asked, leadMs): Promise<SlotAnswer> => {
      if (answersAfterMs > 0) await pause(answersAfterMs)
      const now = time.now()
      database.leases.push(asked)
      if (spacing === null && !database.isHeld) return { unlimited: true, now: inDatabase(now) }
      const slots = database.isHeld ? 1 : asked
      const first = Math.max(next, Math.ceil(now + leadMs))
      const each = spacing ?? 0
      next = first + (database.isHeld ? 1_000 : slots * each)
      database.slots.push(...Array.from({ length: slots }, (_, index) => first + index * each))
      return {
        ...{ firstAt: inDatabase(first), spacingMs: each, slots, isProbe: database.isHeld },
        now: inDatabase(now),
      }
    },
    refused: async (_, slotAt, namedMs) => {
      if (notesAfterMs > 0) await pause(notesAfterMs)
      database.told.push(`refused ${slotAt - aheadMs} ${namedMs}`)
      database.isHeld = true
      next = Math.max(next, time.now() + 500)
    },
    passed: async (_, slotAt) => {
      database.told.push(`passed ${slotAt - aheadMs}`)
      database.isHeld = false
    },
    setLimits: async (_, { perSecond }) => {
      spacing = perSecond === null ? null : 1_000 / perSecond
    },
  }
  const clock = databaseClock({ ...time.clock, wall: time.now })
  clock.note(inDatabase(0), 0, 0)
  const errors: unknown[] = []
  const limiter = slotLimiter({
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
