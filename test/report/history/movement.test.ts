import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ComparedObservation,
  compare,
  type Movement,
  type RankMovement,
} from '../../../src/report/history/movement.ts'

const at = (rank: number, unbrokenDepth = 100): ComparedObservation => ({
  state: 'ranked',
  rank,
  unbrokenDepth,
})
/** Estimated: below a gap. */
const about = (rank: number, unbrokenDepth = 10): ComparedObservation => at(rank, unbrokenDepth)
const not = (unbrokenDepth: number): ComparedObservation => ({ state: 'absent', rank: null, unbrokenDepth })
const unknown: ComparedObservation = { state: 'unknown', rank: null, unbrokenDepth: 0 }

describe('two observations', () => {
  test.each<[string, ComparedObservation, ComparedObservation | null, Movement, number | null]>([
    ['up', at(3), at(5), 'improved', 2],
    ['down', at(5), at(3), 'declined', -2],
    ['where it was', at(3), at(3), 'same', 0],
    ['not seen before', at(3), null, 'new', null],
    ['not found, never observed before', not(100), null, 'new', null],
    ['unknown, never observed before', unknown, null, 'unknown', null],
    ['unknown after a rank', unknown, at(3), 'unknown', null],
    ['a rank after unknown', at(3), unknown, 'unknown', null],
    ['unknown twice', unknown, unknown, 'unknown', null],
    ['absent after unknown', not(100), unknown, 'unknown', null],
    ['in, where the one before looked', at(8), not(10), 'entered', null],
    ['in, at the last place that the one before looked at', at(10), not(10), 'entered', null],
    ['in, below what the one before looked at', at(11), not(10), 'unknown', null],
    ['in at 35 of 100, absent from 20 before', at(35, 100), not(20), 'unknown', null],
    ['absent from 20, at 35 of 100 before', not(20), at(35, 100), 'unknown', null],
    ['out', not(100), at(8), 'left', null],
    ['out, from the last place that is still looked at', not(10), at(10), 'left', null],
    ['out, below what is still looked at', not(10), at(11), 'unknown', null],
    ['absent twice', not(100), not(10), 'same', null],
    ['an estimated rank, and one without a gap', about(45), at(41), 'declined', -4],
    ['two estimated ranks', about(45), about(45), 'same', 0],
    ['an estimated rank, in', about(45), not(50), 'entered', null],
    ['an estimated rank, where the one before had not looked', about(45), not(40), 'unknown', null],
    ['out, from an estimated rank', not(50), about(45), 'left', null],
    ['absent with a gap, which may hold it still', not(10), about(45), 'unknown', null],
    ['absent where there were no results', not(0), at(1), 'unknown', null],
  ])('%s', (_, current, previous, movement, change) => {
    expect(compare(current, previous)).toEqual({ movement, change })
  })
})

const observed: fc.Arbitrary<ComparedObservation> = fc.oneof(
  fc.tuple(fc.integer({ min: 1, max: 60 }), fc.nat(60)).map(([rank, more]) => at(rank, more)),
  fc.nat(60).map(not),
  fc.nat(60).map((unbrokenDepth) => ({ ...unknown, unbrokenDepth })),
)

const backwards = {
  improved: 'declined',
  declined: 'improved',
  same: 'same',
  entered: 'left',
  left: 'entered',
  new: 'new',
  unknown: 'unknown',
} as const satisfies Record<Movement, Movement>

test('the way back is the opposite: improved and declined, entered and left, gains and losses', () => {
  fc.assert(
    fc.property(observed, observed, (a, b) => {
      const there = compare(a, b)
      const back = compare(b, a)
      expect(back.movement).toBe(backwards[there.movement])
      expect(back.change ?? 0).toBe(there.change === null || there.change === 0 ? 0 : -there.change)
    }),
  )
})

test('a movement is claimed only of ranks that both looked at', () => {
  fc.assert(
    fc.property(observed, observed, (current, previous) => {
      const { movement, change }: RankMovement = compare(current, previous)
      if (movement === 'entered') expect(current.rank).toBeLessThanOrEqual(previous.unbrokenDepth)
      if (movement === 'left') expect(previous.rank).toBeLessThanOrEqual(current.unbrokenDepth)
      expect(change !== null).toBe(current.rank !== null && previous.rank !== null)
    }),
  )
})
