import { expect, test } from 'vitest'
import { clustersOf, gapsOf, type MarketKeyword } from '../../src/arrive/clusters/clusters.ts'
import { gapsDocument } from '../../src/cli/commands/report/cluster.ts'

type Seen = readonly [label: string, own: 0 | 1, rank: number | null | 'unknown']

let last = 0
/** A keyword of the group `pages`, with what is seen of each target. */
function keyword(
  text: string,
  pages: number,
  volume: number | null,
  ...seen: readonly Seen[]
): MarketKeyword {
  last += 1
  return {
    queryId: last,
    runId: 1,
    text,
    operation: 'alpha.search',
    params: '{"gl":"us"}',
    volume,
    tags: [],
    jobs: ['acme'],
    fetchedAt: 0,
    source: null,
    links: [1, 2, 3, 4, 5].map((page) => pages * 10 + page),
    targets: seen.map(([label, own, rank]) => ({
      label,
      own,
      state: rank === 'unknown' ? 'unknown' : rank === null ? 'absent' : 'ranked',
      rank: rank === 'unknown' ? null : rank,
      url: typeof rank === 'number' ? `https://${label}/${text}` : null,
    })),
  }
}

/** A tenth of the searches for the first rank, less for those below. */
const rate = (rank: number): number => 0.1 / rank
const gaps = (...keywords: readonly MarketKeyword[]) =>
  gapsDocument(gapsOf(clustersOf(keywords, 4).clusters, rate))

const [absent, rival] = [
  ['acme', 1, null],
  ['rival', 0, 2],
] as const

test('a gap is a cluster where a rival is among the first ten and you are not, by the clicks of the best rival', () => {
  const found = gaps(
    keyword('small', 1, 100, absent, rival),
    keyword('desk', 2, 1000, absent, rival, ['other', 0, 1]),
    keyword('desks', 2, 200, ['acme', 1, 14], rival),
    keyword('no volume', 3, null, absent, rival),
  )
  expect(found).toMatchObject([
    {
      cluster: 'desk',
      clicks: 110,
      own_rank: 14,
      unknown_keywords: 0,
      rivals: [
        { target: 'other', keywords: 1, clicks: 100, rank: 1, url: 'https://other/desk' },
        { target: 'rival', keywords: 2, clicks: 60, rank: 2, url: 'https://rival/desk' },
      ],
    },
    { cluster: 'small', clicks: 5, own_rank: null },
    { cluster: 'no volume', clicks: null },
  ])
})

test.each([
  [
    'you are seen for one of its keywords',
    [keyword('a', 1, 9, absent, rival), keyword('b', 1, 5, ['acme', 1, 10])],
  ],
  ['no rival is among the first ten', [keyword('a', 1, 9, absent, ['rival', 0, 11])]],
  ['it is not known whether you rank', [keyword('a', 1, 9, ['acme', 1, 'unknown'], rival)]],
  ['of two own targets one is unknown', [keyword('a', 1, 9, absent, ['blog', 1, 'unknown'], rival)]],
  ['there is no own target', [keyword('a', 1, 9, rival)]],
])('no gap: %s', (_, keywords) => {
  expect(gaps(...keywords)).toEqual([])
})

test('keywords of which nothing is known are counted, and their clicks are not', () => {
  expect(
    gaps(keyword('a', 1, 1000, absent, rival), keyword('b', 1, 500, ['acme', 1, 'unknown'], ['rival', 0, 1])),
  ).toMatchObject([{ clicks: 50, unknown_keywords: 1, rivals: [{ keywords: 1 }] }])
})
