import { expect, test } from 'vitest'
import { volumeIn } from '../../../src/arrive/import/values.ts'

test.each([
  ['2400', 2_400],
  [' 1,200 ', 1_200],
  ['1 200', 1_200],
  ['1.2K', 1_200],
  // No number of searches, and not twelve.
  ['1,2', null],
  ['10-100', null],
  ['-', null],
  ['', null],
])('the volume in %j is %j', (cell, volume) => {
  expect(volumeIn(cell)).toBe(volume)
})
