import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { parquetMetadata } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addClicks, findClicks } from '../../src/arrive/clicks/add-clicks.ts'
import { openStore, type Store } from '../../src/store/sqlite/open.ts'
import { aStore } from '../store/build.ts'
import { query } from '../support/stored-rows.ts'

let folder = ''
let store: Store
let instance: DuckDBInstance
let duckdb: DuckDBConnection

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:')
  duckdb = await instance.connect()
})

afterAll(() => {
  duckdb.closeSync()
  instance.closeSync()
})

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parquet-'))
  store = (await aStore()).store
})

afterEach(() => rm(folder, { recursive: true }))

const add = async (path: string) => {
  const options = { property: null, period: null, now: Date.now() }
  const { id } = await addClicks(store, await findClicks(path, options), options)
  return id
}

/** Rows of the bulk export: seven queries, every tenth row without one, every fiftieth of another search. */
const table = (rows: number, more: Readonly<Record<string, string>> = {}): string => {
  const columns = {
    data_date: `DATE '2026-10-01' + CAST(i % 3 AS INTEGER)`,
    site_url: `'sc-domain:acme.com'`,
    query: `CASE WHEN i % 10 = 0 THEN NULL ELSE 'dësk ' || (i % 7) END`,
    is_anonymized_query: 'i % 10 = 0',
    country: `['usa', 'gbr', NULL][1 + i % 3]`,
    search_type: `CASE WHEN i % 50 = 49 THEN 'IMAGE' ELSE 'WEB' END`,
    impressions: '10 + i % 5',
    clicks: 'i % 4',
    sum_top_position: '(10 + i % 5) * (i % 9)',
    ...more,
  }
  const selected = Object.entries(columns).map(([name, value]) => `${value} AS ${name}`)
  return `SELECT ${selected.join(', ')} FROM range(${rows}) t(i)`
}

async function written(rows: string, how: string): Promise<string> {
  const path = join(folder, 'site.parquet')
  await duckdb.run(`COPY (${rows}) TO '${path}' (FORMAT parquet, ${how})`)
  return path
}

/** Everything that is stored of clicks, and the texts of it. */
function stored() {
  const spans = store.clickSpans(['acme.com'])
  const tables = [...new Set(spans.map(({ table: one }) => one))]
  const queries = Array.from({ length: 7 }, (_, place) => `dësk ${place}`)
  return { spans, rows: store.clicksOf(queries, tables) }
}

/** What was stored of rows as CSV: several tests have the same. */
const ofCsv = new Map<string, ReturnType<typeof stored>>()

/** What the same rows are as CSV. */
async function asCsv(rows: string) {
  const before = ofCsv.get(rows)
  if (before !== undefined) return before
  const path = join(folder, 'site.csv')
  await duckdb.run(`COPY (${rows}) TO '${path}' (FORMAT csv, HEADER)`)
  const own = store
  store = (await aStore()).store
  try {
    await add(path)
    const said = stored()
    ofCsv.set(rows, said)
    return said
  } finally {
    store = own
  }
}

describe('a table of the bulk export says as Parquet what it says as CSV', () => {
  test.each([
    ['SNAPPY', 'COMPRESSION snappy'],
    ['GZIP', 'COMPRESSION gzip'],
    ['BROTLI', 'COMPRESSION brotli'],
    ['no compression', 'COMPRESSION uncompressed'],
    ['parts of 2,048 rows', 'ROW_GROUP_SIZE 2048'],
    ['values without a dictionary', 'DICTIONARY_SIZE_LIMIT 1'],
    ['the second version of its encodings', 'PARQUET_VERSION V2'],
    ['the second version without a dictionary', 'PARQUET_VERSION V2, DICTIONARY_SIZE_LIMIT 1'],
  ])('with %s', async (_, how) => {
    const rows = table(9_000)
    const wanted = await asCsv(rows)
    await add(await written(rows, how))
    expect(stored()).toEqual(wanted)
    expect(wanted.rows.every((one) => one.length === 3)).toBe(true)
  })

  test.each([
    ['days as instants', { data_date: `TIMESTAMP '2026-10-01 07:00:00' + INTERVAL (i % 3) DAY` }],
    ['days as text', { data_date: `CAST(DATE '2026-10-01' + CAST(i % 3 AS INTEGER) AS VARCHAR)` }],
    [
      'numbers of other types',
      {
        clicks: 'CAST(i % 4 AS UTINYINT)',
        impressions: 'CAST(10 + i % 5 AS DECIMAL(12, 2))',
        sum_top_position: 'CAST((10 + i % 5) * (i % 9) AS DOUBLE)',
      },
    ],
    ['numbers as text', { clicks: 'CAST(i % 4 AS VARCHAR)' }],
    ['columns with parts beside them', { parts: `{'query': 'other', 'clicks': 9}`, more: '[1, i]' }],
  ])('with %s', async (_, more) => {
    const wanted = await asCsv(table(3_000))
    await add(await written(table(3_000, more), 'ROW_GROUP_SIZE 2048'))
    expect(stored()).toEqual(wanted)
  })

  test('with pages that end at other rows in each column', async () => {
    const wanted = await asCsv(table(9_000))
    const { columns, names } = await columnsOf(table(9_000))
    const bytes = parquetWriteBuffer({
      columnData: names.map((name, place) => ({ name, data: columns[place] as unknown[] })),
      pageSize: 1_000,
      rowGroupSize: 4_000,
    })
    await writeFile(join(folder, 'pages.parquet'), Buffer.from(bytes))
    await add(join(folder, 'pages.parquet'))
    expect(stored()).toEqual(wanted)
  })

  test('with pages that say the property', async () => {
    const rows = table(500).replace(
      `'sc-domain:acme.com' AS site_url`,
      `'https://www.acme.com/' || (i % 9) AS url`,
    )
    const wanted = await asCsv(rows)
    await add(await written(rows, 'COMPRESSION snappy'))
    expect(stored()).toEqual(wanted)
    expect(wanted.spans[0]).toMatchObject({ property: 'sc-domain:acme.com' })
  })
})

/** The columns of a query, for another writer. */
async function columnsOf(rows: string) {
  const result = await duckdb.runAndReadAll(rows)
  const days = (value: unknown) =>
    value instanceof Object && 'days' in value ? new Date(Number(value.days) * 864e5) : value
  return { names: result.columnNames(), columns: result.getColumns().map((column) => column.map(days)) }
}

test('queries of rows that are left out are not stored', async () => {
  const path = join(folder, 'rankline.db')
  const rows = table(600, { query: `CASE WHEN i % 50 = 49 THEN 'pictures' ELSE 'desk' END` })
  const file = await written(rows, 'COMPRESSION snappy')
  await using opened = await openStore(path)
  const options = { property: null, period: null, now: Date.now() }
  await addClicks(opened, await findClicks(file, options), options)
  expect(query(path, 'SELECT text FROM click_texts')).toEqual([{ text: 'desk' }])
})

describe('a file that cannot be read ends in one sentence, and nothing is stored', () => {
  const refused = async (path: string) => {
    const error = await add(path).catch((thrown: unknown) => thrown)
    expect(await store.clickAdditions()).toEqual([])
    expect(error).toMatchObject({ exitCode: 2 })
    return (error as Error).message
  }

  test('packed in a way that rankline does not know', async () => {
    expect(await refused(await written(table(100), 'COMPRESSION lz4_raw'))).toBe(
      `${join(folder, 'site.parquet')} is packed with LZ4_RAW, which rankline cannot read. Export Parquet with SNAPPY or GZIP; nothing was stored`,
    )
  })

  test('packed with ZSTD, where Node has none', async () => {
    const path = await written(table(3_000), 'COMPRESSION zstd')
    if ('zstdDecompressSync' in zlib) {
      await add(path)
      expect(store.clickSpans(['acme.com'])).not.toEqual([])
    } else expect(await refused(path)).toContain('ZSTD, which this Node cannot read')
  })

  test('cut, at whatever place', async () => {
    const whole = await readFile(await written(table(3_000), 'ROW_GROUP_SIZE 2048'))
    for (const share of [0.01, 0.3, 0.6, 0.9, 0.99]) {
      const path = join(folder, `cut-${share}.parquet`)
      await writeFile(path, whole.subarray(0, Math.floor(whole.length * share)))
      expect(await refused(path)).toContain('is cut or damaged: it is no whole Parquet file')
    }
  })

  test('with other bytes in the middle', async () => {
    const whole = await readFile(await written(table(9_000), 'COMPRESSION snappy'))
    const pages = whole.length - whole.readUInt32LE(whole.length - 8) - 8
    for (const share of [0.05, 0.3, 0.6, 0.9]) {
      const path = join(folder, `other-${share}.parquet`)
      const bytes = Buffer.from(whole)
      const start = Math.floor(pages * share)
      bytes.fill(0xff, start, start + 400)
      await writeFile(path, bytes)
      expect(await refused(path)).toContain('is cut or damaged: it is no whole Parquet file')
    }
  })

  test('of whose rows more have a value than the page has values', async () => {
    const more = { sum_top_position: 'CASE WHEN i % 50 = 49 THEN NULL ELSE i / 7 END' }
    const how = 'ROW_GROUP_SIZE 2048, COMPRESSION uncompressed, DICTIONARY_SIZE_LIMIT 1'
    const bytes = await readFile(await written(table(3_000, more), how))
    const { row_groups } = parquetMetadata(new Uint8Array(bytes).buffer)
    const positions = row_groups[1]?.columns.find(
      ({ meta_data }) => meta_data?.path_in_schema[0] === 'sum_top_position',
    )
    const page = Number(positions?.meta_data?.data_page_offset)
    // Behind the header of the page: the length of its bits, and those of the first 256 rows. Five of these have no value.
    const bits = bytes.indexOf(Buffer.from('8a00000041', 'hex'), page) + 5
    expect(bits - page).toBeLessThan(40)
    bytes.fill(0xff, bits, bits + 32)
    const path = join(folder, 'bits.parquet')
    await writeFile(path, bytes)
    expect(await refused(path)).toContain('is cut or damaged: it is no whole Parquet file')
  })

  test.each([
    ['nothing', [0]],
    ['a size that is no number', [0x31, 0]],
    ['a size that is a fraction', [0x37, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f, 0]],
    ['a size that is a text', [0x38, 4, 9, 9, 9, 9, 0]],
  ])('with %s in the place of a page', async (_, header) => {
    const whole = await readFile(await written(table(9_000), 'COMPRESSION uncompressed'))
    const path = join(folder, 'header.parquet')
    whole.set(header, 4)
    await writeFile(path, whole)
    expect(await refused(path)).toContain('is cut or damaged: it is no whole Parquet file')
  })

  test.each([
    [
      'a day that is missing',
      { data_date: `CASE WHEN i = 70 THEN NULL ELSE DATE '2026-10-01' END` },
      'row 71: the row has no date',
    ],
    ['a number below 0', { clicks: 'CASE WHEN i = 70 THEN -3 ELSE 1 END' }, "row 71: '-3' is no clicks"],
    ['-1', { clicks: 'CASE WHEN i = 70 THEN -1 ELSE 1 END' }, "row 71: '-1' is no clicks"],
    [
      'a number that is missing',
      { impressions: 'CASE WHEN i = 70 THEN NULL ELSE 9 END' },
      'row 71: the row has no impressions',
    ],
    [
      'a word for a number',
      { clicks: `CASE WHEN i = 70 THEN 'many' ELSE '1' END` },
      "row 71: 'many' is no clicks",
    ],
    [
      'a number that is none',
      { sum_top_position: `CASE WHEN i = 70 THEN 'NaN'::DOUBLE ELSE 1 END` },
      "row 71: 'NaN' is no sum of positions",
    ],
    [
      'a number without end',
      { sum_top_position: `CASE WHEN i = 70 THEN 'Infinity'::DOUBLE ELSE 1 END` },
      "row 71: 'Infinity' is no sum of positions",
    ],
  ])('with %s', async (_, more, wanted) => {
    expect(await refused(await written(table(100, more), 'COMPRESSION snappy'))).toContain(wanted)
  })
})
