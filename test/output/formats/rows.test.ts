import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Row } from '../../../src/model/result.ts'
import { withFormula } from '../../../src/model/text.ts'
import { type CsvStyle, cellsOf, type TextOptions } from '../../../src/output/formats/format.ts'
import { rowFormats } from '../../../src/output/formats/index.ts'
import { anyText } from '../../support/any-text.ts'
import { testTable } from '../../support/test-table.ts'

type TextFormat = 'csv' | 'json' | 'jsonl'

const columns = ['query', 'rank', 'title']

async function written(
  rows: Iterable<Row>,
  format: TextFormat,
  csv: CsvStyle = 'guarded',
  own: TextOptions['columns'] = columns.map((name) => ({ name })),
): Promise<string> {
  let text = ''
  for await (const chunk of await chunks(rows, format, csv, own)) text += chunk
  return text
}

async function chunks(
  rows: Iterable<Row>,
  format: TextFormat,
  csv: CsvStyle,
  own: TextOptions['columns'],
): Promise<AsyncIterable<string>> {
  const write = await rowFormats[format].load()
  return write(cellsOf(rows, own), { columns: own, csv })
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
      for await (const _ of await chunks(
        many(),
        format,
        'raw',
        columns.map((name) => ({ name })),
      ))
        if (++read === 3) break
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
    expect(readCsv(await written(rows, 'csv', 'raw'))[0]?.title).toBe(title)
  })

  testTable([
    ['a;=1+1', "a;'=1+1"],
    ['a\t@x\n-y', "a\t'@x\n'-y"],
    ['Desk; from -5 %', 'Desk; from -5 %'],
  ])('%j is no formula behind another separator either', async (title, guarded) => {
    const rows = [{ query: 'a', rank: 1, title }]
    expect(readCsv(await written(rows, 'csv'))[0]?.title).toBe(guarded)
    expect(readCsv(await written(rows, 'csv', 'raw'))[0]?.title).toBe(title)
  })

  test('is harmless as the name of a column', async () => {
    const own = [{ name: 'label_a;=1+1' }]
    expect(await written([], 'csv', 'guarded', own)).toBe(`"label_a;'=1+1"\n`)
  })

  test('is not what a negative number is', async () => {
    expect(await written([{ query: 'a', rank: -5, title: null }], 'csv')).toContain('\na,-5,\n')
  })
})

describe('cells that hold a separator of other readers', () => {
  const rows = [{ query: 'a;b', rank: 1, title: 'x\ty' }]

  test('are quoted, so that these find the columns too', async () => {
    expect(await written(rows, 'csv')).toBe('query,rank,title\n"a;b",1,"x\ty"\n')
    expect(await written(rows, 'csv', 'raw')).toBe('query,rank,title\n"a;b",1,"x\ty"\n')
  })
})

describe('CSV for Excel', () => {
  test('begins with the mark of UTF-8, parts cells with semicolons and decimals with commas', async () => {
    const rows: readonly Row[] = [
      { query: 'café; bar', rank: 1.5, title: '=1+1' },
      { query: 'a,b', rank: -3, title: null },
    ]
    expect(await written(rows, 'csv', 'excel')).toBe(
      '\ufeffquery;rank;title\n"café; bar";"1,5";\'=1+1\n"a,b";-3;\n',
    )
    expect(await written([], 'csv', 'excel')).toBe('\ufeffquery;rank;title\n')
  })
})

describe('JSON in cells', () => {
  const own = [{ name: 'query' }, { name: 'params', type: 'json' }] as const
  const rows = [
    { query: '{"a":1}', params: '{"gl":"us",\n "num":20}' },
    { query: 'b', params: null },
    { query: 'c', params: 'no JSON' },
  ]

  test('is a value in JSON, in one line, and text in CSV', async () => {
    const values = [
      { query: '{"a":1}', params: { gl: 'us', num: 20 } },
      { query: 'b', params: null },
      { query: 'c', params: 'no JSON' },
    ]
    expect(JSON.parse(await written(rows, 'json', 'guarded', own))).toEqual(values)
    const lines = (await written(rows, 'jsonl', 'guarded', own)).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(values)
    expect(readCsv(await written(rows, 'csv', 'raw', own))).toMatchObject([
      { params: rows[0]?.params },
      {},
      {},
    ])
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
        const read = parse(await written(rows as Row[], 'csv', 'raw')) as string[][]
        expect(read).toEqual([columns, ...rows.map(whole).map(cells)])
      }),
    )
  })

  test('from CSV, once the marks in front of what would be formulas are taken off; and nothing is one', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (rows) => {
        const [head, ...read] = parse(await written(rows as Row[], 'csv')) as string[][]
        expect(head).toEqual(columns)
        expect(read.length).toBe(rows.length)
        for (const [index, row] of rows.map(whole).entries())
          for (const [column, cell] of cells(row).entries()) {
            const got = read[index]?.[column] as string
            if (typeof row[columns[column] as string] === 'string') {
              expect(got).not.toMatch(/^[=+\-@\t\r]|[;\t\r\n][=+\-@]/)
              expect(withFormula(got)).toBe(cell)
            }
          }
      }),
    )
  })
})
