import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FitFunds, type FitQuery, fitToBalance } from '../../src/ledger/budget.ts'

const infinite = Number.POSITIVE_INFINITY
const plenty = { budget: infinite, keep: 0 }

/** Means of runs 1, 2 … */
const means = (
  runs: readonly Partial<FitFunds['runs'] extends ReadonlyMap<unknown, infer M> ? M : never>[],
  credits: number,
  calls = infinite,
): FitFunds => ({
  runs: new Map(runs.map((one, index) => [index + 1, { ...plenty, ...one }])),
  credits,
  calls,
})

/** A query of run 1 that needs so many calls of one credit each, unless it says otherwise. */
const query = (calls: number, change: Partial<FitQuery> = {}): FitQuery => ({
  run: 1,
  query: null,
  calls,
  credits: calls,
  ...change,
})

/** Which of the queries are taken, in order: `+` or `-`. */
function taken(of: FitFunds, queries: readonly FitQuery[]): string {
  const takes = fitToBalance(of)
  return queries.map((one) => (takes(one) ? '+' : '-')).join('')
}

describe('queries are taken in order, whole, as far as they are covered', () => {
  test.each<[string, FitFunds, readonly FitQuery[], string]>([
    ['by the balance', means([{}], 3), [query(1), query(1), query(1), query(1)], '+++-'],
    ['by the budget', means([{ budget: 2 }], 9), [query(1), query(1), query(1)], '++-'],
    ['by the balance above what is kept', means([{ keep: 7 }], 9), [query(1), query(1), query(1)], '++-'],
    ['by the calls of the quotas', means([{}], 99, 2), [query(1), query(1), query(1)], '++-'],
    [
      'by calls, whatever they cost',
      means([{}], 99, 3),
      [query(2, { credits: 20 }), query(2), query(1)],
      '+-+',
    ],
    ['not in part', means([{}], 5), [query(3), query(3), query(2), query(1)], '+-+-'],
    ['or not at all', means([{}], 0), [query(1)], '-'],
    ['though less is left than is kept', means([{ keep: 20 }], 9), [query(1), query(0)], '-+'],
    ['at no cost always', means([{ budget: 0, keep: 9 }], 0, 0), [query(0), query(1), query(0)], '+-+'],
  ])('%s', (_, of, queries, expected) => {
    expect(taken(of, queries)).toBe(expected)
  })

  test('each run by its own budget and all by one balance', () => {
    const of = means([{ budget: 2 }, { budget: 5 }], 6)
    const turns = [1, 2, 1, 2, 1, 2, 2].map((run) => query(1, { run }))
    expect(taken(of, turns)).toBe('++++-++')
    expect(taken({ ...of, credits: 5 }, turns)).toBe('++++-+-')
  })

  test('a run that nobody knows has no means', () => {
    expect(taken(means([{}], 99), [query(1, { run: 7 }), query(0, { run: 7 })])).toBe('-+')
  })

  test('what one run keeps is kept from the others, too, once something of it is taken', () => {
    const of = means([{ keep: 6 }, {}], 10)
    const [one, two] = [query(2), query(2, { run: 2 })]
    expect(taken(of, [one, two, two, two])).toBe('++--')
    expect(taken(of, [two, two, one, two])).toBe('++-+')
  })
})

describe('whatever is asked for', () => {
  const some = fc.oneof(fc.nat(40), fc.constant(infinite))
  const runs = fc.array(fc.record({ budget: some, keep: fc.oneof(fc.constant(0), fc.nat(20)) }), {
    minLength: 1,
    maxLength: 3,
  })
  const queries = fc.array(
    fc
      .record({ run: fc.integer({ min: 1, max: 3 }), calls: fc.nat(5), price: fc.constantFrom(1, 1, 3) })
      .map(({ run, calls, price }): FitQuery => ({ run, query: null, calls, credits: calls * price })),
    { maxLength: 40 },
  )
  const anything = fc.tuple(runs, fc.nat(60), some, queries)
  const sum = (of: readonly FitQuery[], field: 'credits' | 'calls') =>
    of.reduce((total, one) => total + one[field], 0)

  test('nothing is taken beyond a budget, the balance above what is kept, or the quotas', () => {
    fc.assert(
      fc.property(anything, ([runs, credits, calls, queries]) => {
        const takes = fitToBalance(means(runs, credits, calls))
        const chosen = queries.filter((one) => takes(one))
        expect(sum(chosen, 'calls')).toBeLessThanOrEqual(calls)
        for (const [index, { budget, keep }] of runs.entries()) {
          const own = chosen.filter(({ run, credits }) => run === index + 1 && credits > 0)
          expect(sum(own, 'credits')).toBeLessThanOrEqual(budget)
          // In whatever order all of it is sent.
          if (own.length > 0) expect(sum(chosen, 'credits')).toBeLessThanOrEqual(credits - keep)
        }
        expect(sum(chosen, 'credits')).toBeLessThanOrEqual(credits)
      }),
      { numRuns: 500 },
    )
  })

  test('what costs nothing is taken, and what is left out was not covered beside what came before', () => {
    fc.assert(
      fc.property(anything, ([runs, credits, calls, queries]) => {
        const takes = fitToBalance(means(runs, credits, calls))
        const chosen: FitQuery[] = []
        for (const one of queries) {
          if (takes(one)) {
            chosen.push(one)
            continue
          }
          expect(one.credits).toBeGreaterThan(0)
          const own = chosen.filter(({ run }) => run === one.run)
          const kept = [one, ...chosen.filter(({ credits }) => credits > 0)].map(
            ({ run }) => runs[Number(run) - 1]?.keep ?? 0,
          )
          const left = Math.min(
            (runs[Number(one.run) - 1]?.budget ?? 0) - sum(own, 'credits'),
            credits - sum(chosen, 'credits') - Math.max(...kept),
          )
          expect(one.credits > left || one.calls > calls - sum(chosen, 'calls')).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('what is taken depends on nothing that comes after', () => {
    fc.assert(
      fc.property(anything, fc.nat(40), ([runs, credits, calls, queries], length) => {
        const of = means(runs, credits, calls)
        expect(taken(of, queries.slice(0, length))).toBe(taken(of, queries).slice(0, length))
      }),
    )
  })
})
