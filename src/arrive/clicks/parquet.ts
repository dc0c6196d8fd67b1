import { type FileHandle, open } from 'node:fs/promises'
import * as zlib from 'node:zlib'
import type { ColumnChunk, PageHeader, SchemaElement } from 'hyparquet'
import { RanklineError, UsageError } from '../../model/errors.ts'
import type { ClickDraft } from '../../store/sqlite/clicks/draft.ts'
import { wholeOf } from '../csv.ts'
import type { InputFile } from '../input-files.ts'
import {
  type ClickField,
  type ClickLayout,
  decimal,
  layoutOf,
  originOf,
  type RowReader,
  sumIn,
} from './rows.ts'

/** Opens a Parquet file; null where its columns are none of clicks. Throws a sentence for one that cannot be read. */
export async function openParquet(file: InputFile) {
  const { path } = file
  if (path === null)
    throw new UsageError(`${file.name} is Parquet inside an archive. Unpack the archive, and name the folder`)
  const damaged = (cause: unknown) =>
    cause instanceof RanklineError
      ? cause
      : new UsageError(
          `${file.name} is cut or damaged: it is no whole Parquet file. Export it again; nothing was stored`,
          { cause },
        )
  const format = await parquetFormat()
  const metadata = await readMetadata(path, format).catch((error: unknown) => {
    throw damaged(error)
  })
  const columns = columnsOf(metadata.schema)
  const layout = layoutOf(columns.map((element) => element?.name ?? ''))
  if (layout === null) return null
  return {
    layout,
    async read(draft: ClickDraft, take: (reader: RowReader) => void) {
      await using opened = await open(path)
      const rows = rowReader(file, layout, (place, field) => {
        const element = columns[place] as SchemaElement
        return columnReader(opened, format, { element, coder: coderOf(field, draft) })
      })
      let first = 0
      for (const { num_rows, columns: chunks } of metadata.row_groups) {
        const count = Number(num_rows)
        for (const { place, column } of rows.columns)
          column.begin(chunkOf(chunks, columns[place]?.name, file), count)
        for (let row = 0; row < count; ) {
          let end = count
          for (const { column } of rows.columns) {
            if (column.end() === row)
              await column.readOn().catch((error: unknown) => {
                throw damaged(error)
              })
            end = Math.min(end, column.end())
          }
          for (; row < end; row++) {
            rows.set(row, first + row + 1)
            take(rows.reader)
          }
        }
        first += count
      }
    },
  }
}

type ParquetFormat = Awaited<ReturnType<typeof parquetFormat>>

/** hyparquet hands over whole columns of a row group, with an object for each value: what it knows of pages is used alone. */
async function parquetFormat() {
  const [{ parquetMetadataAsync, snappyUncompress }, column, page, values] = await Promise.all([
    import('hyparquet'),
    import('hyparquet/src/column.js'),
    import('hyparquet/src/datapage.js'),
    import('hyparquet/src/convert.js'),
  ])
  return {
    parquetMetadataAsync,
    snappyUncompress,
    parquetHeader: column.parquetHeader,
    readDataPage: page.readDataPage,
    convert: values.convert,
    parsers: values.DEFAULT_PARSERS,
  }
}

async function readMetadata(path: string, { parquetMetadataAsync }: ParquetFormat) {
  await using file = await open(path)
  const { size } = await file.stat()
  return await parquetMetadataAsync({
    byteLength: size,
    slice: async (start, end = size) => {
      const bytes = new Uint8Array(end - start)
      await file.read(bytes, 0, bytes.length, start)
      return bytes.buffer
    },
  })
}

/** The columns of a schema: null for one that has parts or lists. */
function columnsOf(schema: readonly SchemaElement[]): readonly (SchemaElement | null)[] {
  const columns: (SchemaElement | null)[] = []
  /** Answers where the element behind this one and its parts stands. */
  const behind = (place: number): number => {
    let next = place + 1
    for (let part = 0; part < (schema[place]?.num_children ?? 0); part++) next = behind(next)
    return next
  }
  for (let place = 1; place < schema.length; place = behind(place)) {
    const element = schema[place] as SchemaElement
    columns.push((element.num_children ?? 0) > 0 || element.repetition_type === 'REPEATED' ? null : element)
  }
  return columns
}

type Chunk = NonNullable<ColumnChunk['meta_data']>

function chunkOf(chunks: readonly ColumnChunk[], name: string | undefined, file: InputFile): Chunk {
  const chunk = chunks.find(
    ({ meta_data }) => meta_data?.path_in_schema.length === 1 && meta_data.path_in_schema[0] === name,
  )?.meta_data
  if (chunk === undefined)
    throw new UsageError(
      `${file.name} has parts without the column ${name}. Export it again; nothing was stored`,
    )
  if (!codecs.has(chunk.codec))
    throw new UsageError(
      `${file.name} is packed with ${chunk.codec}, which ${chunk.codec === 'ZSTD' ? 'this Node' : 'rankline'} cannot read. Export Parquet with SNAPPY or GZIP${chunk.codec === 'ZSTD' ? ', or use Node 22.15 or later' : ''}; nothing was stored`,
    )
  return chunk
}

type Unpack = (input: Uint8Array, options: { chunkSize: number; maxOutputLength: number }) => Buffer

const { zstdDecompressSync } = zlib as { zstdDecompressSync?: Unpack }

/** How a page is unpacked; null for the ways that need no function of Node. */
const codecs = new Map<string, Unpack | null>([
  ['UNCOMPRESSED', null],
  ['SNAPPY', null],
  ['GZIP', zlib.gunzipSync],
  ['BROTLI', zlib.brotliDecompressSync],
])
if (zstdDecompressSync !== undefined) codecs.set('ZSTD', zstdDecompressSync)

/** Makes numbers of the values of a column, so that a page of them lies in one array. */
interface Coder {
  readonly nothing: number
  readonly ofBytes: (bytes: Buffer, start: number, end: number) => number
  readonly ofValue: (value: unknown) => number
  readonly wordOf: (code: number) => string
  /** Called where no number that was made is needed any longer. */
  readonly forget: () => void
}

/** What is made of the values of a column: `origin` is how the address of a page begins. */
type CodedField = ClickField | 'origin'

function coderOf(field: CodedField, draft: ClickDraft): Coder {
  if (field === 'query' || field === 'page')
    return {
      nothing: 0,
      ofBytes: (bytes, start, end) => draft.textIn(bytes, start, end, field),
      ofValue: (value) => draft.textOf(wordOf(value), field),
      wordOf: String,
      forget: () => {},
    }
  if (field === 'position') return numberCoder(decimal)
  if (field === 'positionSum') return numberCoder((word) => Math.max(wholeOf(word, '.'), sumIn(word)))
  if (wholes.has(field)) return numberCoder((word) => wholeOf(word, '.'))
  return wordCoder(field === 'origin' ? originOf : (word) => word)
}

const wholes = new Set<CodedField>(['clicks', 'impressions'])

/** Numbers from 0 on as they are; of anything else the first one is kept for the message. */
function numberCoder(numberIn: (word: string) => number): Coder {
  let strange: { readonly word: string } | null = null
  const known = (value: number, word: string): number => {
    if (value === -1) strange ??= { word }
    return value
  }
  const ofWord = (word: string): number => known(numberIn(word), word)
  return {
    nothing: -1,
    ofBytes: (bytes, start, end) => ofWord(bytes.toString('utf8', start, end)),
    ofValue: (value) => {
      const isNumber = typeof value === 'number' || typeof value === 'bigint'
      return isNumber ? known(Number(value), String(value)) : ofWord(wordOf(value))
    },
    wordOf: (number) => (number === -1 ? (strange?.word ?? '') : String(number)),
    forget: () => {},
  }
}

/** Words of one column that are known at once. */
const mostWords = 100_000

function wordCoder(partOf: (word: string) => string): Coder {
  const words: string[] = ['']
  const codes = new Map([['', 0]])
  const ofWord = (whole: string): number => {
    const word = partOf(whole)
    let code = codes.get(word)
    if (code === undefined) {
      code = words.push(word) - 1
      codes.set(word, code)
    }
    return code
  }
  return {
    nothing: 0,
    ofBytes: (bytes, start, end) => ofWord(bytes.toString('utf8', start, end)),
    ofValue: (value) => ofWord(wordOf(value)),
    wordOf: (code) => words[code] as string,
    forget(): void {
      if (words.length <= mostWords) return
      words.length = 1
      codes.clear()
      codes.set('', 0)
    },
  }
}

function wordOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString().slice(0, 10)
  return String(value)
}

const mostPageBytes = 1 << 30
/** What a damaged file says of itself may be anything. */
const isCount = (number: number): boolean => Number.isSafeInteger(number) && number >= 0

/** Gives a buffer that is used again for each page. */
function pageRoom() {
  let all = Buffer.alloc(0)
  return (size: number): Buffer => {
    if (!(isCount(size) && size <= mostPageBytes)) throw new Error(`a page of ${size} bytes`)
    if (all.length < size) all = Buffer.alloc(size)
    return all.subarray(0, size)
  }
}

/** A page has a header of less, but for one with long texts in it. */
const headerBytes = 1 << 10

/** Reads numbers of so many bits, which are written in runs: one that is repeated, or some in packed bits. */
function bitReader(bytes: Buffer, width: number): () => number {
  if (width > 24) throw new Error(`numbers of ${width} bits`)
  const mask = (1 << width) - 1
  let at = 0
  let left = 0
  let isPacked = false
  /** The number of a repeated run, or the bits that are read and not taken. */
  let held = 0
  let bits = 0
  const nextByte = (): number => {
    const byte = bytes[at++]
    if (byte === undefined) throw new Error('a page ends within its values')
    return byte
  }
  const beginRun = (): void => {
    let header = 0
    for (let shift = 0; ; shift += 7) {
      const byte = nextByte()
      header |= (byte & 127) << shift
      if (byte < 128) break
    }
    isPacked = (header & 1) === 1
    left = isPacked ? (header >>> 1) * 8 : header >>> 1
    held = bits = 0
    if (!isPacked) for (let shift = 0; shift < width; shift += 8) held |= nextByte() << shift
  }
  return () => {
    if (width === 0) return 0
    while (left === 0) beginRun()
    left--
    if (!isPacked) return held
    for (; bits < width; bits += 8) held |= nextByte() << bits
    const number = held & mask
    held >>>= width
    bits -= width
    return number
  }
}

/** Bytes of a value of a fixed width that is written as it is. */
const widths: Readonly<Record<string, number>> = { INT32: 4, INT64: 8, INT96: 12, FLOAT: 4, DOUBLE: 8 }

/** So many values of a column lie in memory as numbers: pages of some writers have a million. */
const sliceRows = 1 << 14

/** Reads one column, a slice of a page after the other. */
function columnReader(
  file: FileHandle,
  format: ParquetFormat,
  { element, coder }: { readonly element: SchemaElement; readonly coder: Coder },
) {
  const { type } = element
  const isText = type === 'BYTE_ARRAY' && element.converted_type !== 'DECIMAL'
  const isOptional = element.repetition_type !== 'REQUIRED'
  const readRoom = pageRoom()
  const plainRoom = pageRoom()
  let codec = 'UNCOMPRESSED'
  let rowsOfGroup = 0
  let [at, chunkEnd] = [0, 0]
  let dictionary: Float64Array | null = null
  /** Of the page: its values that are left, and what gives the next one. */
  let left = 0
  let next = (): number => coder.nothing
  /** Those of the rows from `first` to `end`. */
  const numbers = new Float64Array(sliceRows)
  let [first, end] = [0, 0]

  const bytesAt = async (from: number, size: number): Promise<Buffer> => {
    if (!isCount(from) || from + size > chunkEnd) throw new Error('the column ends within a page')
    const bytes = readRoom(size)
    const { bytesRead } = await file.read(bytes, 0, size, from)
    if (bytesRead < size) throw new Error('the file ends within a page')
    return bytes
  }

  const nextHeader = async (): Promise<PageHeader> => {
    for (let size = headerBytes; ; size *= 16) {
      const length = Math.min(size, chunkEnd - at)
      const bytes = await bytesAt(at, length)
      const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, length), offset: 0 }
      try {
        const header = format.parquetHeader(reader)
        at += reader.offset
        return header
      } catch (error) {
        if (length < size || size > 1 << 24) throw error
      }
    }
  }

  const unpacked = (bytes: Buffer, size: number): Buffer => {
    if (codec === 'UNCOMPRESSED') return bytes
    // A page without values may have no bytes, which no codec unpacks.
    if (size === 0) return bytes.subarray(0, 0)
    const unpack = codecs.get(codec)
    if (unpack == null) {
      const plain = plainRoom(size)
      format.snappyUncompress(bytes, plain)
      return plain
    }
    const plain = unpack(bytes, { chunkSize: size + 64, maxOutputLength: size + 64 })
    if (plain.length !== size) throw new Error('a page has another size than its header says')
    return plain
  }

  /** Gives texts that are written one after the other. */
  const textReader = (bytes: Buffer) => {
    let from = 0
    return (): number => {
      const to = from + 4 + bytes.readUInt32LE(from)
      if (to > bytes.length) throw new Error('a text ends behind its page')
      const number = coder.ofBytes(bytes, from + 4, to)
      from = to
      return number
    }
  }

  /** Gives values that hyparquet reads, as many at once as can be told apart. */
  const valueReader = (bytes: Buffer, count: number, encoding: string) => {
    const decoder = {
      pathInSchema: [],
      type,
      element,
      schemaPath: [],
      codec,
      parsers: format.parsers,
    } as unknown as Parameters<typeof format.convert>[1]
    const fixed = type === 'FIXED_LEN_BYTE_ARRAY' ? element.type_length : widths[type as string]
    const width = encoding === 'PLAIN' ? (fixed ?? 0) : 0
    let [from, rest, index] = [0, count, 0]
    let values: ArrayLike<unknown> = []
    return (): number => {
      if (index === values.length) {
        const some = width === 0 ? rest : Math.min(rest, sliceRows)
        // hyparquet reads on behind the bytes that it is given, where their memory goes on: of others it gets a copy.
        const part = width === 0 ? Uint8Array.from(bytes) : bytes.subarray(from, from + some * width)
        if (part.length < some * width) throw new Error('a page ends within its values')
        const header = { num_values: some, encoding } as Parameters<typeof format.readDataPage>[1]
        values = format.convert(format.readDataPage(part, header, decoder).dataPage, decoder)
        from += part.length
        rest -= some
        index = 0
      }
      return coder.ofValue(values[index++])
    }
  }

  const plainReader = (bytes: Buffer, count: number) =>
    isText ? textReader(bytes) : valueReader(bytes, count, 'PLAIN')

  const pageReader = (bytes: Buffer, count: number, encoding: string) => {
    if (encoding === 'PLAIN') return plainReader(bytes, count)
    if (!encoding.endsWith('_DICTIONARY')) return valueReader(bytes, count, encoding)
    const known = dictionary
    if (known === null) throw new Error('a page without its dictionary')
    const place = bitReader(bytes.subarray(1), bytes[0] ?? 0)
    return (): number => {
      const number = known[place()]
      if (number === undefined) throw new Error('a value that is not in the dictionary')
      return number
    }
  }

  const readDictionary = (bytes: Buffer, count: number): void => {
    if (!(isCount(count) && count <= bytes.length * 8)) throw new Error('a dictionary without its values')
    const read = plainReader(bytes, count)
    dictionary = Float64Array.from({ length: count }, read)
  }

  /** Begins a page: its values, and bits that say which rows have one. */
  const beginValues = (bytes: Buffer, encoding: string, levels: Buffer | null): void => {
    if (levels === null) {
      next = pageReader(bytes, left, encoding)
      return
    }
    const [counted, isThere] = [bitReader(levels, 1), bitReader(levels, 1)]
    let count = 0
    for (let row = 0; row < left; row++) count += counted()
    const value = pageReader(bytes, count, encoding)
    next = () => (isThere() === 1 ? value() : coder.nothing)
  }

  /** Begins the next page with rows. */
  const beginPage = async (): Promise<void> => {
    const begin = (rows: number): void => {
      if (!isCount(rows) || end + rows > rowsOfGroup) throw new Error('a page with more rows than its group')
      left = rows
    }
    while (left === 0) {
      const header = await nextHeader()
      const size = header.uncompressed_page_size
      const bytes = await bytesAt(at, header.compressed_page_size)
      at += bytes.length
      if (header.dictionary_page_header !== undefined) {
        readDictionary(unpacked(bytes, size), header.dictionary_page_header.num_values)
      } else if (header.data_page_header_v2 !== undefined) {
        const { num_values, encoding, definition_levels_byte_length, is_compressed } =
          header.data_page_header_v2
        if (header.data_page_header_v2.repetition_levels_byte_length > 0) throw new Error('a page of lists')
        begin(num_values)
        const packed = bytes.subarray(definition_levels_byte_length)
        beginValues(
          is_compressed === false ? packed : unpacked(packed, size - definition_levels_byte_length),
          encoding,
          isOptional ? bytes.subarray(0, definition_levels_byte_length) : null,
        )
      } else if (header.data_page_header !== undefined) {
        begin(header.data_page_header.num_values)
        const plain = unpacked(bytes, size)
        const start = isOptional ? 4 + plain.readUInt32LE(0) : 0
        beginValues(
          plain.subarray(start),
          header.data_page_header.encoding,
          isOptional ? plain.subarray(4, start) : null,
        )
      }
    }
  }

  return {
    coder,
    end: () => end,
    numberAt: (row: number): number => numbers[row - first] as number,
    begin(chunk: Chunk, rows: number): void {
      codec = chunk.codec
      rowsOfGroup = rows
      at = Number(chunk.dictionary_page_offset || chunk.data_page_offset)
      chunkEnd = at + Number(chunk.total_compressed_size)
      dictionary = null
      left = first = end = 0
      coder.forget()
    },
    /** Reads on from the last row that was read. */
    async readOn(): Promise<void> {
      if (left === 0) await beginPage()
      first = end
      end += Math.min(left, sliceRows)
      left -= end - first
      for (let index = 0; index < end - first; index++) numbers[index] = next()
    },
  }
}

type ColumnReader = ReturnType<typeof columnReader>

/** Gives rows of the columns that a layout names. */
function rowReader(
  file: InputFile,
  layout: ClickLayout,
  open: (place: number, field: CodedField) => ColumnReader,
) {
  const columns: { readonly place: number; readonly column: ColumnReader }[] = []
  /** By place. A page has two: one for its text, and one for its beginning where that says the property. */
  const [texts, others]: [ColumnReader[], ColumnReader[]] = [[], []]
  for (const [field, place] of Object.entries(layout) as [ClickField, number][]) {
    if (place === -1) continue
    const isText = field === 'query' || field === 'page'
    const column = open(place, field)
    columns.push({ place, column })
    ;(isText ? texts : others)[place] = column
  }
  if (layout.property === -1 && layout.page !== -1) {
    const column = open(layout.page, 'origin')
    columns.push({ place: layout.page, column })
    others[layout.page] = column
  }
  let row = 0
  let number = 0
  const numberAt = (place: number): number => (others[place] as ColumnReader).numberAt(row)
  const reader: RowReader = {
    text: (place) => (texts[place] as ColumnReader).numberAt(row),
    word: (place) => {
      const column = others[place]
      return column === undefined ? '' : column.coder.wordOf(column.numberAt(row))
    },
    // Only columns that a layout names are opened.
    unread: () => '',
    number: numberAt,
    whole: numberAt,
    where: () => `${file.name}: row ${number}`,
  }
  return {
    columns,
    reader,
    set(next: number, ofFile: number): void {
      row = next
      number = ofFile
    },
  }
}
