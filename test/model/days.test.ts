import { expect, test } from 'vitest'
import { addDays, daysBetween, inOrderOfRuns } from '../../src/model/time.ts'
import { testTable } from '../support/test-table.ts'

testTable([
  ['2026-02-28', 1, '2026-03-01'],
  ['2024-02-29', -366, '2023-02-28'],
  ['9999-12-31', 1, '9999-12-31'],
])('%s and %i days more is %s', (day, days, later) => {
  expect(addDays(day, days)).toBe(later)
})

test('days between two are counted, not hours', () => {
  expect(daysBetween('2026-03-07', '2026-03-09')).toBe(2)
})

test.each([
  [
    'days in order stay',
    ['2026-03-03', '2026-03-02', '2026-03-02'],
    ['2026-03-03', '2026-03-02', '2026-03-02'],
  ],
  [
    'a zone that is behind',
    ['2026-03-01', '2026-03-02', '2026-02-28'],
    ['2026-03-01', '2026-03-01', '2026-02-28'],
  ],
  [
    'two days at most',
    ['2026-03-01', '2026-03-03', '2026-03-02'],
    ['2026-03-01', '2026-03-01', '2026-03-01'],
  ],
  ['a clock that was far ahead', ['2026-03-02', '2036-03-01', '2026-03-01'], ['2026-03-02', '2026-03-01']],
  ['a clock that was far behind', ['1970-01-01', '2026-03-02', '2026-03-01'], ['2026-03-02', '2026-03-01']],
  ['the first run, far ahead', ['2026-03-02', '2027-04-01'], ['2026-03-02']],
  [
    'some days with a clock that was far ahead',
    ['2026-03-05', '2026-03-04', '2027-04-02', '2027-04-01', '2026-03-03', '2026-03-02'],
    ['2026-03-05', '2026-03-04', '2026-03-03', '2026-03-02'],
  ],
  [
    'a zone that is behind, and a clock that was far ahead',
    ['2026-03-03', '2026-03-04', '2027-04-01', '2026-03-02'],
    ['2026-03-03', '2026-03-03', '2026-03-02'],
  ],
  ['no run', [], []],
])(
  'runs count to the day of the one after them where that is earlier, and those of a wrong clock are left out: %s',
  (_, dates, days) => {
    expect(inOrderOfRuns(dates.map((date) => ({ date }))).map(({ date }) => date)).toEqual(days)
  },
)
