import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addClicks, findClicks } from '../../src/arrive/clicks/add-clicks.ts'
import { countedSpans } from '../../src/arrive/clicks/counted.ts'
import { siteOfProperty, uiExport } from '../../src/arrive/clicks/rows.ts'
import { readDay } from '../../src/arrive/csv.ts'
import { writeParquet } from '../../src/output/formats/parquet.ts'
import type { ClickSpan } from '../../src/store/sqlite/clicks/clicks.ts'
import { emptyRow, rowSums, sortedRuns } from '../../src/store/sqlite/clicks/draft.ts'
import type { Store } from '../../src/store/sqlite/open.ts'
import { aStore } from '../store/build.ts'
import { zipOf } from '../support/zip.ts'

const samples = fileURLToPath(new URL('samples', import.meta.url))
let folder = ''
let store: Store

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'clicks-'))
  store = (await aStore()).store
})

afterEach(async () => {
  await rm(folder, { recursive: true })
})

const options = { property: null, period: null, now: Date.parse('2026-11-26T20:00:00Z') }
const add = async (path: string, more: Partial<Parameters<typeof addClicks>[2]> = {}) => {
  const all = { ...options, ...more }
  return await addClicks(store, await findClicks(path, all), all)
}

/** What is stored of an addition: each table with its sums. */
async function sumsOf(id: number) {
  const addition = (await store.clickAdditions()).find((one) => one.id === id)
  return addition?.tables.map((one) =>
    [
      one.property,
      one.rowsOf,
      one.countedBy,
      one.timeSpan,
      one.clicks,
      one.impressions,
      one.anonymousImpressions,
    ].join(' '),
  )
}

/** Clicks, impressions and position of a query over everything that is stored of a site, by country. */
function queryOf(text: string, site: string) {
  const tables = [...new Set(store.clickSpans([site]).map(({ table }) => table))]
  return store.clicksOf([text], tables)[0]?.map(({ country, day, clicks, impressions, positionSum }) => ({
    country,
    day,
    clicks,
    impressions,
    position: positionSum / impressions + 1,
  }))
}

describe('a UI export of Search Console', () => {
  test('is read by its shape: days, queries and pages; the chart is not added to the days', async () => {
    const { id, warnings, leftOut } = await add(join(samples, 'ui-en'), { property: 'https://www.acme.com/' })
    expect(await sumsOf(id)).toEqual([
      'https://www.acme.com/ total property day 160 5910 0',
      'https://www.acme.com/ query property period 151 5510 0',
      'https://www.acme.com/ page page period 151 5510 0',
    ])
    expect(queryOf('Standing  desk', 'acme.com')).toEqual([
      {
        country: '',
        day: readDay('2026-10-01'),
        clicks: 120,
        impressions: 4400,
        position: expect.closeTo(6.4, 9),
      },
    ])
    expect(queryOf('desk, electric', 'acme.com')).toHaveLength(1)
    expect(warnings).toEqual([expect.stringContaining('a UI export has no query by day')])
    expect(leftOut.map((path) => basename(path))).toEqual([
      'Countries.csv',
      'Dates.csv',
      'Devices.csv',
      'Search appearance.csv',
    ])
  })

  test('is read in another language: semicolons, decimal commas, thousands apart; its pages say of which site it is', async () => {
    const { id } = await add(join(samples, 'ui-cs'))
    expect(await sumsOf(id)).toEqual([
      'sc-domain:acme.cz total property day 19 1322 0',
      'sc-domain:acme.cz query property period 19 1322 0',
      'sc-domain:acme.cz page page period 19 1322 0',
    ])
    expect(queryOf('stůl', 'acme.cz')).toEqual([
      expect.objectContaining({ clicks: 12, impressions: 1234, position: expect.closeTo(6.42, 9) }),
    ])
  })

  test('as a ZIP file says its property by its name, and is the same content as its folder', async () => {
    const names = ['Queries.csv', 'Pages.csv', 'Dates.csv']
    const files = await Promise.all(
      names.map(async (name) => [name, await readFile(join(samples, 'ui-en', name))] as const),
    )
    const path = join(folder, 'https___www.acme.com_-Performance-on-Search-2026-11-26.zip')
    await writeFile(path, zipOf(files))
    const { id } = await add(path)
    expect((await sumsOf(id))?.[0]).toBe('https://www.acme.com/ total property day 160 5910 0')
    for (const [name, bytes] of files) await writeFile(join(folder, name), bytes)
    await rm(path)
    expect(await add(folder)).toMatchObject({ id, isNew: false })
  })

  /** An export with such filters, in its files. */
  const filtered = async (base: string, rows: readonly string[]) => {
    const queries = 'Top queries,Clicks,Impressions,CTR,Position\noak desk,5,50,10%,3\n'
    const dates = 'Date,Clicks,Impressions,CTR,Position\n2026-11-01,5,50,10%,3\n'
    for (const [name, text] of [
      ['Queries.csv', queries],
      ['Chart.csv', dates],
      [base, rows.join('\n')],
    ] as const)
      await writeFile(join(folder, name), text)
    return await add(folder, { property: 'sc-domain:acme.com' })
  }

  test.each([
    [['Filter,Value', 'Search type,Web', 'Date,Last 28 days', 'Country,Germany']],
    [['Filtre,Valeur', 'Type de recherche,Web', 'Date,28 derniers jours', 'Pays,Allemagne']],
    [['フィルタ,値', '検索タイプ,ウェブ', '日付,過去 28 日間', '国,Germany']],
  ])('of one country has the clicks of that country alone: %j', async (rows) => {
    const { id, warnings } = await filtered('Filters.csv', rows)
    expect(await sumsOf(id)).toHaveLength(2)
    expect(queryOf('oak desk', 'acme.com')).toEqual([expect.objectContaining({ country: 'de', clicks: 5 })])
    expect(warnings).toContainEqual(expect.stringMatching(/in one country alone \((Germany|Allemagne), de\)/))
  })

  test.each([
    [
      ['Filter,Value', 'Search type,Image', 'Date,Last 28 days'],
      'another search than that of the web (Image)',
    ],
    [['Filter,Wert', 'Suchtyp,Bild', 'Datum,Letzte 28 Tage'], 'another search than that of the web (Bild)'],
    [['Filter,Value', 'Date,Last 28 days', 'Device,Mobile'], 'a part of the property alone (Device: Mobile)'],
    [['Filter,Wert', 'Suchtyp,Web', 'Datum,Letzte 28 Tage', 'Gerät,Mobil'], 'alone (Gerät: Mobil)'],
    [
      ['Filter,Value', 'Search type,Web', 'Date,Last 28 days', 'Country,France', 'Query,+desk'],
      'alone (Query: +desk)',
    ],
    [['Filter,Value', 'Search type,Web', 'Date,Last 28 days', 'Query,Turkey'], 'alone (Query: Turkey)'],
    [['Filter,Wert', 'Suchtyp,Web', 'Datum,Letzte 28 Tage', 'Suchanfrage,hp'], 'alone (Suchanfrage: hp)'],
  ])('of another search or of a part of the property is refused: %j', async (rows, sentence) => {
    await expect(filtered('Filter.csv', rows)).rejects.toThrow(sentence)
    expect(await store.clickAdditions()).toEqual([])
  })

  test('of exactly 1,000 rows is said to be cut', async () => {
    const row = (place: number): string => `desk ${place},1,10,10%,3\n`
    const rows = (count: number): string =>
      `Top queries,Clicks,Impressions,CTR,Position\n${Array.from({ length: count }, (_, place) => row(place)).join('')}`
    const period = { from: readDay('2026-10-01'), until: readDay('2026-10-31') }
    const path = join(folder, 'Queries.csv')
    const warned = async (count: number) => {
      await writeFile(path, rows(count))
      return (await add(path, { property: 'sc-domain:acme.com', period })).warnings.join()
    }
    expect(await warned(1_000)).toContain('Queries.csv has exactly 1,000 rows')
    expect(await warned(999)).not.toContain('1,000')
  })
})

test.each([
  ['Suchanfragen.csv', 'Länder.csv', false, 0],
  ['Länder.csv', 'Requêtes.csv', false, 1],
  ['a.csv', 'b.csv', true, 0],
  ['a.csv', 'b.csv', false, 1],
])('of %s and %s (archive: %s) the table of queries is number %i', (one, other, isArchive, wanted) => {
  expect(
    uiExport.placeOfQueries(
      [
        { base: one, rows: 5 },
        { base: other, rows: 9 },
      ],
      isArchive,
    ),
  ).toBe(wanted)
})

test.each([
  ['https___www.acme.com_-Performance-on-Search-2026-11-26.zip', 'https://www.acme.com/'],
  ['acme.com-Performance-on-Search-2026-11-26.zip', 'sc-domain:acme.com'],
  ['shop.acme.co.uk-Leistung-2026-11-26 (1).zip', 'sc-domain:shop.acme.co.uk'],
  ['export.zip', null],
  ['clicks-2026.csv', null],
])('the name %s says %s', (name, wanted) => {
  expect(uiExport.propertyIn(name)).toBe(wanted)
})

test('a table whose rates are fractions is no UI export', () => {
  expect(uiExport.table([{ cells: ['2026-10-01', '1', '10', '0.1', '3.5'], line: 2 }], 'file')).toBeNull()
})

describe('rows of the API', () => {
  test.each(['api-rows.csv', 'api-rows.json'])(
    '%s: devices are summed, positions weighed by impressions',
    async (name) => {
      await add(join(samples, name), { property: 'sc-domain:acme.com' })
      expect(queryOf('standing desk', 'acme.com')?.find(({ country }) => country === 'us')).toEqual({
        country: 'us',
        day: readDay('2026-10-01'),
        clicks: 40,
        impressions: 1600,
        position: expect.closeTo((1000 * 5.5 + 600 * 6.5) / 1600, 9),
      })
    },
  )

  test('name countries by their codes or, as connectors do, by their names', async () => {
    const path = join(folder, 'rows.csv')
    const rows = ['usa', 'United States', 'Deutschland', '(not set)'].map(
      (country, place) => `2026-10-01,desk,${country},${place + 1},10,2`,
    )
    await writeFile(path, ['date,query,country,clicks,impressions,position', ...rows, ''].join('\n'))
    await add(path, { property: 'sc-domain:acme.com' })
    expect(
      queryOf('desk', 'acme.com')
        ?.map(({ country, clicks }) => `${country} ${clicks}`)
        .sort(),
    ).toEqual([' 4', 'de 3', 'us 3'])
  })

  test('of another language have one query for its spellings', async () => {
    const path = join(folder, 'rows.csv')
    await writeFile(
      path,
      'Date,Query,Clicks,Impressions,Position\n2026-10-01,cafe\u0301,1,10,2\n2026-10-01,Café,2,10,4\n',
    )
    await add(path, { property: 'sc-domain:acme.com' })
    expect(queryOf('CAFÉ', 'acme.com')).toEqual([
      expect.objectContaining({ clicks: 3, impressions: 20, position: 3 }),
    ])
  })
})

describe('whole numbers', () => {
  const stored = async (text: string) => {
    const path = join(folder, 'rows.csv')
    await writeFile(path, text)
    await add(path, { property: 'sc-domain:acme.com' })
    return queryOf('desk', 'acme.com')?.map(({ clicks, impressions }) => [clicks, impressions])
  }
  const [comma, semicolon] = [',', ';'].map((sign) =>
    ['date', 'query', 'clicks', 'impressions', 'position'].join(sign),
  )
  const inQuotes = (cell: string): string => `"${cell}"`

  test.each([
    ['1,234', '12,345', ',', 1_234, 12_345],
    ['1 234', '1,234,567', ',', 1_234, 1_234_567],
    ['12.0', '100.00', ',', 12, 100],
    ['1.234', '12.345', ';', 1_234, 12_345],
    ["1'234", '1.234.567', ';', 1_234, 1_234_567],
  ])('%s of %s between %s', async (clicks, impressions, sign, wantedClicks, wantedImpressions) => {
    const cells = ['2026-10-01', 'desk', clicks, impressions, '4'].map(inQuotes)
    const text = `${sign === ';' ? semicolon : comma}\n${cells.join(sign)}\n`
    expect(await stored(text)).toEqual([[wantedClicks, wantedImpressions]])
  })

  test.each([
    ['1.5', '10', "rows.csv:2: '1.5' is no clicks; write a whole number"],
    ['1', '10.25', "rows.csv:2: '10.25' is no impressions"],
    ['1.5K', '2000', "rows.csv:2: '1.5K' is no clicks"],
    ['1.000', '2000', "rows.csv:2: '1.000' is no clicks"],
    ['1,23', '2000', "rows.csv:2: '1,23' is no clicks"],
    ['11', '10', 'rows.csv:2: the row has more clicks (11) than impressions (10)'],
  ])('%s clicks of %s impressions are refused', async (clicks, impressions, sentence) => {
    const cells = ['2026-10-01', 'desk', clicks, impressions, '4'].map(inQuotes)
    await expect(stored(`${comma}\n${cells.join(',')}\n`)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(sentence),
    })
    expect(await store.clickAdditions()).toEqual([])
  })

  test.each([
    ['1.5', '10', "file.json:1: '1.5' is no clicks"],
    ['"1,000"', '1', 'file.json:1: the row has more clicks (1,000) than impressions (1)'],
  ])('of JSON: %s clicks of %s impressions', async (clicks, impressions, sentence) => {
    const path = join(folder, 'file.json')
    const row = `{"date":"2026-10-01","query":"desk","clicks":${clicks},"impressions":${impressions},"position":2}`
    await writeFile(path, `[${row}]`)
    await expect(add(path, { property: 'sc-domain:acme.com' })).rejects.toThrow(sentence)
  })

  test.each([
    ['--', '10', '1%', '4', "Queries.csv:2: '--' is no clicks"],
    ['1.5K', '20K', '1%', '4', "Queries.csv:2: '1.5K' is no clicks"],
    ['1', '10', '--', '4', "Queries.csv:2: '--' is no rate"],
    ['1', '10', '1%', '--', "Queries.csv:2: '--' is no position"],
    ['11', '10', '1%', '4', 'Queries.csv:2: the row has more clicks (11) than impressions (10)'],
  ])(
    'of a UI export: %s, %s, %s, %s name the cell',
    async (clicks, impressions, rate, position, sentence) => {
      const rows = [
        ['desk', clicks, impressions, rate, position],
        ...['oak desk', 'lamp'].map((one) => [one, '1', '10', '10%', '3']),
      ]
      const head = 'Top queries,Clicks,Impressions,CTR,Position\n'
      await writeFile(join(folder, 'Queries.csv'), head + rows.map((row) => `${row.join()}\n`).join(''))
      await writeFile(
        join(folder, 'Chart.csv'),
        'Date,Clicks,Impressions,CTR,Position\n2026-10-01,5,50,10%,3\n',
      )
      await expect(add(folder, { property: 'sc-domain:acme.com' })).rejects.toThrow(sentence)
    },
  )

  test('of a UI export whose only row has dashes name the cell', async () => {
    const head = 'Top queries,Clicks,Impressions,CTR,Position\n'
    await writeFile(join(folder, 'Queries.csv'), `${head}desk,--,--,--,--\n`)
    await writeFile(join(folder, 'Chart.csv'), `${head}2026-10-01,5,50,10%,3\n`)
    await expect(add(folder, { property: 'sc-domain:acme.com' })).rejects.toThrow(
      "Queries.csv:2: '--' is no clicks",
    )
  })
})

describe('a bulk export', () => {
  test('is summed, because its rows are not unique; other searches are left out, and queries without a name counted apart', async () => {
    const { id, rows, otherSearches } = await add(join(samples, 'bulk-site.jsonl'))
    expect({ rows, otherSearches }).toEqual({ rows: 4, otherSearches: 1 })
    expect(await sumsOf(id)).toEqual(['sc-domain:acme.com query property day 46 1900 700'])
    expect(queryOf('standing desk', 'acme.com')).toEqual([
      expect.objectContaining({
        clicks: 35,
        impressions: 1200,
        position: expect.closeTo(5400 / 1200 + 1, 9),
      }),
    ])
  })

  test('as Parquet says the same', async () => {
    const columns = [
      ...['data_date', 'site_url', 'query', 'is_anonymized_query', 'country', 'search_type'].map(
        (name) => ({ name, type: 'text' }) as const,
      ),
      ...['impressions', 'clicks', 'sum_top_position'].map((name) => ({ name, type: 'long' }) as const),
    ]
    const rowOf = (query: string | null, type: string, clicks: number) =>
      [
        '2026-10-01',
        'sc-domain:acme.com',
        query,
        String(query === null),
        'usa',
        type,
        100,
        clicks,
        300,
      ] as const
    const rows = [
      ...Array.from({ length: 12_000 }, (_, place) => rowOf(`desk ${place % 3}`, 'WEB', 1)),
      rowOf(null, 'WEB', 7),
      rowOf('desk 1', 'IMAGE', 9),
    ]
    const pieces: Uint8Array[] = []
    for await (const piece of writeParquet(rows, { columns, name: 'rows', csv: 'raw' })) pieces.push(piece)
    await writeFile(join(folder, 'site.parquet'), Buffer.concat(pieces))
    const { id, otherSearches } = await add(join(folder, 'site.parquet'))
    expect(otherSearches).toBe(1)
    expect(await sumsOf(id)).toEqual(['sc-domain:acme.com query property day 12007 1200100 100'])
    expect(queryOf('desk 2', 'acme.com')).toEqual([
      expect.objectContaining({ country: 'us', clicks: 4_000, impressions: 400_000, position: 4 }),
    ])
  })

  test('in several files of one folder is one table, packed or not', async () => {
    const head =
      'data_date,site_url,query,is_anonymized_query,country,search_type,device,impressions,clicks,sum_top_position\n'
    const row = '2026-10-01,sc-domain:acme.com,desk,false,usa,WEB,MOBILE,10,1,20\n'
    await writeFile(join(folder, 'part-0.csv'), head + row)
    await writeFile(join(folder, 'part-1.csv.gz'), gzipSync(head + row + row))
    const { id } = await add(folder)
    expect(await sumsOf(id)).toEqual(['sc-domain:acme.com query property day 3 30 0'])
  })
})

describe('what is wrong ends in one sentence, and nothing is stored', () => {
  const head = 'date,query,clicks,impressions,position\n'
  test.each([
    ['a cut row', `${head}2026-10-01,desk,1,10,2\n2026-10-02,desk,1`, 'file:3: the row has 3 cells, not 5'],
    [
      'two columns of one name',
      'date,query,clicks,Clicks,impressions,position\n2026-10-01,desk,1,2,10,2\n',
      "file:1: two columns are called 'clicks'",
    ],
    ['a cut quote', `${head}2026-10-01,"desk,1,10,2\n`, 'file:2: a quote is opened and never closed'],
    ['a day of another form', `${head}01.10.2026,desk,1,10,2\n`, "file:2: '01.10.2026' is no date"],
    ['a day that is none', `${head}2026-02-30,desk,1,10,2\n`, "file:2: '2026-02-30' is no date"],
    [
      'a day that is still to come',
      `${head}2026-10-01,desk,1,10,2\n2026-11-28,desk,1,10,2\n`,
      "file:3: '2026-11-28' is in the future",
    ],
    [
      'a UI export of days to come',
      'Date,Clicks,Impressions,CTR,Position\n2027-06-01,5,50,10%,3\n',
      "file:2: '2027-06-01' is in the future",
    ],
    [
      'a UI export of a day that is none',
      'Date,Clicks,Impressions,CTR,Position\n2026-02-30,5,50,10%,3\n',
      "file:2: '2026-02-30' is no date",
    ],
    ['a negative number', `${head}2026-10-01,desk,-1,10,2\n`, "file:2: '-1' is no clicks"],
    ['an empty number', `${head}2026-10-01,desk,1,,2\n`, 'file:2: the row has no impressions'],
    ['no rows', head, 'has no row below its header'],
    ['another table', 'name,size\na,1\n', 'is no table of clicks that rankline knows'],
    [
      'two periods beside each other',
      'Query,Clicks,Clicks,Impressions,Impressions,CTR,CTR,Position,Position\ndesk,1,2,10,20,10%,10%,3,4\n',
      'compares two periods',
    ],
    ['rows without days', 'query,clicks,impressions,position\ndesk,1,10,2\n', 'has no days'],
    [
      'cut JSON lines',
      '{"date":"2026-10-01","query":"a","clicks":1,"impressions":2,"position":1}\n{"date":"2026-10-0',
      'file:2: the line is no JSON',
    ],
    ['cut JSON', '{"rows":[{"keys":["2026-10-01","a"],"clicks":1', 'is no whole JSON'],
    ['cut Parquet', 'PAR1 and nothing more of it', 'is no whole Parquet file'],
    ['a cut archive', 'PK\u0003\u0004 and nothing more', 'is no whole ZIP archive'],
    ['an empty file', '', 'is empty'],
    ['a number without end', `${head}2026-10-01,desk,1e999,10,2\n`, "file:2: '1e999' is no clicks"],
    ['a day of another century', `${head}9999-10-01,desk,1,10,2\n`, "file:2: '9999-10-01' is no date"],
    [
      'rows of JSON without their keys',
      '{"rows":[{"keys":["2026-10-01","a"],"clicks":1,"impressions":2,"position":1},{"clicks":1,"impressions":2,"position":1}]}',
      'file:2: the row has no date',
    ],
  ])('%s', async (_, text, wanted) => {
    const path = join(folder, 'file')
    await writeFile(path, text)
    const error = await add(path, { property: 'sc-domain:acme.com' }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining(wanted) })
    expect(await store.clickAdditions()).toEqual([])
  })

  test('a property that is no site', async () => {
    await writeFile(join(folder, 'rows.csv'), `${head}2026-10-01,desk,1,10,2\n`)
    const error = await add(join(folder, 'rows.csv'), { property: 'sc-domain::::' }).catch((thrown) => thrown)
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining('names no site') })
    expect(await store.clickAdditions()).toEqual([])
  })

  test('rows that do not say of which site they are', async () => {
    await writeFile(join(folder, 'rows.csv'), `${head}2026-10-01,desk,1,10,2\n`)
    await expect(add(join(folder, 'rows.csv'))).rejects.toThrow('Name the property: --site acme.com')
  })
})

describe('a row of another site than the one that was named is refused with its line', () => {
  test.each([
    [
      'a page',
      'date,page,clicks,impressions,position\n2026-10-01,https://www.acme.com/a,1,10,2\n2026-10-01,https://other.com/a,9,90,2\n',
      "file:3: 'https://other.com' is of another site than acme.com",
    ],
    [
      'a page beside a query',
      'date,query,page,clicks,impressions,position\n2026-10-01,desk,https://acme.com.evil.com/,9,90,2\n',
      "file:2: 'https://acme.com.evil.com' is of another site than acme.com",
    ],
    [
      'a property',
      'date,query,site_url,clicks,impressions,position\n2026-10-01,desk,sc-domain:other.com,9,90,2\n',
      "file:2: 'sc-domain:other.com' is of another site than acme.com",
    ],
    [
      'a page of JSON',
      '[{"keys":["2026-10-01","https://other.com/"],"clicks":1,"impressions":2,"position":1}]',
      "file:1: 'https://other.com' is of another site than acme.com",
    ],
    [
      'a page of a UI export',
      'Top pages,Clicks,Impressions,CTR,Position\nhttps://acme.com/,5,50,10%,3\nhttps://other.com/,5,50,10%,3\n',
      "file:3: 'https://other.com' is of another site than acme.com",
    ],
  ])('%s', async (_, text, sentence) => {
    const path = join(folder, 'file')
    await writeFile(path, text)
    const period = { from: readDay('2026-10-01'), until: readDay('2026-10-31') }
    const error = await add(path, { property: 'sc-domain:acme.com', period }).catch((thrown) => thrown)
    expect(error).toMatchObject({ exitCode: 2, message: expect.stringContaining(sentence) })
    expect(await store.clickAdditions()).toEqual([])
  })
})

describe('rows of several files', () => {
  const head = 'date,query,device,clicks,impressions,position'
  const addAll = async (...files: readonly (readonly string[])[]) => {
    for (const [place, rows] of files.entries())
      await writeFile(join(folder, `${place}.csv`), `${rows.join('\n')}\n`)
    return await add(folder, { property: 'sc-domain:acme.com' })
  }
  const desk = '2026-11-01,desk,MOBILE,3,30,2'

  test('are added up where they say something else', async () => {
    const mobile = [head, desk, '2026-11-02,desk,MOBILE,1,10,2']
    const other = [head, '2026-11-01,desk,DESKTOP,3,30,2', '2026-11-01,lamp,MOBILE,3,30,2']
    const { id } = await addAll(mobile, other)
    expect(await sumsOf(id)).toEqual(['sc-domain:acme.com query property day 10 100 0'])
  })

  test.each([
    ['one row', [head, '2026-11-01,lamp,MOBILE,3,30,2', desk]],
    ['a row in other words', [head, '2026-11-01, Desk,MOBILE,3.0,30,2.0']],
    [
      'columns in another order',
      ['query,date,device,clicks,impressions,position', 'desk,2026-11-01,MOBILE,3,30,2'],
    ],
  ])('are refused where they say the same: %s', async (_, rows) => {
    await expect(addAll([head, '2026-10-31,desk,MOBILE,1,10,2', desk], rows)).rejects.toMatchObject({
      exitCode: 2,
      message: `${join(folder, `1.csv:${rows.length}`)}: the same row stands in ${join(folder, '0.csv')}, of 2026-11-01 (1 of 1 that they could share), and would count twice. Take such rows out of one of the files, or, where the files are of different devices, countries, searches or sites, name those in a column device, country, search_type or site_url; nothing was stored`,
    })
    expect(await store.clickAdditions()).toEqual([])
  })
})

describe('rows with more clicks than impressions', () => {
  const property = 'sc-domain:acme.com'
  const rows = (strange: number, all: number): string =>
    Array.from(
      { length: all },
      (_, place) => `2026-10-01,desk ${place},${place < strange ? 3 : 1},2,1\n`,
    ).join('')

  test.each([
    [1, 11, ' and counts as it stands.'],
    [2, 21, ' as have 2 of 21, and counts as it stands.'],
  ])('%i of %i count, and the first one is named', async (strange, all, end) => {
    await writeFile(join(folder, 'rows.csv'), `date,query,clicks,impressions,position\n${rows(strange, all)}`)
    const { id, warnings } = await add(join(folder, 'rows.csv'), { property })
    expect(warnings).toEqual([
      `${join(folder, 'rows.csv')}:2: the row has more clicks (3) than impressions (2),${end}`,
    ])
    expect(await sumsOf(id)).toEqual([`${property} query property day ${all + strange * 2} ${all * 2} 0`])
  })

  test.each([
    [1, 10, ''],
    [2, 20, ', as have 2 of 20'],
  ])('%i of %i are refused', async (strange, all, which) => {
    await writeFile(join(folder, 'rows.csv'), `date,query,clicks,impressions,position\n${rows(strange, all)}`)
    await expect(add(join(folder, 'rows.csv'), { property })).rejects.toThrow(
      `rows.csv:2: the row has more clicks (3) than impressions (2)${which}. Its columns may be mixed up; nothing was stored`,
    )
  })

  test('of a UI export are named, and do not matter in a table that is left out', async () => {
    const head = 'Top queries,Clicks,Impressions,CTR,Position\n'
    const many = Array.from({ length: 12 }, (_, place) => `2026-10-${10 + place},1,2,50%,1\n`).join('')
    await writeFile(join(folder, 'Chart.csv'), head + many)
    await writeFile(join(folder, 'Queries.csv'), `${head}desk,3,2,150%,1\nlamp,1,2,50%,1\n`)
    await writeFile(join(folder, 'Search appearance.csv'), `${head}Translated results,3,2,150%,1\n`)
    const { leftOut, warnings } = await add(folder, { property })
    expect(leftOut).toEqual([join(folder, 'Search appearance.csv')])
    expect(warnings[0]).toBe(
      `${join(folder, 'Queries.csv')}:2: the row has more clicks (3) than impressions (2), and counts as it stands.`,
    )
  })
})

test.each(['-', '–', ''])('a day without impressions has no rate and no position: %j', async (nothing) => {
  const head = 'Date,Clicks,Impressions,CTR,Position\n'
  const days = ['2026-10-01,1,10,10%,3', `2026-10-02,0,0,${nothing},${nothing}`, '2026-10-03,1,10,10%,3']
  await writeFile(join(folder, 'Chart.csv'), `${head}${days.join('\n')}\n`)
  const { id } = await add(folder, { property: 'sc-domain:acme.com' })
  expect(await sumsOf(id)).toEqual(['sc-domain:acme.com total property day 2 20 0'])
  const rows = ['2026-10-01,desk,1,10,3', `2026-10-02,desk,0,0,${nothing}`]
  await writeFile(join(folder, 'rows.csv'), `date,query,clicks,impressions,position\n${rows.join('\n')}\n`)
  expect((await add(join(folder, 'rows.csv'), { property: 'sc-domain:acme.com' })).rows).toBe(2)
})

describe('numbers as BigQuery prints them', () => {
  const head = 'data_date,site_url,query,impressions,clicks,sum_top_position\n'
  test.each([
    ['rows.csv', `${head}2026-10-01,sc-domain:acme.com,desk,1.2E7,1e3,4.5\n`, 12_000_000, 1_000, 4.5],
    ['rows.csv', `${head}2026-10-01,sc-domain:acme.com,desk,20.0,1.0,1.25E7\n`, 20, 1, 12_500_000],
    [
      'rows.json',
      '[{"data_date":"2026-10-01","site_url":"sc-domain:acme.com","query":"desk","impressions":"20","clicks":"1","sum_top_position":"4.5"}]',
      ...[20, 1, 4.5],
    ],
  ])('%s: %s', async (name, text, impressions, clicks, sum) => {
    await writeFile(join(folder, name), text)
    await add(join(folder, name))
    expect(queryOf('desk', 'acme.com')).toEqual([
      expect.objectContaining({ clicks, impressions, position: expect.closeTo(sum / impressions + 1, 9) }),
    ])
  })

  test.each([
    ['1.25E1', '1', '4.5', "'1.25E1' is no impressions"],
    ['20', '1', '4.500', "'4.500' is no sum of positions"],
    ['20', '1', 'x', "'x' is no sum of positions"],
  ])('%s impressions, %s clicks and %s are refused', async (impressions, clicks, sum, sentence) => {
    await writeFile(
      join(folder, 'rows.csv'),
      `${head}2026-10-01,sc-domain:acme.com,desk,${impressions},${clicks},${sum}\n`,
    )
    await expect(add(join(folder, 'rows.csv'))).rejects.toThrow(sentence)
  })
})

test.each(['Acme', '123456', 'null', ''])('the label %j of a property names no site', async (label) => {
  const rows = (head: string, cells: string) =>
    writeFile(
      join(folder, 'rows.csv'),
      `date,query,clicks,impressions,position,site${head}\n2026-10-01,desk,1,10,2,${label}${cells}\n`,
    )
  await rows('', '')
  const { id } = await add(join(folder, 'rows.csv'), { property: 'sc-domain:acme.com' })
  expect(await sumsOf(id)).toEqual(['sc-domain:acme.com query property day 1 10 0'])
  await expect(add(join(folder, 'rows.csv'), { property: label })).rejects.toThrow('names no site')
  await store.undoClicks(id)
  await expect(add(join(folder, 'rows.csv'))).rejects.toThrow('--site acme.com')
  await rows(',page', ',https://www.acme.com/')
  const byPage = await add(join(folder, 'rows.csv'))
  expect(await sumsOf(byPage.id)).toEqual(['sc-domain:acme.com query page day 1 10 0'])
})

describe('files of a folder that are told apart by their names', () => {
  const days = (from: number, count: number) =>
    Array.from({ length: count }, (_, place) => `2026-11-${String(from + place).padStart(2, '0')}`)
  const addAll = async (head: string, ...files: readonly (readonly string[])[]) => {
    for (const [place, rows] of files.entries())
      await writeFile(join(folder, `${place}.csv`), `${[head, ...rows].join('\n')}\n`)
    return await add(folder, { property: 'sc-domain:acme.com' })
  }
  const head = 'date,query,clicks,impressions,ctr,position'

  test('are added up where rows are equal by chance', async () => {
    const desktop = days(1, 9).flatMap((day) => [`${day},desk,3,30,0.1,2`, `${day},oak desk,1,9,0.1,4.5`])
    const mobile = days(1, 9).flatMap((day, place) => [
      `${day},desk,${place < 4 ? 3 : 2},30,0.1,2`,
      `${day},oak desk,4,40,0.1,4`,
    ])
    expect((await addAll(head, desktop, mobile)).rows).toBe(36)
  })

  test('are added up where a row or two of few impressions are all that they have', async () => {
    const [row, other] = ['2026-11-01,desk,0,1,0,4', '2026-11-01,lamp,0,1,0,4']
    expect((await addAll(head, [row], [row, other])).rows).toBe(3)
  })

  test.each(['hour', 'search_appearance'])(
    'are added up where a column %s tells rows apart',
    async (name) => {
      const rows = (value: string) => days(1, 9).map((day) => `${day},desk,3,30,0.1,2,${value}`)
      expect((await addAll(`${head},${name}`, rows('1'), rows('2'))).rows).toBe(18)
    },
  )

  test('are added up where one of them has more of each row', async () => {
    const [some, more] = ['1,10,0.1,4', '2,20,0.1,3'].map((numbers) =>
      days(1, 9).map((day) => `${day},desk,${numbers}`),
    )
    expect((await addAll(head, some ?? [], more ?? [])).rows).toBe(18)
    expect((await addAll(head, some?.slice(0, 2) ?? [], more ?? [])).rows).toBe(11)
  })

  test('are refused where they share a day, of many', async () => {
    const rows = (all: readonly string[]) =>
      all.flatMap((day) => [`${day},desk,3,30,0.1,2`, `${day},lamp,1,9,0.1,4`])
    await expect(addAll(head, rows(days(1, 9)), rows(days(9, 9)))).rejects.toThrow(
      `${join(folder, '1.csv:2')}: the same row stands in ${join(folder, '0.csv')}, of 2026-11-09 (2 of 2 that they could share)`,
    )
  })

  test('are refused where a day that was not final is followed by its final numbers', async () => {
    const early = [...days(1, 8).map((day) => `${day},desk,3,30,0.1,2`), '2026-11-09,desk,0,10,0,4']
    const final = days(9, 9).map((day) => `${day},desk,3,30,0.1,2`)
    await expect(addAll(head, early, final)).rejects.toThrow(
      `${join(folder, '1.csv:2')}: the row stands, with other numbers, in ${join(folder, '0.csv')}, of 2026-11-09`,
    )
  })
})

describe('a row that ends early', () => {
  const property = 'sc-domain:acme.com'
  const period = { from: readDay('2026-10-01'), until: readDay('2026-10-31') }
  const head = 'date,query,clicks,impressions,position,country,note'
  const addText = async (text: string) => {
    await writeFile(join(folder, 'rows.csv'), text)
    return await add(join(folder, 'rows.csv'), { property, period })
  }

  test('lacks cells that are empty, as Excel saves it', async () => {
    const text = `${head}\n2026-10-01,desk,3,30,2,usa,x\n2026-10-02,desk,1,20,4,usa\n2026-10-03,desk,1,20,4\n2026-10-04,desk,0,0\n`
    const { id, warnings } = await addText(text)
    expect([warnings, await sumsOf(id)]).toEqual([[], [`${property} query property day 5 70 0`]])
    expect(
      queryOf('desk', 'acme.com')
        ?.map(({ country, clicks }) => `${country} ${clicks}`)
        .sort(),
    ).toEqual([' 0', ' 1', 'us 1', 'us 3'])
  })

  test.each([
    [
      'before its impressions',
      `${head}\n2026-10-01,desk,3\n`,
      'the row has 3 cells, not 7: the file may be cut',
    ],
    ['before a position that it must have', `${head}\n2026-10-01,desk,3,30\n`, 'the row has no position'],
    [
      'at the end of the file, without a line end',
      `${head}\n2026-10-01,desk,3,30,2`,
      'the row has 5 cells, not 7: the file may be cut',
    ],
  ])('%s is refused', async (_, text, words) => {
    await expect(addText(text)).rejects.toThrow(`rows.csv:2: ${words}`)
  })

  test('of a UI export has no impressions', async () => {
    const days =
      'Date,Clicks,Impressions,CTR,Position\n2026-10-01,3,30,10%,2\n2026-10-02,1,20,5%,4\n2026-10-03,1,20,5%,4\n'
    expect((await addText(`${days}2026-10-04,0,0\n`)).rows).toBe(4)
    await expect(addText(`${days}2026-10-04,1,9\n`)).rejects.toThrow('rows.csv:5: the row has another form')
  })
})

describe('line ends of old Macintosh', () => {
  const rows = ['date,query,clicks,impressions,position', '2026-10-01,desk,3,30,2', '2026-10-02,desk,1,20,4']
  const addText = async (text: string) => {
    await writeFile(join(folder, 'rows.csv'), text)
    return await add(join(folder, 'rows.csv'), { property: 'sc-domain:acme.com' })
  }
  const chunk = 1 << 20

  test.each([
    ['alone', rows.join('\r')],
    ['beside a line feed within quotes', `${rows[0]},note\r${rows[1]},"a\nb"\r${rows[2]},c\r`],
    ['behind a first piece without any', `${rows[0]},${'x'.repeat(chunk)}\r${rows[1]},a\r${rows[2]},b\r`],
    [
      'of which the first one ends a piece',
      `${rows[0]},${'x'.repeat(chunk - 40)}\r${rows[1]},a\r${rows[2]},b\r`,
    ],
  ])('are read: %s', async (_, text) => {
    expect((await addText(text)).rows).toBe(2)
  })

  test('are not taken for those before a line feed in the next piece', async () => {
    const text = `${rows[0]},${'x'.repeat(chunk - 40)}\r\n${rows[1]},a\r\n2026-10-02,desk,x,20,4,b\r\n`
    expect(text.indexOf('\r')).toBe(chunk - 1)
    await expect(addText(text)).rejects.toThrow("rows.csv:3: 'x' is no clicks")
  })
})

describe('a row of sums', () => {
  const property = 'sc-domain:acme.com'
  const period = { from: readDay('2026-10-01'), until: readDay('2026-10-31') }
  const file = async (rows: readonly string[], name = 'rows.csv') => {
    await writeFile(join(folder, name), `${rows.join('\n')}\n`)
    return join(folder, name)
  }
  const head = 'query,clicks,impressions,position'
  const two = ['desk,3,30,2', 'lamp,1,20,4']
  const dated = 'date,query,clicks,impressions,position'
  const days = ['2026-10-01,desk,3,30,2', '2026-10-01,lamp,1,20,4', '2026-10-02,desk,2,40,2']
  const ui = 'Top queries,Clicks,Impressions,CTR,Position'
  const uiRows = ['desk,3,30,10%,2', 'lamp,1,20,5%,4']

  test.each<[string, readonly string[], number, string]>([
    ['below the others', [head, ...two, 'Total,4,50,2.8'], 4, "'Total' is the sum of the others and was"],
    ['above the others', [head, 'Totals,4,50,', ...two], 2, "'Totals' is the sum of the others and was"],
    ['in German', [head, ...two, 'Summe,4,50,-'], 4, "'Summe' is the sum of the others and was"],
    ['with a number', [head, ...two, '"Total: 2 queries",4,50,'], 4, "'Total: 2 queries' is the sum"],
    ['without a name', [head, ...two, ',4,50,'], 4, 'without a name is the sum of the others and was'],
    [
      'of pages',
      [
        'page,clicks,impressions,position',
        'https://acme.com/,3,30,2',
        'https://acme.com/b,1,20,4',
        'Total,4,50,',
      ],
      4,
      "'Total' is",
    ],
    ['of a day', [dated, ...days.slice(0, 2), '2026-10-01,Total,4,50,2.8', days[2] ?? ''], 4, "'Total' is"],
    ['of all days', [dated, ...days, 'Total,,6,90,'], 5, "'Total' is the sum of the others and was"],
    ['of all days, without a name', [dated, ...days, ',,6,90,'], 5, 'without a name is the sum'],
    [
      'of each day',
      [
        dated,
        ...days.slice(0, 2),
        '2026-10-01,Total,4,50,2',
        '2026-10-02,desk,2,40,2',
        '2026-10-02,Total,2,40,2',
      ],
      4,
      "2 rows are sums of the others and were left out; the first one is 'Total'",
    ],
    ['of a UI export', [ui, ...uiRows, 'Total,4,50,,'], 4, "'Total' is the sum of the others and was"],
  ])('%s is left out, and named', async (_, rows, line, words) => {
    const path = await file(rows)
    const { id, warnings } = await add(path, { property, period })
    const named = warnings.filter((text) => /(?:is the sum|are sums) of /.test(text))
    expect(named).toEqual([expect.stringContaining(`${path}:${line}`)])
    expect(named).toEqual([expect.stringContaining(words)])
    const sums = rows[0]?.startsWith('date') ? [6, 90] : [4, 50]
    const of = rows[0]?.startsWith('page') ? 'page page' : 'query property'
    const span = rows[0]?.startsWith('date') ? 'day' : 'period'
    expect(await sumsOf(id)).toEqual([`${property} ${of} ${span} ${sums[0]} ${sums[1]} 0`])
  })

  test.each<[string, readonly string[], number, number]>([
    ['of other numbers', [head, ...two, 'total,4,49,2'], 8, 99],
    ['beside one other row', [head, 'desk,3,30,2', 'total,3,30,2'], 6, 60],
    ['of few impressions', [head, 'desk,0,1,2', 'lamp,0,1,2', 'total,0,2,2'], 0, 4],
    [
      'on each of two days, of one of which it is the sum',
      [
        dated,
        ...days.slice(0, 2),
        '2026-10-01,total,4,50,2',
        '2026-10-02,desk,2,40,2',
        '2026-10-02,total,1,9,2',
      ],
      11,
      149,
    ],
    [
      'in two rows of a day',
      [
        `${dated},country`,
        ...days.slice(0, 2).map((row) => `${row},usa`),
        '2026-10-01,total,4,50,2,usa',
        '2026-10-01,total,1,9,2,gbr',
      ],
      9,
      109,
    ],
  ])('may be a keyword: %s', async (_, rows, clicks, impressions) => {
    const { id, warnings } = await add(await file(rows), { property, period })
    expect(warnings).toEqual([])
    expect((await sumsOf(id))?.[0]).toContain(` ${clicks} ${impressions} 0`)
  })

  test('that has more than all others counts, and is named', async () => {
    const path = await file([head, ...two, 'Total,9,99,2'])
    const { id, warnings } = await add(path, { property, period })
    expect(warnings).toEqual([
      `${path}:4: the row 'Total' has as much as the 2 other rows together, and counts as a row. If it is a sum, undo this addition, and take it out of the file.`,
    ])
    expect((await sumsOf(id))?.[0]).toContain(' 13 149 0')
  })

  test.each([
    ['has no position', [head, ...two, 'Total,4,49,'], 4, 'the row has no position'],
    ['has no day', [dated, ...days, ',,6,89,2'], 5, 'the row has no date'],
    ['has no rate', [ui, ...uiRows, 'Total,4,49,,'], 4, "'' is no rate in percent"],
  ])('that %s is refused where it is none', async (_, rows, line, words) => {
    const path = await file(rows)
    await expect(add(path, { property, period })).rejects.toThrow(`${path}:${line}: ${words}`)
  })

  test('of the days of a UI export does not make another table of it', async () => {
    await file(
      [
        'Date,Clicks,Impressions,CTR,Position',
        '2026-10-01,3,30,10%,2',
        '2026-10-02,1,20,5%,4',
        'Total,4,50,8%,2.8',
      ],
      'Chart.csv',
    )
    await file([ui, ...uiRows], 'Queries.csv')
    const { id, warnings } = await add(folder, { property })
    expect(warnings[0]).toBe(
      `${join(folder, 'Chart.csv:4')}: the row 'Total' is the sum of the others and was left out.`,
    )
    expect(await sumsOf(id)).toEqual([
      `${property} total property day 4 50 0`,
      `${property} query property period 4 50 0`,
    ])
  })

  test('of each day and country counts, and what that doubles is said', async () => {
    const rows = ['usa', 'deu'].flatMap((country) => [
      `2026-10-01,desk,${country},3,30,2`,
      `2026-10-01,lamp,${country},1,20,4`,
      `2026-10-01,Total,${country},4,50,2.8`,
    ])
    const path = await file(['date,query,country,clicks,impressions,position', ...rows])
    expect((await add(path, { property })).warnings).toContain(
      `${path}:4: 2 rows such as 'Total' have together as much as the 4 others, and count as rows. If they are sums, undo this addition, and take them out of the file.`,
    )
  })

  test('of each of many files is named for three of them', async () => {
    for (let day = 1; day <= 5; day++)
      await file(
        [dated, `2026-10-0${day},desk,3,30,2`, `2026-10-0${day},lamp,1,20,4`, 'Total,,4,50,'],
        `${day}.csv`,
      )
    const { warnings } = await add(folder, { property })
    expect([warnings.length, warnings[3]]).toEqual([4, 'The same is so of 2 more files.'])
  })

  test('of each file of a folder is left out', async () => {
    await file([dated, ...days.slice(0, 2), 'Total,,4,50,'], 'a.csv')
    await file([dated, '2026-10-03,desk,5,50,2', '2026-10-03,lamp,5,50,2', 'Total,,10,100,'], 'b.csv')
    const { id, warnings } = await add(folder, { property })
    expect([warnings.length, ...((await sumsOf(id)) ?? [])]).toEqual([
      2,
      `${property} query property day 14 150 0`,
    ])
  })
})

describe('an early and a final export of the same days', () => {
  const rowsOf = (numbers: (place: number) => readonly [number, number, number], many = 12) =>
    Array.from({ length: many }, (_, place) => {
      const [clicks, impressions, position] = numbers(place)
      return `2026-11-${20 + (place % 3)},desk ${place},${clicks},${impressions},${position}`
    })
  const addBoth = async (...files: readonly (readonly string[])[]) => {
    for (const [place, rows] of files.entries())
      await writeFile(
        join(folder, `${place}.csv`),
        `date,query,clicks,impressions,position\n${rows.join('\n')}\n`,
      )
    return await add(folder, { property: 'sc-domain:acme.com' })
  }
  const early = rowsOf((place) => [place, 40 + place, 3 + place])
  const final = rowsOf((place) => [place + (place % 3), 55 + place, 3.1 + place])

  test.each([
    ['the early one first', early, final, 12],
    ['the final one first', final, early, 12],
    ['with queries that came later', early, [...final, ...rowsOf(() => [1, 9, 30], 15).slice(12)], 12],
  ])('are refused: %s', async (_, one, other, rows) => {
    await expect(addBoth(one, other)).rejects.toMatchObject({
      exitCode: 2,
      message: `${join(folder, '1.csv:2')}: the row stands, with other numbers, in ${join(folder, '0.csv')}, of 2026-11-20 (${rows} of 12 that they could share, none with fewer clicks or impressions, as in an early and a final export), and would count twice. Take such rows out of one of the files, or, where the files are of different devices, countries, searches or sites, name those in a column device, country, search_type or site_url; nothing was stored`,
    })
    expect(await store.clickAdditions()).toEqual([])
  })

  test.each([
    ['one row has fewer', rowsOf((place) => [place, place === 5 ? 44 : 55 + place, 3.1 + place])],
    ['there are twice as many', rowsOf((place) => [place * 2, 80 + place * 2, 3 + place])],
    ['positions are others', rowsOf((place) => [place, 55 + place, 5 + place * 2])],
    ['two queries are others', [...final.slice(2), ...rowsOf(() => [1, 60, 30], 14).slice(12)]],
  ])('are added up where %s, as of devices', async (_, other) => {
    expect((await addBoth(early, other)).rows).toBe(24)
  })

  test('are added up where days that were final in both differ, as of devices', async () => {
    const month = (more: number) =>
      Array.from(
        { length: 28 },
        (_, day) => `2026-10-${String(day + 1).padStart(2, '0')},desk,${4 * more},${50 * more},3`,
      )
    expect((await addBoth(month(1), month(1.5))).rows).toBe(56)
  })
})

test('a range of days is no day', async () => {
  const path = join(folder, 'weeks.csv')
  await writeFile(path, 'date,query,clicks,impressions,position\n2026-08-01 - 2026-08-28,desk,1,10,2\n')
  await expect(add(path, { property: 'sc-domain:acme.com' })).rejects.toThrow("'2026-08-01 - 2026-08-28'")
})

test('rows that nothing tells apart take no time to be compared', async () => {
  const row = (place: number, more: number) => `2026-11-01,desk,${place},${place * 2 + more},3`
  for (const more of [1, 2])
    await writeFile(
      join(folder, `${more}.csv`),
      `date,query,clicks,impressions,position\n${Array.from({ length: 100_000 }, (_, place) => row(place, more)).join('\n')}\n`,
    )
  expect((await add(folder, { property: 'sc-domain:acme.com' })).rows).toBe(200_000)
})

test('a copy of a file in its folder is refused, whatever its rows; files without rows are alike', async () => {
  const head = 'data_date,site_url,query,search_type,impressions,clicks,sum_top_position\n'
  const row = '2026-10-01,sc-domain:acme.com,desk,WEB,10,1,20\n'
  for (const name of ['a.csv', 'b.csv']) await writeFile(join(folder, name), head)
  await writeFile(join(folder, 'c.csv'), head + row)
  expect((await add(folder)).rows).toBe(1)
  await writeFile(join(folder, 'd.csv'), head + row)
  await expect(add(folder)).rejects.toThrow(
    `${join(folder, 'd.csv')} has the same content as ${join(folder, 'c.csv')}, and would count twice`,
  )
  expect(await store.clickAdditions()).toHaveLength(1)
})

test('a country that is not known is named with its line; one that is said to be unknown is not', async () => {
  const path = join(folder, 'rows.csv')
  const rows = (...countries: readonly string[]) =>
    `date,query,country,clicks,impressions,position\n${countries.map((one) => `2026-10-01,desk,${one},1,10,2\n`).join('')}`
  await writeFile(path, rows('usa', '(not set)', 'zzz', '', 'Deutschlnd', 'Frnce'))
  expect((await add(path, { property: 'sc-domain:acme.com' })).warnings).toEqual([
    expect.stringContaining(`rows.csv:6: 'Deutschlnd' is no country that is known`),
  ])
  await writeFile(path, rows('usa', '(not set)', 'zzz', ''))
  expect((await add(path, { property: 'sc-domain:acme.com' })).warnings).toEqual([])
})

describe('keys of three letters', () => {
  const added = async (...keys: readonly (readonly string[])[]) => {
    const rows = keys.map((more) => ({
      keys: ['2026-11-01', ...more],
      clicks: 1,
      impressions: 10,
      position: 2,
    }))
    await writeFile(join(folder, 'rows.json'), JSON.stringify({ rows }))
    return await add(join(folder, 'rows.json'), { property: 'sc-domain:acme.com' })
  }

  test('are queries where one is no country', async () => {
    const { id } = await added(['usa'], ['seo'])
    expect(await sumsOf(id)).toEqual(['sc-domain:acme.com query property day 2 20 0'])
    expect(queryOf('seo', 'acme.com')).toHaveLength(1)
  })

  test('are countries beside queries, and where there are several', async () => {
    const one = await added(['oak desk', 'usa'])
    expect(await sumsOf(one.id)).toEqual(['sc-domain:acme.com query property day 1 10 0'])
    const { id } = await added(['usa'], ['deu'], ['zzz'])
    expect(await sumsOf(id)).toEqual(['sc-domain:acme.com total property day 3 30 0'])
  })

  test('are refused where a later line has something else there', async () => {
    const lines = Array.from({ length: 2_000 }, (_, place) =>
      JSON.stringify({
        keys: ['2026-11-01', ['usa', 'deu', 'fra'][place % 3]],
        clicks: 1,
        impressions: 10,
        position: 2,
      }),
    )
    const last = lines[0]?.replace('usa', 'oak desk')
    await writeFile(join(folder, 'rows.jsonl'), `${[...lines, last].join('\n')}\n`)
    await expect(add(join(folder, 'rows.jsonl'), { property: 'sc-domain:acme.com' })).rejects.toThrow(
      "rows.jsonl:2001: 'oak desk' is no country, as the keys above it are",
    )
  })

  test.each([[[['can']]], [[['per'], ['can']]], [[['deu', 'MOBILE']]], [[['https://acme.com/', 'deu']]]])(
    'are countries where all are, which is said: %j',
    async (keys) => {
      const { id, warnings } = await added(...keys)
      expect((await sumsOf(id))?.join()).not.toContain('query')
      expect(warnings).toEqual([
        `3-letter keys were read as countries (${keys[0]?.find((key) => key.length === 3)}). Where they are queries, undo this addition, and give rows names in place of keys.`,
      ])
    },
  )

  test('are a query where it is no country', async () => {
    const { id, warnings } = await added(['seo'])
    expect(await sumsOf(id)).toEqual(['sc-domain:acme.com query property day 1 10 0'])
    expect(warnings).toEqual([])
  })

  test.each([
    [
      [['can', 'usa']],
      `it cannot be known whether keys such as 'can' and 'usa' are countries or queries. Give rows names in place of keys, such as {"date": "2026-11-01", "query": "can", "country": "usa", "clicks": 1, …}`,
    ],
    [
      [
        ['usa', 'MOBILE'],
        ['deu', 'MOBILE'],
        ['scg', 'MOBILE'],
      ],
      `'scg' is no country, as most keys beside it are. Give rows names in place of keys, such as {"date": "2026-11-01", "country": "scg", "device": "MOBILE", "clicks": 1, …}`,
    ],
  ])('are asked about where they may be either: %j', async (keys, sentence) => {
    await expect(added(...keys)).rejects.toThrow(sentence)
    expect(await store.clickAdditions()).toEqual([])
  })

  test('of all files of a folder say together what they are', async () => {
    const put = async (name: string, ...words: readonly string[]) => {
      const rows = words.map((word) => ({
        keys: ['2026-11-01', word],
        clicks: 1,
        impressions: 9,
        position: 2,
      }))
      await writeFile(join(folder, name), JSON.stringify({ rows }))
    }
    await put('a.json', 'oak desk', 'lamp')
    await put('b.json', 'can')
    const { id, warnings } = await add(folder, { property: 'sc-domain:acme.com' })
    expect(await sumsOf(id)).toEqual(['sc-domain:acme.com query property day 3 27 0'])
    expect(warnings).toEqual([])
    await put('a.json', 'deu', 'aut')
    expect((await add(folder, { property: 'sc-domain:acme.com' })).warnings).toHaveLength(1)
    await put('b.json', 'scg')
    await expect(add(folder, { property: 'sc-domain:acme.com' })).rejects.toThrow(
      "b.json: 'scg' is no country, as most keys beside it are",
    )
  })
})

describe('hours', () => {
  const period = { from: readDay('2026-11-24'), until: readDay('2026-11-25') }
  test.each(['2026-11-24T23:00:00-08:00', '2026-11-24t23:00:00-08:00'])(
    'in keys are refused with what to do: %s',
    async (hour) => {
      const rows = [{ keys: [hour, 'https://acme.com/'], clicks: 1, impressions: 9, position: 2 }]
      await writeFile(join(folder, 'rows.json'), JSON.stringify({ rows }))
      await expect(add(join(folder, 'rows.json'), { period })).rejects.toThrow(
        `rows.json: '${hour}' is an hour, and clicks are kept by day. Export whole days`,
      )
    },
  )

  test('of a UI export are no queries', async () => {
    const chart = 'Date,Clicks,Impressions,CTR,Position\n2026-11-24T05:00:00-08:00,1,2,50%,3\n'
    await writeFile(join(folder, 'Chart.csv'), chart)
    const more = { property: 'sc-domain:acme.com' }
    await expect(add(folder, { ...more, period })).rejects.toThrow('Chart.csv:2: ')
    await writeFile(join(folder, 'a.csv'), 'Top queries,Clicks,Impressions,CTR,Position\ndesk,1,2,50%,3\n')
    await expect(add(folder, more)).rejects.toThrow('is an hour, and clicks are kept by day')
    const { id, leftOut } = await add(folder, { ...more, period })
    expect(await sumsOf(id)).toEqual(['sc-domain:acme.com query property period 1 2 0'])
    expect(leftOut).toEqual([join(folder, 'Chart.csv')])
  })
})

test.each([
  [
    'carriage returns alone',
    'date,query,clicks,impressions,position\r2026-10-01,desk,3,10,2\r2026-10-02,desk,4,10,2\r',
  ],
  [
    'a separator that the first line names',
    'sep=;\r\ndate;query;clicks;impressions;position\r\n2026-10-01;desk;7;20;2\r\n',
  ],
  ['that in quotes', '"sep=;"\ndate;query;clicks;impressions;position\n2026-10-01;desk;7;20;2\n'],
  ['a separator that no line has', 'sep=|\ndate|query|clicks|impressions|position\n2026-10-01|desk|7|20|2\n'],
])('of a file with %s every row counts', async (_, text) => {
  const path = join(folder, 'rows.csv')
  await writeFile(path, text)
  const { id } = await add(path, { property: 'sc-domain:acme.com' })
  expect(await sumsOf(id)).toEqual(['sc-domain:acme.com query property day 7 20 0'])
})

test('what is added twice counts once, and what is undone leaves no trace', async () => {
  await add(join(samples, 'api-rows.csv'))
  const before = dump(store)
  const { id } = await add(join(samples, 'bulk-site.jsonl'))
  expect(await add(join(samples, 'bulk-site.jsonl'))).toMatchObject({ id, isNew: false })
  expect(await store.clickAdditions()).toHaveLength(2)
  await store.undoClicks(id)
  expect(dump(store)).toEqual(before)
})

/** Everything that is stored of clicks. */
function dump(one: Store) {
  const spans = one.clickSpans(['acme.com'])
  const queries = ['standing desk', 'acme', 'desk']
  return { spans, rows: one.clicksOf(queries, [1, 2, 3, 4, 5]) }
}

const anyRow = fc.record({
  table: fc.nat(1),
  query: fc.nat(2),
  page: fc.nat(1),
  country: fc.nat(1),
  day: fc.nat(2),
  clicks: fc.nat(9),
  impressions: fc.nat(9),
  positionSum: fc.nat(9),
})

test('rows that were put aside in sorted parts come back once each, in order and added up', () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyRow, { maxLength: 40 }), { maxLength: 5 }), (parts) => {
      using runs = sortedRuns()
      for (const part of parts) {
        const sums = rowSums(64)
        for (const row of part) sums.add(row)
        runs.add(sums.take)
      }
      const merged: string[] = []
      runs.merge((row) => merged.push(JSON.stringify(Object.values(row))))
      const all = rowSums(512)
      for (const row of parts.flat()) all.add(row)
      const wanted: string[] = []
      all.take((row) => wanted.push(JSON.stringify(Object.values(row))))
      expect(merged).toEqual(wanted)
      const keys = merged.map((row) => JSON.parse(row).slice(0, 5).join())
      expect(keys).toEqual([...new Set(keys)].sort())
    }),
  )
})

test('sums of a large file are those of a small one: what it needs more room for is kept', () => {
  const sums = rowSums()
  const row = (index: number) => ({
    ...emptyRow(),
    ...{
      query: index % 100,
      page: Math.floor(index / 100),
      clicks: index,
      impressions: 2 * index,
      positionSum: 1,
    },
  })
  for (let time = 0; time < 2; time++) for (let index = 0; index < 5_000; index++) sums.add(row(index))
  const taken: ReturnType<typeof row>[] = []
  sums.take((one) => taken.push({ ...one }))
  const wanted = Array.from({ length: 5_000 }, (_, place) => {
    const index = (place % 50) * 100 + Math.floor(place / 50)
    return { ...row(index), clicks: 2 * index, impressions: 4 * index, positionSum: 2 }
  })
  expect(taken).toEqual(wanted)
})

describe('which spans count', () => {
  const span = (table: number, more: Partial<ClickSpan>): ClickSpan => ({
    table,
    property: 'sc-domain:acme.com',
    countedBy: 'property',
    rowsOf: 'query',
    timeSpan: 'day',
    hasCountries: true,
    day: 1,
    untilDay: 1,
    clicks: 0,
    impressions: 0,
    anonymousClicks: 0,
    anonymousImpressions: 0,
    ...more,
  })
  const www = { property: 'https://www.acme.com/' }
  const shop = { property: 'https://shop.acme.com/' }
  test.each<[string, readonly ClickSpan[], readonly (readonly number[])[]]>([
    ['the table that was added last has a day', [span(1, {}), span(2, {})], [[2]]],
    ['days that only one table has are its own', [span(1, {}), span(2, { day: 3, untilDay: 3 })], [[1], [2]]],
    [
      'by property wins over by page, whenever it was added',
      [span(1, {}), span(2, { countedBy: 'page' })],
      [[1]],
    ],
    ['parts of a site are added up', [span(1, www), span(2, shop)], [[1, 2]]],
    ['a domain has its parts', [span(1, {}), span(2, www), span(3, shop)], [[1]]],
    [
      'the longer domain is a part of the shorter one',
      [span(1, {}), span(2, { property: 'sc-domain:shop.acme.com' })],
      [[1]],
    ],
    [
      'another domain of the job counts beside it, whichever name is shorter',
      [
        span(1, {}),
        span(2, { property: 'sc-domain:acme.de' }),
        span(3, { property: 'sc-domain:acme.com.au' }),
      ],
      [[1, 2, 3]],
    ],
    [
      'an address holds the addresses below it, and no others',
      [span(1, www), span(2, { property: 'https://www.acme.com/shop/' }), span(3, shop)],
      [[1, 3]],
    ],
    [
      'periods and other rows are told apart',
      [span(1, { timeSpan: 'period' }), span(2, { rowsOf: 'total' })],
      [],
    ],
  ])('%s', (_, spans, wanted) => {
    const counted = countedSpans(spans, { rowsOf: 'query', timeSpan: 'day' })
    expect(counted.map(({ spans: of }) => of.map(({ table }) => table))).toEqual(wanted)
  })
})

const properties = [
  ...['sc-domain:acme.com', 'sc-domain:shop.acme.com', 'sc-domain:acme.com.au', 'https://acme.com/'],
  ...['https://www.acme.com/', 'https://www.acme.com/shop/', 'http://shop.acme.com/'],
]
const anAddition = fc.record({
  property: fc.constantFrom(...properties),
  countedBy: fc.constantFrom('property' as const, 'page' as const),
  rowsOf: fc.constantFrom('query' as const, 'query' as const, 'page' as const),
  timeSpan: fc.constantFrom('day' as const, 'period' as const),
  days: fc.subarray([20000, 20001], { minLength: 1 }),
})

test('the view of clicks has the rows that reports sum, and no others', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anAddition, { maxLength: 8 }), async (additions) => {
      const draft = await store.draftClicks()
      for (const [place, { property, countedBy, rowsOf, timeSpan, days }] of additions.entries()) {
        const [first = 0] = days
        const period = timeSpan === 'day' ? null : { from: first, until: first + 27 }
        const site = siteOfProperty(property) ?? ''
        const table = draft.table({ property, site, countedBy, rowsOf, timeSpan, hasCountries: true, period })
        const query = rowsOf === 'page' ? 0 : draft.textOf('oak desk', 'query')
        const page = countedBy === 'page' ? draft.textOf('https://acme.com/desks', 'page') : 0
        for (const day of period === null ? days : [first])
          draft.add({
            table,
            query,
            page,
            country: 0,
            day,
            clicks: 2 ** place,
            impressions: 1000,
            positionSum: 4000,
          })
      }
      const id = await draft.commit({ addedAt: 0, source: 'rows.csv', digest: '', rows: 1, otherSearches: 0 })
      const spans = store.clickSpans(['acme.com', 'acme.com.au'])
      const wanted = (['day', 'period'] as const).flatMap((timeSpan) =>
        countedSpans(spans, { rowsOf: 'query', timeSpan }).flatMap(({ spans: of }) =>
          of.map(({ day, untilDay, clicks }) => [day, untilDay, clicks]),
        ),
      )
      const rows = [...store.rows('clicks', {})]
      const day = (of: unknown) => readDay(String(of))
      const seen = rows.map((one) => [day(one.date), day(one.until_date), Number(one.clicks)])
      const sorted = (all: readonly (readonly number[])[]) => all.map(String).sort()
      await store.undoClicks(id)
      expect(sorted(seen)).toEqual(sorted(wanted))
      expect(
        rows.every((one) => one.query === 'oak desk' && one.position === 5 && one.country === null),
      ).toBe(true)
    }),
    { numRuns: 25 },
  )
})

test.each([
  ['rows.json', '1 key', [['2026-10-01', 'desk'], ['2026-10-01']]],
  [
    'rows.jsonl',
    '3 keys',
    [
      ['2026-10-01', 'desk'],
      ['2026-10-01', 'desk', 'https://acme.com/'],
    ],
  ],
] as const)('a row of %s with %s beside those with two is refused', async (name, keys, all) => {
  const rows = all.map((one) => JSON.stringify({ keys: one, clicks: 1, impressions: 10, position: 2 }))
  const text = name.endsWith('l') ? `${rows.join('\n')}\n` : `[${rows.join()}]`
  await writeFile(join(folder, name), text)
  await expect(add(join(folder, name), { property: 'sc-domain:acme.com' })).rejects.toThrow(
    `${name}:2: the row has ${keys}, and the first one 2: they are rows of different tables`,
  )
  expect(await store.clickAdditions()).toEqual([])
})
