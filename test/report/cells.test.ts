import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { paramsApart, placesOf } from '../../src/report/cells.ts'
import type { Keyword } from '../../src/report/history/rank-history.ts'
import { testTable } from '../support/test-table.ts'

type Asked = Pick<Keyword, 'query' | 'operation' | 'params'>

const asked = (operation: string, ...all: readonly Keyword['params'][]): readonly Asked[] =>
  all.map((params) => ({ query: 'desk', operation, params }))

describe('keywords of one text', () => {
  testTable<[readonly Asked[], readonly string[]]>([
    [asked('alpha.search', { gl: 'us' }), ['']],
    [asked('alpha.search', { gl: 'us', num: 20 }, { query: 0, gl: 'us' }), ['num=20', 'query=0']],
    [asked('alpha.search', { gl: 'us', hl: 'en' }, { gl: 'gb', hl: 'en' }), ['en-us', 'en-gb']],
    [asked('alpha.search', { location: 'Austin' }, {}), ['Austin', '']],
    [asked('beta.search', { cc: 'us' }, { cc: 'gb' }, { mkt: 'de-DE' }), ['us', 'gb', 'de-DE']],
    [asked('beta.search', { lat: 52.5, lon: 13.4 }, { lat: 48.1, lon: 13.4 }), ['lat=52.5', 'lat=48.1']],
    [
      asked('alpha.search', { gl: 'us', num: 10 }, { gl: 'us', num: 20 }, { gl: 'gb', num: 20 }),
      ['us · num=10', 'us · num=20', 'gb · num=20'],
    ],
    [asked('alpha.search', { tbs: 'qdr:d' }, { uule: 'w+CAI' }), ['tbs=qdr:d', 'uule=w+CAI']],
    // One locale, though not one param.
    [asked('alpha.search', { gl: 'de' }, { hl: 'de' }), ['gl=de', 'hl=de']],
    [
      [...asked('alpha.search', { gl: 'us' }), ...asked('gamma.images', { gl: 'us', safe: 'active' })],
      ['alpha.search', 'gamma.images · safe=active'],
    ],
  ])('%j are told apart by what they differ in', (all, places) => {
    expect(all.map(placesOf(all))).toEqual(places)
  })

  test('are one where a list names them twice', () => {
    const all = asked('alpha.search', { gl: 'us', num: 10 }, { gl: 'us', num: 20 })
    expect(all.map(placesOf([...all, ...all]))).toEqual(['num=10', 'num=20'])
  })

  test('are alone among others', () => {
    const all = [
      { query: 'lamp', operation: 'alpha.search', params: { num: 10 } },
      ...asked('beta.search', {}),
    ]
    expect(all.map(placesOf(all))).toEqual(['', ''])
    expect(all.map(paramsApart(all))).toEqual([[], []])
  })

  test('have places that differ, whatever was asked', () => {
    const value = fc.constantFrom('de', 'us', 'en', '20')
    const params = fc.record(
      { gl: value, hl: value, location: value, cc: value, mkt: value, num: value, lat: value, uule: value },
      { requiredKeys: [] },
    )
    const keyword = fc.record({
      query: fc.constantFrom('desk', 'lamp'),
      operation: fc.constantFrom('alpha.search', 'beta.search'),
      params,
    })
    const distinct = fc.uniqueArray(keyword, { selector: (one) => JSON.stringify(sorted(one)) })
    fc.assert(
      fc.property(distinct, (all) => {
        const place = placesOf(all)
        expect(new Set(all.map((one) => `${one.query}: ${place(one)}`)).size).toBe(all.length)
      }),
      { numRuns: 500 },
    )
  })
})

function sorted({ query, operation, params }: Asked) {
  return [query, operation, Object.entries(params).sort()]
}
