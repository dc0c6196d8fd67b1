import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Row } from '../../src/report/rank-rows.ts'
import { type RowFormat, rowsOut } from '../../src/report/rows-out.ts'
import { anyText } from '../api/any-text.ts'

const columns = ['query', 'rank', 'title']

async function written(rows: Iterable<Row>, format: RowFormat, raw = false): Promise<string> {
  let text = ''
  for await (const piece of rowsOut(rows, { columns, format, raw })) text += piece
  return text
}

const readCsv = (text: string): Record<string, string>[] => parse(text, { columns: true })

describe('nothing', () => {
  test.each<[RowFormat, string]>([
    ['csv', 'query,rank,title\n'],
    ['json', '[]\n'],
    ['jsonl', ''],
  ])('as %s is %j', async (format, text) => {
    expect(await written([], format)).toBe(text)
  })
})

describe('rows', () => {
  const rows: readonly Row[] = [
    { query: 'a, "b"', rank: 1, title: null, other: 'not asked for' },
    { title: 'x\ny', query: 'c', rank: -3 },
  ]

  test.each<[RowFormat, string]>([
    ['csv', 'query,rank,title\n"a, ""b""",1,\nc,-3,"x\ny"\n'],
    [
      'json',
      '[\n  {"query":"a, \\"b\\"","rank":1,"title":null},\n  {"query":"c","rank":-3,"title":"x\\ny"}\n]\n',
    ],
    ['jsonl', '{"query":"a, \\"b\\"","rank":1,"title":null}\n{"query":"c","rank":-3,"title":"x\\ny"}\n'],
  ])('as %s have the columns asked for, in that order, and no others', async (format, text) => {
    expect(await written(rows, format)).toBe(text)
  })

  test('that lack a column have null in it', async () => {
    expect(JSON.parse(await written([{ query: 'a' }], 'json'))).toEqual([
      { query: 'a', rank: null, title: null },
    ])
  })

  test('are taken one by one: nobody holds them all', async () => {
    let taken = 0
    function* many(): Generator<Row> {
      for (;;) {
        taken += 1
        yield { query: 'a', rank: taken, title: 'x'.repeat(1000) }
      }
    }
    for (const format of ['csv', 'json', 'jsonl'] as const) {
      taken = 0
      let pieces = 0
      for await (const _ of rowsOut(many(), { columns, format, raw: true })) if (++pieces === 3) break
      expect(taken).toBeLessThan(200)
    }
  })

  test.each<RowFormat>(['csv', 'json', 'jsonl'])(
    'that fail half way fail the whole of %s',
    async (format) => {
      function* failing(): Generator<Row> {
        yield { query: 'a', rank: 1, title: null }
        throw new Error('the database went away')
      }
      await expect(written(failing(), format)).rejects.toThrow('the database went away')
    },
  )
})

describe('text that a spreadsheet would take for a formula', () => {
  const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '＝1', '＋1', '－1', '＠x']

  test.each(formulas)('%j is marked as text in CSV', async (title) => {
    const text = await written([{ query: 'a', rank: 1, title }], 'csv')
    expect(readCsv(text)[0]?.title).toBe(`'${title}`)
  })

  test.each(formulas)('%j stays as it is for programs', async (title) => {
    const text = await written([{ query: 'a', rank: 1, title }], 'csv', true)
    expect(readCsv(text)[0]?.title).toBe(title)
  })

  test.each<RowFormat>(['json', 'jsonl'])('stays as it is in %s', async (format) => {
    const rows = formulas.map((title) => ({ query: 'a', rank: 1, title }))
    const text = await written(rows, format)
    for (const title of formulas) expect(text).toContain(JSON.stringify(title))
  })

  test('is not what a negative number is', async () => {
    expect(await written([{ query: 'a', rank: -5, title: null }], 'csv')).toContain('\na,-5,\n')
  })
})

describe('any rows come back as they were', () => {
  const text = fc.oneof(
    anyText(),
    fc.string({ unit: fc.constantFrom(',', '"', '\n', '\r', '\t', ';', "'", '=', ' ', '\ufeff', '😀', 'x') }),
  )
  const rows = fc.array(
    fc.record({ query: text, rank: fc.option(fc.integer()), title: fc.option(text) }, { requiredKeys: [] }),
    { maxLength: 30 },
  )
  const whole = (row: Partial<Record<string, string | number | null>>): Row =>
    Object.fromEntries(columns.map((name) => [name, row[name] ?? null]))

  test('from JSON', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (rows) => {
        expect(JSON.parse(await written(rows as Row[], 'json'))).toEqual(rows.map(whole))
      }),
    )
  })

  test('from JSON lines, each on a line of its own', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (rows) => {
        const lines = (await written(rows as Row[], 'jsonl')).split('\n')
        expect(lines.pop()).toBe('')
        expect(lines.map((line) => JSON.parse(line))).toEqual(rows.map(whole))
      }),
    )
  })

  const cells = (row: Row): string[] => columns.map((name) => String(row[name] ?? ''))

  test('from CSV for programs, null as nothing', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (rows) => {
        const read = parse(await written(rows as Row[], 'csv', true)) as string[][]
        expect(read).toEqual([columns, ...rows.map(whole).map(cells)])
      }),
    )
  })

  test('from CSV, but for the mark in front of what would be a formula; and nothing is one', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (rows) => {
        const [head, ...read] = parse(await written(rows as Row[], 'csv')) as string[][]
        expect(head).toEqual(columns)
        expect(read.length).toBe(rows.length)
        for (const [index, row] of rows.map(whole).entries())
          for (const [column, cell] of cells(row).entries()) {
            const got = read[index]?.[column] as string
            if (typeof row[columns[column] as string] === 'string') expect(got).not.toMatch(/^[=+\-@\t\r]/)
            expect([cell, `'${cell}`]).toContain(got)
          }
      }),
    )
  })
})
