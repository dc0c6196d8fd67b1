import { expect, test } from 'vitest'
import { dayNumber, dayText } from '../../src/model/time.ts'

test.each([
  [1970, 1, 1, 0],
  [1969, 12, 31, -1],
  [2024, 2, 29, 19_782],
  [2026, 8, 1, 20_666],
] as const)('%i-%i-%i is day %i, and that day is written so', (year, month, day, number) => {
  expect(dayNumber(year, month, day)).toBe(number)
  const written = [year, month, day].map((part) => String(part).padStart(2, '0')).join('-')
  expect(dayText(number)).toBe(written)
})

test.each([
  [2026, 2, 29],
  [2026, 13, 1],
  [2026, 0, 10],
  [2026, 4, 31],
  [2026, 5, 0],
])('the calendar has no day %i-%i-%i', (year, month, day) => {
  expect(dayNumber(year, month, day)).toBeNull()
})

test('a year of two digits is none of the last century', () => {
  expect(dayText(dayNumber(99, 1, 1) as number)).toBe('0099-01-01')
})
