import { expect } from 'vitest'
import { suspicions } from '../../src/model/run.ts'
import { testTable } from '../support/test-table.ts'

testTable<[number, number, number, string | null]>([
  [0, 0, 0, null],
  [9, 9, 0, null],
  [10, 5, 0, null],
  [10, 6, 0, '6 of 10 ranks of the last run are gone at once'],
  [4_000, 2_000, 9, null],
  [4_000, 2_001, 9, '2,001 of 4,000 ranks of the last run are gone at once'],
  [4_000, 12, 10, '10 different queries got one list of results'],
  [9, 9, 12, '12 different queries got one list of results'],
  [
    10,
    10,
    10,
    '10 of 10 ranks of the last run are gone at once, and 10 different queries got one list of results',
  ],
])('%i ranks of which %i are gone, %i queries with one list: %s', (ranked, gone, alike, expected) => {
  const suspicion = suspicions.of({ ranked, gone, alike })
  expect(suspicion === null ? null : suspicions.text(suspicion)).toBe(expected)
})
