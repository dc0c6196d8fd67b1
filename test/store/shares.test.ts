import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type SharedSum, splitSums } from '../../src/store/sqlite/ledger/sums.ts'

const sum = (group: string, parts: number, credits: number, creditsAmbiguous = 0): SharedSum => ({
  ...{ group, parts, credits, creditsAmbiguous },
  ...{ calls: credits, billed: credits, free: 0, ambiguous: creditsAmbiguous },
})

/** Credits of each group in hundredths, where no rounding of sums is left. */
const cents = (groups: readonly { readonly credits: number }[]) =>
  groups.map(({ credits }) => Math.round(credits * 100))

describe('credits of calls that several share', () => {
  test('are split equally', () => {
    const shared = [sum('acme', 1, 4), sum('acme', 2, 3), sum('beta', 2, 3, 1)]
    expect(splitSums(shared)).toEqual([
      {
        group: 'acme',
        calls: 7,
        billed: 7,
        free: 0,
        ambiguous: 0,
        credits: 5.5,
        creditsAmbiguous: 0,
        shared: 3,
      },
      {
        group: 'beta',
        calls: 3,
        billed: 3,
        free: 0,
        ambiguous: 1,
        credits: 1.5,
        creditsAmbiguous: 0.5,
        shared: 3,
      },
    ])
  })

  test('are whole where nobody shares them', () => {
    expect(splitSums([sum('acme', 1, 4)])).toMatchObject([{ credits: 4, shared: 0 }])
    expect(splitSums([])).toEqual([])
  })

  test('leave no hundredth over', () => {
    const thirds = ['a', 'b', 'c'].map((group) => sum(group, 3, 1))
    expect(splitSums(thirds).map(({ credits }) => credits)).toEqual([0.34, 0.33, 0.33])
  })

  test('add up to what was paid, whoever shares what; nobody pays a hundredth more than his share', () => {
    const call = fc.record({
      credits: fc.integer({ min: 0, max: 10 }),
      groups: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), { minLength: 1 }),
    })
    fc.assert(
      fc.property(fc.array(call, { maxLength: 40 }), (calls) => {
        const sums = calls.flatMap(({ credits, groups }) =>
          groups.map((group) => sum(group, groups.length, credits)),
        )
        const split = splitSums(sums)
        const paid = calls.reduce((all, { credits }) => all + credits, 0)
        expect(cents(split).reduce((all, one) => all + one, 0)).toBe(paid * 100)
        for (const { group, credits } of split) {
          const exact = sums.reduce(
            (all, one) => all + (one.group === group ? one.credits / one.parts : 0),
            0,
          )
          expect(Math.abs(credits - exact)).toBeLessThan(0.0100001)
        }
      }),
    )
  })
})
