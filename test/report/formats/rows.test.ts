import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { defaultCurve } from '../../../src/report/ctr.ts'
import {
  csvFormat,
  jsonFormat,
  jsonLinesFormat,
  type RowOrder,
  rowOrders,
  sortRows,
} from '../../../src/report/formats/rows.ts'
import type { ReportFormat, ReportSource } from '../../../src/report/report.ts'
import { absent, aRanking, unknown } from '../build.ts'
import { reportOn } from '../reporting.ts'

const [before, now] = ['2026-03-01', '2026-03-02']
const looked = { ...absent, depth: 30 }
const report = reportOn([
  aRanking({ query: 'declined', rank: 2, date: before }),
  aRanking({ query: 'declined', rank: 9, date: now, volume: 10 }),
  aRanking({ query: 'entered', ...looked, date: before }),
  aRanking({ query: 'entered', rank: 30, date: now, volume: null }),
  aRanking({ query: 'improved', rank: 20, date: before }),
  aRanking({ query: 'improved', rank: 4, date: now, volume: 500 }),
  aRanking({ query: 'left', rank: 1, date: before }),
  aRanking({ query: 'left', ...looked, date: now, volume: 500 }),
  aRanking({ query: 'new', rank: 4, date: now, volume: 0 }),
  aRanking({ query: 'unknown', ...unknown, date: now, volume: 20_000 }),
])

test.each<[RowOrder, readonly string[]]>([
  ['query', ['declined', 'entered', 'improved', 'left', 'new', 'unknown']],
  ['rank', ['improved', 'new', 'declined', 'entered', 'left', 'unknown']],
  ['change', ['entered', 'improved', 'new', 'declined', 'left', 'unknown']],
  ['volume', ['unknown', 'improved', 'left', 'declined', 'new', 'entered']],
])('rows by %s', (order, queries) => {
  const sorted = sortRows(report, order)
  expect(sorted.rows.map(({ query }) => query)).toEqual(queries)
  expect(sorted.statuses.map(({ keyword }) => keyword.query)).toEqual(queries)
})

test('what left comes after every loss, but before what cannot be compared, whatever their order was', () => {
  const some = reportOn([
    aRanking({ query: 'a: unknown', ...unknown, date: now }),
    aRanking({ query: 'b: left', rank: 1, date: before }),
    aRanking({ query: 'b: left', ...looked, date: now }),
    aRanking({ query: 'c: declined far', rank: 1, date: before }),
    aRanking({ query: 'c: declined far', rank: 100, date: now }),
  ])
  expect(sortRows(some, 'change').rows.map(({ query }) => query)).toEqual([
    'c: declined far',
    'b: left',
    'a: unknown',
  ])
})

test('no order loses a row', () => {
  for (const order of rowOrders) expect(new Set(sortRows(report, order).rows)).toEqual(new Set(report.rows))
})

describe('rows for programs', () => {
  const rows = reportOn([
    aRanking({
      ...{
        query: 'desk',
        gl: 'us',
        params: '{"gl":"us","num":20}',
        tags: 'head;money',
        volume: 2400,
        suspect: 1,
      },
      ...{ intended_url: 'https://acme.com/desks', labels: '{"team":"A","=1;-1":"x"}' },
    }),
    aRanking({ query: 'desk', gl: 'gb', params: '{"gl":"gb"}', labels: '{"market":"7"}' }),
  ])

  async function written(format: ReportFormat): Promise<string> {
    const source = {
      ranked: { report: () => sortRows(rows, 'volume'), history: rows.built.history },
      measure: { curve: defaultCurve },
      csv: 'guarded',
    } as unknown as ReportSource
    let text = ''
    for await (const piece of format.chunks(source)) text += piece
    return text
  }

  test('say their place, volume and labels in CSV', async () => {
    const [head = [], ...cells] = parse(await written(csvFormat)) as string[][]
    const behind = head.indexOf('suspect')
    expect(head.slice(behind)).toEqual([
      ...['suspect', 'volume', 'intended_url', 'params'],
      ...["label_=1;'-1", 'label_market', 'label_team'],
    ])
    expect(cells.map((row) => row.slice(behind))).toEqual([
      ['1', '2400', 'https://acme.com/desks', '{"gl":"us","num":20}', 'x', '', 'A'],
      ['0', '', '', '{"gl":"gb"}', '', '7', ''],
    ])
  })

  test('hold values in JSON: lists, objects and booleans', async () => {
    const lines = (await written(jsonLinesFormat)).trimEnd().split('\n')
    const documents = [JSON.parse(await written(jsonFormat)), lines.map((line) => JSON.parse(line))]
    for (const document of documents)
      expect(document).toMatchObject([
        {
          ...{ tags: ['head', 'money'], suspect: true, params: { gl: 'us', num: 20 }, volume: 2400 },
          ...{ label_team: 'A', label_market: null },
        },
        { tags: [], suspect: false, params: { gl: 'gb' }, volume: null, label_team: null, label_market: '7' },
      ])
  })
})
