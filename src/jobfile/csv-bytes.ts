import { createReadStream } from 'node:fs'
import type { Mistake } from './problem.ts'

/** Where bytes are read from: the path of a file, or the bytes themselves. */
export type ByteSource = string | Buffer

// The rows of a chunk are all there at once: the larger it is, the more memory they take before they are dropped.
const chunkSize = 64 * 1024

/** The bytes of a file, each seen by `seen` as it stands on disk, with every line end made a line feed. */
export async function* readLines(source: ByteSource, seen: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  let afterReturn = false
  for await (const chunk of chunksOf(source)) {
    seen(chunk)
    if (!afterReturn && !chunk.includes(13)) {
      yield chunk
      continue
    }
    const { bytes, endsInReturn } = toLineFeeds(chunk, afterReturn)
    afterReturn = endsInReturn
    if (bytes.length > 0) yield bytes
  }
}

function chunksOf(source: ByteSource): AsyncIterable<Buffer> | Iterable<Buffer> {
  return typeof source === 'string' ? createReadStream(source, { highWaterMark: chunkSize }) : slices(source)
}

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize)
}

function toLineFeeds(chunk: Buffer, afterReturn: boolean): { bytes: Buffer; endsInReturn: boolean } {
  const bytes = Buffer.allocUnsafe(chunk.length)
  let length = 0
  let last = afterReturn ? 13 : 0
  for (const byte of chunk) {
    if (byte !== 10 || last !== 13) bytes[length++] = byte === 13 ? 10 : byte
    last = byte
  }
  return { bytes: bytes.subarray(0, length), endsInReturn: last === 13 }
}

const signatures: readonly { readonly bytes: readonly number[]; readonly mistake: Mistake }[] = [
  { bytes: [0xff, 0xfe], mistake: { what: 'the file is UTF-16', instead: 'save it as UTF-8' } },
  { bytes: [0xfe, 0xff], mistake: { what: 'the file is UTF-16', instead: 'save it as UTF-8' } },
  {
    bytes: [0x50, 0x4b, 3, 4],
    mistake: { what: 'the file is a workbook or an archive', instead: 'save the table as CSV in UTF-8' },
  },
  { bytes: [0x1f, 0x8b], mistake: { what: 'the file is compressed', instead: 'unpack it first' } },
]

/** Why a file that begins with these bytes is no UTF-8 text; null where it may be. */
export function notText(start: Buffer): Mistake | null {
  const found = signatures.find(({ bytes }) => bytes.every((byte, index) => start[index] === byte))
  if (found !== undefined) return found.mistake
  if (start.subarray(0, 1000).includes(0))
    return { what: 'the file is UTF-16 or no text', instead: 'save it as UTF-8' }
  return null
}

/** The sign that separates the cells of a header line: the one of `,` `;` and tab that it holds most often outside quotes. */
export function delimiterOf(header: string): ',' | ';' | '\t' {
  const bare = header.replace(/"(?:[^"]|"")*"?/g, '')
  const counted = ([',', ';', '\t'] as const).map((sign) => ({ sign, times: bare.split(sign).length }))
  return counted.reduce((best, other) => (other.times > best.times ? other : best)).sign
}
