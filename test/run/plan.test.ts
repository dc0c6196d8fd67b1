import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { billableOperation } from '../../src/catalog/index.ts'
import { mergeQueries, type PlannedQuery, queryKey } from '../../src/model/query.ts'
import { pageRange, planQuery } from '../../src/run/job-files.ts'
import { anyUrl } from '../support/any-text.ts'
import { testTable } from '../support/test-table.ts'
import { aJobQuery, aTarget } from './build.ts'

describe('the key of a query', () => {
  const key = (query: Parameters<typeof aJobQuery>[0]) => queryKey(aJobQuery(query)).toString('hex')

  test('is the same in every version: 16 bytes of a SHA-256 over operation, text and params', () => {
    expect(key({ params: { gl: 'us', hl: 'en', num: 20 } })).toBe('a7bef03d17fd7649a675f3c2412c48ea')
  })

  test.each([
    ['the operation', { operation: 'beta.search' }],
    ['the text', { text: 'standing desks' }],
    ['the case of the text', { text: 'Standing desk' }],
    ['a space at its end', { text: 'standing desk ' }],
    ['a param', { params: { gl: 'us' } }],
    ['the value of a param', { params: { gl: 'gb' } }],
    ['the type of a value', { params: { gl: 1 } }],
    ['the type of a value, as text', { params: { gl: '1' } }],
  ])('is another where %s is another', (_, query) => {
    const others = [{}, { params: { gl: 'us' } }, { params: { gl: 1 } }].filter(
      (other) => JSON.stringify(other) !== JSON.stringify(query),
    )
    for (const other of others) expect(key(query)).not.toBe(key(other))
  })

  test.each([
    ['depth', { depth: 100 }],
    ['pages', { pages: 3 }],
    ['tags', { tags: ['money'] }],
    ['priority', { priority: 9 }],
    ['labels', { labels: { team: 'a' } }],
    ['targets', { targets: [aTarget()] }],
    ['the line', { source: { file: 'other.csv', line: 7 } }],
  ])('is the same whatever its %s', (_, query) => {
    expect(key(query)).toBe(key({}))
  })

  const params = fc.dictionary(fc.string({ maxLength: 8 }), fc.oneof(fc.string(), fc.integer()), {
    noNullPrototype: true,
  })

  test('does not depend on the order of the params', () => {
    fc.assert(
      fc.property(params, fc.infiniteStream(fc.nat()), (params, order) => {
        const shuffled = Object.entries(params)
          .map((entry) => ({ entry, place: order.next().value as number }))
          .sort((a, b) => a.place - b.place)
          .map(({ entry }) => entry)
        expect(key({ params: Object.fromEntries(shuffled) })).toBe(key({ params }))
      }),
    )
  })

  test('tells any two queries apart', () => {
    const query = fc.record({ text: fc.string({ maxLength: 3 }), params })
    fc.assert(
      fc.property(query, query, (a, b) => {
        const entries = ({ params }: { params: object }) => Object.entries(params).sort()
        const same =
          a.text === b.text && JSON.stringify(entries(a).sort()) === JSON.stringify(entries(b).sort())
        expect(key(a) === key(b)).toBe(same)
      }),
    )
  })
})

describe('the pages that a query asks for', () => {
  testTable<[string, Parameters<typeof aJobQuery>[0], ReturnType<typeof pageRange>]>([
    ['alpha.search', {}, { max: 1, pageSize: 10, depth: null }],
    ['alpha.search', { pages: 3 }, { max: 3, pageSize: 10, depth: null }],
    ['alpha.search', { depth: 1 }, { max: 1, pageSize: 10, depth: null }],
    ['alpha.search', { depth: 10 }, { max: 1, pageSize: 10, depth: null }],
    ['alpha.search', { depth: 11 }, { max: 2, pageSize: 10, depth: null }],
    ['alpha.search', { depth: 30 }, { max: 3, pageSize: 10, depth: null }],
    ['alpha.search', { depth: 100 }, { max: 10, pageSize: 10, depth: null }],
    ['alpha.search', { depth: 100, params: { num: 100 } }, { max: 1, pageSize: 100, depth: null }],
    ['alpha.search', { depth: 30, params: { num: 20 } }, { max: 2, pageSize: 20, depth: null }],
    ['alpha.search', { pages: 2, params: { num: 20 } }, { max: 2, pageSize: 20, depth: null }],
    ['alpha.news', { depth: 30 }, { max: 3, pageSize: 10, depth: null }],
    ['alpha.videos', { depth: 30 }, { max: 3, pageSize: 10, depth: null }],
    ['beta.search', { depth: 30 }, { max: 3, pageSize: 10, depth: null }],
    ['gamma.images', { depth: 100 }, { max: 2, pageSize: 50, depth: null }],
    ['gamma.images', { depth: 51 }, { max: 2, pageSize: 50, depth: null }],
    ['gamma.search', {}, { max: 1, pageSize: null, depth: null }],
    ['gamma.search', { pages: 4 }, { max: 4, pageSize: null, depth: null }],
    ['gamma.search', { depth: 30 }, { max: 6, pageSize: null, depth: 30 }],
    ['alpha.images', { depth: 1 }, { max: 1, pageSize: null, depth: 1 }],
    ['alpha.light', { depth: 30 }, { max: 1, pageSize: null, depth: null }],
    ['alpha.ai', { pages: 5 }, { max: 1, pageSize: null, depth: null }],
    ['alpha.autocomplete', { depth: 100 }, { max: 1, pageSize: null, depth: null }],
  ])('of %s with %j: %j', (operation, query, range) => {
    expect(pageRange(billableOperation(operation), aJobQuery(query))).toEqual(range)
  })
})

test('a planned query carries what its job asks, its price and its pages', () => {
  const query = aJobQuery({
    operation: 'alpha.search',
    params: { hl: 'en', gl: 'us' },
    depth: 30,
    tags: ['money'],
    priority: 5,
    volume: 2400,
    url: 'https://acme.com/desks',
    labels: { team: 'a' },
    targets: [aTarget()],
  })
  expect(planQuery(query)).toEqual({
    key: queryKey(query),
    operation: 'alpha.search',
    text: 'standing desk',
    params: '{"gl":"us","hl":"en"}',
    credits: 1,
    pages: 3,
    pageSize: 10,
    depth: null,
    priority: 5,
    volume: 2400,
    url: 'https://acme.com/desks',
    tags: ['money'],
    labels: { team: 'a' },
    targets: [aTarget()],
    source: { file: 'job.yaml', line: 1 },
  })
  expect(planQuery(aJobQuery({ operation: 'alpha.ai' })).credits).toBe(3)
})

describe('two rows that ask for the same query', () => {
  const planned = (query: Parameters<typeof aJobQuery>[0]) => planQuery(aJobQuery(query))
  const merged = (a: Parameters<typeof aJobQuery>[0], b: Parameters<typeof aJobQuery>[0]) =>
    mergeQueries(planned(a), planned(b))

  test('ask for the deeper, the more urgent, and what either says', () => {
    const a = { depth: 10, priority: 5, tags: ['x', 'y'], volume: null, labels: { team: 'a' } }
    const b = { depth: 30, priority: 1, tags: ['y', 'z'], volume: 50, url: 'u', labels: { kind: 'k' } }
    expect(merged(a, b)).toMatchObject({
      pages: 3,
      priority: 5,
      tags: ['x', 'y', 'z'],
      volume: 50,
      url: 'u',
      labels: { team: 'a', kind: 'k' },
    })
  })

  test('keep the first volume and the first page that is meant to rank', () => {
    expect(merged({ volume: 1, url: 'a' }, { volume: 2, url: 'b' })).toMatchObject({ volume: 1, url: 'a' })
  })

  test('stop at the depth of the deeper one where no page size is documented', () => {
    const gamma = { operation: 'gamma.search' }
    expect(merged({ ...gamma, depth: 10 }, { ...gamma, depth: 40 })).toMatchObject({ pages: 8, depth: 40 })
    expect(merged({ ...gamma, depth: 40 }, { ...gamma, depth: 10 })).toMatchObject({ pages: 8, depth: 40 })
    expect(merged({ ...gamma, depth: 10 }, { ...gamma, pages: 5 })).toMatchObject({ pages: 5, depth: null })
  })

  test('keep both values of a label that differs, and one where they agree', () => {
    expect(merged({ labels: { team: 'a' } }, { labels: { team: 'b' } }).labels).toEqual({ team: 'a; b' })
    expect(merged({ labels: { team: 'a' } }, { labels: { team: 'a' } }).labels).toEqual({ team: 'a' })
    expect(merged({ labels: { team: '' } }, { labels: { team: 'b' } }).labels).toEqual({ team: 'b' })
  })

  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'may have a label named %s in one of them',
    (name) => {
      const labels = Object.fromEntries([[name, 'x']])
      expect(Object.entries(merged({ labels }, {}).labels)).toEqual([[name, 'x']])
      expect(Object.entries(merged({}, { labels }).labels)).toEqual([[name, 'x']])
    },
  )

  test('have each target once, told apart by site, match and variants', () => {
    const rival = aTarget('rival.com', { own: false })
    const prefix = aTarget('acme.com', { match: 'prefix' })
    const mobile = aTarget('acme.com', { also: ['mobile'] })
    expect(merged({ targets: [aTarget(), rival] }, { targets: [rival, prefix, mobile] }).targets).toEqual([
      aTarget(),
      rival,
      prefix,
      mobile,
    ])
  })

  const word = fc.string({ minLength: 1, maxLength: 3 })
  const query: fc.Arbitrary<PlannedQuery> = fc
    .record({
      pages: fc.integer({ min: 1, max: 9 }),
      priority: fc.integer({ min: -5, max: 5 }),
      volume: fc.option(fc.nat()),
      url: fc.option(anyUrl()),
      tags: fc.uniqueArray(word),
      labels: fc.dictionary(word, fc.stringMatching(/^[a-z ]{1,4}$/), { noNullPrototype: true }),
      targets: fc
        .uniqueArray(fc.constantFrom('a.com', 'b.com', 'c.com'))
        .map((sites) => sites.map((s) => aTarget(s))),
    })
    .map((fields) => planned(fields))

  test('that are equal are that row', () => {
    fc.assert(
      fc.property(query, (row) => {
        expect(mergeQueries(row, row)).toEqual(row)
      }),
    )
  })

  test('ask for nothing more when one of them comes again', () => {
    fc.assert(
      fc.property(query, query, (a, b) => {
        const both = mergeQueries(a, b)
        expect(mergeQueries(both, b)).toEqual(both)
        expect(mergeQueries(both, a)).toEqual(both)
      }),
    )
  })

  test('lose nothing: tags, labels, targets and pages of both are there, and nothing else', () => {
    fc.assert(
      fc.property(query, query, (a, b) => {
        const both = mergeQueries(a, b)
        expect(new Set(both.tags)).toEqual(new Set([...a.tags, ...b.tags]))
        expect(new Set(Object.keys(both.labels))).toEqual(
          new Set([...Object.keys(a.labels), ...Object.keys(b.labels)]),
        )
        const sites = (row: PlannedQuery) => row.targets.map(({ site }) => site)
        expect(new Set(sites(both))).toEqual(new Set([...sites(a), ...sites(b)]))
        expect(both.pages).toBe(Math.max(a.pages, b.pages))
        expect(both.priority).toBe(Math.max(a.priority, b.priority))
      }),
    )
  })
})
