import { describe, expect, test } from 'vitest'
import { withItems } from '../../src/jobfile/yaml.ts'
import { testTable } from '../support/test-table.ts'
import { readJob, yamlProblems } from './reading.ts'

describe('values keep the text that the user wrote', () => {
  testTable([
    ['no'],
    ['007'],
    ['1e3'],
    ['0x1F'],
    ['~'],
    ['null'],
    ['true'],
    ['1.10'],
    ['12345678901234567890'],
    ['12:30:45'],
    ['2024-01-02'],
    ['1_000'],
    ['.inf'],
    ['-1'],
    ['0o17'],
    ['c# tutorial'],
    ['constructor'],
    ['__proto__'],
  ])('the query %s', async (text) => {
    const { queries, problems } = await readJob({
      'job.yaml': `queries:\n  - ${text}\n  - { query: ${text} }\n`,
    })
    expect(problems).toEqual([])
    expect(queries.map((query) => query.text)).toEqual([text, text])
  })

  testTable([
    ['"a \\"b\\" \\u00e9"', 'a "b" é'],
    ["'it''s: fine'", "it's: fine"],
    ['"  spaced  out  "', 'spaced out'],
    ['desk # best', 'desk'],
    ['desk #', 'desk'],
    ['"desk #5" #5', 'desk #5'],
    ['"&pizza new york"', '&pizza new york'],
    ['R&D desk', 'R&D desk'],
    ['!!str 007', '007'],
    ['"Straße 日本 😀"', 'Straße 日本 😀'],
    ['|\n    block text\n', 'block text'],
  ])('the query %j is %j', async (written, text) => {
    const { queries, problems } = await readJob({ 'job.yaml': `queries:\n  - ${written}\n` })
    expect(problems).toEqual([])
    expect(queries[0]?.text).toBe(text)
  })

  test('no is Norway, and a number in a text param is text', async () => {
    const { queries } = await readJob({ 'job.yaml': 'params: { gl: no, tbs: 010, num: 20 }\nqueries: [a]' })
    expect(queries[0]?.params).toEqual({ gl: 'no', num: 20, tbs: '010' })
  })

  testTable([
    ['\ufeffqueries:\n- a\n'],
    ['queries:\r\n- a\r\n'],
    ['queries:\r- a\r'],
    ['---\nqueries: [a]\n...\n'],
  ])('whatever the line ends and marks: %j', async (text) => {
    const { queries, problems } = await readJob({ 'job.yaml': text })
    expect(problems).toEqual([])
    expect(queries.map((query) => query.text)).toEqual(['a'])
  })
})

describe('aliases', () => {
  test('repeat what their anchor holds, even some hundred times', async () => {
    const list = Array.from({ length: 300 }, (_, index) => `  - { query: q${index}, params: *p }\n`).join('')
    const { queries, problems } = await readJob({
      'job.yaml': `params: &p { gl: us }\nqueries:\n${list}`,
    })
    expect(problems).toEqual([])
    expect(queries).toHaveLength(300)
    expect(queries[299]?.params).toEqual({ gl: 'us' })
  })

  test('have the place of the alias where what they repeat does not fit', async () => {
    expect(
      await yamlProblems(
        'params: &p { gl: us }\nqueries:\n  - { query: a, operation: gamma.search, params: *p }\n',
      ),
    ).toEqual(["job.yaml:1:14: gamma.search has no parameter 'gl'; leave it out"])
  })

  test('that grow without bounds are refused in less than a second', async () => {
    const levels = Array.from({ length: 30 }, (_, level) => {
      const inside =
        level === 0
          ? '[x,x]'
          : `[${Array(9)
              .fill(`*a${level - 1}`)
              .join(',')}]`
      return `  - &a${level} ${inside}\n`
    })
    const start = performance.now()
    expect(await yamlProblems(`queries:\n${levels.join('')}`)).toEqual([
      'job.yaml:1:1: the aliases repeat more than 100,000 values; write the values out, or put the queries in a CSV',
    ])
    expect(performance.now() - start).toBeLessThan(1000)
  })
})

describe('the YAML itself', () => {
  const deep = 'job.yaml:1:101: the nesting is too deep; write a flat list of queries'
  testTable<[string, string, readonly string[]]>([
    [
      'an empty file',
      '',
      ["job.yaml: the file is empty; write 'queries:' and below it the texts to search for"],
    ],
    ['deep brackets', `queries: ${'['.repeat(50_000)}`, [deep.replace('1:101', '1:108')]],
    [
      'deep maps',
      Array.from({ length: 3000 }, (_, level) => `${' '.repeat(level)}a:\n`).join(''),
      ['job.yaml:100:100: the nesting is too deep; write a flat list of queries'],
    ],
  ])('is said with its place: %s', async (_, text, problems) => {
    expect(await yamlProblems(text)).toEqual(problems)
  })

  test('a line that is no UTF-8 is named', async () => {
    expect(await yamlProblems(Buffer.from('queries:\n  - caf\xe9\n', 'latin1'))).toEqual([
      'job.yaml:2: the line is not UTF-8; save the file as UTF-8',
    ])
  })

  test('UTF-16 is read where its mark says so', async () => {
    const { queries } = await readJob({ 'job.yaml': Buffer.from('\ufeffqueries: [caf\u00e9]', 'utf16le') })
    expect(queries.map(({ text }) => text)).toEqual(['caf\u00e9'])
    expect(await yamlProblems(Buffer.from('queries: [a]', 'utf16le'))).toEqual([
      'job.yaml: the file is UTF-16 or not text; save it as UTF-8',
    ])
  })

  test('more than 8 MB are refused', async () => {
    expect(await yamlProblems(`queries:\n${'  - a\n'.repeat(1_500_000)}`)).toEqual([
      "job.yaml: the file is larger than 8 MB; put the queries in a CSV and name it with '- file:'",
    ])
  })
})

test.each([
  [
    'behind the last one of a list',
    'a: 1\nl:\n  - x # one\n  # no more\nb: 2\n',
    'a: 1\nl:\n  - x # one\n  - "y"\n  # no more\nb: 2\n',
  ],
  [
    'where items are maps',
    'l:\n- site: x\n  own: true\n\nb: 2',
    'l:\n- site: x\n  own: true\n- "y"\n\nb: 2\n',
  ],
  ['where items are on one line', 'l: [x, z] # two\n', 'l: [x, z, "y"] # two\n'],
  ['in an empty list', 'l: []\n', 'l: ["y"]\n'],
  ['as a new list', 'b: 2', 'b: 2\nl:\n  - "y"\n'],
  ['nowhere in a map', 'l: { file: x.csv }\n', null],
])('an item is added %s, and the rest stays', (_, text, wanted) => {
  expect(withItems(text, 'l', ['"y"'])).toBe(wanted)
})
