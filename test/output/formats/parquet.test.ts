import fc from 'fast-check'
import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet'
import { describe, expect, test } from 'vitest'
import { exportKinds } from '../../../src/export/export.ts'
import type { Cells, Column } from '../../../src/output/formats/format.ts'
import { groupRows, writeParquet } from '../../../src/output/formats/parquet.ts'
import { anyText } from '../../support/any-text.ts'

const columns: readonly Column[] = [
  { name: 'text', type: 'text' },
  { name: 'integer', type: 'integer' },
  { name: 'long', type: 'long' },
  { name: 'instant', type: 'instant' },
]

async function written(rows: Iterable<Cells>, own = columns): Promise<ArrayBuffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of writeParquet(rows, { columns: own, name: 'rows', csv: 'guarded' }))
    pieces.push(piece)
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes.buffer
}

/** What another program reads: 64-bit integers as bigint, instants as Date. */
const read = (file: ArrayBuffer) => parquetReadObjects({ file })

describe('a Parquet file', () => {
  test.each(Object.entries(exportKinds))(
    'of no %s is whole, and has a type for each column',
    async (_, kind) => {
      const file = await written([], kind.columns)
      expect(await read(file)).toEqual([])
      const physical = {
        text: 'BYTE_ARRAY',
        integer: 'INT32',
        long: 'INT64',
        decimal: 'DOUBLE',
        instant: 'INT64',
        json: 'BYTE_ARRAY',
      }
      expect(
        parquetSchema(parquetMetadata(file)).children.map(({ element }) => [
          element.name,
          element.type,
          element.logical_type?.type ?? null,
          element.converted_type ?? null,
        ]),
      ).toEqual(
        kind.columns.map(({ name, type }) => [
          name,
          physical[type],
          { text: 'STRING', integer: null, long: null, decimal: null, instant: 'TIMESTAMP', json: 'STRING' }[
            type
          ],
          // Older readers know only these: DuckDB would take text for bytes.
          {
            text: 'UTF8',
            integer: null,
            long: null,
            decimal: null,
            instant: 'TIMESTAMP_MILLIS',
            json: 'UTF8',
          }[type],
        ]),
      )
    },
  )

  test('gives back every cell as what its column is', async () => {
    const rows: Cells[] = [
      ['=1+1', -2_147_483_648, 9_007_199_254_740_991, '2026-03-01T12:34:56.789Z'],
      [null, null, null, null],
      ['', 2_147_483_647, -1, '1969-12-31T23:59:59.999Z'],
    ]
    expect(await read(await written(rows))).toEqual([
      {
        ...{ text: '=1+1', integer: -2_147_483_648, long: 9_007_199_254_740_991n },
        instant: new Date('2026-03-01T12:34:56.789Z'),
      },
      { text: null, integer: null, long: null, instant: null },
      { text: '', integer: 2_147_483_647, long: -1n, instant: new Date('1969-12-31T23:59:59.999Z') },
    ])
  })

  test.each([
    [[null, 2_147_483_648, null, null]],
    [[null, 1.5, null, null]],
    [[null, 'one', null, null]],
    [[null, null, 1.5, null]],
    [[null, null, null, 'yesterday']],
  ])('is not written with %j, which would become another value', async (row) => {
    await expect(written([row])).rejects.toThrow()
  })

  test('of many rows, or of long ones, is made of groups that each are small', async () => {
    const many = Array.from(
      { length: 2 * groupRows + 1 },
      (_, index): Cells => [`row ${index}`, index, index, null],
    )
    const file = await written(many)
    expect(parquetMetadata(file).row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([
      groupRows,
      groupRows,
      1,
    ])
    expect((await read(file)).map(({ integer }) => integer)).toEqual(many.map(([, integer]) => integer))

    const long = Array.from({ length: 5 }, (): Cells => ['x'.repeat(2_000_000), 1, 1, null])
    const groups = parquetMetadata(await written(long)).row_groups
    expect(groups.map(({ num_rows }) => Number(num_rows))).toEqual([2, 2, 1])
  })

  test('of the same rows has the same bytes', async () => {
    const rows = Array.from({ length: 100 }, (_, index): Cells => [`row ${index % 7}`, index, null, null])
    expect(Buffer.from(await written(rows)).equals(Buffer.from(await written(rows)))).toBe(true)
  })

  test('of any rows gives them back', async () => {
    const instant = fc
      .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString())
    const row = fc.tuple(
      fc.option(fc.oneof(anyText(), fc.constantFrom('a', 'b'))),
      fc.option(fc.integer()),
      fc.option(fc.maxSafeInteger()),
      fc.option(instant),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 60 }), async (rows) => {
        expect(await read(await written(rows))).toEqual(
          rows.map(([text, integer, long, instant]) => ({
            ...{ text, integer },
            long: long === null ? null : BigInt(long),
            instant: instant === null ? null : new Date(instant),
          })),
        )
      }),
    )
  })
})
