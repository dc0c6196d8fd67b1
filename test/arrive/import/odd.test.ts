import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formats, importFiles } from '../../../src/arrive/import/import.ts'
import { zipOf } from '../../support/zip.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'rankline-odd-test-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function put(name: string, text: string | Buffer): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

/** A database of the statements. */
function tables(name: string, ...statements: readonly string[]): string {
  const db = new Database(join(folder, name))
  for (const statement of statements) db.exec(statement)
  db.close()
  return join(folder, name)
}

/** What a file says: what was left out, and each row as `keyword site day state rank`. */
async function told(
  path: string,
  target: string | null = null,
  as: string | null = null,
  day: number | null = null,
  columns: readonly (readonly [string, string])[] = [],
) {
  const { rows, summary } = await importFiles({
    path,
    as,
    options: { target, day, order: null, columns: new Map(columns) },
    job: null,
    now: Date.UTC(2026, 10, 26),
    database: null,
    dryRun: true,
    reading: () => {},
  })
  return {
    dropped: summary.dropped,
    rows: rows
      .map((row) => [row.query, row.target, row.date, row.state, row.rank ?? row.depth].join(' '))
      .sort(),
  }
}

const table = (...rows: readonly string[]) => ['date,keyword,rank,target', ...rows].join('\n')

describe('no rank is made up', () => {
  test('of what is no rank in a table', async () => {
    const cells = [
      '-5',
      '0',
      '99999999999',
      '1001',
      '>0',
      '3.5',
      // An average as well, in a column with others.
      '2.0',
      '1e3',
      '0x10',
      '٣',
      '101',
      '101+',
      'Not in top 100',
    ]
    const rows = cells.map((cell, place) => `2026-01-05,w${place},${cell},acme.com`)
    const { rows: read } = await told(put('ranks.csv', table(...rows)))
    expect(read.filter((row) => !row.includes('unknown'))).toEqual([
      'w10 acme.com 2026-01-05 ranked 101',
      'w11 acme.com 2026-01-05 absent 101',
      'w12 acme.com 2026-01-05 absent 100',
    ])
  })

  test('of averages of Search Console, whose tables go by other commands', async () => {
    const clicks = put(
      'api.csv',
      'date,query,page,country,device,clicks,impressions,ctr,position\n2026-01-05,a,https://acme.com/,usa,MOBILE,1,9,0.1,3\n',
    )
    await expect(told(clicks, 'acme.com')).rejects.toThrow(
      /averages: rankline clicks add .*api\.csv\. If they are ranks nevertheless: rankline import .*api\.csv --as table$/,
    )
    expect((await told(clicks, 'acme.com', 'table')).rows).toEqual(['a acme.com 2026-01-05 ranked 3'])
    const planner = put(
      'planner.csv',
      'Keyword Stats 2026-11-01\n2025\nKeyword,Avg. monthly searches\na,50\n',
    )
    await expect(told(planner, 'acme.com')).rejects.toThrow(/search volumes: rankline volumes add/)
    const ui = put(
      'ui.zip',
      zipOf([['Queries.csv', Buffer.from('Top queries,Clicks,Impressions,CTR,Position\na,1,9,11%,3\n')]]),
    )
    await expect(told(ui, 'acme.com')).rejects.toThrow(/rankline clicks add .*ui\.zip/)
  })

  test('of one site for another: --target is of rows that name none', async () => {
    const path = put(
      'two.csv',
      table('2026-01-05,a,3,acme.com', '2026-01-05,a,50,rival.com', '2026-01-05,b,4,'),
    )
    expect((await told(path, 'acme.com')).rows).toEqual([
      'a acme.com 2026-01-05 ranked 3',
      'a rival.com 2026-01-05 ranked 50',
      'b acme.com 2026-01-05 ranked 4',
    ])
    const stat =
      'Date\tSite\tKeyword\tMarket\tDevice\tGoogle\n2026-01-05\tacme.com\ta\tUS-en\tdesktop\t3\n2026-01-05\trival.com\ta\tUS-en\tdesktop\t7\n'
    expect((await told(put('stat.tsv', stat), 'acme.com')).rows).toEqual([
      'a acme.com 2026-01-05 ranked 3',
      'a rival.com 2026-01-05 ranked 7',
    ])
  })

  const serposcope = (...rows: readonly string[]) =>
    `date,rank,url,target,keyword,device,country,datacenter,local,custom\n${rows.join('\n')}\n`

  test('of what is no rank in the CSV of a target of Serposcope, nor of two targets for one', async () => {
    const cells = ['3', '3.5', '0x10', '-3', '20000', '32767', '']
    const rows = cells.map((cell, place) => `2026-01-05,${cell},null,acme.com,w${place},D,US,,,`)
    const { rows: read } = await told(put('export.csv', serposcope(...rows)))
    expect(read.filter((row) => !row.includes('unknown'))).toEqual(['w0 acme.com 2026-01-05 ranked 3'])
    const two = put(
      'both.csv',
      serposcope('2026-01-05,3,null,Ours,a,D,US,,,', '2026-01-05,9,null,Theirs,a,D,US,,,'),
    )
    await expect(told(two, 'acme.com')).rejects.toThrow(/both\.csv:3: .*'Theirs'.*'Ours'.*Leave it out/)
  })

  test('of numbers in databases, which keep anything in any column', async () => {
    const path = tables(
      'serpbear.sqlite',
      'CREATE TABLE domain (ID, domain)',
      'CREATE TABLE keyword (ID, keyword, device, country, domain, lastUpdated, history, url, tags, volume, lastUpdateError)',
      `INSERT INTO keyword VALUES (1, 'a', 'desktop', 'US', 'acme.com', '2026-01-05T10:00:00Z',
        '{"2026-1-5":1000000000000,"2026-1-4":3000000000,"2026-1-3":2.5,"2026-1-2":-4,"2026-1-1":5}', '[]', '[]', 'many', 'false')`,
      `INSERT INTO keyword VALUES (2, x'62', x'78', x'7573', 'acme.com', '', '{"2026-1-5":4}', NULL, '[]', 7, 'false')`,
      `INSERT INTO keyword VALUES (3, '', 'desktop', 'US', 'acme.com', '', '{"2026-1-5":3}', '', '', 1, 'false'),
        (4, 'c', 'desktop', 'US', '', '', '{"2026-1-5":3}', '', '', 1, 'false')`,
    )
    expect(await told(path)).toEqual({
      dropped: {
        'entries of a history that are no day with a rank': 2,
        'rows without a keyword': 1,
        'rows without a site': 1,
      },
      rows: [
        'a acme.com 2026-01-01 ranked 5',
        'a acme.com 2026-01-04 unknown ',
        'a acme.com 2026-01-05 unknown ',
        'b acme.com 2026-01-05 ranked 4',
      ],
    })
  })

  const openseo = [
    'CREATE TABLE rank_tracking_configs (id, domain, location_code, language_code)',
    'CREATE TABLE rank_tracking_keywords (id, keyword)',
    'CREATE TABLE rank_check_runs (id, config_id)',
    "INSERT INTO rank_tracking_configs VALUES (1, 'acme.com', 2840, 'en'), (2, NULL, NULL, NULL)",
    'INSERT INTO rank_check_runs VALUES (1, 1), (2, 2)',
  ]

  test('of fractions, words and times that are no day', async () => {
    const path = tables(
      'openseo.sqlite',
      ...openseo,
      'CREATE TABLE rank_snapshots (run_id, tracking_keyword_id, keyword, device, position, url, checked_at)',
      `INSERT INTO rank_snapshots VALUES (1, 1, 'a', 'desktop', 2.5, NULL, '2026-01-05'), (1, 1, 'b', 'desktop', 2, NULL, 9e17),
        (1, 1, 'c', 'desktop', 'x', NULL, '2026-01-05'), (1, 1, 'd', 'desktop', 4, NULL, 5), (2, 1, 'e', NULL, 4, NULL, '2026-01-05'),
        (1, 1, 'f', 'desktop', 6, NULL, '2026-01-05')`,
    )
    expect(await told(path)).toEqual({
      dropped: { 'days that are still to come, or before 1990': 2, 'rows without a site': 1 },
      rows: [
        'a acme.com 2026-01-05 unknown ',
        'c acme.com 2026-01-05 unknown ',
        'f acme.com 2026-01-05 ranked 6',
      ],
    })
  })

  test('of a package in which checks are none', async () => {
    const keywords = [
      {
        keyword: 'a',
        target_url: 'https://acme.com/',
        rankingHistory: [
          null,
          { checkedAt: '2026-01-05', position: 2.5 },
          { checkedAt: '2026-01-06', position: null, requestedDepth: -4 },
          { checkedAt: '2026-01-07', position: 5e9 },
        ],
      },
      null,
      7,
      { keyword: { a: 1 }, rankingHistory: [{ checkedAt: '2026-01-05', position: 3 }] },
    ]
    const text = JSON.stringify({ exported_at: 'x', version: 6, project_id: 'p', keywords })
    expect(await told(put('package.json', text))).toEqual({
      dropped: { 'rows without a keyword': 1 },
      rows: [
        'a acme.com 2026-01-05 unknown ',
        'a acme.com 2026-01-06 absent ',
        'a acme.com 2026-01-07 unknown ',
      ],
    })
  })

  test('of a day that is still to come; tomorrow is somewhere today', async () => {
    const path = put(
      'future.csv',
      table('2026-11-27,a,3,acme.com', '2026-11-28,a,3,acme.com', '2098-01-05,a,3,acme.com'),
    )
    expect(await told(path)).toEqual({
      dropped: { 'days that are still to come, or before 1990': 2 },
      rows: ['a acme.com 2026-11-27 ranked 3'],
    })
  })

  test('a database of another version is refused in one sentence', async () => {
    const path = tables(
      'newer.sqlite',
      ...openseo,
      'CREATE TABLE rank_snapshots (run_id, tracking_keyword_id, keyword, place, checked_at)',
    )
    await expect(told(path)).rejects.toMatchObject({
      exitCode: 2,
      message: `${path} is of a version of its program that rankline does not know: s.device is missing. Export its ranks as CSV, and import that`,
    })
  })
})

describe('what is no file to read is refused in one sentence', () => {
  const locked = (): Buffer => {
    const bytes = zipOf([['a.csv', Buffer.from(table('2026-01-05,a,3,acme.com'))]])
    const entry = bytes.indexOf('PK\u0001\u0002', 0, 'latin1')
    bytes.writeUInt16LE(bytes.readUInt16LE(entry + 8) | 1, entry + 8)
    return bytes
  }
  test.each<[string, () => string, string]>([
    [
      'a workbook',
      () => put('book.xlsx', zipOf([['[Content_Types].xml', Buffer.from('<Types/>')]])),
      'is a workbook',
    ],
    ['an archive with a password', () => put('locked.zip', locked()), 'a.csv is locked with a password'],
    ['a table without rows', () => put('head.csv', table()), 'has no row with a keyword'],
    [
      'a row without an end',
      () => put('long.csv', table(`2026-01-05,${'x'.repeat(9_000_000)},3,acme.com`)),
      'long.csv:2: the row has more than 4 MB',
    ],
  ])('%s', async (_, file, wanted) => {
    await expect(told(file())).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(wanted),
    })
  })

  test.each(formats.map(({ name }) => name))('a table of something else as %s', async (format) => {
    const other = put('other.csv', 'a,b\n1,2\n')
    const database = tables(`other-${format}.sqlite`, 'CREATE TABLE other (a, b)')
    for (const path of [other, database])
      await expect(told(path, 'acme.com', format)).rejects.toMatchObject({ exitCode: 2 })
  })

  test.skipIf(process.platform === 'win32')('what has no end', async () => {
    await expect(told('/dev/zero')).rejects.toThrow('/dev/zero is no file')
  })

  test.skipIf(process.platform === 'win32')(
    'a link in a folder is its file; one that leads nowhere is none',
    async () => {
      mkdirSync(join(folder, 'links'))
      symlinkSync(put('real.csv', table('2026-01-05,a,3,acme.com')), join(folder, 'links', 'a.csv'))
      symlinkSync(join(folder, 'nowhere'), join(folder, 'links', 'b.csv'))
      expect((await told(join(folder, 'links'))).rows).toEqual(['a acme.com 2026-01-05 ranked 3'])
    },
  )
})

describe('a table as people have it', () => {
  test('is read where spreadsheets and programs changed it, and says what it leaves out', async () => {
    const path = put(
      'sheet.csv',
      [
        'Keyword,Date,Rank,Target,Country,Location',
        'a,2026-01-05,12.0,acme.com,USA,',
        'a,2026-01-05,13.0,acme.com,USA,',
        'b,2026-01-05,"7,0",acme.com,Deutschland,Berlin',
        'c,2026-01-05,4,acme.com,Bavaria,Munich',
        'd,2026-01-05,1.000,acme.com,USA,',
        'never,,,acme.com,USA,',
        ',,,,,',
        '',
      ].join('\r\n'),
    )
    const { rows, dropped } = await told(path)
    expect(rows).toEqual([
      'a acme.com 2026-01-05 ranked 13',
      'b acme.com 2026-01-05 ranked 7',
      'c acme.com 2026-01-05 ranked 4',
      'd acme.com 2026-01-05 unknown ',
    ])
    // A day for the whole file is none of a row that was never checked.
    expect((await told(path, null, null, 20_000)).dropped).toEqual(dropped)
    const moz = put(
      'moz.csv',
      'Keyword,Google en-US Rank,Google en-US URL,Google en-US SERP Date\na,3,https://acme.com/,2026-01-05\nnever,4,,\n',
    )
    expect((await told(moz, 'acme.com', null, 20_000)).rows).toEqual(['a acme.com 2026-01-05 ranked 3'])
    expect(dropped).toEqual({
      'rows without a day: never checked': 1,
      'rows of a keyword, site and day of which another row counts': 1,
    })
  })

  test('whose header stands among its rows is refused; titles may stand above it', async () => {
    const rows = Array.from(
      { length: 14 },
      (_, place) => `${'abcdefghijlmno'[place]},2026-01-05,${place + 1}`,
    )
    const sorted = [...rows, 'keyword,date,rank'].sort()
    await expect(told(put('sorted.csv', `${sorted.join('\n')}\n`), 'acme.com')).rejects.toThrow(
      /sorted\.csv:1: 10 rows stand above the header, which is in line 11\. Put the header into the first line$/,
    )
    const semrush = 'Keyword,Tags,*.acme.com/*_20260105,*.acme.com/*_20260105_type'
    await expect(
      told(put('semrush.csv', `a,,-,\nb,,12,organic\n${semrush}\nc,,7,organic\n`)),
    ).rejects.toThrow(/semrush\.csv:1: 2 rows stand above the header, which is in line 3/)
    const titles =
      'Report for,acme.com,14\nDate range,2026-01-01,2026-01-31\nKeywords,,14\nExported,2026-01-31,\n'
    expect(
      (await told(put('titles.csv', `${titles}keyword,date,rank\n${rows[0]}\n`), 'acme.com')).rows,
    ).toEqual(['a acme.com 2026-01-05 ranked 1'])
  })

  test('without days may have a title of a word and a number', async () => {
    const text = 'Total keywords,1,,\nKeyword,Rank,URL,Volume\na,3,https://acme.com/,100\n'
    expect(
      (await told(put('total.csv', text), 'acme.com', null, Date.UTC(2026, 0, 5) / 86_400_000)).rows,
    ).toEqual(['a acme.com 2026-01-05 ranked 3'])
  })

  test('of two sheets that were joined may have two columns of addresses', async () => {
    const text = 'keyword,date,rank,url,URL\na,2026-01-05,3,https://acme.com/,https://acme.com/\n'
    expect((await told(put('joined.csv', text), 'acme.com')).rows).toEqual(['a acme.com 2026-01-05 ranked 3'])
  })

  test('with two columns of ranks, days, sites or volumes is refused until one is named', async () => {
    const row = 'a,2026-11-01,12,3\n'
    const path = put('two-ranks.csv', `keyword,date,Google,Position\n${row}`)
    await expect(told(path, 'acme.com')).rejects.toMatchObject({
      exitCode: 2,
      message: `${path}:1: 2 columns have ranks (Google, Position). Name one with --column rank=Google`,
    })
    expect((await told(path, 'acme.com', null, null, [['rank', 'Google']])).rows).toEqual([
      'a acme.com 2026-11-01 ranked 12',
    ])
    const refused = async (header: string, ...columns: readonly (readonly [string, string])[]) =>
      await told(put('two.csv', `${header}\n${row}`), 'acme.com', null, null, columns).catch(
        ({ message }) => String(message).split('two.csv:')[1],
      )
    const twice =
      "1: two columns are called 'rank'. Give the one that does not count another name in the file"
    expect(await refused('keyword,date,rank,rank')).toBe(twice)
    expect(await refused('keyword,date,rank,Rank', ['rank', 'rank'])).toBe(twice)
    expect(await refused('keyword,date,rank,date')).toMatch(/two columns are called 'date'/)
    expect(await refused('keyword,date,rank,Start Date')).toMatch(/days \(date, Start Date\)\. .* date=date$/)
    expect(await refused('keyword,date,rank,query')).toMatch(/2 columns have keywords \(keyword, query\)/)
    expect(await refused('domain,date,rank,site,keyword')).toMatch(/2 columns have sites \(domain, site\)/)
    expect(await refused('keyword,date,rank,Volume,Search Volume')).toMatch(/2 columns have search volumes/)
    // Ranks of before, and the best ones, are no ranks of the day.
    expect(await refused('keyword,date,rank,Previous position')).toMatchObject({
      rows: ['a acme.com 2026-11-01 ranked 12'],
    })
  })

  test('with more cells in a row than in its header is refused, but for empty ones and tags', async () => {
    const row = '2026-01-05,size 5,5,12,https://acme.com/'
    await expect(told(put('shifted.csv', `date,keyword,rank,url\n${row}\n`), 'acme.com')).rejects.toThrow(
      /shifted\.csv:2: the row has 5 cells, and the header 4: one of them has .*\. Put quotes around that text, or give every column a name in the header$/,
    )
    const longer = put('longer.csv', 'date,keyword,rank,tags\n2026-01-05,a,5,money,new\n2026-01-05,b,6,,,\n')
    expect((await told(longer, 'acme.com')).rows).toEqual([
      'a acme.com 2026-01-05 ranked 5',
      'b acme.com 2026-01-05 ranked 6',
    ])
    const comma = 'keyword,date,rank,url,tags\nscrew 4,2026-01-05,5,30,https://acme.com/,a\n'
    await expect(told(put('comma.csv', comma), 'acme.com')).rejects.toThrow(
      /comma\.csv:2: the row has 6 cells/,
    )
    const empty = put('empty-cells.csv', 'date,keyword,rank\n2026-01-05,b,6,,\n')
    expect((await told(empty, 'acme.com')).rows).toEqual(['b acme.com 2026-01-05 ranked 6'])
  })

  test('with carriage returns alone at the ends of its lines is read as any other', async () => {
    const text = 'keyword,date,rank\ra,2026-01-05,12\rb,2026-01-05,13\r'
    expect((await told(put('macintosh.csv', text), 'acme.com')).rows).toEqual([
      'a acme.com 2026-01-05 ranked 12',
      'b acme.com 2026-01-05 ranked 13',
    ])
    await expect(told(put('macintosh.csv', text.slice(0, -4)), 'acme.com')).rejects.toThrow(
      /macintosh\.csv:3: the row ends after 2 of 3 cells and has no line end/,
    )
  })

  test('with a broken row says where that is', async () => {
    const path = put('quote.csv', table('2026-01-05,a,3,acme.com', '2026-01-05,"b" c,3,acme.com'))
    await expect(told(path)).rejects.toThrow(/quote\.csv:3: text follows a closed quote/)
  })
})

test.each([
  ['Keyword,Search volume,2026-10-01,2026-10-02,2026-10-03', '2026-10-01, 2026-10-02, …'],
  ['Keyword,Nov 20 2026,Nov 21 2026', 'Nov 20 2026, Nov 21 2026'],
])('a table with a column for each day says how to write it: %s', async (header, days) => {
  const path = put('wide.csv', `${header}\ndesk,3,4\n`)
  await expect(told(path, 'acme.com')).rejects.toThrow(
    `${path} has a column for each day (${days}), which is not read. Write it with a row for each keyword and day, in columns keyword, date and rank`,
  )
})
