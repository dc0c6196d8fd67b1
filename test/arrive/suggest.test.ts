import { describe, expect, test } from 'vitest'
import { type CountedQuery, suggest } from '../../src/arrive/clicks/counted.ts'
import { withRows } from '../../src/arrive/job-file.ts'

const query = (
  text: string,
  position: number,
  impressions: number,
  page: string | null = 'https://acme.com/desks',
): CountedQuery => ({
  query: text,
  clicks: 1,
  impressions,
  position,
  page,
})

describe('words to track', () => {
  test('are those that the job does not ask: within reach first, by impressions, grouped by page, the brand apart', () => {
    const found = suggest(
      [
        query('standing desk', 5, 900),
        query('desk on top', 2, 5_000),
        query('desk far away', 40, 8_000),
        query('oak desk', 12, 300),
        query('desk lamp', 4, 700, 'https://acme.com/lamps'),
        query('acme desk', 1, 9_000),
        query('rare desk', 8, 9),
        query('=cmd', 8, 100),
      ],
      { asked: new Set(['standing desk']), sites: ['acme.com'], limit: 10 },
    )
    expect(found.pages.map(({ page, queries }) => [page, ...queries.map((one) => one.query)])).toEqual([
      ['https://acme.com/lamps', 'desk lamp'],
      ['https://acme.com/desks', 'oak desk', 'desk far away', 'desk on top'],
    ])
    expect(found.brand.map((one) => one.query)).toEqual(['acme desk'])
    expect(found.leftOut).toBe(2)
  })

  test('are as many as are wanted', () => {
    const all = Array.from({ length: 9 }, (_, place) => query(`desk ${place}`, 5, 100 + place))
    const { pages } = suggest(all, { asked: new Set(), sites: [], limit: 2 })
    expect(pages.flatMap(({ queries }) => queries.map((one) => one.query))).toEqual(['desk 8', 'desk 7'])
  })

  test.each([
    ['at the end', 'query,tags\na,x\n', 'query,tags\na,x\noak desk,\n"a, b",\n'],
    ['after a line without its end', 'tags;query\r\nx;a', 'tags;query\r\nx;a\r\n;oak desk\r\n;a, b\r\n'],
    ['where the column has another name', 'Keyword\n', 'Keyword\noak desk\n"a, b"\n'],
    ['nowhere without such a column', 'name\na\n', null],
  ])('are added to a list %s', (_, csv, wanted) => {
    expect(withRows(csv, [{ query: 'oak desk' }, { query: 'a, b' }])).toBe(wanted)
  })

  const more = [
    { query: 'oak desk', gl: 'us', volume: '90', tags: 'new', url: '' },
    { query: 'lamp', gl: 'de', volume: '', tags: '', url: '' },
  ]
  test.each([
    [
      'where it has none, and tags beside its own',
      'query,volume,tags,note\nOak desk,,,x\noak desk,,"a",\n\noak  desk,5,a,"y, z"\n',
      'query,volume,tags,note\nOak desk,90,new,x\noak desk,90,"a;new",\n\noak  desk,5,"a;new","y, z"\n',
    ],
    [
      'in a column behind the others',
      'query\r\nlamp\r\noak desk\r\n',
      'query,volume,tags\r\nlamp,,\r\noak desk,90,new\r\n',
    ],
    [
      'of its market alone',
      '\ufeffquery;gl;volume\noak desk;de;\noak desk;US;\n',
      '\ufeffquery;gl;volume;tags\noak desk;de;;\noak desk;US;90;new\n',
    ],
  ])('a row of a list is given %s', (_, csv, wanted) => {
    expect(withRows(csv, [], more)).toBe(wanted)
  })
})
