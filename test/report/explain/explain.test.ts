import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import { explainText, explanationOf } from '../../../src/report/explain/explain.ts'
import { aPage, aRecord, aTracked, noPage } from '../build-record.ts'

const record = aRecord({
  params: { gl: 'us', hl: 'en' },
  end: { because: 'the depth asked for was reached', kind: 'depth' },
  pages: [
    aPage(1, ['https://www.acme.com/desks', 'https://t.co/AbC', 'https://acme.net/']),
    noPage(2, 'failed', 'HTTP 500'),
    aPage(4, ['https://shop.rival.com/x'], 23),
    aPage(5, []),
  ],
  targets: [
    aTracked({ state: 'ranked', rank: 1, page: 1, depth: 4, unbrokenDepth: 3 }),
    aTracked({
      site: 'rival.com',
      label: 'Rival',
      own: false,
      state: 'ranked',
      rank: 24,
      exactness: 'estimated',
      page: 4,
      depth: 4,
      unbrokenDepth: 3,
    }),
    aTracked({
      site: 'shop.example',
      label: 'Shop',
      state: 'unknown',
      exactness: null,
      depth: 4,
      unbrokenDepth: 3,
    }),
  ],
})

test('an explanation shows, page by page, what stands where, whose it is, and whose it nearly is', () => {
  expect(explainText(explanationOf(record), 200)).toBe(
    [
      '"standing desk"  alpha.search  gl=us  hl=en',
      'Run 7 of acme, 2026-03-01. At most 3 pages. No page follows, for the depth asked for was reached.',
      '',
      'acme.com: rank 1, 4 results checked, the first 3 without a gap',
      '  It is on page 1.',
      'Rival (competitor): rank ~24, 4 results checked, the first 3 without a gap',
      '  It is on page 4. Estimated, for page 2 failed (HTTP 500) and page 3 was passed over: such a page counts as 10 results.',
      'Shop: unknown, 4 results checked, the first 3 without a gap',
      '  It is on no page that was fetched, but page 2 failed (HTTP 500) and page 3 was passed over.',
      '',
      'Page 1, fetched 2026-03-01 06:00 UTC',
      '        1  https://www.acme.com/desks',
      '           acme.com: it is on www.acme.com, which belongs to acme.com',
      '        2  https://t.co/AbC',
      '           a redirect that does not say where it leads: it may belong to any site',
      '        3  https://acme.net/',
      '           not acme.com: it is on acme.net, which has the name of acme.com under another suffix',
      '',
      'Page 2: failed, HTTP 500',
      '',
      'Page 3: passed over',
      '',
      'Page 4, fetched 2026-03-01 06:00 UTC',
      '   24 (1)  https://shop.rival.com/x',
      '           Rival: it is on shop.rival.com, which belongs to rival.com',
      '',
      'Page 5, fetched 2026-03-01 06:00 UTC: no results',
      '',
    ].join('\n'),
  )
})

test('programs get the same with names that stay', () => {
  const { pages, targets, ...rest } = explanationOf(record)
  expect(rest).toEqual({
    job: 'acme',
    run_id: 7,
    date: '2026-03-01',
    query: 'standing desk',
    operation: 'alpha.search',
    params: { gl: 'us', hl: 'en' },
    max_pages: 3,
    paging_end: 'the depth asked for was reached',
  })
  expect(targets[0]).toEqual({
    target: 'acme.com',
    site: 'acme.com',
    match: 'domain',
    also: [],
    own: true,
    state: 'ranked',
    rank: 1,
    exactness: 'exact',
    depth: 4,
    unbroken_depth: 3,
    why: 'It is on page 1.',
  })
  expect(pages.map(({ page, state, cause }) => [page, state, cause])).toEqual([
    [1, 'done', null],
    [2, 'failed', 'HTTP 500'],
    [3, 'passed', null],
    [4, 'done', null],
    [5, 'done', null],
  ])
  expect(pages[0]?.results[0]).toEqual({
    kind: 'organic',
    rank: 1,
    position: 1,
    title: 'A title',
    link: 'https://www.acme.com/desks',
    opaque: false,
    matches: [
      { target: 'acme.com', reason: 'in-domain', text: 'is on www.acme.com, which belongs to acme.com' },
    ],
    near: [],
  })
  expect(pages[0]?.results[1]).toMatchObject({ opaque: true, matches: [] })
  expect(pages[0]?.results[2]?.near).toMatchObject([{ target: 'acme.com', reason: 'other-suffix' }])
})

test('a result without a link has its title, and nobody’s name', () => {
  const [result] = aPage(1, ['x']).results
  const suggestion = {
    ...aPage(1, []),
    results: [{ ...(result as object), link: null } as NonNullable<typeof result>],
  }
  const text = explainText(explanationOf(aRecord({ pages: [suggestion], targets: [aTracked()] })), 80)
  expect(text).toContain('        1  A title\n')
  expect(text).toContain('The paging has not ended.')
})

test('without targets the results are shown all the same', () => {
  const text = explainText(explanationOf(aRecord({ pages: [aPage(1, ['https://acme.com/'])] })), 80)
  expect(text).toContain('\nNo targets are tracked.\n')
  expect(text).toContain('https://acme.com/')
})

test('text from outside is harmless, and fits the terminal', () => {
  const evil = '\u001b]0;owned\u0007\u001b[2Jx\r\n\u202ey'
  const [result] = aPage(1, [`https://acme.com/${evil}${'a'.repeat(100)}`]).results
  const nasty = aRecord({
    text: evil,
    job: evil,
    params: { location: evil },
    end: { because: evil, kind: 'ended' },
    pages: [
      { ...aPage(1, []), results: [result as NonNullable<typeof result>] },
      noPage(2, 'failed', evil.repeat(20)),
    ],
    targets: [
      aTracked({ label: evil, state: 'unknown' }),
      aTracked({ site: `${evil}.com`, label: 'x'.repeat(60) }),
    ],
  })
  for (const width of [40, 61, 120]) {
    const text = explainText(explanationOf(nasty), width)
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
    expect(Math.max(...text.split('\n').map((line) => stringWidth(line)))).toBeLessThanOrEqual(width)
  }
})
