import { expect, test } from 'vitest'
import { addDays, daysBetween } from '../../src/report/days.ts'

test.each([
  ['2026-02-28', 1, '2026-03-01'],
  ['2024-02-29', -366, '2023-02-28'],
  ['9999-12-31', 1, '9999-12-31'],
])('%s and %i days more is %s', (day, days, later) => {
  expect(addDays(day, days)).toBe(later)
})

test('days between two are counted, not hours', () => {
  expect(daysBetween('2026-03-07', '2026-03-09')).toBe(2)
})
