import { describe, expect, test } from 'vitest'
import { testTable } from '../support/test-table.ts'
import { csvProblems, csvTexts, readJob } from './reading.ts'

describe('the form of the file', () => {
  testTable<[string, string | Buffer]>([
    ['comma', 'query,team\ndesk,a\nlamp,b\n'],
    ['semicolon', 'query;team\ndesk;a,c\nlamp;b\n'],
    ['tab', 'query\tteam\ndesk\ta;c,d\nlamp\tb\n'],
    ['a byte order mark', '\ufeffquery,team\ndesk,a\nlamp,b\n'],
    ['a byte order mark before a quote', '\ufeff"query",team\ndesk,a\nlamp,b\n'],
    ['CRLF', 'query,team\r\ndesk,a\r\nlamp,b\r\n'],
    ['CR alone', 'query,team\rdesk,a\rlamp,b'],
    ['mixed line ends', 'query,team\r\ndesk,a\rlamp,b\n'],
    ['no last line end', 'query,team\ndesk,a\nlamp,b'],
    ['spaces around the header', ' query ,\tteam\ndesk,a\nlamp,b\n'],
    ['spaces around cells', 'query,team\n  desk ,a\nlamp\t,b\n'],
    ['empty lines and empty rows', '\nquery,team\n\n,\ndesk,a\n , \nlamp,b\n\n'],
    ['quoted cells', '"query","te;am"\n"desk","a, ""b"""\n"lamp",\n'],
    ['a separator that is named above, as Excel does', 'sep=;\r\nquery;team\r\ndesk;a,b,c\r\nlamp;b\r\n'],
    ['the same in quotes, and a comma', '\ufeff"sep=,"\nquery,team\ndesk,a\nlamp,b\n'],
    ['nameless columns at the end that hold nothing', 'query,team,,\ndesk,a,,\nlamp,b\n , ,,\n'],
    ['empty cells behind the last column', 'query,team\ndesk,a,,, \nlamp,b,\n'],
    ['a quoted delimiter in the header', '"a,b,c,d";query\nx;desk\ny;lamp\n'],
    ['a header with more of another separator', 'query;a,b,c,d\ndesk;1\nlamp;2\n'],
    ['the same with a comma', 'a;b;c,query\n1,desk\n2,lamp\n'],
    ['UTF-16 with tabs', Buffer.from('\ufeffquery\tteam\r\ndesk\ta\r\nlamp\tb\r\n', 'utf16le')],
    ['UTF-16, big end first', Buffer.from('\ufeffquery;team\ndesk;a\nlamp;b', 'utf16le').swap16()],
    ['rows that end early in a file with tabs', 'query\tteam\tnote\ndesk\tx\nlamp\n'],
    [
      'title lines above the header',
      'Keyword Stats 2026\n"June 1, 2025 - May 31, 2026"\n\nquery,team\ndesk,a\nlamp,b\n',
    ],
    ['a title whose quotes are wrong', 'List of "Acme"\nquery,team\ndesk,a\nlamp,b\n'],
    ['the case of the header', 'QUERY,Team\ndesk,a\nlamp,b\n'],
    ['a first column without a name, as pandas writes its index', ',query,team\n0,desk,a\n1,lamp,b\n'],
  ])('does not matter: %s', async (_, text) => {
    expect(await csvTexts(text)).toEqual(['desk', 'lamp'])
  })

  test('a record is named by its first line, also after quoted line breaks of any kind', async () => {
    const { queries } = await readJob({ 'k.csv': 'query,note\r\na,"1\r\n2\r\n3"\r\n\r\nb,"x\ry"\nc,\n' })
    expect(queries.map(({ text, source }) => [text, source.line])).toEqual([
      ['a', 2],
      ['b', 6],
      ['c', 8],
    ])
  })

  testTable<[string, string | Buffer, readonly string[]]>([
    ['an empty file', '', ["k.csv: the file is empty; write a first line with a column 'query'"]],
    [
      'a broken character',
      Buffer.from('query\nok\ncaf\xe9\n', 'latin1'),
      ["k.csv:3: 'caf\ufffd' contains a character that is not UTF-8; save the file as UTF-8"],
    ],
    [
      'a control character',
      'query\na\u0000b\na\u0007b\n"a\nb"\n"a\tb"\n',
      ['k.csv: the file is UTF-16 or not text; save it as UTF-8'],
    ],
    [
      'UTF-16 without its mark',
      Buffer.from('query\na\n', 'utf16le'),
      ['k.csv: the file is UTF-16 or not text; save it as UTF-8'],
    ],
    [
      'half a character of UTF-16',
      Buffer.from('\ufeffquery\nok\na\ud83d\n', 'utf16le'),
      ["k.csv:3: 'a\ufffd' contains a character that is not UTF-8; save the file as UTF-8"],
    ],
    [
      'a workbook',
      Buffer.from('PK\u0003\u0004more'),
      ['k.csv: the file is a workbook or an archive; save the table as CSV in UTF-8'],
    ],
    [
      'a compressed file',
      Buffer.from([0x1f, 0x8b, 8, 0]),
      ['k.csv: the file is compressed; unpack it first'],
    ],
    [
      'a cell above 64 KB',
      `query\n${'a'.repeat(65_537)}\nb\n`,
      [`k.csv:2: '${'a'.repeat(60)}…' is longer than 64 KB; write one query per line`],
    ],
    [
      'a row above 1 MB',
      `query\nok\n${'a'.repeat(1_500_000)}\n`,
      ['k.csv:3: the row is longer than 1 MB; write one query per line'],
    ],
    [
      'a header above 1 MB',
      'a'.repeat(1_500_000),
      ['k.csv:1: the row is longer than 1 MB; write one query per line'],
    ],
    [
      'an open quote far above 1 MB',
      `query\nok\n"x\n${'word\n'.repeat(300_000)}`,
      ['k.csv:3: the quote that opens here is not closed; close it with "'],
    ],
  ])('is said with its line: %s', async (_, text, problems) => {
    expect(await csvProblems(text)).toEqual(problems)
  })
})

describe('columns', () => {
  test('a column named after a parameter sets it, an empty cell sets nothing, any other column is a label', async () => {
    const { queries } = await readJob(
      { 'k.csv': 'gl,query,num,Team,note,constructor\nde,a,20,red,,x\n,b,, keep me ,"1\n2",\n' },
      { param: ['gl=us', 'hl=en'] },
    )
    expect(queries.map(({ params }) => params)).toEqual([
      { gl: 'de', hl: 'en', num: 20 },
      { gl: 'us', hl: 'en' },
    ])
    expect(queries.map(({ labels }) => Object.entries(labels))).toEqual([
      [
        ['Team', 'red'],
        ['constructor', 'x'],
      ],
      [
        ['Team', ' keep me '],
        ['note', '1\n2'],
      ],
    ])
  })

  test('a column __proto__ is a label like any other', async () => {
    const { queries } = await readJob({
      'k.csv': 'query,__proto__,toString\nconstructor,x,y\n__proto__,z,\n',
    })
    expect(queries.map(({ text, labels }) => [text, Object.entries(labels)])).toEqual([
      [
        'constructor',
        [
          ['__proto__', 'x'],
          ['toString', 'y'],
        ],
      ],
      ['__proto__', [['__proto__', 'z']]],
    ])
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  test('everything that a row can say is read', async () => {
    const { queries, problems } = await readJob({
      'k.csv':
        'query,operation,depth,tags,target,priority,volume,url,safe\n' +
        'a,gamma.images,100,x; y;;x,acme.com; acme.com/shop,-3,0,https://acme.com/a,strict\nb,,,,,,,,\n',
    })
    expect(problems).toEqual([])
    expect(queries).toMatchObject([
      {
        operation: 'gamma.images',
        depth: 100,
        tags: ['x', 'y'],
        targets: [
          { site: 'acme.com', match: 'domain', also: [], label: 'acme.com', own: true },
          { site: 'acme.com/shop', match: 'prefix', also: [], label: 'acme.com/shop', own: true },
        ],
        priority: -3,
        volume: 0,
        url: 'https://acme.com/a',
        params: { safe: 'strict' },
      },
      {
        operation: 'alpha.search',
        text: 'b',
        depth: null,
        tags: [],
        targets: [],
        priority: 0,
        volume: null,
        params: {},
      },
    ])
  })

  testTable([
    ['depht', 'depth'],
    ['dept', 'depth'],
    ['depthh', 'depth'],
    ['dapth', 'depth'],
    ['tag', 'tags'],
    ['targets', 'target'],
    ['loaction', 'location'],
    ['prioritiy', 'priority'],
    ['opertion', 'operation'],
    ['volumes', 'volume'],
    ['uulle', 'uule'],
    ['G-L', 'gl'],
    ['h_l', 'hl'],
    ['U R L', 'url'],
    ['Alpha Domains', 'alpha_domains'],
    ['tar_get', 'target'],
  ])('%s is an error that names %s', async (header, known) => {
    expect(await csvProblems(`query,${header}\na,1\n`)).toEqual([
      `k.csv:1: column '${header}' looks like a misspelt '${known}'; write '${known}', or choose another name`,
    ])
  })

  test('are known whatever their case', async () => {
    const { queries, problems } = await readJob({
      'k.csv':
        'Query,GL,Hl,URL,LOCATION,TBS,NUM,Volume,TAGS,Depth\na,us,en,https://acme.com/,Austin,qdr:d,20,5,x;y,30\n',
    })
    expect(problems).toEqual([])
    expect(queries).toMatchObject([
      {
        params: { gl: 'us', hl: 'en', location: 'Austin', tbs: 'qdr:d', num: 20 },
        url: 'https://acme.com/',
        volume: 5,
        tags: ['x', 'y'],
        depth: 30,
        labels: {},
      },
    ])
    expect(await csvProblems('query,LAT,Lon,CC\na,1,2,us\n', { operation: ['beta.search'] })).toEqual([])
    expect(await csvProblems('query,url,URL\na,,\n')).toEqual([
      "k.csv:1: column 'URL' is given twice; keep one of them",
    ])
  })

  test('a misspelt query column is told once', async () => {
    expect(await csvProblems('qery\na\n')).toEqual([
      "k.csv:1: column 'qery' looks like a misspelt 'query'; write 'query', or choose another name",
    ])
  })

  testTable([['team'], ['depthly'], ['pages'], ['page'], ['lang'], ['ul'], ['g1'], ['urll'], ['keyword']])(
    '%s is a label',
    async (header) => {
      const { queries, problems } = await readJob({ 'k.csv': `query,${header}\na,1\n` })
      expect(problems).toEqual([])
      expect({ ...queries[0]?.labels }).toEqual({ [header]: '1' })
    },
  )
})

test('every mistake of every row is told', async () => {
  const text = [
    'query,operation,depth,gl,safe,target,priority,volume,url,location,uule,cp',
    ',,,,,,,,,,,',
    ',,0,,,,,,,,,',
    'a,alpha.serch,x,usa,,,,,,,,',
    'a,usage,,,,,,,,,,',
    'a,,,usa,odd,,,,,,,',
    'a,gamma.images,,,odd,,,,,,,',
    'a,,,,,acme,1.5,-1,acme.com,,,',
    'a,,,,,https://acme.com/*,,,,,,',
    'a,,,,,,,,,Austin,w+CAI,',
    'a,gamma.search,,us,,,,,,,,',
    'a,alpha.news,,,,,,,,Austin,,',
    'a,alpha.autocomplete,,,,,,,,,,-1',
    'a,,,,,acme.com/?page_id=12,,,,,,',
    'fine,,,,,,,,,,,',
  ].join('\n')
  const { problems, queries } = await readJob({ 'k.csv': text })
  expect(queries.map((query) => query.text)).toEqual(['fine'])
  const names =
    'alpha.search, alpha.light, alpha.autocomplete, alpha.ai, alpha.news, alpha.videos, alpha.images, beta.search, gamma.search, gamma.images'
  expect(problems).toEqual([
    'k.csv:3: query is empty; write the text to search for',
    "k.csv:3: depth cannot be '0'; write a whole number from 1 to 10000",
    "k.csv:4: operation cannot be 'alpha.serch'; write 'alpha.search'",
    "k.csv:4: depth cannot be 'x'; write a whole number from 1 to 10000",
    `k.csv:5: operation cannot be 'usage', a free lookup with its own command; write one of ${names}`,
    "k.csv:6: alpha.search has no parameter 'safe'; write one of tbs, location, uule, gl, hl, num",
    "k.csv:6: gl cannot be 'usa'; write a two-letter country code such as us",
    "k.csv:7: safe cannot be 'odd'; write one of active, off, moderate, strict",
    "k.csv:8: target cannot be 'acme'; write a site such as acme.com or acme.com/shop",
    "k.csv:8: priority cannot be '1.5'; write a whole number",
    "k.csv:8: volume cannot be '-1'; write a whole number from 0 up",
    "k.csv:8: url cannot be 'acme.com'; write a full address such as https://acme.com/desks",
    "k.csv:9: target cannot be 'https://acme.com/*'; write the domain alone, which includes its subdomains",
    'k.csv:10: location and uule cannot be used together in alpha.search; keep one of them',
    "k.csv:11: gamma.search has no parameter 'gl'; leave it out",
    "k.csv:12: alpha.news has 'location' in the post style only; write 'style: post', or leave 'location' out",
    'k.csv:13: cp cannot be -1; write a whole number from 0 up',
    "k.csv:14: target 'acme.com/?page_id=12' has a query string, but match: prefix compares only paths; write the query in YAML with match: url, or remove the query string",
  ])
})
