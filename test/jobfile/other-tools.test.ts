import { describe, expect, test } from 'vitest'
import type { JobOptions } from '../../src/model/job.ts'
import { testTable } from '../support/test-table.ts'
import { csvProblems, readJob, yamlProblems } from './reading.ts'

function utf16(text: string): Buffer {
  return Buffer.from(`\ufeff${text}`, 'utf16le')
}

function tabbed(...rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.join('\t')).join('\r\n')
}

type Asked = readonly [text: string, volume: number | null, url: string | null]

/** Lists of other tools, each as its tool writes it, with the flag that it needs and what is asked then. */
const lists: readonly (readonly [
  tool: string,
  file: string,
  content: string | Buffer,
  column: string | null,
  asked: readonly Asked[],
])[] = [
  [
    'Keyword Planner',
    'Keyword Stats 2026-06-01 at 10_11_12.csv',
    utf16(
      `${tabbed(
        ['Keyword Stats 2026-06-01 at 10_11_12'],
        ['"June 1, 2025 - May 31, 2026"'],
        [
          ...[
            'Keyword',
            'Currency',
            'Avg. monthly searches',
            'Three month change',
            'YoY change',
            'Competition',
          ],
          ...['Competition (indexed value)', 'Top of page bid (low range)', 'Top of page bid (high range)'],
          ...['Ad impression share', 'Organic impression share', 'Organic average position', 'In account?'],
          ...['In plan?', 'Searches: May 2026'],
        ],
        [
          'standing desk',
          'EUR',
          '40500',
          '0%',
          '-18%',
          'High',
          '100',
          '0.51',
          '1.85',
          '',
          '',
          '',
          '',
          '',
          '33100',
        ],
        ['desk, oak', 'EUR', '170.0', '0%', '0%', 'High', '98', '0.37', '1.12'],
        ['caf\u00e9 table', 'EUR', '', '', '', '', '', '', '', '', '', '', '', '', ''],
      )}\n`,
    ),
    'query=Keyword,volume=Avg. monthly searches',
    [
      ['standing desk', 40_500, null],
      ['desk, oak', 170, null],
      ['caf\u00e9 table', null, null],
    ],
  ],
  [
    'Search Console in English',
    'Queries.csv',
    'Top queries,Clicks,Impressions,CTR,Position\nstanding desk,120,4360,2.75%,8.1\n"desk, oak",3,90,3.33%,12\n',
    'query=Top queries',
    [
      ['standing desk', null, null],
      ['desk, oak', null, null],
    ],
  ],
  [
    'Search Console in Czech',
    'Dotazy.csv',
    'Nej\u010dast\u011bj\u0161\u00ed dotazy;Kliknut\u00ed;Zobrazen\u00ed;CTR;Pozice\nst\u016fl, dub;120;4360;2,75%;8,1\n',
    'query=Nej\u010dast\u011bj\u0161\u00ed dotazy',
    [['st\u016fl, dub', null, null]],
  ],
  [
    'Search Console in French',
    'Requ\u00eates.csv',
    'Requ\u00eates les plus fr\u00e9quentes,Clics,Impressions,CTR,Position\nbureau assis debout,12,430,"2,79\u00a0%","8,1"\n',
    'query=Requ\u00eates les plus fr\u00e9quentes',
    [['bureau assis debout', null, null]],
  ],
  [
    'Semrush',
    'acme.com-organic.Positions-us-20260601-2026-06-02T07_11_12Z.csv',
    'Keyword,Position,Previous position,Search Volume,Keyword Difficulty,CPC,URL,Traffic,Traffic (%),Traffic Cost,Competition,Number of Results,Trends,Timestamp,SERP Features by Keyword,Keyword Intents,Position Type\n' +
      'standing desk,4,6,40500,71,1.25,https://acme.com/desks,52,10.5,65,1.00,1200000,"[0.6,0.7,1.0]",2026-05-30,"Local pack, Reviews",transactional,Organic\n' +
      'oak desk,12,15,"1,300",32,0.91,https://acme.com/oak,8,1.6,7,0.93,900000,"[0.4]",2026-05-30,,commercial,Organic\n',
    'query=Keyword,volume=Search Volume',
    [
      ['standing desk', 40_500, null],
      ['oak desk', 1300, null],
    ],
  ],
  [
    'Ahrefs, Site Explorer',
    'acme.com-organic-keywords-subdomains_2026-06-01_10-11-12.csv',
    '\ufeff"Keyword","Volume","KD","CPC","Previous organic traffic","Current organic traffic","Organic traffic change","Previous position","Current position","Position change","Previous position kind","Current position kind","Current URL","Previous URL","Branded","Local","Informational","Commercial","Transactional","Navigational"\n' +
      '"standing desk","41000","44","1.10","210","190","-20","5","6","-1","Organic","Organic","https://acme.com/desks","https://acme.com/desks","false","false","false","true","true","false"\n',
    'query=Keyword',
    [['standing desk', 41_000, null]],
  ],
  [
    'Ahrefs of 2019',
    '20190925_175931_a.csv',
    utf16(
      tabbed(
        [
          ...[
            '#',
            'Keyword',
            'Position',
            'Position History',
            'Position History Date',
            'Volume',
            'URL',
            'Difficulty',
          ],
          ...['Traffic (desc)', 'CPC', 'Last Update', 'Page URL inside', 'SERP Features'],
        ],
        [
          ...[
            '1',
            'standing desk',
            '6',
            '7',
            '2019-09-18',
            '41000',
            'https://acme.com/desks',
            '44',
            '190',
            '1.1',
          ],
          ...['2019-09-24', '', 'Sitelinks, Top stories'],
        ],
      ),
    ),
    'query=Keyword',
    [['standing desk', 41_000, null]],
  ],
  [
    'STAT',
    'acme_top_ranks.csv',
    utf16(
      `${tabbed(
        [
          ...['Date', 'Keyword', 'Market', 'Location', 'Device', 'Rank', 'URL', 'Advertiser Competition'],
          ...['Global Monthly Searches', 'Regional Monthly Searches', 'CPC', 'Tags'],
        ],
        [
          ...[
            '2026-06-01',
            'standing desk',
            'US-en',
            'Austin, TX',
            'desktop',
            '4',
            'www.acme.com/desks',
            '1',
          ],
          ...['90500', '40500', '1.25', 'head/desks'],
        ],
        ['2026-06-01', 'oak desk', 'US-en', '', 'smartphone', '', '', '0.9', '2400', '1300', '0.91', ''],
      )}\n`,
    ),
    'query=Keyword,volume=Regional Monthly Searches',
    [
      ['standing desk', 40_500, null],
      ['oak desk', 1300, null],
    ],
  ],
  [
    'Excel in German',
    'Liste.csv',
    '\ufeffSuchbegriff;Suchvolumen;Zielseite;Kunde\r\nh\u00f6henverstellbarer Schreibtisch;40.500;https://acme.com/de;Acme\r\nschreibtisch, eiche;1.300,00;;Acme\r\nregal;90;;\r\n',
    'query=Suchbegriff,volume=Suchvolumen,url=Zielseite',
    [
      ['h\u00f6henverstellbarer Schreibtisch', 40_500, 'https://acme.com/de'],
      ['schreibtisch, eiche', 1300, null],
      ['regal', 90, null],
    ],
  ],
  [
    'LibreOffice',
    'list.csv',
    'Query,Volume,URL,Note\nstanding desk,"40,500",https://acme.com/desks,\n"desk ""oak"" 60"" wide",90,,"two\nlines"\n',
    null,
    [
      ['standing desk', 40_500, 'https://acme.com/desks'],
      ['desk "oak" 60" wide', 90, null],
    ],
  ],
  [
    'pandas',
    'frame.csv',
    ',query,volume,url\n0,standing desk,40500.0,https://acme.com/desks\n1,"desk, oak",,\n2,oak desk,1300.0,\n',
    null,
    [
      ['standing desk', 40_500, 'https://acme.com/desks'],
      ['desk, oak', null, null],
      ['oak desk', 1300, null],
    ],
  ],
  [
    'Google Sheets',
    'Keywords - Sheet1.csv',
    'Keywords of Acme,,\r\n,,\r\nSearch term,Volume,Landing page\r\nstanding desk,"40,500",https://acme.com/desks\r\noak desk,1.2K,',
    'query=Search term,url=Landing page',
    [
      ['standing desk', 40_500, 'https://acme.com/desks'],
      ['oak desk', 1200, null],
    ],
  ],
  [
    'a list by hand',
    'words.txt',
    '\ufeffstanding desk\r\n\r\n  desk, oak; white  \r\n"exact phrase"\r\nc# desk',
    null,
    [
      ['standing desk', null, null],
      ['desk, oak; white', null, null],
      ['"exact phrase"', null, null],
      ['c# desk', null, null],
    ],
  ],
]

test.each(lists)('the list of %s is read', async (_tool, file, content, column, asked) => {
  const flags: JobOptions = column === null ? {} : { column: [column] }
  const { problems, queries } = await readJob({ [file]: content }, flags)
  expect(problems).toEqual([])
  expect(queries.map(({ text, volume, url }) => [text, volume, url])).toEqual(asked)

  // The same beside the name of the file, in YAML.
  const columns = Object.fromEntries(
    (column ?? '')
      .split(/,(?=\w+=)/)
      .filter((pair) => pair !== '')
      .map((pair) => pair.split('=')),
  )
  const yaml = JSON.stringify({ queries: [{ file, ...(column === null ? {} : { columns }) }] })
  const named = await readJob({ 'job.yaml': yaml, [file]: content })
  expect([...named.problems, ...named.queries.map(({ text, volume, url }) => [text, volume, url])]).toEqual(
    asked,
  )

  // Without the flag nothing is asked, and the message proposes it.
  if (column === null) return
  const { problems: told, queries: none } = await readJob({ [file]: content })
  expect(none).toEqual([])
  expect(told).toHaveLength(1)
  const [first] = column.split(/,(?=\w+=)/)
  expect(told[0]?.replaceAll(/["']/g, '')).toContain(first)
})

describe('columns that are called otherwise', () => {
  testTable<[string, string, readonly string[], readonly string[]]>([
    [
      'each time that it is given',
      'Keyword,Country,Volume\na,us,5\n',
      ['query=Keyword', 'gl=Country'],
      ['a {"gl":"us"} 5'],
    ],
    [
      'whatever the case and the spaces of the name',
      'TOP  Queries,x\na,1\n',
      ['query=top queries'],
      ['a {} null'],
    ],
    ['with a comma in the name', '"Text, exact",Volume\na,5\n', ['query=Text, exact'], ['a {} 5']],
    [
      'below a title as wide as the header',
      'Client,Acme\nKeyword,Volume\na,5\n',
      ['query=Keyword'],
      ['a {} 5'],
    ],
    ['in place of one that has the name', 'query,Keyword\nx,a\n', ['query=Keyword'], ['a {} null']],
    ['in the tenth line', `${'title\n'.repeat(9)}Keyword;n\na;1\n`, ['query=Keyword'], ['a {} null']],
    ['by which the separator is known', 'a;b;c,Keyword\n1,x\n', ['query=Keyword'], ['x {} null']],
  ])('are read: %s', async (_, content, column, asked) => {
    const { problems, queries } = await readJob({ 'k.csv': content }, { column })
    expect(problems).toEqual([])
    expect(queries.map(({ text, params, volume }) => `${text} ${JSON.stringify(params)} ${volume}`)).toEqual(
      asked,
    )
  })

  testTable<[string, readonly string[], readonly string[]]>([
    [
      'Keyword,x\na,1\n',
      ['query=Keywrod'],
      ["k.csv:1: there is no column 'Keywrod' among 'Keyword', 'x'; name 'Keyword'"],
    ],
    ['query,x\na,1\n', ['volum=x'], ["--column: volum is no name of a column that is read; write 'volume'"]],
    [
      'query,x\na,1\n',
      ['volume'],
      [`--column: cannot be 'volume'; write name=header such as query="Top queries"`],
    ],
    ['query,x\na,us\n', ['gl=x', 'gl=y'], ["--column: 'gl' is given twice; give it once"]],
    ['query,x\na,us\n', ['gl=x', 'hl=x'], ["k.csv:1: column 'x' is to be gl and hl; keep one of them"]],
    [
      `${'title\n'.repeat(10)}Keyword,n\na,1\n`,
      ['query=Keyword'],
      ["k.csv:1: there is no column 'Keyword' among 'title'; name one of them"],
    ],
    [
      'Database;Keyword;Search Volume\nus;a;5\n',
      [],
      [
        `k.csv:1: there is no column 'query' among 'Database', 'Keyword', 'Search Volume'; add --column "query=Keyword,volume=Search Volume"`,
      ],
    ],
    [
      'Acme\n2026\nTop queries,Clicks\na,5\n',
      [],
      [`k.csv:3: there is no column 'query' among 'Top queries', 'Clicks'; add --column query="Top queries"`],
    ],
    [
      'Dotazy;Kliky\na;5\n',
      [],
      [
        "k.csv:1: there is no column 'query' among 'Dotazy', 'Kliky'; add --column query=Dotazy, or name the one that holds the texts",
      ],
    ],
    // A text `query` below a header that has no such column is no header.
    [
      'Keyword,team\na,x\nquery,y\n',
      [],
      ["k.csv:1: there is no column 'query' among 'Keyword', 'team'; add --column query=Keyword"],
    ],
  ])('%j with %j is a mistake', async (content, column, problems) => {
    expect(await csvProblems(content, { column })).toEqual(problems)
  })

  test('are proposed as YAML where YAML names the file', async () => {
    const files = { 'job.yaml': 'queries: [{ file: k.csv }]', 'k.csv': 'Top queries,Search Volume\na,5\n' }
    expect((await readJob(files)).problems).toEqual([
      "k.csv:1: there is no column 'query' among 'Top queries', 'Search Volume'; write columns: { query: Top queries, volume: Search Volume } beside 'file:'",
    ])
    const slip = { 'job.yaml': 'queries: [{ file: k.csv, columns: { qery: x } }]', 'k.csv': 'query\na\n' }
    expect((await readJob(slip)).problems).toEqual([
      "job.yaml:1:43: qery is no name of a column that is read; write 'query'",
    ])
    expect(await yamlProblems('columns: { query: x }\nqueries: [a]')).toEqual([
      "job.yaml:1:1: unknown key 'columns'; write it beside 'file:', such as { file: keywords.csv, columns: { query: Keyword } }",
    ])
  })
})

describe('what is no mistake is said', () => {
  testTable<[string, string, readonly string[], readonly string[]]>([
    [
      'labels, and what they may be',
      'query,Country,Sprache,device\na,us,de,mobile\n',
      [],
      [
        "k.csv: kept as labels: Country, Sprache, device. 'Country' may be gl: add --column gl=Country. 'Sprache' may be hl: add --column hl=Sprache",
      ],
    ],
    [
      'lines above the header',
      'Keyword Stats\n2026;x\n\nquery;gl;hl\na;us;en\n',
      [],
      ["k.csv: the header is on line 4; what stands above it is read over: 'Keyword Stats', '2026 x'"],
    ],
    [
      'the page that ranks',
      'query,Position,URL\na,3,https://acme.com/\n',
      [],
      [
        "k.csv: column 'URL' is left out: beside 'Position' it is the page that ranks. If it is the one that is meant to, add --column url=URL",
        'k.csv: kept as labels: Position',
      ],
    ],
    [
      'that page, where it is named',
      'query,Position,URL\na,3,https://acme.com/\n',
      ['url=URL'],
      ['k.csv: kept as labels: Position'],
    ],
    [
      'a column that another one replaces',
      'query,Keyword\nx,a\n',
      ['query=Keyword'],
      ["k.csv: column 'query' is left out, because 'Keyword' is the query"],
    ],
    [
      'a label that may be what another one is',
      'query,Country,Market\na,us,de\n',
      ['gl=Country'],
      ['k.csv: kept as labels: Market'],
    ],
    ['nothing', 'query,gl\na,us\n', [], []],
  ])('%s', async (_, content, column, notices) => {
    const read = await readJob({ 'k.csv': content }, { column })
    expect(read.problems).toEqual([])
    expect(read.notices).toEqual(notices)
  })
})

describe('lists without a header', () => {
  testTable<[string, string | Buffer, readonly string[]]>([
    ['a table has a header', 'query,volume\na,5\n', ['a']],
    ['also with tabs', 'Query\tVolume\na\t5\n', ['a']],
    ['a table of UTF-16', utf16('a\r\nb, c\r\n'), ['a', 'b, c']],
    [
      'a header of another tool is no text to search for',
      'Keyword,Volume\na,5\n',
      [
        `k.csv:1: there is no column 'query' among 'Keyword', 'Volume'; add --column query=Keyword`.replace(
          'k.csv',
          'k.txt',
        ),
      ],
    ],
    [
      'tabs part cells',
      'Begriff\tMenge\na\t5\n',
      [
        "k.txt:1: there is no column 'query' among 'Begriff', 'Menge'; add --column query=Begriff, or name the one that holds the texts",
      ],
    ],
    ['nothing', '\n\n', ['k.txt: there is no query; write at least one']],
  ])('%s', async (_, content, read) => {
    const { queries, problems } = await readJob({ 'k.txt': content })
    expect([...queries.map(({ text }) => text), ...problems]).toEqual(read)
  })
})
