import { expect, test } from 'vitest'
import { unconfirmed } from '../../src/alerts/rules/recheck.ts'
import { chooseRechecked, mostRecheckCredits, mostRechecked } from '../../src/ledger/rechecks.ts'
import { testTable } from '../support/test-table.ts'
import { acme, aRule, aWatchedQuery, looksOf } from './build.ts'

const drop = aRule({ when: 'drop', by: 3, confirm: 2, recheck: true })
const lost = aRule({ when: 'lost', confirm: 2, recheck: true })
const three = { ...drop, confirm: 3 }
const page = aRule({ when: 'url-changed', confirm: 2, recheck: true })
const cited = aRule({ when: 'citation-lost', confirm: 2, recheck: true })

const noFacts = {
  ...{ job: 'acme', at: 1, health: null, skipped: null, suspicion: null, pairs: [], serps: [] },
  linkText: (id: number) => `https://acme.com/${String.fromCharCode(id)}`,
}

testTable<[string, typeof drop, string, boolean]>([
  ['a fall', drop, '5 9', true],
  ['no fall', drop, '5 6', false],
  ['a fall that two looks say', drop, '5 9 9', false],
  ['a fall that was said, and is not now', drop, '5 9 5', false],
  ['a fall that two of three looks say', drop, '5 9 5 9', false],
  ['a first look', drop, '9', false],
  ['an absence', lost, '5 -30', true],
  ['an absence after a shallower look', lost, '5 -30 5 -10', false],
  ['the first of three looks', three, '5 9', false],
  ['the second of three looks', three, '5 9 9', true],
  ['another page', page, '5a 5b', true],
])('%s (%j) after %s is looked at again: %s', (_, rule, looks, isSuspicious) => {
  const pairs = [{ query: aWatchedQuery(), target: acme, looks: looksOf(looks) }]
  expect(unconfirmed({ ...noFacts, rules: [rule], pairs }, []).length > 0).toBe(isSuspicious)
})

test('citations and new sites are looked at again; what is open is not', () => {
  const query = aWatchedQuery({ cites: true })
  const pairs = [{ query, target: acme, looks: looksOf('2 -30') }]
  const [found] = unconfirmed({ ...noFacts, rules: [cited], pairs }, [])
  expect(found).toMatchObject({ query, rule: cited, state: 'open' })
  const open = [{ id: 'a', identity: found?.identity ?? '', before: 2, now: null }]
  expect(unconfirmed({ ...noFacts, rules: [cited], pairs }, open)).toEqual([])

  const list = (...sites: readonly string[]) => ({
    ranks: new Map(sites.map((site, index) => [site, index + 1])),
    depth: 10,
  })
  const competitor = aRule({ when: 'new-competitor', top: 10, confirm: 2, recheck: true })
  const serps = [{ query: aWatchedQuery(), lists: [list('a.com'), list('a.com', 'b.com')] }]
  expect(unconfirmed({ ...noFacts, rules: [competitor], serps }, []).map(({ target }) => target)).toEqual([
    'b.com',
  ])
})

testTable<[number, number]>([
  [3, 3],
  [10, 10],
  [109, 10],
  [110, 11],
  [5_000, 500],
])('of %i queries at most %i are looked at again', (queries, most) => {
  expect(mostRechecked(queries)).toBe(most)
})

test('the most urgent are looked at again, then those that are searched for most, then the first', () => {
  const query = (id: number, priority: number, volume: number | null) => ({ id, priority, volume })
  const some = [query(1, 0, null), query(2, 0, 20), query(3, 5, null), query(4, 0, 700), query(5, 5, 1)]
  const ids = (list: readonly { readonly id: number }[]) => list.map(({ id }) => id)
  expect(ids(chooseRechecked(some, 10))).toEqual([5, 3, 4, 2, 1])
  const many = Array.from({ length: 40 }, (_, index) => query(index + 1, 0, null))
  expect(ids(chooseRechecked([...many].reverse(), 200))).toEqual(Array.from({ length: 20 }, (_, i) => i + 1))
})

testTable<[string, readonly (typeof drop)[], number]>([
  ['without such a rule', [aRule({ when: 'drop' })], 0],
  ['the dearest ten', [drop], 3 * 5 + 7 * 2],
  ['only queries with the tag', [{ ...drop, for: { tags: ['money'], targets: null } }], 3 * 5],
  ['with one tag or the other', [{ ...drop, for: { tags: ['money', 'x'], targets: null } }, lost], 29],
])('looking again costs at most: %s', (_, rules, credits) => {
  const priced = [
    { queries: 40, credits: 2, tags: [] },
    { queries: 3, credits: 5, tags: ['money', 'us'] },
  ]
  expect(mostRecheckCredits(rules, priced)).toBe(credits)
})
