import { describe, expect, test } from 'vitest'
import { quotaUsage } from '../../src/ledger/budget.ts'
import { countLimits, limitsOf } from '../../src/ledger/period-limits.ts'
import type { Account } from '../../src/model/call.ts'
import { accountSpending } from '../../src/unattended/status.ts'
import { settlement } from './answers.ts'
import { aStore, type TempStore } from './build.ts'

/** A Wednesday: its day, week and month began on three different days. */
const now = Date.parse('2026-03-04T12:00:00.789Z')
const at = (day: string, time = '10:00:00') => Date.parse(`${day}T${time}Z`)

const quotas: Account['quotas'] = { total: 1_000, daily: 100, weekly: 300, monthly: 700 }

interface Sent {
  readonly credits?: number
  readonly billed?: 0 | 1 | null
  /** Null while it is in the air. */
  readonly outcome?: 'answered' | 'ambiguous' | 'server-error' | null
  readonly keyHash?: string
}

/** Makes a call of that day, which ended so. */
async function call({ store }: Pick<TempStore, 'store'>, day: string, sent: Sent = {}): Promise<void> {
  const { credits = 1, billed = 1, outcome = 'answered', keyHash = 'k' } = sent
  const planned = { runId: null, taskId: null, operation: 'alpha.search', credits, keyHash }
  const callId = await store.beginCall({ ...planned, sentAt: at(day) })
  if (outcome !== null) await store.settleCall(callId, settlement({ outcome, billed }), null)
}

/** Reads the account on that day, when so much had been used in all. */
async function reading(
  { store }: Pick<TempStore, 'store'>,
  day: string,
  totalUsed: number | null,
  keyHash = 'k',
): Promise<void> {
  const readAt = at(day)
  await store.saveUsage({
    runId: null,
    keyHash,
    askedAt: readAt - 20,
    readAt,
    remaining: 5,
    totalUsed,
    record: '{}',
  })
}

/** What is known to have been used of each quota, as `period: ours of atMost`. */
async function usesOf({ store }: Pick<TempStore, 'store'>, totalUsed: number | null, of = quotas) {
  const { all } = await quotaUsage(store, 'k', { quotas: of, totalUsed }, now)
  return all.map(({ period, limit, ours, atMost }) => {
    expect(limit).toBe(of[period])
    return `${period}: ${ours} of ${atMost}`
  })
}

describe('what was used of a quota', () => {
  test('is nothing to be asked for where the key has none', async () => {
    const temp = await aStore()
    expect(await usesOf(temp, 5, { total: null, daily: null, weekly: null, monthly: null })).toEqual([])
    expect(await usesOf(temp, 5, { ...quotas, total: null, weekly: null })).toEqual([
      'daily: 0 of 5',
      'monthly: 0 of 5',
    ])
  })

  test('is counted by the ledger from the beginning of each period', async () => {
    const temp = await aStore()
    for (const day of ['2026-03-04', '2026-03-04', '2026-03-02', '2026-03-01', '2026-02-28', '2025-07-01'])
      await call(temp, day)
    expect(await usesOf(temp, 6)).toEqual([
      'total: 6 of 6',
      'daily: 2 of 6',
      'weekly: 3 of 6',
      'monthly: 4 of 6',
    ])
  })

  test('is not what a clock that was ahead has dated, but for a quota of all calls', async () => {
    const temp = await aStore()
    for (const day of ['2026-03-04', '2026-03-05', '2026-03-07', '2027-04-08']) await call(temp, day)
    expect(await usesOf(temp, 4)).toEqual([
      'total: 4 of 4',
      'daily: 2 of 4',
      'weekly: 2 of 4',
      'monthly: 2 of 4',
    ])
    // An estimate from the last days needs none of them.
    expect(await accountSpending.recent(temp.store, now)).toMatchObject({ credits: 1 })
  })

  test('and a budget of a month does not count it either; some hours ahead count, so that nothing is paid twice', async () => {
    const asked: string[] = []
    const store = {
      creditsSent: async ({ until }: { readonly until: number }) => {
        asked.push(new Date(until).toISOString())
        return []
      },
      creditsSentByTag: async () => new Map(),
    }
    const whose = { scope: 'job', name: 'acme', timezone: 'UTC', jobs: ['acme'], elsewhere: [] } as const
    const [, month] = await countLimits(store, limitsOf({ perDay: 5, perMonth: 9 }, whose), now)
    expect(asked).toEqual(['2026-03-05T00:00:00.000Z', '2026-03-05T12:00:00.789Z'])
    expect(month?.span.until).toBe(Date.parse('2026-04-01'))
  })

  test('is counted in calls that cost and were billed, or may have been', async () => {
    const temp = await aStore()
    const day = '2026-03-04'
    await call(temp, day, { credits: 3 })
    await call(temp, day, { outcome: 'ambiguous', billed: null })
    await call(temp, day, { outcome: 'server-error', billed: 0 })
    await call(temp, day, { outcome: null })
    await call(temp, day, { credits: 0, billed: 0 })
    await call(temp, day, { keyHash: 'another key' })
    expect((await usesOf(temp, 9))[1]).toBe('daily: 2 of 9')
  })
})

describe('what anybody may have used of it', () => {
  test('is what the service counted since the last reading before the period', async () => {
    const temp = await aStore()
    await reading(temp, '2025-06-01', 100)
    await reading(temp, '2026-02-28', 400)
    await reading(temp, '2026-03-01', 450)
    await reading(temp, '2026-03-03', 470)
    await reading(temp, '2026-03-04', 490)
    await reading(temp, '2026-03-03', 9, 'another key')
    expect(await usesOf(temp, 500)).toEqual([
      'total: 0 of 500',
      'daily: 0 of 30',
      'weekly: 0 of 50',
      'monthly: 0 of 100',
    ])
  })

  test('is everything where nothing was read before', async () => {
    const temp = await aStore()
    await reading(temp, '2026-03-04', 490)
    expect((await usesOf(temp, 500))[1]).toBe('daily: 0 of 500')
  })

  test('is everything where the reading before said nothing of it', async () => {
    const temp = await aStore()
    await reading(temp, '2026-03-03', null)
    expect((await usesOf(temp, 500))[1]).toBe('daily: 0 of 500')
  })

  test('is not known where the service does not say it', async () => {
    const temp = await aStore()
    await reading(temp, '2026-03-03', 400)
    expect(await usesOf(temp, null)).toEqual(
      ['total', 'daily', 'weekly', 'monthly'].map((period) => `${period}: 0 of Infinity`),
    )
  })

  test('is all of a count that began anew since', async () => {
    const temp = await aStore()
    await reading(temp, '2026-02-28', 4_000)
    await reading(temp, '2026-03-03', 20)
    expect(await usesOf(temp, 30)).toEqual([
      'total: 0 of 30',
      'daily: 0 of 10',
      'weekly: 0 of 30',
      'monthly: 0 of 30',
    ])
  })
})
