import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Clusterable, groupKeywords } from '../../src/rank/grouping.ts'

/** A keyword that shows one page for each letter. */
function keyword(text: string, letters: string, volume: number | null = null, market = 'us'): Clusterable {
  return { market, text, volume, links: [...letters].map((letter) => letter.charCodeAt(0)) }
}

/** The clusters as texts, the head first. */
function clusters(keywords: readonly Clusterable[], least = 4): readonly string[] {
  const { heads, order } = groupKeywords(keywords, least)
  const members = new Map<number, string[]>()
  for (const place of order) {
    const head = heads[place] as number
    members.set(head, [...(members.get(head) ?? []), (keywords[place] as Clusterable).text])
  }
  return [...members.values()].map((texts) => texts.join(' '))
}

test.each([
  ['enough pages are shared', [keyword('a', 'abcdef', 9), keyword('b', 'abcdxy', 5)], ['a b']],
  ['one page too few is shared', [keyword('a', 'abcdef', 9), keyword('b', 'abcwxy', 5)], ['a', 'b']],
  [
    'no chain connects them: c shares with b alone, which is no head',
    [keyword('a', 'abcdef', 9), keyword('b', 'cdefgh', 5), keyword('c', 'efghij', 2)],
    ['a b', 'c'],
  ],
  [
    'the largest head is joined, not the one that shares most',
    [keyword('a', 'abcdef', 9), keyword('b', 'efghij', 5), keyword('c', 'cdefgh', 2)],
    ['a c', 'b'],
  ],
  ['volumes are equal or missing: texts decide', [keyword('b', 'abcd'), keyword('a', 'abcd')], ['a b']],
  ['a volume goes before none', [keyword('a', 'abcd'), keyword('b', 'abcd', 0)], ['b a']],
  ['markets differ', [keyword('a', 'abcd', 9), keyword('a', 'abcd', 9, 'gb')], ['a', 'a']],
])('%s', (_, keywords, wanted) => {
  expect(clusters(keywords)).toEqual(wanted)
})

const anyKeywords = fc.uniqueArray(
  fc.record({
    market: fc.constantFrom('us', 'gb'),
    text: fc.string({ minLength: 1, maxLength: 2 }),
    volume: fc.option(fc.integer({ min: 0, max: 5 })),
    links: fc.uniqueArray(fc.integer({ min: 1, max: 14 }), { maxLength: 10 }),
  }),
  { selector: ({ market, text }) => `${market} ${text}`, maxLength: 40 },
)
const anyLeast = fc.integer({ min: 1, max: 10 })

const shares = (a: Clusterable, b: Clusterable) => a.links.filter((link) => b.links.includes(link)).length

/** The rule in its plain form: every keyword is compared with every head. */
function plain(keywords: readonly Clusterable[], least: number): ReadonlyMap<Clusterable, Clusterable> {
  const heads: Clusterable[] = []
  const sorted = keywords.toSorted(
    (a, b) => (b.volume ?? -1) - (a.volume ?? -1) || (a.text < b.text ? -1 : a.text > b.text ? 1 : 0),
  )
  return new Map(
    sorted.map((one) => {
      const head = heads.find((head) => head.market === one.market && shares(head, one) >= least)
      if (head === undefined) heads.push(one)
      return [one, head ?? one]
    }),
  )
}

test('each keyword is in one cluster, shares enough with its head, and the head is the one that comparing all pairs finds', () => {
  fc.assert(
    fc.property(anyKeywords, anyLeast, (keywords, least) => {
      const { heads, shared, order } = groupKeywords(keywords, least)
      const wanted = plain(keywords, least)
      expect([...order].sort((a, b) => a - b)).toEqual([...keywords.keys()])
      for (const [place, one] of keywords.entries()) {
        const head = keywords[heads[place] as number] as Clusterable
        expect(head).toBe(wanted.get(one))
        expect(shared[place]).toBe(shares(one, head))
        if (head !== one) expect(shared[place]).toBeGreaterThanOrEqual(least)
        // A head is in its own cluster: there are no chains.
        expect(heads[heads[place] as number]).toBe(heads[place])
      }
    }),
  )
})

test('the order of rows changes nothing', () => {
  fc.assert(
    fc.property(
      anyKeywords.chain((keywords) =>
        fc.tuple(fc.constant(keywords), fc.shuffledSubarray(keywords, { minLength: keywords.length })),
      ),
      anyLeast,
      ([keywords, shuffled], least) => {
        expect(clusters(shuffled, least)).toEqual(clusters(keywords, least))
      },
    ),
  )
})
