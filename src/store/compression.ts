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
const quickly: BrotliOptions = { chunkSize: 4096, params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
/** Handing a usual answer to another thread takes several times as long as compressing it; beyond this it would keep others waiting. */
const quicklyPacked = 65_536
const packAside = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress)

const sumBytes = 4

const unpackers: Readonly<Record<string, (packed: Buffer) => Buffer>> = {
  'br-crc32': unpackBrotli,
  // Of bodies that earlier versions stored; it has a sum of its own.
  deflate: (packed) => inflateSync(packed),
}

/** Compresses with brotli, which keeps no sum: the CRC-32 of what it made comes behind that. */
export async function compress(plain: Buffer): Promise<CompressedBody> {
  const body = await (plain.length <= quicklyPacked
    ? brotliCompressSync(plain, quickly)
    : packAside(plain, quickly))
  // With memory of its own: handed to another thread, a piece of Node's pool would take all of that along.
  const summed = Buffer.allocUnsafeSlow(body.length + sumBytes)
  body.copy(summed)
  summed.writeUInt32BE(crc32(body), body.length)
  return { encoding: 'br-crc32', body: summed }
}

/** The body as it came. Throws where it was damaged since. */
export function decompress({ encoding, body }: CompressedBody): Buffer {
  const unpacker = unpackers[encoding]
  if (unpacker === undefined) throw new Error(`no body is stored as ${encoding}`)
  return unpacker(body)
}

/** The same, null where it was damaged. */
export function unpackSound(packed: CompressedBody): Buffer | null {
  try {
    return decompress(packed)
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
