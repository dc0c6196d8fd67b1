import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { obstacleTo, parseUsage } from '../../src/collect/account.ts'
import type { Account } from '../../src/model/call.ts'
import { testTable } from '../support/test-table.ts'

const read = (record: unknown) => parseUsage(Buffer.from(JSON.stringify(record)))

const nothing: Account = {
  remaining: null,
  totalUsed: null,
  limits: { perSecond: null, perMinute: null },
  keyActive: null,
  keyExpires: null,
  quotas: { total: null, daily: null, weekly: null, monthly: null },
  unread: {},
}

const older = {
  remaining: 900,
  total_used: 100,
  renewal_date: '2026-01-01',
  period: { start: '2025-12-01', end: '2026-01-01' },
  subscription: { used: 100, total: 1000, remaining: 900, percent_used: 10 },
  credits: { given: 0, consumed: 0, remaining: 0, percent_used: 0 },
  rate_limit: { per_minute: 600, per_second: 20 },
  account: { name: 'Acme', slug: 'acme' },
  api_key: {
    alias: 'ci',
    active: true,
    category: 'production',
    expires: '2026-06-01T00:00:00Z',
    quotas: { total: null, daily: 500, weekly: null, monthly: 9000 },
  },
}

test('the older shape, without packs, is read', () => {
  expect(read(older)).toEqual({
    remaining: 900,
    totalUsed: 100,
    limits: { perSecond: 20, perMinute: 600 },
    keyActive: true,
    keyExpires: '2026-06-01T00:00:00Z',
    quotas: { total: null, daily: 500, weekly: null, monthly: 9000 },
    unread: {},
  })
})

test.each([
  ['null packs', null],
  ['packs', { count: 1, remaining: 300, items: [{ id: 'p', remaining: 300 }], current: null }],
  ['packs of an odd type', 'none'],
])('the newer shape with %s says the same', (_, packs) => {
  expect(read({ ...older, packs })).toEqual(read(older))
})

describe('limits', () => {
  testTable([
    [{ per_minute: null, per_second: null }, null, null],
    [{}, null, null],
    [null, null, null],
    ['20', null, null],
    [{ per_minute: '600', per_second: '20' }, 20, 600],
    [{ per_minute: 0, per_second: 0 }, 0, 0],
    [{ per_minute: -5, per_second: 0.5 }, 1, 0],
    [{ per_minute: 'many', per_second: true }, null, null],
    [{ per_minute: [600], per_second: {} }, null, null],
  ])('%j are %j per second and %j per minute', (rate_limit, perSecond, perMinute) => {
    expect(read({ ...older, rate_limit })?.limits).toEqual({ perSecond, perMinute })
  })
})

describe('what stands in the way of every call', () => {
  const now = Date.UTC(2026, 10, 22, 12)
  test.each<[string, Record<string, unknown>, ReturnType<typeof obstacleTo>]>([
    ['a key that is active and never expires', { api_key: { active: true, expires: null } }, null],
    ['a key of which nothing is said', {}, null],
    ['an inactive key', { api_key: { active: false } }, 'key-inactive'],
    ['a key that has expired', { api_key: { expires: '2026-11-22T11:59:59Z' } }, 'key-expired'],
    ['a key that will expire', { api_key: { expires: '2026-11-22T12:00:01Z' } }, null],
    ['a key that expires with this day', { api_key: { expires: '2026-11-22' } }, null],
    ['a key that expired with the day before', { api_key: { expires: '2026-11-21' } }, 'key-expired'],
    ['an expiry that is no date', { api_key: { expires: 'soon' } }, null],
    ['an expiry that is a number', { api_key: { expires: 1_700_000_000 } }, null],
    ['no calls per minute', { rate_limit: { per_minute: 0, per_second: 5 } }, 'no-calls-per-minute'],
    ['no calls per second', { rate_limit: { per_second: '0' } }, 'no-calls-per-second'],
    ['a limit below nothing', { rate_limit: { per_second: -1 } }, 'no-calls-per-second'],
  ])('%s', (_, record, obstacle) => {
    expect(obstacleTo(read(record) as Account, now)).toBe(obstacle)
  })
})

describe('odd types', () => {
  testTable([
    ['text for numbers', { remaining: '12', total_used: ' 7 ' }, { remaining: 12, totalUsed: 7 }],
    ['fractions of credits', { remaining: 1.5, total_used: '2.9' }, { remaining: 1, totalUsed: 2 }],
    ['less than a credit', { remaining: -0.5, total_used: 0.5 }, { remaining: -1, totalUsed: 0 }],
    ['a count that is none', { total_used: 'lots' }, { unread: { total_used: '"lots"' } }],
    [
      'quotas of every kind',
      { api_key: { quotas: { total: '12.9', daily: -1, weekly: 0.5, monthly: '7' } } },
      { quotas: { total: 12, daily: 0, weekly: 0, monthly: 7 } },
    ],
    [
      'quotas that cannot be read',
      { api_key: { quotas: { total: 'many', daily: true, weekly: [5], monthly: '1,200' } } },
      {
        unread: {
          'api_key.quotas.total': '"many"',
          'api_key.quotas.daily': 'true',
          'api_key.quotas.weekly': '[5]',
          'api_key.quotas.monthly': '"1,200"',
        },
      },
    ],
    ['one quota for all', { api_key: { quotas: 500 } }, { unread: { 'api_key.quotas': '500' } }],
    ['one rate for all', { rate_limit: 20 }, { unread: { rate_limit: '20' } }],
    ['numbers beyond the exact range', { remaining: 2 ** 60 }, { remaining: null }],
    ['a negative balance', { remaining: -3 }, { remaining: -3 }],
    ['a key that is text', { api_key: 'abc' }, { unread: { api_key: '"abc"' } }],
    ['an activity that is text', { api_key: { active: 'yes' } }, { keyActive: null }],
    ['a key that never expires', { api_key: { expires: null } }, { keyExpires: null }],
  ])('a part of the record may be missing or odd: %s', (_, record, expected) => {
    expect(read(record)).toEqual({ ...nothing, ...expected })
  })

  testTable(['', 'null', '[]', '"usage"', '12', '{"remaining":', '<html></html>'])(
    'the body %j is no usage record',
    (body) => {
      expect(parseUsage(Buffer.from(body))).toBeNull()
    },
  )

  test('any JSON gives an account of whole numbers or nothing, never an exception', () => {
    fc.assert(
      fc.property(fc.json(), fc.jsonValue(), (body, rate_limit) => {
        parseUsage(Buffer.from(body))
        const account = read({ rate_limit, remaining: rate_limit }) as Account
        for (const value of [account.remaining, account.limits.perMinute, account.limits.perSecond])
          expect(value === null || Number.isSafeInteger(value)).toBe(true)
        expect(account.limits.perSecond ?? 1).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})
