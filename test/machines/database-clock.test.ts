import fc from 'fast-check'
import { expect, test } from 'vitest'
import { databaseClock } from '../../src/machines/database-clock.ts'

/** A machine whose clock is off, and a database; instants of the monotonic clock are given, as are those of the database. */
function aMachine({ wall = 1_000_000, databaseAt = (monotonic: number) => 5_000_000 + monotonic } = {}) {
  let now = 100
  const clock = databaseClock({ wall: () => wall + now, monotonic: () => now, after: () => () => {} })
  return {
    clock,
    pass: (ms: number) => {
      now += ms
    },
    /** Asks the database, with so many milliseconds on the way there and back. */
    ask: (thereMs: number, backMs: number) => {
      const askedAt = now
      const answer = databaseAt(askedAt + thereMs)
      now = askedAt + thereMs + backMs
      clock.note(answer, askedAt, now)
    },
    error: () => Math.abs(clock.wall() - databaseAt(now)),
  }
}

test('Until it knows the database it shows the time of the machine', () => {
  const { clock, pass } = aMachine()
  pass(40)
  expect([clock.wall(), clock.aheadMs()]).toEqual([1_000_140, 0])
})

test('It shows the time of the database, whatever the clock of the machine says, and how far that is ahead', () => {
  const { clock, ask, pass } = aMachine()
  ask(3, 3)
  pass(1_000)
  expect(clock.wall()).toBe(5_000_000 + clock.monotonic())
  expect(clock.aheadMs()).toBe(-4_000_000)
  expect(clock.monotonicAt(5_000_500)).toBe(500)
})

test('It is never wrong by more than half of the shortest round trip', () => {
  const way = fc.nat(400)
  fc.assert(
    fc.property(fc.array(fc.tuple(way, way, fc.nat(5_000)), { minLength: 1, maxLength: 30 }), (asked) => {
      const { ask, pass, error } = aMachine()
      for (const [there, back, pause] of asked) {
        ask(there, back)
        pass(pause)
      }
      const shortest = Math.min(...asked.map(([there, back]) => there + back))
      // Wall time is whole milliseconds.
      expect(error()).toBeLessThanOrEqual(shortest / 2 + 0.5)
    }),
  )
})

test('A quick answer counts for ten minutes, since clocks drift apart', () => {
  // A third of a second too fast in an hour.
  const { ask, pass, error } = aMachine({ databaseAt: (monotonic) => monotonic * (1 + 0.3 / 3_600) })
  ask(0, 0)
  for (let minute = 0; minute < 60; minute++) {
    pass(60_000)
    ask(400, 400)
  }
  expect(error()).toBeLessThan(100)
})

test('After ten minutes a quick answer takes the place of a quicker one, and after twenty one that waited does', () => {
  const { ask, pass, error } = aMachine()
  const errorAfter = (minutes: number, wayMs: number): number => {
    pass(minutes * 60_000)
    ask(wayMs, 0)
    return Math.round(error())
  }
  expect([errorAfter(0, 0), errorAfter(11, 100), errorAfter(0, 8)]).toEqual([0, 0, 4])
  expect([errorAfter(11, 100), errorAfter(10, 100)]).toEqual([4, 50])
})

test('It follows a database whose clock was set, or that has failed over to another server, at once', () => {
  let set = 0
  const { ask, error } = aMachine({ databaseAt: (monotonic) => monotonic + set })
  ask(1, 1)
  set = -3_000
  ask(40, 60)
  expect(error()).toBeLessThanOrEqual(50)
})
