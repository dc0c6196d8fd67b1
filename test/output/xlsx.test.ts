import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Sheet, type SheetCell, workbook } from '../../src/output/xlsx.ts'
import { anyText } from '../support/any-text.ts'
import { bytesOf, read, textColumns } from './reading.ts'

const columns: Sheet['columns'] = [
  { header: 'text', width: 30, kind: 'text' },
  { header: 'number', width: 10, kind: 'number' },
  { header: 'day', width: 12, kind: 'date' },
  { header: 'instant', width: 20, kind: 'datetime' },
  { header: 'share', width: 8, kind: 'percent' },
]
const headers = columns.map(({ header }) => header)

/** The files of an archive by name, as unzip takes them out. */
async function unzipped(bytes: Buffer): Promise<(name: string) => string> {
  const folder = await mkdtemp(join(tmpdir(), 'rankline-xlsx-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFile(join(folder, 'a.xlsx'), bytes)
  execFileSync('unzip', ['-tq', 'a.xlsx'], { cwd: folder })
  return (name) =>
    execFileSync('unzip', ['-p', 'a.xlsx', name.replace('[', '[[]')], { cwd: folder, encoding: 'utf8' })
}

/** What another program reads in a single cell of text. */
async function cell(text: string): Promise<unknown> {
  const bytes = await bytesOf([{ name: 'x', columns: textColumns(2), rows: [[text, 'end']] }])
  return (await read(bytes))[0]?.[1][1]?.[0]
}

/** Whether XML has a place for a character. */
function isKept(character: string): boolean {
  return '\t\n\r'.includes(character) || (character >= ' ' && !'\ufffe\uffff'.includes(character))
}

describe('cells', () => {
  test('are what their column says', async () => {
    const rows: SheetCell[][] = [
      ['Desk', 3.5, '2026-03-01', '2026-03-01T12:34:56.789Z', 0.125],
      [null, -1, null, '', null],
      ['', Number.NaN, 'no day', '1850-01-01T00:00:00Z', Number.POSITIVE_INFINITY],
      [7, 'seven', '1900-03-01', '2024-02-29T23:59:59Z', 1],
    ]
    expect(await read(await bytesOf([{ name: 'kinds', columns, rows }]))).toEqual([
      [
        'kinds',
        [
          headers,
          ['Desk', 3.5, new Date('2026-03-01'), new Date('2026-03-01T12:34:56.789Z'), 0.125],
          [null, -1, null, null, null],
          [null, null, 'no day', '1850-01-01T00:00:00Z', null],
          [7, 'seven', new Date('1900-03-01'), new Date('2024-02-29T23:59:59Z'), 1],
        ],
      ],
    ])
  })

  test.each([
    ['a formula', '=1+1', '=1+1'],
    ['markup', '<b>&amp;</b> "x" ]]>', '<b>&amp;</b> "x" ]]>'],
    ['spaces around', '  x\t', '  x\t'],
    ['lines', 'a\nb\r\nc\rd', 'a\nb\r\nc\rd'],
    ['control characters', 'a\u0000\u0007\u001b[31mb\ufffe\uffff', 'a[31mb'],
    ['half characters', 'a\ud800b\udc00c😀', 'abc😀'],
    ['what Excel would read as a character', '_x0041_ _X000d_ _x41_ _', '_x0041_ _X000d_ _x41_ _'],
    ['more than a cell holds', 'x'.repeat(40_000), 'x'.repeat(32_767)],
    ['more than a cell holds, cut within a character', `${'x'.repeat(32_766)}😀`, 'x'.repeat(32_766)],
  ])('with %s come back', async (_, text, expected) => {
    expect(await cell(text)).toBe(expected)
  })

  test('of any text come back but for what XML cannot hold, and none is a formula', async () => {
    const text = fc.oneof(
      anyText(),
      fc.string({ unit: fc.constantFrom('_', 'x', '0', 'A', '&', '<', '\r', '=') }),
    )
    const rows = fc.array(fc.tuple(text, text), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(rows, async (rows) => {
        const bytes = await bytesOf([{ name: 'x', columns: textColumns(2), rows }])
        const got = (await read(bytes))[0]?.[1].slice(1) ?? []
        const kept = (text: string) => Array.from(text).filter(isKept).join('')
        const whole = rows.map((row) => row.map((text) => kept(text) || null))
        // The reader leaves out empty rows at the end.
        while (whole.at(-1)?.every((one) => one === null)) whole.pop()
        expect(got).toEqual(whole)
      }),
      { numRuns: 50 },
    )
  })
})

describe('a sheet', () => {
  test('has a bold header that stays, widths, a filter over all of it, and styles', async () => {
    const file = await unzipped(
      await bytesOf([
        { name: "Bob's", columns, rows: [['a', 1, '2026-03-01', '2026-03-01T00:00:00Z', 0.5]] },
      ]),
    )
    const sheet = file('xl/worksheets/sheet1.xml')
    expect(sheet).toContain('<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>')
    expect(sheet).toContain('<col min="1" max="1" width="30" customWidth="1"/>')
    expect(sheet).toContain('<c r="A1" s="1" t="inlineStr">')
    const onPaper = '<pageSetup orientation="landscape" fitToWidth="1" fitToHeight="0"/>'
    expect(sheet).toContain(`<autoFilter ref="A1:E2"/>${onPaper}</worksheet>`)
    expect(sheet).toContain('<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>')
    expect(sheet.match(/<c r="[B-E]2" s="(\d)"/g)?.map((one) => one.at(-2))).toEqual(['2', '3', '4'])
    expect(sheet).not.toContain('<f>')
    expect(file('xl/styles.xml')).toContain('<b/>')
    expect(file('xl/workbook.xml')).toContain(`hidden="1">'Bob''s'!$A$1:$E$2</definedName>`)
    expect(file('[Content_Types].xml')).toContain('/xl/worksheets/sheet1.xml')
  })

  test('of text has paragraphs over its whole width, rows as high as their prose, and numbers with signs', async () => {
    const prose = [10, 20].map((width) => ({ header: '', width, kind: 'prose' as const }))
    const rows: SheetCell[][] = [
      [{ value: 'x'.repeat(61), style: 'paragraph' }],
      ['short', 'y'.repeat(41)],
      ['sum', { value: -1234, style: 'signed' }],
      // Wide characters take two places each.
      [null, '机'.repeat(11)],
    ]
    const bytes = await bytesOf([{ name: 'first', isText: true, columns: prose, rows }])
    const file = await unzipped(bytes)
    const sheet = file('xl/worksheets/sheet1.xml')

    expect(sheet).toContain('<c r="B3" s="12"><v>-1234</v></c>')
    expect(file('xl/styles.xml').match(/<xf .*?(?=<xf |<\/cellXfs>)/g)?.[13]).toContain('numFmtId="166"')
    expect(file('xl/styles.xml')).toContain('numFmtId="166" formatCode="&quot;+&quot;#,##0__;')
    expect(sheet).toContain('<mergeCells count="1"><mergeCell ref="A1:B1"/></mergeCells>')
    expect(sheet.match(/<row [^>]*>/g)).toEqual([
      '<row r="1" ht="45" customHeight="1">',
      '<row r="2" ht="45" customHeight="1">',
      '<row r="3">',
      '<row r="4" ht="30" customHeight="1">',
    ])
    expect((await read(bytes))[0]?.[1]).toEqual([
      ['x'.repeat(61), null],
      ['short', 'y'.repeat(41)],
      ['sum', -1234],
      [null, '机'.repeat(11)],
    ])
  })

  test('without rows has its header', async () => {
    expect(await read(await bytesOf([{ name: 'x', columns, rows: [] }]))).toEqual([['x', [headers]]])
  })

  test.each([
    [2, ['x']],
    [3, ['x']],
    [4, ['x', 'x (2)']],
    [7, ['x', 'x (2)', 'x (3)']],
  ])('of %i rows where four fit, header and all, makes %j', async (count, names) => {
    const rows = Array.from({ length: count }, (_, index) => [`row ${index}`])
    const sheets = await read(await bytesOf([{ name: 'x', columns: textColumns(1), rows }], 4))
    expect(sheets.map(([name]) => name)).toEqual(names)
    for (const [, [head]] of sheets) expect(head).toEqual(['c0'])
    expect(sheets.flatMap(([, [, ...rows]]) => rows)).toEqual(rows)
  })

  test('has a name that Excel takes, and that no other has', async () => {
    const wanted = ['a/b:c*[d]?\\', 'Same', 'same', "'quoted'", 'History', '', 'x'.repeat(40), 'x'.repeat(35)]
    const sheets = wanted.map((name) => ({ name, columns: textColumns(1), rows: [['1'], ['2']] }))
    const names = (await read(await bytesOf(sheets, 2))).map(([name]) => name)
    expect(names.filter((_, index) => index % 2 === 0)).toEqual([
      ...[
        'a_b_c__d___',
        'Same',
        'same 2',
        'quoted',
        'Sheet',
        'Sheet 2',
        'x'.repeat(31),
        `${'x'.repeat(29)} 2`,
      ],
    ])
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length)
    for (const name of names) expect(name.length).toBeLessThanOrEqual(31)
  })
})

describe('a workbook', () => {
  const rows = Array.from({ length: 3000 }, (_, index) => [`row ${index}`, 'x'.repeat(index % 99)])
  const sheets = [
    { name: 'one', columns: textColumns(2), rows },
    { name: 'two', columns: textColumns(2), rows: (async function* () {})() },
  ]

  test('of the same sheets has the same bytes, and is a whole archive', async () => {
    const first = await bytesOf(sheets)
    expect((await bytesOf(sheets)).equals(first)).toBe(true)
    await unzipped(first)
  })

  test('takes row after row, and lets go of them when nobody reads on', async () => {
    let taken = 0
    let closed = false
    function* many() {
      try {
        for (;;) yield [`row ${taken++}`, 'x'.repeat(1000)]
      } finally {
        closed = true
      }
    }
    let bytes = 0
    for await (const piece of workbook([{ name: 'x', columns: textColumns(2), rows: many() }])) {
      bytes += piece.length
      if (bytes > 1000) break
    }
    expect(taken).toBeLessThan(5000)
    expect(closed).toBe(true)
  })

  test('whose rows fail half way fails', async () => {
    function* failing() {
      yield ['a', 'b']
      throw new Error('the database went away')
    }
    await expect(bytesOf([{ name: 'x', columns: textColumns(2), rows: failing() }])).rejects.toThrow(
      'the database went away',
    )
  })
})
