import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { wrap } from '../../../src/output/table.ts'
import { explainState, pageNumbers, pageStatuses } from '../../../src/report/explain/explain.ts'
import type { QueryRecord, TargetRecord } from '../../../src/store/sqlite/rankings/serps.ts'
import { testTable } from '../../support/test-table.ts'
import { aPage, aRecord, aTracked, noPage } from '../build-record.ts'

const one = aPage(1, [])
const two = aPage(2, [])
const five = aPage(5, [])
const deep = { because: 'the depth asked for was reached', kind: 'depth' }

test.each<[string, Partial<QueryRecord>, Partial<TargetRecord>, string]>([
  ['found at once', { pages: [one] }, { state: 'ranked', page: 1 }, 'It is on page 1.'],
  [
    'found further down',
    { pages: [one, two] },
    { state: 'ranked', page: 2 },
    'It is on page 2, and every page before it was checked.',
  ],
  [
    'found below a gap',
    { pages: [one, noPage(2, 'failed', 'HTTP 500'), five] },
    { state: 'ranked', page: 5 },
    'It is on page 5. Estimated, for page 2 failed (HTTP 500) and pages 3 to 4 were passed over: such a page counts as 10 results.',
  ],
  [
    'found below a gap of pages of no documented size',
    { pages: [one, five], pageSize: null },
    { state: 'ranked', page: 5 },
    'It is on page 5. Estimated, for pages 2 to 4 were passed over: such a page counts as ten results, as none is documented.',
  ],
  ['found, long ago', {}, { state: 'ranked' }, 'It is on one of the checked pages.'],
  [
    'absent down to the depth',
    { pages: [one, two], end: deep },
    {},
    'It is not on pages 1 to 2. No page follows, for the depth asked for was reached.',
  ],
  [
    'absent, with a gap',
    { pages: [one, five], end: deep },
    {},
    'It is not on pages 1, 5. Estimated, for pages 2 to 4 were passed over.',
  ],
  [
    'a page that failed',
    { pages: [one, noPage(2, 'failed', 'HTTP 500')], end: deep },
    { state: 'unknown' },
    'It is on no page that was fetched, but page 2 failed (HTTP 500).',
  ],
  [
    'pages not fetched yet',
    { pages: [one, noPage(2, 'open'), noPage(3, 'open')] },
    { state: 'unknown' },
    'It is on no page that was fetched, but pages 2 to 3 were not fetched.',
  ],
  [
    'left out for money',
    { pages: [noPage(1, 'skipped', 'the balance does not cover it')] },
    { state: 'unknown' },
    'Not known: page 1 was not asked for (the balance does not cover it).',
  ],
  [
    'a failure that all pages share',
    {
      pages: [noPage(1, 'failed', 'HTTP 404'), noPage(2, 'skipped', 'page 1 failed')],
      end: { because: 'page 1 failed', kind: 'failed' },
    },
    { state: 'unknown' },
    'Not known: page 1 failed (HTTP 404).',
  ],
  [
    'paging that broke',
    { pages: [one, two], end: { because: 'the page repeats page 1', kind: 'broke' } },
    { state: 'unknown' },
    'It is on no page that was fetched, but the pages could not be told apart any more: the page repeats page 1.',
  ],
  ['nothing at all', {}, { state: 'unknown' }, 'Not known: nothing was fetched.'],
])('%s', (_, record, target, words) => {
  expect(explainState(aRecord(record), aTracked(target))).toBe(words)
})

test('pages between others were passed over', () => {
  expect(pageStatuses({ pages: [one, five] }).map(({ state }) => state)).toEqual([
    'done',
    ...['passed', 'passed', 'passed'],
    'done',
  ])
})

test.each([
  [[3], 'page 3'],
  [[1, 2, 3], 'pages 1 to 3'],
  [[1, 4, 5, 6, 9], 'pages 1, 4 to 6, 9'],
])('pages %j are said as %s', (pages, words) => {
  expect(pageNumbers(pages.map((page) => ({ page })))).toBe(words)
})

describe('text over several lines', () => {
  testTable<[string, number, string, readonly string[]]>([
    ['a bc def', 4, '', ['a bc', 'def']],
    ['a bc def', 6, '  ', ['  a bc', '  def']],
    ['a bc def', Number.POSITIVE_INFINITY, '', ['a bc def']],
    ['abcdefgh i', 3, '', ['abc', 'def', 'gh', 'i']],
    ['日本語 日本', 4, '', ['日本', '語', '日本']],
    ['', 4, ' ', [' ']],
  ])('%j in %d columns', (text, width, indent, lines) => {
    expect(wrap(text, width, indent)).toEqual(lines)
  })

  test('fits the width, and loses nothing but spaces', () => {
    const text = fc.array(fc.string({ unit: fc.constantFrom('a', '本', 'é'), maxLength: 9 }), {
      maxLength: 9,
    })
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 12 }), (words, width) => {
        const lines = wrap(words.join(' '), width)
        expect(Math.max(...lines.map((line) => stringWidth(line)))).toBeLessThanOrEqual(width)
        expect(lines.join('').replaceAll(' ', '')).toBe(words.join(''))
      }),
    )
  })
})
