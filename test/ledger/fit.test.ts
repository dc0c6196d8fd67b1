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
  limits: [],
  credits,
  calls,
})

/** A query of run 1 that needs its first pages, so many, of one credit each, unless it says otherwise. */
const query = (calls: number, change: Partial<FitQuery> = {}): FitQuery => ({
  run: 1,
  query: null,
  pages: Array.from({ length: calls }, (_, index) => index + 1),
  price: 1,
  accepted: [],
  ...change,
})
const creditsOf = ({ pages, price }: FitQuery) => pages.length * price

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
      [query(2, { price: 10 }), query(2), query(1)],
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

  /** Pages of the same query in these runs. */
  const of = (run: number, ...pages: readonly number[]) => query(0, { run, query: 'q', pages })
  test.each<[string, FitFunds, readonly FitQuery[], string]>([
    ['whichever run buys it', means([{}, {}], 3), [of(1, 1, 2), of(2, 1, 2), query(1), query(1)], '+++-'],
    ['where one goes deeper', means([{}, {}], 3), [of(1, 1), of(2, 1, 2, 3), query(1)], '++-'],
    ['where one went deeper before', means([{}, {}], 3), [of(1, 1, 2, 3), of(2, 2), query(1)], '++-'],
    ['though each needs another page of it', means([{}, {}], 1), [of(1, 2), of(2, 1)], '+-'],
    ['though each needs as many pages of it', means([{}, {}], 3), [of(1, 1, 3), of(2, 1, 2)], '++'],
    ['among three', means([{}, {}, {}], 3), [of(1, 1, 2), of(2, 1, 3), of(3, 2, 3), query(1)], '+++-'],
    ['by the calls of the quotas', means([{}, {}], 9, 2), [of(1, 2), of(2, 1, 2), query(1)], '++-'],
    [
      'beside what the service works on for another run',
      means([{}, {}], 1),
      [query(0, { query: 'q', accepted: [1] }), of(2, 1, 2), query(1)],
      '++-',
    ],
    ['which each budget must cover', means([{}, { budget: 1 }], 9), [of(1, 1, 2), of(2, 1, 2)], '+-'],
    [
      'and kept from, for either may buy it',
      means([{}, { keep: 2 }], 3),
      [of(1, 1), of(2, 1), query(1)],
      '++-',
    ],
  ])('with each page of a query once, %s', (_, of, queries, expected) => {
    expect(taken(of, queries)).toBe(expected)
  })

  test('by a limit of several runs, and each page once for those that share it', () => {
    const together = (left: number, ...runs: readonly number[]): FitFunds => ({
      ...means([{}, {}, {}], 9),
      limits: [{ runs: new Set(runs), left }],
    })
    const turns = [1, 2, 3, 1, 2, 3].map((run) => query(1, { run }))
    expect(taken(together(3, 1, 2), turns)).toBe('++++-+')
    expect(taken(together(2, 1, 2), [of(1, 1, 2), of(2, 1, 2), query(1)])).toBe('++-')
    // What a run beyond the limit buys may fail there.
    expect(taken(together(1, 2), [of(1, 1, 2), of(2, 1, 2), of(3, 1, 2)])).toBe('+-+')
  })

  test('beside what is begun, which is taken though nothing covers it', () => {
    const begun = query(2, { accepted: [3] })
    expect(taken(means([{}], 3), [begun, query(1), query(1)])).toBe('++-')
    expect(taken(means([{ budget: 0, keep: 9 }], 0, 0), [begun, query(1), query(0)])).toBe('+-+')
  })
})

describe('whatever is asked for', () => {
  const some = fc.oneof(fc.nat(40), fc.constant(infinite))
  const runs = fc.array(fc.record({ budget: some, keep: fc.oneof(fc.constant(0), fc.nat(20)) }), {
    minLength: 1,
    maxLength: 3,
  })
  const page = fc.integer({ min: 1, max: 5 })
  const queries = fc.array(
    fc
      .record({
        run: fc.integer({ min: 1, max: 3 }),
        query: fc.constantFrom(null, null, 'a', 'b'),
        pages: fc.uniqueArray(page, { maxLength: 5 }),
        price: fc.constantFrom(1, 1, 3),
      })
      // The same query has one price in every run.
      .map((one): FitQuery => ({ ...one, price: one.query === null ? one.price : 2, accepted: [] })),
    { maxLength: 40 },
  )
  const anything = fc.tuple(runs, fc.nat(60), some, queries)
  /** The calls that they come to in whatever order they are sent, and their credits: each page of a query once. */
  const calls = (of: readonly FitQuery[]): readonly number[] => {
    const shared = new Map<string, number>()
    const own: number[] = []
    for (const { query, pages, price } of of)
      for (const page of pages) {
        if (query === null) own.push(price)
        else shared.set(`${query} ${page}`, price)
      }
    return [...own, ...shared.values()]
  }
  const sum = (prices: readonly number[]) => prices.reduce((total, one) => total + one, 0)

  test('nothing is taken beyond a budget, the balance above what is kept, or the quotas', () => {
    fc.assert(
      fc.property(anything, ([runs, credits, most, queries]) => {
        const takes = fitToBalance(means(runs, credits, most))
        const chosen = queries.filter((one) => takes(one))
        expect(calls(chosen).length).toBeLessThanOrEqual(most)
        for (const [index, { budget, keep }] of runs.entries()) {
          const own = chosen.filter((one) => one.run === index + 1 && creditsOf(one) > 0)
          expect(sum(own.map(creditsOf))).toBeLessThanOrEqual(budget)
          // In whatever order all of it is sent.
          if (own.length > 0) expect(sum(calls(chosen))).toBeLessThanOrEqual(credits - keep)
        }
        expect(sum(calls(chosen))).toBeLessThanOrEqual(credits)
      }),
      { numRuns: 500 },
    )
  })

  test('what costs nothing is taken, and what is left out was not covered beside what came before', () => {
    fc.assert(
      fc.property(anything, ([runs, credits, most, queries]) => {
        const takes = fitToBalance(means(runs, credits, most))
        const chosen: FitQuery[] = []
        for (const one of queries) {
          if (takes(one)) {
            chosen.push(one)
            continue
          }
          expect(creditsOf(one)).toBeGreaterThan(0)
          const own = [one, ...chosen.filter(({ run }) => run === one.run)]
          const kept = [one, ...chosen.filter((other) => creditsOf(other) > 0)].map(
            ({ run }) => runs[Number(run) - 1]?.keep ?? 0,
          )
          const all = calls([one, ...chosen])
          const { budget = 0 } = runs[Number(one.run) - 1] ?? {}
          const isBeyond =
            sum(own.map(creditsOf)) > budget || sum(all) > credits - Math.max(...kept) || all.length > most
          expect(isBeyond).toBe(true)
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
