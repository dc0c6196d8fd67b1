import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isBrandWord } from '../../src/arrive/clicks/counted.ts'
import { decreasing, fitCurve, heldOut, isHeldOut, type KeywordSamples } from '../../src/arrive/clicks/fit.ts'
import { defaultCurve } from '../../src/report/ctr.ts'

/** Numbers from 0 to 1 that are the same each time. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state >>> 8) / 2 ** 24
  }
}

/** The curve that clicks are drawn by, which is not the default one. */
const truth = Array.from({ length: 20 }, (_, place) => 0.34 * (place + 1) ** -0.95)

function binomial(n: number, rate: number, next: () => number): number {
  let clicks = 0
  for (let one = 0; one < n; one++) if (next() < rate) clicks++
  return clicks
}

/** A month of keywords: each has a rank that moves a little, and impressions of its own. */
function month(keywords: number, next: () => number, days = 28): readonly KeywordSamples[] {
  return Array.from({ length: keywords }, (_, place) => {
    const home = 1 + Math.floor(next() * 20)
    const most = 4 + Math.floor(60 * next() ** 2)
    return {
      keyword: `desk ${place}`,
      samples: Array.from({ length: days }, () => {
        const rank = Math.min(20, Math.max(1, home + Math.floor(next() * 3) - 1))
        const impressions = Math.ceil(next() * most)
        return { rank, impressions, clicks: binomial(impressions, truth[rank - 1] as number, next) }
      }),
    }
  })
}

describe('a curve of simulated clicks', () => {
  test('has each rank with 1,000 clicks within 10 %; below that the interval covers the truth nine times in ten', () => {
    let [covered, thin] = [0, 0]
    let thick = 0
    for (let seed = 1; seed <= 8; seed++) {
      const samples = month(900, random(seed)).flatMap((one) => one.samples)
      for (const { rank, clicks, rate, interval } of fitCurve(samples, defaultCurve.rates)) {
        const wanted = truth[rank - 1] as number
        if (clicks >= 1_000) {
          thick++
          expect(Math.abs(rate / wanted - 1), `rank ${rank} of ${seed}`).toBeLessThan(0.1)
        } else {
          thin++
          if (interval !== null && interval[0] <= wanted && wanted <= interval[1]) covered++
        }
      }
    }
    expect(thick).toBeGreaterThan(30)
    expect(thin).toBeGreaterThan(50)
    expect(covered / thin).toBeGreaterThanOrEqual(0.9)
  })

  test.each([21, 22, 23])('foretells the next month of held-out words within 15 % (%i)', (seed) => {
    const next = random(seed)
    const before = month(400, next)
    const after = month(400, next)
    const all = [
      ...before.filter(({ keyword }) => !isHeldOut(keyword)),
      ...after.filter(({ keyword }) => isHeldOut(keyword)),
    ]
    const { keywords, clicks, foretold, byDefault } = heldOut(all, defaultCurve.rates)
    expect(keywords).toBeGreaterThan(50)
    expect(Math.abs(foretold / clicks - 1)).toBeLessThan(0.15)
    expect(Math.abs(byDefault / clicks - 1)).toBeGreaterThan(0.15)
  })
})

test('a rank with too few impressions follows the default curve, scaled, between its neighbours', () => {
  const samples = [
    { rank: 1, clicks: 570, impressions: 1_000 },
    { rank: 2, clicks: 3, impressions: 4 },
    { rank: 3, clicks: 220, impressions: 1_000 },
  ]
  const [first, second, third, fourth] = fitCurve(samples, defaultCurve.rates)
  expect([first?.isDefault, second?.isDefault, third?.isDefault, fourth?.isDefault]).toEqual([
    false,
    true,
    false,
    true,
  ])
  expect(second?.rate).toBeCloseTo(0.157 * (790 / 395), 6)
  expect(fourth?.rate).toBeCloseTo(0.08 * 2, 6)
  expect(second?.measured).toBe(0.75)
})

const counts = fc.array(
  fc.record({
    rank: fc.integer({ min: 1, max: 30 }),
    impressions: fc.nat(5_000),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
)
test('for any counts the curve never rises, and every interval holds what was counted', () => {
  fc.assert(
    fc.property(counts, (all) => {
      const samples = all.map(({ rank, impressions, share }) => ({
        rank,
        impressions,
        clicks: Math.floor(impressions * share),
      }))
      const curve = fitCurve(samples, defaultCurve.rates)
      for (const [place, { rate, measured, interval }] of curve.entries()) {
        expect(rate).toBeGreaterThanOrEqual(0)
        expect(rate).toBeLessThanOrEqual((curve[place - 1]?.rate ?? 1) + 1e-9)
        if (interval !== null && measured !== null) {
          expect(interval[0]).toBeLessThanOrEqual(measured + 1e-9)
          expect(interval[1]).toBeGreaterThanOrEqual(measured - 1e-9)
        }
      }
    }),
  )
})

test.each([
  [
    [3, 2, 1],
    [1, 1, 1],
    [3, 2, 1],
  ],
  [
    [1, 3],
    [1, 3],
    [2.5, 2.5],
  ],
  [
    [3, 1, 2, 0],
    [1, 1, 1, 1],
    [3, 1.5, 1.5, 0],
  ],
])('%j with weights %j falls as %j', (values, weights, wanted) => {
  expect(decreasing(values.map((value, place) => ({ value, weight: weights[place] as number })))).toEqual(
    wanted,
  )
})

test.each([
  ['acme desks', 'acme.com', true],
  ['Ac-Me', 'www.acme.co.uk', true],
  ['standing desk', 'acme.com', false],
  ['ab testing', 'ab.com', false],
])('%s is a word of the brand %s: %s', (query, site, wanted) => {
  expect(isBrandWord(query, site)).toBe(wanted)
})
