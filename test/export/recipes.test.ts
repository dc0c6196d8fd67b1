import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ExportColumn, exportKinds } from '../../src/export/export.ts'
import type { Row } from '../../src/model/result.ts'
import { cellsOf } from '../../src/output/formats/format.ts'
import { writeParquet } from '../../src/output/formats/parquet.ts'

/** The statements of docs/exports.md for DuckDB: the one that makes the table, and that of every day. */
const page = readFileSync(new URL('../../docs/exports.md', import.meta.url), 'utf8')
const [, block = ''] = page.match(/DuckDB.*\n\n```sql\n([\s\S]*?)```/) ?? []
const [once = '', daily = ''] = block.split(';')

let folder: string
let db: DuckDBInstance
let connection: DuckDBConnection
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rankline-'))
  db = await DuckDBInstance.create(':memory:')
  connection = await db.connect()
  await connection.run(`SET file_search_path = '${folder}'`)
})
afterAll(async () => {
  connection.closeSync()
  db.closeSync()
  await rm(folder, { recursive: true })
})
beforeEach(() => connection.run('DROP TABLE IF EXISTS organic'))

const label = (name: string): ExportColumn => ({ name: `label_${name}`, type: 'text', meaning: '' })

const aRow = (run: number, query: string, rank: number, labels: Row = {}): Row => ({
  run_id: run,
  job: 'acme',
  query,
  operation: 'alpha.search',
  page: 1,
  fetched_at: '2026-11-24T06:00:00.000Z',
  rank,
  link: `https://${query}.example/${rank}`,
  params: '{"gl":"us"}',
  ...labels,
})

/** Web results as a file, with these labels as its last columns. */
async function exported(name: string, labels: readonly string[], rows: readonly Row[], first?: ExportColumn) {
  const all = [...exportKinds.organic.columns, ...labels.map(label)]
  const columns =
    first === undefined ? all : all.map((column) => (column.name === first.name ? first : column))
  const pieces: Uint8Array[] = []
  const options = { columns, name: 'organic', csv: 'guarded' as const }
  for await (const piece of writeParquet(cellsOf(rows, columns), options)) pieces.push(piece)
  await writeFile(join(folder, name), Buffer.concat(pieces))
}

async function stored(): Promise<readonly Row[]> {
  const read = await connection.runAndReadAll('FROM organic ORDER BY run_id, query, rank')
  return read.getRowObjectsJS() as unknown as readonly Row[]
}

test('the recipe for DuckDB replaces whole pages, and takes labels that came, went and moved', async () => {
  await exported(
    'organic.parquet',
    ['market', 'team'],
    [
      aRow(1, 'desk', 1, { label_market: 'us', label_team: 'A' }),
      aRow(1, 'desk', 2, { label_market: 'us', label_team: 'A' }),
      aRow(1, 'lamp', 1, { label_market: 'us', label_team: 'B' }),
    ],
  )
  await connection.run(once)
  // The label of the market went, that of the brand came: the team is in the place where the market was.
  await exported(
    'new.parquet',
    ['brand', 'team'],
    [
      aRow(1, 'desk', 1, { label_brand: 'yes', label_team: 'C' }),
      aRow(2, 'desk', 1, { label_brand: 'no', label_team: 'C' }),
    ],
  )
  await connection.run(daily)
  const picked = (await stored()).map(({ run_id, query, rank, label_market, label_team, label_brand }) => [
    Number(run_id),
    query,
    rank,
    ...[label_market, label_team, label_brand],
  ])
  expect(picked).toEqual([
    [1, 'desk', 1, null, 'C', 'yes'],
    [1, 'lamp', 1, 'us', 'B', null],
    [2, 'desk', 1, null, 'C', 'no'],
  ])

  // The same file once more changes nothing.
  const before = await stored()
  await connection.run(daily)
  expect(await stored()).toEqual(before)
})

test('a load in DuckDB that fails leaves the table as it was', async () => {
  await exported('organic.parquet', ['team'], [aRow(1, 'desk', 1, { label_team: 'A' })])
  await connection.run(once)
  const before = await stored()
  const broken: ExportColumn = { name: 'page', type: 'text', meaning: '' }
  await exported('new.parquet', ['team'], [{ ...aRow(1, 'desk', 1), page: 'one' }], broken)
  await expect(connection.run(daily)).rejects.toThrow(/one/)
  expect(await stored()).toEqual(before)
})
