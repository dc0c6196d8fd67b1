import { expect, test } from 'vitest'
import { clockDifference, isPossible } from '../../src/collect/account.ts'
import {
  clockOff,
  countsAsDone,
  dayMs,
  freshSpan,
  hourMs,
  latestKnown,
  timeForAges,
} from '../../src/model/time.ts'
import { testTable } from '../support/test-table.ts'

const now = Date.UTC(2026, 10, 25, 21)

test('nothing from the future is fresh, but for what clocks that agree may differ by', () => {
  const span = freshSpan(12 * hourMs, now)
  const isFresh = (at: number): boolean => span !== null && at >= span.from && at < span.until
  for (const [ago, fresh] of [
    [0, true],
    [12 * hourMs, true],
    [12 * hourMs + 1, false],
    [-299_000, true],
    [-hourMs, false],
    [-400 * dayMs, false],
  ] as const)
    expect([ago, isFresh(now - ago)]).toEqual([ago, fresh])
  expect(freshSpan(null, now)).toBeNull()
})

test('what lies ahead is not the last that happened, and what lies far ahead is not done', () => {
  expect(latestKnown(now) - now).toBe(300_000)
  expect(countsAsDone(now + 2 * hourMs, now)).toBe(true)
  expect(countsAsDone(now + 2 * dayMs, now)).toBe(false)
})

testTable([
  [now, null, 'now'],
  [now, now, 'now'],
  [now, now - dayMs, 'now'],
  [now, now - 2 * dayMs, 'the last run'],
  [now, now - 730 * dayMs, 'the last run'],
  [now, now + 400 * dayMs, 'now'],
] as const)('ages count at %s, after a run at %s, from %s', (at, last, from) => {
  expect(timeForAges(at, last)).toBe(from === 'now' ? at : last)
})

testTable([
  ['1970-01-01T00:00:00Z', false],
  ['2023-12-31T23:59:59Z', false],
  ['2026-11-25T21:00:00Z', true],
  ['2100-01-01T00:00:00Z', false],
  ['9999-12-31T00:00:00Z', false],
] as const)('a service can mean %s: %s', (date, possible) => {
  expect(isPossible(Date.parse(date))).toBe(possible)
})

test('what the journey of an answer can explain is no difference, and the rest is said in the largest unit that fits', () => {
  const at = { before: now, after: now + 800 }
  for (const within of [now - 999, now, now + 800]) expect(clockDifference(within, at)).toBe(0)
  expect(clockOff(clockDifference(now + 600_800, at))).toBe(
    'The clock of this machine is 10 min behind that of the service',
  )
  expect(clockOff(clockDifference(now - 400 * dayMs - 999, at))).toBe(
    'The clock of this machine is 400 days ahead of that of the service',
  )
})
