import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import type { Cells, Column, ColumnType, RowOptions } from './format.ts'

/** A row group ends at the first of these limits, because it is held in memory, several times while it is packed. */
export const groupRows = 10_000
const groupCharacters = 4_000_000

type ParquetCell = Cells[number]

interface ParquetType {
  readonly physical: Omit<SchemaElement, 'name'>
  readonly value: (cell: NonNullable<ParquetCell>) => string | number | bigint
  /** Whether each group has its least and greatest value, so that a reader can skip groups. Those of long texts would fill memory. */
  readonly statistics: boolean
}

const text: ParquetType = {
  physical: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  value: String,
  statistics: false,
}

const types: Readonly<Record<ColumnType, ParquetType>> = {
  text,
  integer: { physical: { type: 'INT32' }, value: int32, statistics: true },
  long: { physical: { type: 'INT64' }, value: BigInt, statistics: true },
  decimal: { physical: { type: 'DOUBLE' }, value: Number, statistics: true },
  instant: {
    physical: {
      type: 'INT64',
      converted_type: 'TIMESTAMP_MILLIS',
      logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    },
    value: (cell) => BigInt(Date.parse(String(cell))),
    statistics: true,
  },
  json: text,
}

/** Throws for numbers that do not fit, which would lose bits without an error. */
function int32(cell: NonNullable<ParquetCell>): number {
  if (typeof cell === 'number' && (cell | 0) === cell) return cell
  throw new RangeError(`${cell} is not a 32-bit integer`)
}

/** Rows as the bytes of a Parquet file; every column is nullable. */
export async function* writeParquet(
  rows: Iterable<Cells>,
  { columns }: RowOptions,
): AsyncGenerator<Uint8Array> {
  const writer = new ChunkWriter()
  const file = new ParquetWriter({ writer, schema: schemaOf(columns), createdBy: 'rankline' })
  const group = rowGroup(columns)
  const writeGroup = async (): Promise<Uint8Array> => {
    await file.write({ columnData: group.take(), rowGroupSize: groupRows })
    return writer.take()
  }
  for (const row of rows) {
    group.add(row)
    if (group.isFull()) yield await writeGroup()
  }
  if (!group.isEmpty()) yield await writeGroup()
  await file.finish()
  yield writer.take()
}

/** A writer whose bytes can be taken in parts; it reuses its memory. */
class ChunkWriter extends ByteWriter {
  take(): Uint8Array {
    const bytes = this.getBytes().slice()
    this.index = 0
    return bytes
  }
}

function schemaOf(columns: readonly Column[]): SchemaElement[] {
  const elements = columns.map(
    ({ name, type }): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...types[type].physical }),
  )
  return [{ name: 'root', num_children: columns.length }, ...elements]
}

/** Values of a row group, column by column. */
function rowGroup(columns: readonly Column[]) {
  let values: ReturnType<ParquetType['value']>[][] = columns.map(() => [])
  let count = 0
  let characters = 0
  return {
    add: (row: Cells): void => {
      for (const [index, { type }] of columns.entries()) {
        const cell = row[index] ?? null
        values[index]?.push(cell === null ? (null as never) : types[type].value(cell))
        if (typeof cell === 'string') characters += cell.length
      }
      count += 1
    },
    isEmpty: () => count === 0,
    isFull: () => count >= groupRows || characters >= groupCharacters,
    take: () => {
      const data = columns.map(({ name, type }, index) => ({
        name,
        data: values[index] ?? [],
        statistics: types[type].statistics,
        offsetIndex: false,
      }))
      values = columns.map(() => [])
      count = 0
      characters = 0
      return data
    },
  }
}
