import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { pipeline, Readable, type Transform } from 'node:stream'
import { createGunzip, createInflateRaw } from 'node:zlib'
import { UsageError } from '../model/errors.ts'
import { encodingOf } from '../model/text.ts'

/** A file that was named, or lies in the folder or the archive that was named. */
export type InputFile = ReturnType<typeof inputFile>

function inputFile(file: {
  /** For messages: `export.zip/Queries.csv`. */
  readonly name: string
  readonly base: string
  /** Where its bytes lie as they are; null for what is packed. */
  readonly path: string | null
  /** Its bytes, unpacked. */
  readonly chunks: () => AsyncIterable<Buffer>
}) {
  const { name, chunks } = file
  const utf8 = (): AsyncIterable<Buffer> => utf8Chunks(name, chunks)
  return {
    ...file,
    /** How it begins: up to so many of its bytes. */
    start: (most: number): Promise<Buffer> => startOf(chunks, most),
    /** The bytes of a text as UTF-8, in pieces of whole characters: UTF-16 is turned into it. Throws a sentence for other bytes. */
    utf8,
    /** The lines of a text, without their ends. */
    lines: (): AsyncIterable<Buffer> => linesOf(name, utf8()),
  }
}

const chunkBytes = 1 << 20
const mostFiles = 20_000

/** The files of a path, in the order of the archive or by name; hidden ones are left out. Throws a sentence where there are none. */
export async function inputFiles(path: string): Promise<readonly InputFile[]> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      error.code === 'ENOENT'
        ? `There is no file or folder ${path}. Check the path`
        : `${path} cannot be read (${error.code ?? error.message}). Check its permissions`,
      { cause: error },
    )
  })
  if (found.isDirectory()) return await filesOfFolder(path)
  if (!found.isFile()) throw new UsageError(`${path} is no file. Write what comes from it into one`)
  const start = await firstBytes(path)
  if (start === null) throw new UsageError(`${path} is empty. Export it again`)
  return start.readUInt32LE(0) === zipEntry ? await filesOfZip(path) : [plainFile(path, start)]
}

/** What SQLite leaves beside a database is no file of its own. */
const isHidden = (name: string): boolean =>
  name.split(/[/\\]/).some((part) => part.startsWith('.') || part === '__MACOSX') ||
  /-(wal|shm|journal)$/.test(name)

async function filesOfFolder(folder: string): Promise<readonly InputFile[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const paths: string[] = []
  for (const entry of entries) {
    const path = join(entry.parentPath ?? entry.path, entry.name)
    const isFile = entry.isSymbolicLink()
      ? ((await stat(path).catch(() => null))?.isFile() ?? false)
      : entry.isFile()
    if (isFile && !isHidden(relative(folder, path))) paths.push(path)
  }
  paths.sort()
  if (paths.length === 0)
    throw new UsageError(`The folder ${folder} holds no file. Name the one with the export`)
  if (paths.length > mostFiles)
    throw new UsageError(
      `The folder ${folder} holds more than ${mostFiles} files. Name the one with the export`,
    )
  const files: InputFile[] = []
  for (const path of paths) files.push(plainFile(path, await firstBytes(path)))
  return files
}

function plainFile(path: string, start: Buffer | null): InputFile {
  const isPacked = start?.readUInt16BE(0) === 0x1f8b
  const bytes = () => createReadStream(path, { highWaterMark: chunkBytes })
  return inputFile({
    name: path,
    base: basename(path),
    path: isPacked ? null : path,
    chunks: () => (isPacked ? unpacked(bytes(), createGunzip({ chunkSize: chunkBytes }), path) : bytes()),
  })
}

/** Errors of the file come through the stream that is read. */
async function* unpacked(file: Readable, unpack: Transform, name: string): AsyncGenerator<Buffer> {
  try {
    yield* pipeline(file, unpack, () => {}) as AsyncIterable<Buffer>
  } catch (error) {
    throw new UsageError(`${name} is cut or damaged: it cannot be unpacked to its end. Export it again`, {
      cause: error,
    })
  }
}

/** The first four bytes; null where there are none. */
async function firstBytes(path: string): Promise<Buffer | null> {
  await using file = await open(path).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${path} cannot be read (${error.code ?? error.message}). Check its permissions`, {
      cause: error,
    })
  })
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0)
  return bytesRead === 0 ? null : buffer
}

const zipEntry = 0x04034b50
const zipDirectory = 0x02014b50
/** The end of an archive, with the longest comment. */
const mostZipEnd = 22 + 65_535

/** The files of an archive in its order. */
async function filesOfZip(path: string): Promise<readonly InputFile[]> {
  const damaged = () =>
    new UsageError(`${path} is cut or damaged: it is no whole ZIP archive. Download it again`)
  const read = async (from: number, length: number): Promise<Buffer> => {
    await using file = await open(path)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from)
    if (bytesRead < length) throw damaged()
    return buffer
  }
  const { size: all } = await stat(path)
  const tail = await read(Math.max(0, all - mostZipEnd), Math.min(all, mostZipEnd))
  const end = tail.lastIndexOf('PK\u0005\u0006', undefined, 'latin1')
  if (end === -1 || tail.length < end + 22) throw damaged()
  const [length, start] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)]
  if (start + length > all) throw damaged()
  const directory = await read(start, length)
  const files: InputFile[] = []
  for (let at = 0; at + 46 <= length; ) {
    if (directory.readUInt32LE(at) !== zipDirectory) throw damaged()
    const [flags, method] = [directory.readUInt16LE(at + 8), directory.readUInt16LE(at + 10)]
    const [packed, size] = [directory.readUInt32LE(at + 20), directory.readUInt32LE(at + 24)]
    const nameEnd = at + 46 + directory.readUInt16LE(at + 28)
    const offset = directory.readUInt32LE(at + 42)
    const inside = directory.toString('utf8', at + 46, nameEnd)
    if (inside === '[Content_Types].xml')
      throw new UsageError(`${path} is a workbook. Save its sheet as CSV, and name that`)
    at = nameEnd + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
    if (inside.endsWith('/') || isHidden(inside)) continue
    const name = `${path}/${inside}`
    if ((flags & 1) === 1) throw new UsageError(`${name} is locked with a password. Unpack the archive first`)
    if ((method !== 0 && method !== 8) || size === 0xffffffff)
      throw new UsageError(`${name} is packed in a way that rankline does not know. Unpack the archive first`)
    const entry = async function* (): AsyncGenerator<Buffer> {
      if (size === 0) return
      const head = await read(offset, 30)
      const begin = offset + 30 + head.readUInt16LE(26) + head.readUInt16LE(28)
      const body = createReadStream(path, {
        start: begin,
        end: begin + packed - 1,
        highWaterMark: chunkBytes,
      })
      let given = 0
      for await (const chunk of method === 0
        ? body
        : unpacked(body, createInflateRaw({ chunkSize: chunkBytes }), name)) {
        given += chunk.length
        yield chunk
      }
      if (given !== size) throw damaged()
    }
    const isGzip = inside.endsWith('.gz')
    files.push(
      inputFile({
        name,
        base: basename(inside),
        path: null,
        chunks: () =>
          isGzip ? unpacked(Readable.from(entry()), createGunzip({ chunkSize: chunkBytes }), name) : entry(),
      }),
    )
  }
  if (files.length === 0) throw new UsageError(`${path} holds no file. Download it again`)
  return files
}

async function startOf(chunks: InputFile['chunks'], most: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const chunk of chunks()) {
    parts.push(chunk)
    size += chunk.length
    if (size >= most) break
  }
  return Buffer.concat(parts).subarray(0, most)
}

/** The text that a file begins with, in the encoding that its first bytes say. */
export function textOfStart(start: Buffer): string {
  const text = new TextDecoder(encodingOf(start)).decode(start, { stream: true })
  return hasOldEnds(Buffer.from(text)) === true ? text.replaceAll(/\r(?!\n)/g, '\n') : text
}

/**
 * Whether lines end with a carriage return alone, as in what spreadsheets call CSV of the Macintosh; null where no line ends. Within quotes
 * stand other ends.
 */
function hasOldEnds(bytes: Buffer): boolean | null {
  let isQuoted = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) isQuoted = !isQuoted
    else if (!isQuoted && byte === lineFeed) return false
    else if (!isQuoted && byte === carriageReturn)
      return at + 1 === bytes.length ? null : bytes[at + 1] !== lineFeed
  }
  // A sign for inches closes nothing.
  if (bytes.includes(lineFeed)) return false
  return bytes.subarray(0, -1).includes(carriageReturn) ? true : null
}

async function* utf8Chunks(name: string, chunks: InputFile['chunks']): AsyncGenerator<Buffer> {
  let isOld = null as boolean | null
  /** What ends with a carriage return, behind which a line feed may follow. */
  let held: Buffer = Buffer.alloc(0)
  for await (const chunk of decoded(name, chunks)) {
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    held = bytes.subarray(bytes.length)
    isOld ??= hasOldEnds(bytes)
    if (isOld === null && bytes.at(-1) === carriageReturn) held = bytes
    else yield isOld === true ? withNewEnds(bytes) : bytes
  }
  if (held.length > 0) yield withNewEnds(held)
}

function withNewEnds(bytes: Buffer): Buffer {
  for (let at = bytes.indexOf(carriageReturn); at !== -1; at = bytes.indexOf(carriageReturn, at + 1))
    if (bytes[at + 1] !== lineFeed) bytes[at] = lineFeed
  return bytes
}

const [lineFeed, carriageReturn, quote] = [10, 13, 34]

async function* decoded(name: string, chunks: InputFile['chunks']): AsyncGenerator<Buffer> {
  let decoder = null as InstanceType<typeof TextDecoder> | null
  let isFirst = true
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks()) {
    if (isFirst && encodingOf(chunk) !== 'utf-8') decoder = new TextDecoder(encodingOf(chunk))
    if (decoder !== null) yield Buffer.from(decoder.decode(chunk, { stream: true }))
    else {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const end = endOfCharacters(bytes)
      if (!isUtf8(bytes.subarray(0, end))) throw await notUtf8(name, chunks)
      yield bytes.subarray(
        isFirst && bytes.readUIntBE(0, Math.min(3, bytes.length)) === 0xefbbbf ? 3 : 0,
        end,
      )
      rest = bytes.subarray(end)
    }
    isFirst = false
  }
  if (rest.length > 0) throw await notUtf8(name, chunks)
}

/** Where the last whole character ends. */
function endOfCharacters(bytes: Buffer): number {
  for (let back = 1; back < 4 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] as number
    if (byte < 0x80) break
    if (byte < 0xc0) continue
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

async function notUtf8(name: string, chunks: InputFile['chunks']): Promise<UsageError> {
  let line = 0
  for await (const bytes of linesOf(name, chunks())) {
    line++
    if (!isUtf8(bytes)) break
  }
  return new UsageError(`${name}:${line}: the line is not UTF-8. Save the file as UTF-8`)
}

/** No line of these files is longer: Serposcope cuts its statements at 2 MB. */
const longestLine = 64 << 20

async function* linesOf(name: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  let line = 1
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const bytes = chunk.subarray(from, end)
      yield rest.length === 0 ? bytes : Buffer.concat([rest, bytes])
      rest = rest.subarray(0, 0)
      from = end + 1
      line++
    }
    rest = rest.length === 0 ? chunk.subarray(from) : Buffer.concat([rest, chunk.subarray(from)])
    if (rest.length > longestLine)
      throw new UsageError(`${name}:${line}: the line is longer than 64 MB. Check the file`)
  }
  if (rest.length > 0) yield rest
}
