import fc from 'fast-check'
import { expect, test } from 'vitest'
import { featuresOf } from '../../../src/catalog/index.ts'
import { featureBits, type SerpFeature, serpFeatures } from '../../../src/model/result.ts'
import { featureHistory } from '../../../src/report/build-data.ts'
import { changesOf, cutFeatures, featureIn, featureStates } from '../../../src/report/data.ts'
import { testTable } from '../../support/test-table.ts'
import { aHistory, march } from '../metrics/history.ts'

testTable<[string, SerpFeature[]]>([
  ['alpha.search', ['knowledge', 'related']],
  ['alpha.light', []],
  ['alpha.ai', []],
  ['alpha.news', []],
  ['alpha.videos', []],
  ['alpha.images', []],
  ['alpha.autocomplete', []],
  ['beta.search', []],
  ['gamma.search', []],
])('answers of %s can show what the service documents', (operation, features) => {
  expect(featuresOf(operation)).toEqual(features)
})

const aState = fc.nat(2 ** (2 * serpFeatures.length) - 1)

test('days are cut, and those that stay say what they said', () => {
  fc.assert(
    fc.property(fc.array(aState, { maxLength: 8 }), fc.nat(8), fc.nat(8), (states, one, other) => {
      const [start, end] = [
        Math.min(one, other, states.length),
        Math.min(Math.max(one, other), states.length),
      ]
      const whole = { keyword: 3, changes: changesOf(states) }
      expect(featureStates(whole, states.length)).toEqual(states)
      const cut = cutFeatures(whole, { start, end })
      expect(featureStates(cut, end - start)).toEqual(states.slice(start, end))
    }),
  )
})

/** Runs by day and number: what the answer to each query had. */
function told(
  operations: readonly string[],
  runs: readonly (readonly [day: number, found: Readonly<Record<number, readonly SerpFeature[]>>])[],
) {
  const history = aHistory(
    operations.map((operation) => ({ query: 'desk', operation, params: { gl: 'us' }, cells: [1] })),
  )
  const features = featureHistory({
    featuresOf,
    ranked: {
      history: { ...history, days: [1, 2, 3].map(march) },
      queryIds: operations.map((_, place) => place + 100),
      runs: runs.map(([day], place) => ({ id: place + 1, date: march(day) })),
    },
    store: {
      featuresIn: (run) => {
        const found = Object.entries(runs[run - 1]?.[1] ?? {})
        return {
          queries: found.map(([place]) => Number(place) + 100),
          features: found.map(([, features]) => featureBits(features)),
        }
      },
    },
  })
  return features.map((one) =>
    featureStates(one, 3).map((state) =>
      serpFeatures
        .flatMap((feature) => {
          const there = featureIn(state, feature)
          return there === null ? [] : [there ? feature : `no ${feature}`]
        })
        .join(', '),
    ),
  )
}

test('a day without an answer is unknown, not absent', () => {
  expect(
    told(
      ['alpha.search'],
      [
        [1, { 0: ['knowledge'] }],
        [2, {}],
        [3, { 0: ['related'] }],
      ],
    ),
  ).toEqual([['knowledge, no related', '', 'no knowledge, related']])
})

test('an operation that cannot show a feature says nothing of it, and a search of another kind nothing of the web page', () => {
  expect(told(['beta.search'], [[1, { 0: [] }]])).toEqual([])
  expect(told(['alpha.ai', 'alpha.search'], [[2, { 0: [], 1: ['related'] }]])).toEqual([
    ['', 'no knowledge, related', ''],
  ])
})

test('of two runs on a day the later one speaks, where it has an answer', () => {
  const runs = [
    [1, { 0: ['knowledge'] }],
    [1, {}],
    [2, { 0: ['knowledge'] }],
    [2, { 0: [] }],
  ] as const
  expect(told(['alpha.search'], runs)).toEqual([['knowledge, no related', 'no knowledge, no related', '']])
})
