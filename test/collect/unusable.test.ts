import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { areTooMany, callCounts } from '../../src/collect/circuit-breaker.ts'
import { testTable } from '../support/test-table.ts'

describe('answers that cannot be used are too many', () => {
  testTable<[number, number, boolean]>([
    [2, 20, false],
    [3, 20, true],
    [3, 19, false],
    [19, 19, false],
    [20, 20, true],
    [3, 299, true],
    [3, 300, false],
    [20, 2_000, false],
    [21, 2_000, true],
  ])('%i of %i: %s', (unusable, calls, expected) => {
    expect(areTooMany(unusable, calls)).toBe(expected)
  })
})

/** Notes calls until the operation is trusted no more: `+` an answer that can be used, `-` one that cannot, `0` none at all. */
function verdictAfter(answers: ReturnType<typeof callCounts>, ends: string) {
  for (const end of ends) {
    const verdict =
      end === '0'
        ? answers.useless('alpha.search', { problem: 'HTTP 404', mayBeBilled: true })
        : answers.answered('alpha.search', end === '+' ? null : 'no JSON')
    if (verdict !== false) return verdict
  }
  return false
}

testTable<[string, string, ReturnType<typeof verdictAfter>]>([
  ['nothing but answers that can be used', '+'.repeat(5_000), false],
  ['one percent of them cannot', `${'+'.repeat(99)}-`.repeat(50), false],
  ['nineteen cannot', '-'.repeat(19), false],
  ['twenty cannot', '-'.repeat(20), 'for-now'],
  ['two early ones, and one after long', `--${'+'.repeat(1_997)}-`, false],
  [
    'however many could be used before, twenty-one cannot',
    `${'+'.repeat(100_000)}${'-'.repeat(21)}`,
    'for-now',
  ],
  ['nineteen calls without an answer', '0'.repeat(19), false],
  ['twenty calls without an answer', '0'.repeat(20), 'for-now'],
  ['nineteen in a row, again and again', `${'0'.repeat(19)}+`.repeat(50), false],
  ['some of both, and none of use', '0-'.repeat(10), 'for-now'],
  ['none of use after many that were', `${'+'.repeat(5_000)}${'0'.repeat(20)}`, 'for-now'],
])('%s', (_, ends, expected) => {
  expect(verdictAfter(callCounts(), ends)).toBe(expected)
})

test('an operation that was trusted again, and has wasted what may be wasted, is trusted no more', () => {
  const answers = callCounts()
  expect(verdictAfter(answers, '-'.repeat(20))).toBe('for-now')
  answers.forgive('alpha.search')
  expect(verdictAfter(answers, `${'+'.repeat(57)}---`)).toBe('for-good')
})

test('and three more are enough, however few came between', () => {
  const answers = callCounts()
  expect(verdictAfter(answers, '-'.repeat(20))).toBe('for-now')
  answers.forgive('alpha.search')
  expect(verdictAfter(answers, '+--')).toBe(false)
  expect(verdictAfter(answers, '-')).toBe('for-good')
})

test('calls of no use in a row cost twenty at most, whatever was before', () => {
  const before = fc.array(fc.constantFrom('+', '0', '+++'), { maxLength: 200 })
  fc.assert(
    fc.property(
      before,
      fc.array(fc.constantFrom('0', '-'), { minLength: 20, maxLength: 20 }),
      (past, ends) => {
        const answers = callCounts()
        if (verdictAfter(answers, past.join('')) !== false) return
        expect(verdictAfter(answers, ends.join(''))).not.toBe(false)
      },
    ),
  )
})

describe('tasks at work until an answer could be used', () => {
  test('are eight, of each operation', () => {
    const answers = callCounts()
    for (let task = 0; task < 8; task++) answers.begun('alpha.search')
    expect([answers.roomFor('alpha.search'), answers.roomFor('alpha.news')]).toEqual([0, 8])
    answers.ended('alpha.search')
    answers.answered('alpha.search', 'no JSON')
    answers.useless('alpha.search', { problem: 'HTTP 404', mayBeBilled: true })
    expect(answers.roomFor('alpha.search')).toBe(1)
    answers.answered('alpha.search', null)
    expect(answers.roomFor('alpha.search')).toBe(Number.POSITIVE_INFINITY)
  })

  test('and whoever waits for room is told of it, no longer than it matters', () => {
    const answers = callCounts()
    let told = 0
    const unwatch = answers.watch(() => {
      told += 1
    })
    for (let task = 0; task < 3; task++) answers.begun('alpha.search')
    answers.ended('alpha.search')
    expect(told).toBe(1)
    answers.answered('alpha.search', null)
    answers.answered('alpha.search', null)
    answers.ended('alpha.search')
    expect(told).toBe(2)
    unwatch()
    answers.ended('alpha.news')
    expect(told).toBe(2)
  })
})

test('early trouble that has passed is forgotten where it is less than a percent of all', () => {
  const answers = callCounts()
  expect(verdictAfter(answers, '-'.repeat(20))).toBe('for-now')
  answers.forgive('alpha.search')
  expect(verdictAfter(answers, `${'+'.repeat(5_000)}${'-'.repeat(21)}`)).toBe('for-now')
})

test('whatever comes, less than twenty-one or one percent of the answers since it was trusted are wasted unseen', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 400 }), fc.nat(6_000), (ends, before) => {
      const answers = callCounts()
      for (let call = 0; call < before; call++) answers.answered('alpha.search', null)
      for (const canBeUsed of ends) {
        if (answers.answered('alpha.search', canBeUsed ? null : 'no JSON') !== false) break
        expect(answers.wasted('alpha.search').unusable).toBeLessThan(21)
      }
      expect(answers.wasted('gamma.search')).toMatchObject({ unusable: 0, answers: 0, problem: null })
    }),
  )
})
