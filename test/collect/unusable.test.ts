import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { areTooMany, unusableAnswers } from '../../src/collect/circuit-breaker.ts'
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

/** Notes answers until the operation is trusted no more: `+` can be used, `-` cannot. */
function verdictAfter(answers: ReturnType<typeof unusableAnswers>, ends: string) {
  for (const end of ends) {
    const verdict = answers.note('alpha.search', end === '+' ? null : 'no JSON')
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
])('%s', (_, ends, expected) => {
  expect(verdictAfter(unusableAnswers(), ends)).toBe(expected)
})

test('an operation that was trusted again, and has wasted what may be wasted, is trusted no more', () => {
  const answers = unusableAnswers()
  expect(verdictAfter(answers, '-'.repeat(20))).toBe('for-now')
  answers.forgive('alpha.search')
  expect(verdictAfter(answers, `${'+'.repeat(57)}---`)).toBe('for-good')
})

test('early trouble that has passed is forgotten where it is less than a percent of all', () => {
  const answers = unusableAnswers()
  expect(verdictAfter(answers, '-'.repeat(20))).toBe('for-now')
  answers.forgive('alpha.search')
  expect(verdictAfter(answers, `${'+'.repeat(5_000)}${'-'.repeat(21)}`)).toBe('for-now')
})

test('whatever comes, less than twenty-one or one percent of the answers since it was trusted are wasted unseen', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 400 }), fc.nat(6_000), (ends, before) => {
      const answers = unusableAnswers()
      for (let call = 0; call < before; call++) answers.note('alpha.search', null)
      for (const canBeUsed of ends) {
        if (answers.note('alpha.search', canBeUsed ? null : 'no JSON') !== false) break
        expect(answers.of('alpha.search').calls).toBeLessThan(21)
      }
      expect(answers.of('gamma.search')).toEqual({ calls: 0, of: 0, problem: null })
    }),
  )
})
