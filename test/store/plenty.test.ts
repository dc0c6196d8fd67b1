import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Committed, plentyLearned } from '../../src/store/sqlite/plenty.ts'

/** How many are plenty after so many commits, each of which took that. */
function learned(...commits: readonly (Committed & { readonly times: number })[]): number {
  const plenty = plentyLearned()
  for (const { times, ...commit } of commits) for (let n = 0; n < times; n++) plenty.note(commit)
  return plenty.changes()
}

const quick = { changes: 24, changesMs: 1.2, commitMs: 0.2 }
const slow = { changes: 24, changesMs: 1.2, commitMs: 5 }

describe('plenty are', () => {
  test.each([
    ['24, while nothing is known', [], 24],
    ['24, where commits are quick', [{ ...quick, times: 100 }], 24],
    ['as many as take four times as long as a slow commit', [{ ...slow, times: 100 }], 400],
    ['the same, however many were in it', [{ ...slow, changes: 3, changesMs: 0.15, times: 100 }], 400],
    ['few again, once the disk is quick again', [slow, quick].map((one) => ({ ...one, times: 100 })), 24],
  ])('%s', (_, commits, changes) => {
    expect(learned(...commits)).toBe(changes)
  })

  test('hardly more after one commit that was slow', () => {
    expect(learned({ ...quick, times: 100 }, { ...slow, times: 1 })).toBeLessThan(50)
  })

  test('a whole number, and never fewer than 24', () => {
    const commit = fc.record({
      changes: fc.integer({ min: 1, max: 500 }),
      changesMs: fc.double({ min: 0, max: 100, noNaN: true }),
      commitMs: fc.double({ min: 0, max: 5000, noNaN: true }),
      times: fc.constant(1),
    })
    fc.assert(
      fc.property(fc.array(commit, { minLength: 1, maxLength: 40 }), (commits) => {
        const changes = learned(...commits)
        expect(changes).toBeGreaterThanOrEqual(24)
        expect(changes === Infinity || Number.isInteger(changes)).toBe(true)
      }),
    )
  })
})
