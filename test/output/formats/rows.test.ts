import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Row } from '../../../src/model/result.ts'
import { cellsOf } from '../../../src/output/formats/format.ts'
import { rowFormats } from '../../../src/output/formats/index.ts'
import { anyText } from '../../api/any-text.ts'
import { testTable } from '../../support/test-table.ts'

type TextFormat = 'csv' | 'json' | 'jsonl'

const columns = ['query', 'rank', 'title']

async function written(rows: Iterable<Row>, format: TextFormat, raw = false): Promise<string> {
  let text = ''
  for await (const chunk of await chunks(rows, format, raw)) text += chunk
  return text
}

async function chunks(rows: Iterable<Row>, format: TextFormat, raw: boolean): Promise<AsyncIterable<string>> {
  const named = columns.map((name) => ({ name }))
  const write = await rowFormats[format].load()
  return write(cellsOf(rows, named), { columns: named, raw })
}

const readCsv = (text: string): Record<string, string>[] => parse(text, { columns: true })

describe('nothing', () => {
  test.each<[TextFormat, string]>([
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

  test.each<[TextFormat, string]>([
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
      let read = 0
      for await (const _ of await chunks(many(), format, true)) if (++read === 3) break
      expect(taken).toBeLessThan(200)
    }
  })

  test.each<TextFormat>(['csv', 'json', 'jsonl'])(
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

  testTable(formulas)('%j is marked as text in CSV, and stays as it is for programs', async (title) => {
    const rows = [{ query: 'a', rank: 1, title }]
    expect(readCsv(await written(rows, 'csv'))[0]?.title).toBe(`'${title}`)
    expect(readCsv(await written(rows, 'csv', true))[0]?.title).toBe(title)
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
