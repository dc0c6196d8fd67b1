import { promisify } from 'node:util'
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  crc32,
  inflateSync,
} from 'node:zlib'

/** A body as it is stored: compressed as `encoding` says. */
export interface CompressedBody {
  readonly encoding: string
  readonly body: Buffer
}

/** Stands before the encoding of a body that was seen to be damaged: it stays, and nothing unpacks it. */
export const damagedMark = 'damaged '

/** The quickest levels of brotli take less than half of deflate's time; a usual page takes a tenth more room, a long one a third. */
const quickly = (): BrotliOptions => ({
  chunkSize: 4096,
  params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
})
/** The quickest of all: several bodies together take less room even so than each by itself. */
const together = (): BrotliOptions => ({
  chunkSize: 16_384,
  params: { [constants.BROTLI_PARAM_QUALITY]: 0 },
})
/** Handing a usual answer to another thread takes several times as long as compressing it; beyond this it would keep others waiting. */
const quicklyPacked = 65_536

/** Bodies of a block at most: to read one, all are unpacked. */
const mostInBlock = 8
/** Where the lengths of a block's bodies stand before them, in four bytes each. */
const lengthBytes = 4

const sumBytes = 4

const unpackers: Readonly<Record<string, (packed: Buffer) => Buffer>> = {
  'br-crc32': unpackBrotli,
  // Of bodies that earlier versions stored; it has a sum of its own.
  deflate: (packed) => inflateSync(packed),
}

/** Compresses a body. */
export async function compress(plain: Buffer): Promise<CompressedBody> {
  return isQuicklyPacked(plain) ? compressAtOnce(plain) : withSum(await packAside(plain))
}

/** Whether it is compressed in less time than it takes to have that done by another thread. */
export function isQuicklyPacked(plain: Buffer): boolean {
  return plain.length <= quicklyPacked
}

export function compressAtOnce(plain: Buffer): CompressedBody {
  return withSum(brotliCompressSync(plain, quickly()))
}

/** Has another thread compress a body. */
const packAside = (plain: Buffer): Promise<Buffer> =>
  promisify<Buffer, BrotliOptions, Buffer>(brotliCompress)(plain, quickly())

/** Brotli keeps no sum: the CRC-32 of what it made comes behind that. */
function withSum(body: Buffer): CompressedBody {
  // With memory of its own: handed to another thread, a piece of Node's pool would take all of that along.
  const summed = Buffer.allocUnsafeSlow(body.length + sumBytes)
  body.copy(summed)
  summed.writeUInt32BE(crc32(body), body.length)
  return { encoding: 'br-crc32', body: summed }
}

/** How many of these bodies, from one on, are compressed as one block. */
function inOneBlock(bodies: readonly Buffer[], from: number): number {
  let [count, size] = [0, 0]
  while (count < mostInBlock && from + count < bodies.length) {
    size += (bodies[from + count] as Buffer).length
    if (count > 0 && size > quicklyPacked) break
    count += 1
  }
  return count
}

/** Compresses several bodies as one block: their lengths, then one after the other. */
function compressTogether(bodies: readonly Buffer[]): Buffer {
  const lengths = Buffer.alloc(bodies.length * lengthBytes)
  for (const [place, { length }] of bodies.entries()) lengths.writeUInt32BE(length, place * lengthBytes)
  return withSum(brotliCompressSync(Buffer.concat([lengths, ...bodies]), together())).body
}

/** The bodies of a block. Throws where it was damaged since. */
function decompressTogether(packed: Buffer, count: number): readonly Buffer[] {
  const plain = unpackBrotli(packed)
  let at = count * lengthBytes
  return Array.from({ length: count }, (_, place) => {
    const from = at
    at += plain.readUInt32BE(place * lengthBytes)
    return plain.subarray(from, at)
  })
}

/** Several bodies that are compressed as one. */
export const blocks = {
  most: mostInBlock,
  count: inOneBlock,
  pack: compressTogether,
  unpack: decompressTogether,
}

/** The body as it came. Throws where it was damaged since. */
export function decompress({ encoding, body }: CompressedBody): Buffer {
  const unpacker = unpackers[encoding]
  if (unpacker === undefined) throw new Error(`no body is stored as ${encoding}`)
  return unpacker(body)
}

/** What is unpacked; null where it was damaged. */
export function orNull<T>(unpack: () => T): T | null {
  try {
    return unpack()
  } catch {
    return null
  }
}

function unpackBrotli(packed: Buffer): Buffer {
  const end = packed.length - sumBytes
  const body = packed.subarray(0, end)
  if (crc32(body) !== packed.readUInt32BE(end)) throw new Error('the body is not what was stored')
  return brotliDecompressSync(body)
}
