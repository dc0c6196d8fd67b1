import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { QueryHistory } from '../../src/model/query.ts'
import { earliestBegin, every, everyOf, everyOfQuery, isDue } from '../../src/schedule/slots.ts'
import { testTable } from '../support/test-table.ts'

const never: QueryHistory = { answeredAt: null, failures: [] }
const berlin = 'Europe/Berlin'

function answered(at: string): QueryHistory {
  return { answeredAt: Date.parse(at), failures: [] }
}

function due(text: string, history: QueryHistory, now: string, zone = berlin): boolean {
  return isDue(everyOf(text), history, zone, Date.parse(now))
}

testTable([
  // Hours count since the last answer, also over a change of the clock.
  ['12h', '2026-05-04T06:00:03Z', '2026-05-04T18:00:02Z', false],
  ['12h', '2026-05-04T06:00:03Z', '2026-05-04T18:00:03Z', true],
  ['24h', '2026-03-28T12:00:00Z', '2026-03-29T11:00:00Z', false],
  // Days are local days: midnight in Berlin is 22:00 UTC in summer, 23:00 in winter.
  ['1d', '2026-05-04T06:00:00Z', '2026-05-04T21:59:59Z', false],
  ['1d', '2026-05-04T21:59:00Z', '2026-05-04T22:00:00Z', true],
  ['1d', '2026-01-04T22:30:00Z', '2026-01-04T22:59:59Z', false],
  ['1d', '2026-03-28T23:30:00Z', '2026-03-29T21:59:00Z', false],
  ['7d', '2026-05-04T20:00:00Z', '2026-05-10T21:59:00Z', false],
  ['7d', '2026-05-04T20:00:00Z', '2026-05-10T22:00:00Z', true],
  // 4 May 2026 is a Monday.
  ['mon,thu', '2026-05-04T06:00:00Z', '2026-05-06T20:00:00Z', false],
  ['mon,thu', '2026-05-04T06:00:00Z', '2026-05-06T22:00:00Z', true],
  ['mon,thu', '2026-05-05T06:00:00Z', '2026-05-06T06:00:00Z', false],
  ['mon', '2026-05-03T21:59:00Z', '2026-05-03T22:00:00Z', true],
  ['mon', '2026-05-03T12:00:00Z', '2026-05-09T12:00:00Z', true],
  ['month', '2026-05-01T00:00:00Z', '2026-05-31T21:59:00Z', false],
  ['month', '2026-05-31T12:00:00Z', '2026-05-31T22:00:00Z', true],
  ['month', '2025-05-31T12:00:00Z', '2026-05-15T12:00:00Z', true],
  // A clock that is set back a little changes nothing; what was stored while it was years ahead does not count.
  ['12h', '2026-05-04T20:00:00Z', '2026-05-04T12:00:00Z', false],
  ['1d', '2026-05-05T06:00:00Z', '2026-05-04T12:00:00Z', false],
  ['1d', '2030-01-01T00:00:00Z', '2026-05-04T12:00:00Z', true],
  ['month', '2030-01-01T00:00:00Z', '2026-05-04T12:00:00Z', true],
] as const)('every %s, answered %s: at %s due %s', (text, last, now, expected) => {
  expect(due(text, answered(last), now)).toBe(expected)
  const before = earliestBegin(everyOf(text), Date.parse(now))
  if (!expected) expect(Date.parse(last)).toBeGreaterThanOrEqual(before)
})

test('a query that never ran is due at once, whatever the weekday', () => {
  for (const text of ['12h', '1d', 'mon', 'month'])
    expect(due(text, never, '2026-05-05T12:00:00Z')).toBe(true)
})

describe('a query that failed', () => {
  const now = '2026-05-05T12:00:00Z'
  const failed = (times: number, at = '2026-05-05T06:00:00Z', isFinal = false): QueryHistory => ({
    ...answered('2026-05-04T06:00:00Z'),
    failures: Array.from({ length: times }, () => ({ at: Date.parse(at), isFinal })),
  })

  test('is due again three times in its period', () => {
    expect([1, 2, 3, 4].map((times) => due('1d', failed(times), now))).toEqual([true, true, true, false])
    expect(due('1d', failed(9), '2026-05-05T22:00:00Z')).toBe(true)
    expect(due('12h', { ...failed(4), answeredAt: null }, now)).toBe(false)
    expect(due('12h', { ...failed(4), answeredAt: null }, '2026-05-05T18:00:00Z')).toBe(true)
  })

  test('is not due again in its period after a 400 or a 404', () => {
    expect(due('1d', failed(1, '2026-05-05T06:00:00Z', true), now)).toBe(false)
    expect(due('1d', failed(1, '2026-05-04T06:00:00Z', true), now)).toBe(true)
    expect(due('month', { ...failed(1, '2026-05-01T00:00:00Z', true), answeredAt: null }, now)).toBe(false)
  })
})

test('after an instant, once is until it is answered', () => {
  const rule = { unit: 'once', since: Date.parse('2026-05-05T06:00:00Z') } as const
  const at = (history: QueryHistory): boolean =>
    isDue(rule, history, 'UTC', Date.parse('2026-05-05T09:00:00Z'))
  expect(at(never)).toBe(true)
  expect(at(answered('2026-05-05T05:59:59Z'))).toBe(true)
  expect(at(answered('2026-05-05T06:00:00Z'))).toBe(false)
})

testTable([
  [null, [], null, null],
  [null, [], '7d', '7d'],
  [null, ['money'], '7d', '1d'],
  [null, ['tail', 'money'], '7d', '1d'],
  [null, ['tail', 'half'], null, '12h'],
  [null, ['tail'], '1d', 'month'],
  [null, ['constructor'], '1d', '1d'],
  ['mon', ['money'], '7d', 'mon'],
] as const)(
  'a query that says %s, with the tags %j in a job of every %s, is due every %s',
  (own, tags, job, expected) => {
    const cadence = { money: '1d', tail: 'month', half: '12h', week: 'mon,thu' }
    const found = everyOfQuery({ every: own, tags }, { every: job, cadence })
    expect(found).toEqual(expected === null ? null : everyOf(expected))
  },
)

testTable([
  ['Thu, MON,mon', 'mon,thu'],
  ['1D', '1d'],
  ['0d', null],
  ['1w', null],
  ['monday', null],
  ['mon,', null],
  ['', null],
])('every: %s is read as %s', (text, expected) => {
  const read = every(text)
  expect('value' in read ? read.value : null).toBe(expected)
})

test('once answered, a query is not due again at once; when it is, it stays due until it is answered', () => {
  const text = fc.constantFrom('1h', '36h', '1d', '3d', 'mon', 'tue,sat', 'month')
  const zone = fc.constantFrom('UTC', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu')
  const instant = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2028, 0, 1) })
  const later = fc.integer({ min: 0, max: 40 * 86_400_000 })
  fc.assert(
    fc.property(text, zone, instant, later, later, (often, where, at, first, second) => {
      const history = { answeredAt: at, failures: [] }
      const is = (now: number): boolean => isDue(everyOf(often), history, where, now)
      expect(is(at)).toBe(false)
      if (is(at + first)) expect(is(at + first + second)).toBe(true)
      if (!is(at + first)) expect(earliestBegin(everyOf(often), at + first)).toBeLessThanOrEqual(at)
    }),
  )
})
