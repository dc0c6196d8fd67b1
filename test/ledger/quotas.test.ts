import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { periodStarts, usedQuotas } from '../../src/ledger/budget.ts'
import { testTable } from '../support/test-table.ts'

type QuotaUsage = Parameters<typeof usedQuotas>[0][number]

const midnight = (day: string) => Date.parse(`${day}T00:00:00Z`)
const dayMs = 86_400_000

describe('the periods that hold an instant began', () => {
  testTable([
    // now, week, month
    ['2026-03-04T12:00:00.789Z', '2026-03-02', '2026-03-01'],
    ['2026-03-02T00:00:00.000Z', '2026-03-02', '2026-03-01'],
    ['2026-03-08T23:59:59.999Z', '2026-03-02', '2026-03-01'],
    ['2026-03-01T00:00:00.000Z', '2026-02-23', '2026-03-01'],
    ['2026-02-28T23:59:59.999Z', '2026-02-23', '2026-02-01'],
    // Years end within a week.
    ['2025-12-31T23:59:59.999Z', '2025-12-29', '2025-12-01'],
    ['2026-01-01T00:00:00.000Z', '2025-12-29', '2026-01-01'],
    ['2024-01-01T08:00:00.000Z', '2024-01-01', '2024-01-01'],
    ['2023-12-31T08:00:00.000Z', '2023-12-25', '2023-12-01'],
    // Leap days, and years that have none.
    ['2024-02-29T12:00:00.000Z', '2024-02-26', '2024-02-01'],
    ['2024-03-01T00:00:00.000Z', '2024-02-26', '2024-03-01'],
    ['2000-02-29T12:00:00.000Z', '2000-02-28', '2000-02-01'],
    ['2100-03-01T00:00:00.000Z', '2100-03-01', '2100-03-01'],
    // Before the clocks change in many places, which makes no difference here.
    ['2026-03-29T01:30:00.000Z', '2026-03-23', '2026-03-01'],
  ])('%s: week on %s, month on %s', (now, week, month) => {
    expect(periodStarts(Date.parse(now))).toEqual({
      total: 0,
      daily: midnight(now.slice(0, 10)),
      weekly: midnight(week),
      monthly: midnight(month),
    })
  })

  testTable([
    ['Monday', 0],
    ['Tuesday', 1],
    ['Wednesday', 2],
    ['Thursday', 3],
    ['Friday', 4],
    ['Saturday', 5],
    ['Sunday', 6],
  ])('on %s the week is %i days old', (_, days) => {
    const monday = midnight('2026-11-16')
    expect(periodStarts(monday + days * dayMs).weekly).toBe(monday)
    expect(periodStarts(monday + (days + 1) * dayMs - 1).weekly).toBe(monday)
  })

  test('where their day, week and month do, at any time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1e12, max: 8e12 }), (now) => {
        const { daily, weekly, monthly } = periodStarts(now)
        for (const start of [daily, weekly, monthly]) {
          expect(start).toBeLessThanOrEqual(now)
          expect(start % dayMs).toBe(0)
          // The beginning of a period is in it.
          expect(Object.values(periodStarts(start))).toContain(start)
        }
        expect(now - daily).toBeLessThan(dayMs)
        expect(now - weekly).toBeLessThan(7 * dayMs)
        expect(now - monthly).toBeLessThan(31 * dayMs)
        expect([new Date(weekly).getUTCDay(), new Date(monthly).getUTCDate()]).toEqual([1, 1])
        expect(new Date(monthly).getUTCMonth()).toBe(new Date(now).getUTCMonth())
      }),
    )
  })
})

const use = (
  limit: number,
  ours: number,
  atMost = ours,
  period: QuotaUsage['period'] = 'daily',
): QuotaUsage => ({
  period,
  limit,
  ours,
  atMost,
})

describe('quotas leave', () => {
  testTable<[string, readonly QuotaUsage[], number]>([
    ['everything where there are none', [], Number.POSITIVE_INFINITY],
    ['what our own calls have not used', [use(25, 10, 25)], 15],
    ['as much as the tightest one', [use(25, 10), use(100, 98), use(1_000, 0)], 2],
    ['nothing, and never less', [use(25, 30)], 0],
    ['nothing where nothing is allowed', [use(0, 0)], 0],
  ])('%s', (_, uses, left) => {
    expect(usedQuotas(uses).left).toBe(left)
  })
})

describe('that everything is refused may be explained', () => {
  testTable<[string, readonly QuotaUsage[], QuotaUsage['period'] | null]>([
    ['by nothing where there is no quota', [], null],
    ['by nothing where nobody can have used one up', [use(25, 10, 24)], null],
    ['by a quota that our own calls used up', [use(25, 25, 3)], 'daily'],
    ['by one that others may have used up', [use(25, 0, 25)], 'daily'],
    ['by any where nobody says how much was used', [use(25, 0, Number.POSITIVE_INFINITY)], 'daily'],
    ['by the one that is used up', [use(25, 10), use(10, 10, 10, 'weekly')], 'weekly'],
    ['by one that allows nothing', [use(0, 0, 0, 'total')], 'total'],
  ])('%s', (_, uses, period) => {
    expect(usedQuotas(uses).exhausted?.period ?? null).toBe(period)
  })
})

describe('words', () => {
  testTable([
    [use(25, 0), 'daily quota of 25 calls'],
    [use(1, 0, 0, 'weekly'), 'weekly quota of 1 call'],
    [use(1_250_000, 0, 0, 'total'), 'total quota of 1,250,000 calls'],
  ])('%j is the %s', (quota, words) => {
    expect(usedQuotas([quota]).all[0]?.name).toBe(words)
  })

  test('name the quota of which least is left', () => {
    const uses = [use(25, 10), use(100, 100, 0, 'weekly'), use(1_000, 0, 0, 'monthly')]
    expect(usedQuotas(uses).message).toBe(
      'The weekly quota of 100 calls of the key is used up by the calls in the ledger. Run the same command again when it starts anew or is raised.',
    )
    expect(uses.map(({ period }) => period)).toEqual(['daily', 'weekly', 'monthly'])
    expect(usedQuotas([]).message).toBe('')
  })
})
