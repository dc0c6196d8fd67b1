import { describe, expect, test } from 'vitest'
import { readJob, yamlProblems } from './reading.ts'

describe('values keep the text that the user wrote', () => {
  test.each([
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

  test.each([
    ['"a \\"b\\" \\u00e9"', 'a "b" é'],
    ["'it''s: fine'", "it's: fine"],
    ['"  spaced  out  "', 'spaced  out'],
    ['desk # best', 'desk'],
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

  test.each([
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
  test.each<[string, string, readonly string[]]>([
    [
      'an empty file',
      '',
      ["job.yaml: the file is empty; write 'queries:' and below it the texts to search for"],
    ],
    [
      'nothing but a comment',
      '# later\n',
      ["job.yaml: the file is empty; write 'queries:' and below it the texts to search for"],
    ],
    [
      'a bare list',
      '- desk\n',
      ["job.yaml:1:1: the file is no map of settings; write 'queries:' and below it the list of texts"],
    ],
    [
      'a bare text',
      'desk\n',
      ["job.yaml:1:1: the file is no map of settings; write 'queries:' and below it the list of texts"],
    ],
    ['a tab', 'queries:\n\t- a\n', ['job.yaml:2:1: a tab stands where the line is indented; write spaces']],
    ['an open quote', 'queries:\n  - "a\n', ['job.yaml:3:1: a quote, bracket or comma is missing; add it']],
    [
      'an open bracket',
      'queries: [a, b\n',
      ['job.yaml:2:1: the indentation does not fit, or a bracket is not closed; line it up'],
    ],
    [
      'two documents',
      'queries: [a]\n---\nqueries: [b]\n',
      ['job.yaml:2:1: a second document begins; write one job per file, without a line ---'],
    ],
    [
      'a key twice',
      'depth: 1\nqueries: [a]\ndepth: 2\n',
      ["job.yaml:3:1: key 'depth' stands twice; keep one of them"],
    ],
    [
      'a sign of YAML',
      'queries:\n  - @desk\n',
      ['job.yaml:2:5: a text begins with a sign of YAML; put the text in quotes'],
    ],
    [
      'a second colon',
      'name: a: b\nqueries: [a]\n',
      ["job.yaml:1:7: a second ': ' stands in one line; put the text in quotes, or begin a new line"],
    ],
    [
      'an entry further left than those above',
      'queries:\n  - desk\n - foo\n',
      ['job.yaml:3:2: the line begins at another column than the entries above; line it up with them'],
    ],
    [
      'an entry with a key further left, and one after it',
      'queries:\n   - desk\n  - query: foo\n   - bar\n',
      ['job.yaml:3:3: the line begins at another column than the entries above; line it up with them'],
    ],
    [
      'an entry at the first column, below a comment',
      'queries:\n  - desk\n# more\n- foo\n',
      ['job.yaml:4:1: the line begins at another column than the entries above; line it up with them'],
    ],
    [
      'an entry at the first column',
      'queries:\n  - desk\n- foo\n- bar\n',
      ['job.yaml:3:1: the line begins at another column than the entries above; line it up with them'],
    ],
    [
      'a comma that is missing in brackets over several lines',
      'queries: [\n  "a"\n  "b"\n]\n',
      ['job.yaml:3:3: a quote, bracket or comma is missing; add it'],
    ],
    [
      'a setting further left than those above',
      'budget:\n  keep: 1\n max_credits: 2\nqueries: [a]\n',
      ['job.yaml:3:2: the line begins at another column than the entries above; line it up with them'],
    ],
    [
      'a key of an entry further left than those above',
      'queries:\n  - query: a\n   depth: 20\n',
      ['job.yaml:3:4: the line begins at another column than the entries above; line it up with them'],
    ],
    [
      'a key of an entry further right than those above',
      'queries:\n  - query: a\n      depth: 20\n',
      ['job.yaml:3:7: the line begins at another column than the entries above; line it up with them'],
    ],
    [
      'an unknown escape',
      'queries: ["a\\qb"]\n',
      [
        'job.yaml:1:13: an unknown escape stands in double quotes; write \\\\ for a backslash, or use single quotes',
      ],
    ],
    [
      'an unknown alias',
      'queries: [*desk]\n',
      [
        'job.yaml:1:11: there is no anchor &desk above the alias *desk; write the value out, or put the text in quotes',
      ],
    ],
    [
      'an alias in its own anchor',
      'queries: &q\n  - *q\n',
      [
        'job.yaml:2:5: the alias *q stands inside its own anchor; write the value out, or put the text in quotes',
      ],
    ],
    [
      'a merge key',
      'a: &a { gl: us }\nparams: { <<: *a }\nqueries: [x]\n',
      [
        "job.yaml:1:1: unknown key 'a'; write one of name, operation, params, matrix, depth, pages, paging, until, deep_every, style, async, freshness, strict_echo, timezone, schedule, targets, competitors, budget, queries",
        'job.yaml:2:11: merge keys (<<) are not read; write the keys out',
      ],
    ],
    [
      'a tag',
      'queries:\n  - !important thing\n',
      ["job.yaml:2:16: '!important' is read as a YAML tag; put the text in quotes, or remove the tag"],
    ],
    [
      'a list as key',
      'queries: [a]\n? [x]\n: y\n',
      ["job.yaml:2:3: a key is no plain text; write 'key: value'"],
    ],
    [
      'a key of the language',
      'params: { __proto__: x }\nqueries: [a]\n',
      ["job.yaml:1:11: unknown key '__proto__'; remove it"],
    ],
    [
      'a text over two lines',
      'queries:\n  - standing desk\n    - sit desk\n',
      [
        "job.yaml:2:5: 'standing desk - sit desk' runs over several lines; write it in one line, indented like the others, or in quotes",
      ],
    ],
    ['deep brackets', `queries: ${'['.repeat(50_000)}`, [deep.replace('1:101', '1:108')]],
    [
      'deep maps',
      Array.from({ length: 3000 }, (_, level) => `${' '.repeat(level)}a:\n`).join(''),
      ['job.yaml:100:100: the nesting is too deep; write a flat list of queries'],
    ],
    [
      'a line number of its own',
      'queries:\n  - a\n  - { query: b, gl: us }\n',
      ["job.yaml:3:17: unknown key 'gl'; write it below 'params:', such as params: { gl: … }"],
    ],
  ])('%s', async (_, text, problems) => {
    expect(await yamlProblems(text)).toEqual(problems)
  })

  test('a line that is no UTF-8 is named', async () => {
    expect(await yamlProblems(Buffer.from('queries:\n  - caf\xe9\n', 'latin1'))).toEqual([
      'job.yaml:2: the line is no UTF-8; save the file as UTF-8',
    ])
  })

  test('UTF-16 is recognised', async () => {
    expect(await yamlProblems(Buffer.from('\ufeffqueries: [a]', 'utf16le'))).toEqual([
      'job.yaml: the file is UTF-16; save it as UTF-8',
    ])
  })

  test('more than 8 MB are refused', async () => {
    expect(await yamlProblems(`queries:\n${'  - a\n'.repeat(1_500_000)}`)).toEqual([
      "job.yaml: the file is larger than 8 MB; put the queries in a CSV and name it with '- file:'",
    ])
  })
})
