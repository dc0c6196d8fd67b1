import fc from 'fast-check'
import { expect, test } from 'vitest'
import { knowAddresses, pageAddress } from '../../src/page/client/addresses.ts'
import { addressesOf, packed, unpacked } from '../../src/page/packed.ts'
import type { PageSerp, SerpResult } from '../../src/report/data.ts'
import { aHistory, aPageOf, histories } from '../report/metrics/history.ts'
import { anyUrl } from '../support/any-text.ts'
import { samplePage } from './sample-page.ts'

const place = fc.option(fc.nat(5))
const aResult = fc.tuple(
  fc.integer({ min: 1, max: 10 }),
  place,
  place,
  place,
  fc.subarray([0, 1, 2]),
) as fc.Arbitrary<SerpResult>
const serps: fc.Arbitrary<PageSerp[]> = fc.array(
  fc.record({
    keyword: fc.nat(3),
    day: fc.nat(3),
    depth: fc.nat(10),
    results: fc.uniqueArray(aResult, { selector: ([rank]) => rank }).map((all) => all.toSorted(byRank)),
  }),
)

const aLink = fc.oneof(anyUrl(), fc.string(), fc.constantFrom('https://a.example', '//', 'a//b/c', ''))

function byRank([a]: SerpResult, [b]: SerpResult): number {
  return a - b
}

test('a packed page is the same page', () => {
  fc.assert(
    fc.property(serps, histories(), fc.array(aLink), (all, history, links) => {
      const features = all.map(({ keyword, day, depth }) => ({ keyword, changes: [day, depth] }))
      const ranks = all.map(({ depth }) => (depth === 0 ? null : depth * 9))
      const days = ranks.map((_, day) => `2020-01-${10 + (day % 20)}`)
      const imported = {
        sources: ['table'],
        countsAll: true,
        days,
        lines: [{ keyword: 1, target: 0, cells: ranks }],
      }
      const page = aPageOf(
        { ...history, links, imported },
        { serps: all, features, links: links.toReversed() },
      )
      expect(unpacked(JSON.parse(JSON.stringify(packed(page))))).toEqual({
        ...page,
        addresses: addressesOf(page),
      })
    }),
  )
})

test('a page says which of its links lead to one page, without the rules by which they do', () => {
  const tracked = 'https://a.example/desks?srsltid=AfmBOo#top'
  const page = aPageOf(
    { ...aHistory([{ cells: [1] }]), links: ['https://a.example/desks', tracked] },
    { links: ['HTTPS://B.example', 'no link'] },
  )
  const addresses = addressesOf(page)
  expect(addresses).toEqual([
    [tracked, 'https://a.example/desks'],
    ['HTTPS://B.example', 'https://b.example/'],
  ])
  expect(JSON.parse(JSON.stringify(packed(page))).addresses).toEqual(addresses)
  knowAddresses(addresses)
  expect([tracked, 'https://a.example/desks', 'no link'].map(pageAddress)).toEqual([
    'https://a.example/desks',
    'https://a.example/desks',
    'no link',
  ])
})

test('a usual page is a good deal smaller', () => {
  const page = samplePage({ keywords: 40, days: 30 })
  const size = (of: unknown) => JSON.stringify(of).length
  expect(size(packed(page))).toBeLessThan(0.7 * size(page))
})

test('a result that stays is in the file once', () => {
  const results = [[1, 0, 0, 0, [1]] as const, [2, 1, 1, 1, []] as const]
  const all = [0, 1, 2].map((day) => ({ keyword: 0, day, depth: 10, results }))
  const page = packed(aPageOf(aHistory([{ cells: [1] }]), { serps: all }))
  expect(page.results).toHaveLength(2)
  expect(page.serps).toEqual([0, 1, 2].map((day) => [0, day, 10, 0, 0, 1]))
})
