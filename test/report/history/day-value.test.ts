import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ComparedObservation, replacesForDay } from '../../../src/report/history/movement.ts'

const at = (rank: number, unbrokenDepth = 100): ComparedObservation => ({
  state: 'ranked',
  rank,
  unbrokenDepth,
})
const not = (unbrokenDepth: number): ComparedObservation => ({ state: 'absent', rank: null, unbrokenDepth })
const unknown: ComparedObservation = { state: 'unknown', rank: null, unbrokenDepth: 10 }

test.each<[string, ComparedObservation, ComparedObservation, boolean]>([
  ['a rank after a rank', at(3), at(5), true],
  ['a worse rank after a rank', at(5), at(3), true],
  ['a rank after an absence', at(35), not(100), true],
  ['a rank after unknown', at(3), unknown, true],
  ['an absence after unknown', not(10), unknown, true],
  ['unknown after a rank', unknown, at(3), false],
  ['unknown after an absence', unknown, not(10), false],
  ['unknown after unknown', unknown, unknown, true],
  ['an absence that would have seen the rank', not(100), at(35), true],
  ['an absence down to just that rank', not(35), at(35), true],
  ['a shallow absence after a deep rank', not(10), at(35), false],
  ['a shallow absence after a high rank', not(10), at(3, 10), true],
  ['an absence after one as deep', not(10), not(10), true],
  ['a deeper absence', not(100), not(10), true],
  ['a shallower absence', not(10), not(100), false],
])('%s', (_, later, earlier, speaks) => {
  expect(replacesForDay(later, earlier)).toBe(speaks)
})

const observed: fc.Arbitrary<ComparedObservation> = fc.oneof(
  fc.tuple(fc.integer({ min: 1, max: 60 }), fc.nat(60)).map(([rank, depth]) => at(rank, depth)),
  fc.nat(60).map(not),
  fc.constant(unknown),
)

test('a day keeps what any of its runs knew: it is unknown only where all were, and no absence hides a deeper rank', () => {
  fc.assert(
    fc.property(fc.array(observed, { minLength: 1, maxLength: 6 }), (runs) => {
      const day = runs.reduce((kept, run) => (replacesForDay(run, kept) ? run : kept))
      expect(day.state === 'unknown').toBe(runs.every(({ state }) => state === 'unknown'))
      const lastRank = runs.findLastIndex(({ state }) => state === 'ranked')
      const rank = runs[lastRank]?.rank
      if (day.state !== 'absent' || rank == null) return
      const seen = runs.slice(lastRank + 1).some((run) => run.state === 'absent' && run.unbrokenDepth >= rank)
      expect(seen).toBe(true)
    }),
  )
})
