import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import {
  comparedDays,
  type DiffDocument,
  deepestSnapshot,
  diffDocument,
  snapshotOf,
} from '../../../src/report/diff/serp-diff.ts'
import { byChange, diffSummary, diffTable, diffText } from '../../../src/report/diff/text.ts'
import type { PageRecord, ResultRecord, SerpRecord } from '../../../src/store/sqlite/rankings/serps.ts'
import { aTarget } from '../../run/build.ts'
import { noPage } from '../build-record.ts'

type Sent = Partial<ResultRecord> & { readonly letter?: string }

/** Results one a letter, their ranks counted from the base. */
function page(number: number, results: string | readonly Sent[], base = (number - 1) * 10): PageRecord {
  const sent: readonly Sent[] =
    typeof results === 'string' ? [...results].map((letter) => ({ letter })) : results
  return {
    page: number,
    state: 'done',
    cause: null,
    fetchedAt: `2026-03-0${number}T06:00:00.000Z`,
    results: sent.map(({ letter = 'a', ...result }, index) => ({
      kind: 'organic',
      rank: base + index + 1,
      position: null,
      title: `The ${letter}`,
      link: `https://${letter}.example/`,
      snippet: `About ${letter}`,
      ...result,
    })),
  }
}

const record = (date: string, run: number, pages: readonly PageRecord[], end: SerpRecord['end'] = null) =>
  snapshotOf({ run, date, end, pages })

const query = { text: 'standing desk', operation: 'alpha.search', params: { gl: 'us', hl: 'en' } }
const targets = [aTarget('c.example', { label: 'Acme' }), aTarget('x.example', { own: false })]

const before = record('2026-03-01', 7, [page(1, 'abcd'), noPage(2, 'failed', 'HTTP 500'), page(3, 'ef', 14)])
const after = record('2026-03-02', 8, [
  page(1, [
    { letter: 'x' },
    { letter: 'a', title: 'Another a', snippet: null },
    { letter: 'c' },
    { letter: 'd', snippet: 'Of d' },
  ]),
  page(2, 'fg', 4),
])
const diffOf = (depth?: number): DiffDocument =>
  diffDocument(query, { from: before, to: after }, { job: 'acme', targets, depth })

describe('what a run left of a query', () => {
  test('is a look that reaches as far down as there is no gap', () => {
    expect(before).toMatchObject({
      run: 7,
      date: '2026-03-01',
      depth: 6,
      unbrokenDepth: 4,
      unbrokenPages: 1,
      resultsEnded: false,
      fetchedAt: '2026-03-03T06:00:00.000Z',
      missed: ['page 2 failed (HTTP 500)'],
    })
  })

  test.each<[string, readonly PageRecord[], SerpRecord['end'], Partial<ReturnType<typeof snapshotOf>>]>([
    [
      'that ended on its last page',
      [page(1, 'ab'), noPage(2, 'skipped', 'no more')],
      { kind: 'ended', because: 'no more' },
      { unbrokenDepth: 2, resultsEnded: true, missed: [] },
    ],
    [
      'that ended behind a gap',
      [page(1, 'ab'), page(3, '', 12)],
      { kind: 'ended', because: 'the page is empty' },
      { unbrokenDepth: 2, resultsEnded: false, missed: ['page 2 was passed over'] },
    ],
    [
      'whose other pages were not asked for',
      [page(1, 'ab'), noPage(2, 'skipped', 'all found')],
      { kind: 'found', because: 'all found' },
      { unbrokenDepth: 2, resultsEnded: false, missed: [] },
    ],
    [
      'whose first page failed',
      [noPage(1, 'failed', 'Oops'), page(2, 'ab')],
      null,
      { unbrokenDepth: 0, unbrokenPages: 0, depth: 2, missed: ['page 1 failed (Oops)'] },
    ],
    [
      'on whose second page a result comes again',
      [
        page(1, 'ab'),
        page(2, [
          { letter: 'a', rank: 1 },
          { letter: 'c', rank: 3 },
        ]),
      ],
      null,
      { unbrokenDepth: 3, depth: 3, unbrokenPages: 2 },
    ],
  ])('of results %s', (_, pages, end, expected) => {
    expect(record('2026-03-01', 1, pages, end)).toMatchObject(expected)
  })

  test('has a result with another token as the same one', () => {
    const withToken = (token: string) => [{ letter: 'a', link: `https://a.example/?srsltid=${token}` }]
    const looks = { from: record('2026-03-01', 1, [page(1, withToken('A'))]) }
    const found = diffDocument(
      query,
      { ...looks, to: record('2026-03-02', 2, [page(1, withToken('B'))]) },
      { job: 'acme', targets },
    )
    expect(found).toMatchObject({ entered: [], left: [] })
  })

  test('tells results without a link by their text, the second of a text by its number', () => {
    const alone = (...titles: readonly (string | null)[]) =>
      record('2026-03-01', 1, [
        page(
          1,
          titles.map((title) => ({ title, link: null })),
        ),
      ])
    const keys = (...titles: readonly (string | null)[]) => alone(...titles).results.map(({ key }) => key)
    expect(new Set(keys('a', 'b', 'a', null, '', 'a')).size).toBe(6)
    const changes = diffDocument(
      query,
      { from: alone('a', 'b', 'a'), to: alone('b', 'a', 'c') },
      { job: 'acme', targets },
    )
    expect(changes).toMatchObject({
      entered: [{ title: 'c', targets: [] }],
      left: [{ title: 'a', rank: 3 }],
      moved: [
        { title: 'b', previous_rank: 2, rank: 1, change: 1 },
        { title: 'a', previous_rank: 1, rank: 2, change: -1 },
      ],
    })
  })
})

describe('the days that are compared', () => {
  const at = (...looks: readonly string[]) =>
    looks.map((look) => ({ date: `2026-03-${look.slice(0, 2)}`, run: Number(look.slice(3)) }))
  const march = (day: number, tolerance: number) => ({
    day: `2026-03-${String(day).padStart(2, '0')}`,
    tolerance,
  })

  test.each<[string, readonly string[], ReturnType<typeof march> | null, string | null, string | null]>([
    ['the last two', ['01 1', '02 2', '05 3'], null, '02 2', '05 3'],
    ['all runs of each', ['01 1', '02 2', '02 3', '05 4', '05 5'], null, '02 2 3', '05 4 5'],
    ['one alone', ['01 1', '01 2'], null, null, '01 1 2'],
    ['none', [], null, null, null],
    ['the day that was asked for', ['01 1', '04 2', '05 3', '09 4'], march(4, 3), '04 2', '09 4'],
    ['the nearest to it, of two the earlier', ['03 1', '05 2', '09 3'], march(4, 3), '03 1', '09 3'],
    ['none outside the tolerance', ['01 1', '09 2'], march(5, 3), null, '09 2'],
  ])('%s', (_, looks, asked, from, to) => {
    const days = comparedDays(at(...looks), asked)
    const shown = (runs: typeof days.from) =>
      runs === null ? null : [runs[0]?.date.slice(8), ...runs.map(({ run }) => run)].join(' ')
    expect([shown(days.from), shown(days.to)]).toEqual([from, to])
  })

  test('of several runs of a day the deepest look speaks, of those the last; the end of the results is deepest', () => {
    const shallow = record('2026-03-01', 1, [page(1, 'ab')])
    const deep = (run: number) => record('2026-03-01', run, [page(1, 'ab'), page(2, 'cd', 2)])
    const whole = record('2026-03-01', 5, [page(1, 'ab')], { kind: 'ended', because: 'no more' })
    expect(deepestSnapshot([deep(2), deep(3), shallow])?.run).toBe(3)
    expect(deepestSnapshot([whole, deep(2)])?.run).toBe(5)
    expect(deepestSnapshot([])).toBeNull()
  })
})

test('programs get who came, went and moved, whose they are, and how deep both days looked', () => {
  const side = { results_ended: false }
  const mine = [{ target: 'Acme', own: true }]
  expect(diffOf()).toEqual({
    job: 'acme',
    query: 'standing desk',
    operation: 'alpha.search',
    params: { gl: 'us', hl: 'en' },
    from: {
      ...side,
      ...{
        run_id: 7,
        date: '2026-03-01',
        fetched_at: '2026-03-03T06:00:00.000Z',
        depth: 6,
        unbroken_depth: 4,
      },
      ...{ not_compared: 1, missed: ['page 2 failed (HTTP 500)'] },
    },
    to: {
      ...side,
      ...{
        run_id: 8,
        date: '2026-03-02',
        fetched_at: '2026-03-02T06:00:00.000Z',
        depth: 6,
        unbroken_depth: 6,
      },
      ...{ not_compared: 1, missed: [] },
    },
    compared_depth: 4,
    entered: [
      {
        ...{ rank: 1, title: 'The x', link: 'https://x.example/', snippet: 'About x' },
        targets: [{ target: 'x.example', own: false }],
      },
    ],
    left: [{ rank: 2, title: 'The b', link: 'https://b.example/', snippet: 'About b', targets: [] }],
    moved: [
      {
        ...{ rank: 2, title: 'Another a', link: 'https://a.example/', snippet: null, targets: [] },
        ...{ previous_rank: 1, change: -1 },
      },
      {
        ...{ rank: 5, title: 'The f', link: 'https://f.example/', snippet: 'About f', targets: [] },
        ...{ previous_rank: 16, change: 11 },
      },
    ],
    changed: [
      {
        ...{ rank: 2, title: 'Another a', link: 'https://a.example/', snippet: null, targets: [] },
        ...{ previous_rank: 1, previous_title: 'The a', previous_snippet: 'About a' },
      },
      {
        ...{ rank: 4, title: 'The d', link: 'https://d.example/', snippet: 'Of d', targets: [] },
        ...{ previous_rank: 4, previous_title: 'The d', previous_snippet: 'About d' },
      },
    ],
    same: 1,
    turnover_top10: 0.25,
  })
  const left = diffDocument(query, { from: after, to: before }, { job: 'acme', targets })
  expect(left.left).toMatchObject([{ targets: [{ target: 'x.example', own: false }] }])
  const moved = {
    from: record('2026-03-01', 1, [page(1, 'ac')]),
    to: record('2026-03-02', 2, [page(1, 'ca')]),
  }
  expect(diffDocument(query, moved, { job: 'acme', targets }).moved[0]?.targets).toEqual(mine)
  expect(diffOf(1)).toMatchObject({
    compared_depth: 1,
    left: [],
    moved: [{ rank: 2 }],
    changed: [{ rank: 2 }],
  })
})

describe('for a person', () => {
  const look = { width: 100, color: false }

  test('there is a table of who came, went and moved, then the texts that changed', () => {
    expect(diffText(diffOf(), look)).toBe(
      [
        '"standing desk"  alpha.search  gl=us  hl=en',
        'acme: 2026-03-02 (run 8) compared with 2026-03-01 (run 7), 4 results deep.',
        '2026-03-01: page 2 failed (HTTP 500); checked without a gap: 4 results.',
        '1 entered, 1 left, 2 moved, 2 changed title or snippet, 1 the same. Turnover of the top 10: 25%.',
        'Not compared: 1 result of 2026-03-01, deeper than was checked without a gap on 2026-03-02.',
        'Not compared: 1 result of 2026-03-02, deeper than was checked without a gap on 2026-03-01.',
        '',
        'before  after   change  target                  title      link',
        '     -      1  entered  x.example (competitor)  The x      https://x.example/',
        '     2      -     left                          The b      https://b.example/',
        '     1      2      ▼ 1                          Another a  https://a.example/',
        '   ~16      5     ▲ 11                          The f      https://f.example/',
        '',
        'Titles and snippets that changed, by rank:',
        '2  https://a.example/',
        '   title before: The a',
        '   title now:    Another a',
        '   snippet before: About a',
        '   snippet now:    (none)',
        '4  https://d.example/',
        '   snippet before: About d',
        '   snippet now:    Of d',
        '',
      ].join('\n'),
    )
  })

  test.each<[string, Parameters<typeof diffDocument>[1], string]>([
    ['nothing changed', { from: after, to: after }, 'Nothing changed: 6 results stand where they stood'],
    [
      'one result stayed',
      { from: record('2026-03-01', 1, [page(1, 'a')]), to: record('2026-03-02', 2, [page(1, 'a')]) },
      'Nothing changed: 1 result stands where it stood',
    ],
    [
      'there are no results',
      { from: record('2026-03-01', 1, [page(1, '')]), to: record('2026-03-02', 2, [page(1, '')]) },
      'Nothing changed: there are no results on either day.',
    ],
    ['there is no other day', { from: null, to: before }, '2026-03-01 (run 7) has nothing to compare with.'],
    ['nothing is stored', { from: null, to: null }, 'acme: no results are stored yet.'],
  ])('where %s it is said in a sentence', (_, snapshots, words) => {
    const text = diffText(diffDocument(query, snapshots, { job: 'acme', targets }), look)
    expect(text).toContain(words)
    expect(text).not.toContain('before  after')
    expect(text).not.toMatch(/\d (entered|moved)/)
  })

  test('color changes nothing that is said', () => {
    const colored = diffText(diffOf(), { ...look, color: true })
    expect(colored).not.toBe(diffText(diffOf(), look))
    expect(stripVTControlCharacters(colored)).toBe(diffText(diffOf(), look))
  })

  test('text from outside is harmless, and fits the terminal', () => {
    const evil = '\u001b]0;owned\u0007\u001b[2Jx\r\n\u202ey'
    const hostile = (rank: number, sameAs: number): Sent => ({
      ...{ rank, sameAs, title: `${evil}${rank}`, snippet: `${evil.repeat(30)}${rank}` },
      link: `https://${evil}c.example/${'a'.repeat(90)}`,
    })
    const nasty = diffDocument(
      { text: evil, operation: 'alpha.search', params: { location: evil } },
      {
        from: record('2026-03-01', 1, [
          page(1, [hostile(1, 1), hostile(2, 2), hostile(3, 3)]),
          noPage(2, 'failed', evil),
        ]),
        to: record('2026-03-02', 2, [page(1, [hostile(1, 2), hostile(2, 3), hostile(3, 4)])]),
      },
      { job: evil, targets: [aTarget('c.example', { label: evil })] },
    )
    for (const width of [56, 80, 120]) {
      for (const text of [
        diffText(nasty, { width, color: false }),
        diffTable([diffSummary(nasty), diffSummary(diffOf())], { width, color: false, compare: null }),
      ])
        expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
      const lines = diffText(nasty, { width, color: false }).split('\n')
      expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width)
    }
  })
})

describe('the table of all queries', () => {
  const summary = (name: string, change: Partial<ReturnType<typeof diffSummary>> = {}) => ({
    ...diffSummary(diffOf()),
    query: name,
    ...change,
  })

  test('has what changed most first', () => {
    const calm = { turnover_top10: 0, entered: 0, left: 0, moved: 0, changed: 0 }
    const all = [
      summary('unknown', { ...calm, turnover_top10: null }),
      summary('texts', { ...calm, changed: 1 }),
      summary('calm', calm),
      summary('came', { ...calm, entered: 1 }),
      summary('moves', { ...calm, moved: 9 }),
      summary('top', { ...calm, turnover_top10: 0.1 }),
    ]
    expect(all.sort(byChange).map(({ query }) => query)).toEqual([
      ...['top', 'came', 'moves', 'texts', 'calm', 'unknown'],
    ])
  })

  test('has one line for each, and says below what was compared', () => {
    const none = { from: null, compared_depth: null, turnover_top10: null, hasGaps: false }
    const all = [
      summary('oak desk'),
      summary('b', { operation: 'alpha.news', params: {}, from: '2026-02-27', hasGaps: false }),
      summary('new', none),
      summary('failed', { ...none, to: null }),
    ]
    expect(diffTable(all, { width: 120, color: false, compare: null })).toBe(
      [
        'query     operation     params       entered  left  moved  changed  turnover  depth  day         since',
        'oak desk  alpha.search  gl=us hl=en        1     1      2        2       25%      4  2026-03-02  2026-03-01',
        'b         alpha.news                       1     1      2        2       25%      4  2026-03-02  2026-02-27',
        'new       alpha.search  gl=us hl=en                                                  2026-03-02',
        'failed    alpha.search  gl=us hl=en',
        '',
        '4 queries, 2026-03-02. turnover: share of the first ten that differs from before. depth: as far down as both days were',
        'checked.',
        'Compared with what was observed between 2026-02-27 and 2026-03-01.',
        '1 query has nothing to compare with.',
        '1 query has no results yet.',
        '1 query lacks pages on one of the days; --query says which.',
        '',
      ].join('\n'),
    )
  })

  test('says where nothing is stored for the day that was asked for', () => {
    const text = diffTable([summary('new', { from: null })], {
      ...{ width: 120, color: false, compare: { day: '2026-02-01', tolerance: 1 } },
    })
    expect(text).toContain('\nNothing to compare with (asked for: 2026-02-01, ±1 day).\n')
    expect(text).not.toContain('1 query has')
  })
})
