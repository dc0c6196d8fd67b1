import { expect, test } from 'vitest'
import { mostInWindow, slidingWindows } from '../../src/sandbox/state.ts'
import { testTable } from '../support/test-table.ts'

test('a place in the window is free again one window after it was taken', () => {
  const windows = slidingWindows()
  const limits = { perSecond: 2, perMinute: null }
  const admitted = [0, 400, 999, 1000, 1399, 1400].map((at) => windows.admit(at, limits))
  expect(admitted).toEqual([true, true, false, true, false, true])
  expect(windows.most()).toEqual({ perSecond: 2, perMinute: 4 })
})

test('refused arrivals leave no trace in the window', () => {
  const windows = slidingWindows()
  const limits = { perSecond: 1, perMinute: null }
  expect([0, 300, 600, 900, 1000].map((at) => windows.admit(at, limits))).toEqual([
    true,
    false,
    false,
    false,
    true,
  ])
})

test('both limits hold at once', () => {
  const windows = slidingWindows()
  const limits = { perSecond: 2, perMinute: 3 }
  expect([0, 1, 2, 1000, 1001, 60_000].map((at) => windows.admit(at, limits))).toEqual([
    true,
    true,
    false,
    true,
    false,
    true,
  ])
})

test('a withdrawn arrival gives its place back', () => {
  const windows = slidingWindows()
  windows.admit(5, { perSecond: 1, perMinute: null })
  windows.withdraw(5)
  expect(windows.admit(6, { perSecond: 1, perMinute: null })).toBe(true)
})

testTable([
  [[], 1000, 0],
  [[0, 1000, 2000], 1000, 1],
  [[0, 999, 1000], 1000, 2],
  [[5, 5, 5], 1, 3],
])('of %j a window of %i ms holds at most %i', (instants, ms, most) => {
  expect(mostInWindow(instants, ms)).toBe(most)
})
