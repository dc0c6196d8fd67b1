import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { formatTable } from '../../../src/output/table.ts'
import { fitColumns, sanitize } from '../../../src/output/terminal.ts'
import { rankTable } from '../../../src/report/formats/table.ts'
import { anyText } from '../../support/any-text.ts'
import { testTable } from '../../support/test-table.ts'
import { absent, aRanking, unknown } from '../build.ts'
import { reportOn } from '../reporting.ts'

const look = { width: 120, color: false }

describe('a table', () => {
  test('lines its columns up, numbers to the right, nothing behind the last word', () => {
    const columns = [{ title: 'query' }, { title: 'n', align: 'right' as const }, { title: 'note' }]
    expect(
      formatTable(columns, [
        ['desk', '5', ''],
        ['oak desk', '120', 'x'],
      ]),
    ).toBe(['query       n  note', 'desk        5', 'oak desk  120  x', ''].join('\n'))
  })

  test('without rows is its head', () => {
    expect(formatTable([{ title: 'a' }, { title: 'b' }], [])).toBe('a  b\n')
  })

  test('counts wide characters twice, and marks on letters not at all', () => {
    const rows = [
      ['日本語', 'x'],
      ['😀', 'x'],
      ['e\u0301', 'x'],
      ['abcdef', 'x'],
    ]
    const table = formatTable([{ title: 'q' }, { title: '' }], rows)
    expect(table.split('\n').slice(1, 5)).toEqual(['日本語  x', '😀      x', 'e\u0301       x', 'abcdef  x'])
  })

  test('keeps right-to-left text in its column', () => {
    const table = formatTable(
      [{ title: 'q' }, { title: '' }],
      [
        ['שולחן', 'x'],
        ['مكتب', 'x'],
        ['desks', 'x'],
      ],
    )
    expect(table.split('\n').slice(1, 4)).toEqual(['שולחן  x', 'مكتب   x', 'desks  x'])
  })

  test('cuts only the column that shrinks, between characters, where the terminal is too narrow', () => {
    const columns = [{ title: 'query' }, { title: 'page', shrinks: true as const }]
    const table = formatTable(
      columns,
      [
        ['desk', 'example.com/a/very/long/path'],
        ['desk', '日本語日本語日本語'],
      ],
      20,
    )
    expect(table.split('\n')).toEqual(['query  page', 'desk   example.com/…', 'desk   日本語日本語…', ''])
  })

  test('narrows the last column first, to what is readable, and then the others', () => {
    const columns = [
      { title: 'query', shrinks: true as const, least: 16 },
      { title: 'page', shrinks: true as const, least: 12 },
    ]
    const rows = [['a'.repeat(30), 'b'.repeat(30)]]
    const widths = (width: number) =>
      formatTable(columns, rows, width)
        .split('\n')[1]
        ?.split('  ')
        .map((cell) => cell.length)
    expect(widths(62)).toEqual([30, 30])
    expect(widths(50)).toEqual([30, 18])
    expect(widths(40)).toEqual([26, 12])
    expect(widths(28)).toEqual([16, 10])
    expect(widths(20)).toEqual([10, 8])
  })

  test('shows the end of a cell where that matters', () => {
    const columns = [{ title: 'q' }, { title: 'trend', shrinks: true as const, keepsEnd: true as const }]
    expect(formatTable(columns, [['desk', '123456789012']], 14)).toBe('q     trend\ndesk  56789012\n')
  })

  test('never cuts a column to less than its title or eight columns', () => {
    const columns = [{ title: 'query' }, { title: 'page', shrinks: true as const }]
    expect(formatTable(columns, [['a rather long query', 'abcdefghijkl']], 10)).toBe(
      'query                page\na rather long query  abcdefg…\n',
    )
  })

  test('has lines of the same columns for any harmless cells', () => {
    const cell = fc.string({ unit: 'grapheme', maxLength: 12 }).map(sanitize)
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell), { maxLength: 8 }), (rows) => {
        const lines = formatTable(
          [{ title: 'a' }, { title: 'b', align: 'right' }, { title: '|' }],
          rows.map((cells) => [...cells, '|']),
        ).split('\n')
        expect(lines.pop()).toBe('')
        expect(lines).toHaveLength(rows.length + 1)
        expect(new Set(lines.map((line) => stringWidth(line))).size).toBe(1)
      }),
    )
  })
})

describe('a text in a column', () => {
  testTable<[string, number, 'left' | 'right', string]>([
    ['abc', 5, 'left', 'abc  '],
    ['abc', 5, 'right', '  abc'],
    ['abc', 3, 'left', 'abc'],
    ['abcd', 3, 'left', 'ab…'],
    ['日本語', 5, 'left', '日本…'],
    ['日本語', 4, 'left', '日… '],
    ['日本語', 4, 'right', ' 日…'],
    ['👩‍👩‍👧‍👦👩‍👩‍👧‍👦', 3, 'left', '👩‍👩‍👧‍👦…'],
    ['', 2, 'left', '  '],
  ])('%j in %i columns, %s, is %j', (text, columns, align, fitted) => {
    expect(fitColumns(text, columns, align)).toBe(fitted)
  })

  test('takes exactly that many columns, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).map(sanitize),
        fc.integer({ min: 1, max: 40 }),
        (text, columns) => {
          expect(stringWidth(fitColumns(text, columns))).toBe(columns)
        },
      ),
    )
  })
})

describe('text from outside', () => {
  testTable([
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007', 'link'],
    ['\u009b31mred', 'red'],
    ['a\u001b[2J\u001b[Hb', 'ab'],
    ['a\r\n\tb', 'a b'],
    ['bell\u0007', 'bell '],
    ['desk\u202egnp.exe', 'desk gnp.exe'],
    ['a\u2066b\u2069c\u200fd\u061ce', 'a b c d e'],
    ['two\u2028lines\u2029or three', 'two lines or three'],
    ['<b>A</b>&amp;B\u0000\u001b', '<b>A</b>&amp;B '],
    ['naïve 日本 שולחן 😀', 'naïve 日本 שולחן 😀'],
  ])('%j is shown as %j', (text, shown) => {
    expect(sanitize(text)).toBe(shown)
  })

  test('can neither move the cursor nor change the direction of what follows', () => {
    const nasty = fc.string({
      unit: fc.constantFrom('\u001b', '[', ']', '0', ';', 'm', '\u009b', '\u0007', '\n', '\u202e', '\\', 'x'),
    })
    fc.assert(
      fc.property(fc.oneof(nasty, anyText()), (text) => {
        expect(sanitize(text)).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
      }),
    )
  })
})

describe('the rank table', () => {
  const rows = reportOn([
    aRanking({ query: 'desk', params: '{"gl":"us","hl":"en"}', rank: 9, date: '2026-03-01' }),
    aRanking({ query: 'desk', params: '{"gl":"us","hl":"en"}', rank: 4, date: '2026-03-02' }),
    aRanking({ query: 'lamp', rank: 2, date: '2026-03-01' }),
    aRanking({
      query: 'lamp',
      rank: 12,
      exactness: 'estimated',
      date: '2026-03-02',
      url: 'http://www.acme.com/lamp',
    }),
    aRanking({ query: 'mat', ...absent, depth: 28, date: '2026-03-02' }),
    aRanking({
      query: 'chair',
      ...absent,
      depth: 30,
      unbroken_depth: 20,
      exactness: 'estimated',
      date: '2026-03-02',
    }),
    aRanking({ query: 'sofa', ...unknown, date: '2026-03-02' }),
  ])

  test('shows ranks, what changed, and what is no rank', () => {
    expect(rankTable(rows, look)).toBe(
      [
        'query  locale  target    rank  change  trend  best  best on     page',
        'desk   en-us   acme.com     4     ▲ 5  ▅▆        4  2026-03-02  acme.com/',
        'lamp           acme.com   ~12    ▼ 10  ▇▄        2  2026-03-01  acme.com/lamp',
        'mat            acme.com   >28           ·',
        'chair          acme.com  ~>20           ·',
        'sofa           acme.com     ?       ?   ?',
        '',
        '5 observations on 2026-03-02: 2 ranked, 2 not found, 1 not known. >n: not among the first n results. ~: estimated. ?:',
        'not known.',
        'Compared with 1 March 2026.',
        'trend: the last days with a run, from █ rank 1, ▇ to 3, ▆ to 6, ▅ to 10, ▄ to 20, ▃ to 30, ▂ to 50, to ▁ deeper; ·: not',
        'found, ?: not known, blank: not asked.',
        '',
      ].join('\n'),
    )
  })

  test('tells rows of one text apart by whatever they differ in', () => {
    const places = ['{"cc":"us","lat":40.7}', '{"cc":"us","lat":48.1}', '{"cc":"gb"}', '{"cc":"gb","num":20}']
    const table = rankTable(reportOn(places.map((params) => aRanking({ params }))), look)
    expect(table.match(/^standing desk .*?(?= {2}acme)/gm)?.map((line) => line.slice(15).trim())).toEqual([
      ...['us lat=40.7', 'us lat=48.1', 'gb', 'gb num=20'],
    ])
  })

  test('in a narrow terminal, what stands below explains only what is shown', () => {
    const narrow = rankTable(rows, { ...look, width: 40 })
    expect(narrow).not.toContain('trend')
    expect(narrow.replaceAll('\n', ' ')).toContain('>n: not among the first n results')
    const ranked = reportOn([aRanking({ query: 'desk', rank: 4, date: '2026-03-02' })])
    expect(rankTable(ranked, look)).not.toMatch(/>n|~:|\?:/)
  })

  test('without rows is nothing', () => {
    expect(rankTable(reportOn([]), look)).toBe('')
  })

  test('says the same in colour', () => {
    const colored = rankTable(rows, { ...look, color: true })
    expect(colored).not.toBe(rankTable(rows, look))
    expect(stripVTControlCharacters(colored)).toBe(rankTable(rows, look))
  })

  test('names the operation only where there are several', () => {
    const two = reportOn([aRanking(), aRanking({ operation: 'beta.search', params: '{"cc":"us"}' })])
    expect(rankTable(two, look).split('\n')[2]).toMatch(/^standing desk {2}beta\.search +us /)
    expect(rankTable(rows, look)).not.toContain('operation')
  })

  test('says where rows are compared with different days', () => {
    const two = reportOn([
      aRanking({ date: '2026-03-01' }),
      aRanking({ query: 'lamp', date: '2026-03-02' }),
      ...['standing desk', 'lamp', 'mat'].map((query) => aRanking({ query, date: '2026-03-03' })),
    ])
    const table = rankTable(two, look)
    expect(table).toContain('change  since       trend  best')
    expect(table).toMatch(/^standing desk .* = {2}2026-03-01/m)
    expect(table).toMatch(/^lamp .* = {2}2026-03-02/m)
    expect(table).toMatch(/^mat .* first check {16}▇ {7}3/m)
    expect(table).toContain('\nCompared with 1 Mar to 2 Mar 2026.\n')
  })

  test('names the day that was asked for beside the one that was found', () => {
    const compare = { day: '2026-03-02', tolerance: 1 }
    const period = { from: '2026-03-03', until: '2026-03-05', compare }
    const rankings = ['2026-03-01', '2026-03-05'].map((date) => aRanking({ date }))
    const asked = ' (asked for: 2 March 2026, ±1 day).'
    expect(rankTable(reportOn(rankings, { compare }), { ...look, period })).toContain(
      `3 Mar to 5 Mar 2026, compared with 1 March 2026${asked}`,
    )
    expect(rankTable(reportOn(rankings.slice(1), { compare }), { ...look, period })).toContain(
      `3 Mar to 5 Mar 2026, nothing to compare with${asked}`,
    )
  })

  test.each([
    [1, 0, 'Left out: 1 query that the job no longer asks for.'],
    [2, 1, 'Left out: 2 queries and 1 target that the job no longer asks for.'],
    [0, 3, 'Left out: 3 targets that the job no longer asks for.'],
  ])('counts %i queries and %i targets that are left out', (queries, targets, words) => {
    const table = rankTable({ ...reportOn([aRanking()]), leftOut: { queries, targets } }, look)
    expect(table.split('\n')).toContain(words)
  })

  test('is harmless whatever the service and the job file say', () => {
    const evil = '\u001b]0;owned\u0007\u001b[2Jx\r\n\u202ey'
    const table = rankTable(
      reportOn([
        aRanking({ query: evil, target: evil, location: evil, gl: evil, hl: evil, url: evil, title: evil }),
      ]),
      look,
    )
    expect(table.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
    expect(table.split('\n')).toHaveLength(5)
  })

  test('fits the terminal by cutting the page', () => {
    const long = reportOn([aRanking({ url: `https://acme.com/${'a'.repeat(200)}` })])
    const lines = rankTable(long, { width: 90, color: false }).split('\n').slice(0, 2)
    expect(Math.max(...lines.map((line) => stringWidth(line)))).toBe(90)
  })

  test.each<[number, string]>([
    [130, 'query locale target rank change trend best best on page'],
    [100, 'query locale target rank change trend best best on'],
    [90, 'query locale target rank change trend best'],
    [80, 'query locale target rank change trend'],
    [60, 'query locale target rank change'],
  ])('at %i columns has what matters most: %s', (width, titles) => {
    const query = 'standing desk for a home office'
    const target = 'standing-desks.acme.example'
    const days = Array.from({ length: 28 }, (_, day) => `2026-03-${String(day + 1).padStart(2, '0')}`)
    const report = reportOn(
      days.flatMap((date) =>
        ['us', 'gb'].map((gl) =>
          aRanking({ query, target, gl, hl: 'en', date, params: JSON.stringify({ gl }) }),
        ),
      ),
    )
    const [head] = rankTable(report, { width, color: false }).split('\n')
    expect(head?.replace(/ +/g, ' ')).toBe(titles)
  })

  test('never is wider than the terminal, whatever the texts are', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 })
    const ranking = fc.record({
      query: text,
      target: text,
      location: text,
      url: text,
      operation: fc.constantFrom('alpha.search', 'alpha.autocomplete'),
      rank: fc.integer({ min: 1, max: 999 }),
      date: fc.constantFrom('2026-03-01', '2026-03-02', '2026-03-05'),
    })
    fc.assert(
      fc.property(
        fc.array(ranking, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 60, max: 160 }),
        fc.boolean(),
        (rankings, width, color) => {
          const table = rankTable(reportOn(rankings.map(aRanking)), { width, color })
          for (const line of table.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(width)
          expect(stripVTControlCharacters(table).replaceAll('\n', '')).not.toMatch(
            /[\p{Cc}\p{Bidi_Control}]/u,
          )
        },
      ),
      { numRuns: 50 },
    )
  })
})
