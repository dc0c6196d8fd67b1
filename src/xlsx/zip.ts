import { once } from 'node:events'
import { crc32, createDeflateRaw } from 'node:zlib'

/** A file in an archive: its name, and its text in pieces. */
export interface ZipEntry {
  readonly name: string
  readonly pieces: Iterable<string> | AsyncIterable<string>
}

export interface Written {
  readonly name: string
  readonly crc: number
  readonly packed: number
  readonly size: number
  readonly offset: number
}

/** Midnight of 1980-01-01, the first day that an archive can name: the same input gives the same bytes. */
const date = 0x0021
/** Sizes stand behind the data; names are UTF-8. */
const flags = 0x0808
const deflated = 8
const beyond32 = 0xffffffff

/** A zip archive in pieces, as large as it may be: nothing but a line for each file is held. */
export async function* zip(entries: Iterable<ZipEntry> | AsyncIterable<ZipEntry>): AsyncGenerator<Buffer> {
  const written: Written[] = []
  let offset = 0
  for await (const { name, pieces } of entries) {
    const head = localHeader(name)
    yield head
    const file = { crc: 0, packed: 0, size: 0 }
    for await (const piece of deflate(pieces, file)) {
      file.packed += piece.length
      yield piece
    }
    const entry = { name, ...file, offset }
    const tail = dataDescriptor(entry)
    yield tail
    written.push(entry)
    offset += head.length + file.packed + tail.length
  }
  yield directory(written, offset)
}

/** Packs the pieces, and counts what goes in. The next piece is made while one is packed. */
async function* deflate(
  pieces: ZipEntry['pieces'],
  file: { crc: number; size: number },
): AsyncGenerator<Buffer> {
  const packer = createDeflateRaw({ level: 4 })
  const packed: Buffer[] = []
  packer.on('data', (bytes: Buffer) => packed.push(bytes))
  try {
    let working = Promise.resolve()
    for await (const piece of pieces) {
      const bytes = Buffer.from(piece)
      file.crc = crc32(bytes, file.crc)
      file.size += bytes.length
      await working
      working = new Promise((resolve) => packer.write(bytes, () => resolve()))
      yield* packed.splice(0)
    }
    await working
    packer.end()
    await once(packer, 'end')
    yield* packed
  } finally {
    packer.destroy()
  }
}

function localHeader(name: string): Buffer {
  const bytes = Buffer.from(name)
  const head = Buffer.alloc(30)
  head.writeUInt32LE(0x04034b50, 0)
  head.writeUInt16LE(20, 4)
  head.writeUInt16LE(flags, 6)
  head.writeUInt16LE(deflated, 8)
  head.writeUInt16LE(date, 12)
  head.writeUInt16LE(bytes.length, 26)
  return Buffer.concat([head, bytes])
}

/** Sizes above 4 GB take eight bytes each; the directory then says so. */
function dataDescriptor({ crc, packed, size }: Written): Buffer {
  const large = packed >= beyond32 || size >= beyond32
  const tail = Buffer.alloc(large ? 24 : 16)
  tail.writeUInt32LE(0x08074b50, 0)
  tail.writeUInt32LE(crc, 4)
  if (large) {
    tail.writeBigUInt64LE(BigInt(packed), 8)
    tail.writeBigUInt64LE(BigInt(size), 16)
  } else {
    tail.writeUInt32LE(packed, 8)
    tail.writeUInt32LE(size, 12)
  }
  return tail
}

/** The list of all files that ends an archive; numbers that do not fit are in zip64 records. */
export function directory(files: readonly Written[], offset: number): Buffer {
  const records = Buffer.concat(files.map(directoryRecord))
  const large = files.length >= 0xffff || records.length >= beyond32 || offset >= beyond32
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Math.min(files.length, 0xffff), 8)
  end.writeUInt16LE(Math.min(files.length, 0xffff), 10)
  end.writeUInt32LE(Math.min(records.length, beyond32), 12)
  end.writeUInt32LE(Math.min(offset, beyond32), 16)
  return Buffer.concat([records, ...(large ? [largeEnd(files.length, records.length, offset)] : []), end])
}

function directoryRecord({ name, crc, packed, size, offset }: Written): Buffer {
  const bytes = Buffer.from(name)
  const numbers = [size, packed, offset].filter((number) => number >= beyond32)
  const extra = Buffer.alloc(numbers.length === 0 ? 0 : 4 + 8 * numbers.length)
  if (numbers.length > 0) {
    extra.writeUInt16LE(1, 0)
    extra.writeUInt16LE(8 * numbers.length, 2)
    for (const [index, number] of numbers.entries()) extra.writeBigUInt64LE(BigInt(number), 4 + 8 * index)
  }
  const record = Buffer.alloc(46)
  record.writeUInt32LE(0x02014b50, 0)
  record.writeUInt16LE(numbers.length === 0 ? 20 : 45, 4)
  record.writeUInt16LE(numbers.length === 0 ? 20 : 45, 6)
  record.writeUInt16LE(flags, 8)
  record.writeUInt16LE(deflated, 10)
  record.writeUInt16LE(date, 14)
  record.writeUInt32LE(crc, 16)
  record.writeUInt32LE(Math.min(packed, beyond32), 20)
  record.writeUInt32LE(Math.min(size, beyond32), 24)
  record.writeUInt16LE(bytes.length, 28)
  record.writeUInt16LE(extra.length, 30)
  record.writeUInt32LE(Math.min(offset, beyond32), 42)
  return Buffer.concat([record, bytes, extra])
}

/** The zip64 end record, and the locator that says where it stands. */
function largeEnd(count: number, length: number, offset: number): Buffer {
  const end = Buffer.alloc(76)
  end.writeUInt32LE(0x06064b50, 0)
  end.writeBigUInt64LE(44n, 4)
  end.writeUInt16LE(45, 12)
  end.writeUInt16LE(45, 14)
  end.writeBigUInt64LE(BigInt(count), 24)
  end.writeBigUInt64LE(BigInt(count), 32)
  end.writeBigUInt64LE(BigInt(length), 40)
  end.writeBigUInt64LE(BigInt(offset), 48)
  end.writeUInt32LE(0x07064b50, 56)
  end.writeBigUInt64LE(BigInt(offset + length), 64)
  end.writeUInt32LE(1, 72)
  return end
}
