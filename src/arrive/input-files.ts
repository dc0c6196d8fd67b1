import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { createGunzip, inflateRawSync } from 'node:zlib'
import { UsageError } from '../model/errors.ts'
import { encodingOf } from '../model/text.ts'

/** A file that was named, or lies in the folder or the archive that was named. */
export interface InputFile {
  /** For messages: `export.zip/Queries.csv`. */
  readonly name: string
  readonly base: string
  /** Where it lies by itself; null for what is inside an archive. */
  readonly path: string | null
  /** Its bytes as they are, without compression as gzip. */
  readonly chunks: () => AsyncIterable<Buffer>
}

const chunkBytes = 1 << 20
/** An export of Search Console has some 100 kB; what unpacks to more is no such file. */
const largestEntry = 200_000_000
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
  const start = await firstBytes(path)
  if (start.length === 0) throw new UsageError(`${path} is empty. Export it again`)
  return start.readUInt32LE(0) === zipEntry ? await filesOfZip(path) : [plainFile(path, path)]
}

async function filesOfFolder(folder: string): Promise<readonly InputFile[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
  if (paths.length === 0)
    throw new UsageError(`The folder ${folder} holds no file. Name the one with the export`)
  if (paths.length > mostFiles)
    throw new UsageError(
      `The folder ${folder} holds more than ${mostFiles} files. Name the one with the export`,
    )
  return paths.map((path) => plainFile(path, path))
}

function plainFile(path: string, name: string): InputFile {
  return {
    name,
    base: basename(path),
    path,
    chunks: async function* () {
      const isPacked = (await firstBytes(path)).readUInt16BE(0) === 0x1f8b
      const file = createReadStream(path, { highWaterMark: chunkBytes })
      // Errors of the file come through the stream that is read.
      const source: Readable | Transform = isPacked
        ? pipeline(file, createGunzip({ chunkSize: chunkBytes }), () => {})
        : file
      try {
        yield* source as AsyncIterable<Buffer>
      } catch (error) {
        throw isPacked
          ? new UsageError(`${name} is cut or damaged: it cannot be unpacked to its end. Export it again`, {
              cause: error,
            })
          : error
      }
    },
  }
}

async function firstBytes(path: string): Promise<Buffer> {
  await using file = await open(path)
  const bytes = Buffer.alloc(4)
  const { bytesRead } = await file.read(bytes, 0, 4, 0)
  return bytesRead === 0 ? bytes.subarray(0, 0) : bytes
}

const zipEntry = 0x04034b50
const [zipDirectory, zipEnd] = [0x02014b50, 0x06054b50]

/** The files of an archive in its order. Archives of these tools are small: they are read at once. */
async function filesOfZip(path: string): Promise<readonly InputFile[]> {
  const damaged = (cause?: unknown) =>
    new UsageError(`${path} is cut or damaged: it is no whole ZIP archive. Download it again`, { cause })
  const bytes = await readFile(path)
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  if (end === -1 || bytes.length < end + 22 || bytes.readUInt32LE(end) !== zipEnd) throw damaged()
  const files: InputFile[] = []
  let at = bytes.readUInt32LE(end + 16)
  for (let count = bytes.readUInt16LE(end + 10); count > 0; count--) {
    if (at + 46 > end || bytes.readUInt32LE(at) !== zipDirectory) throw damaged()
    const method = bytes.readUInt16LE(at + 10)
    const [packed, size] = [bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 24)]
    const [nameSize, extra, comment] = [28, 30, 32].map((place) => bytes.readUInt16LE(at + place)) as [
      number,
      number,
      number,
    ]
    const offset = bytes.readUInt32LE(at + 42)
    const inside = bytes.toString('utf8', at + 46, at + 46 + nameSize)
    at += 46 + nameSize + extra + comment
    if (inside.endsWith('/') || basename(inside).startsWith('.') || inside.startsWith('__MACOSX/')) continue
    if (size > largestEntry)
      throw new UsageError(
        `${path}/${inside} is larger than 200 MB unpacked. Unpack the archive, and name the folder`,
      )
    files.push({
      name: `${path}/${inside}`,
      base: basename(inside),
      path: null,
      chunks: async function* () {
        try {
          const begin = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28)
          const body = bytes.subarray(begin, begin + packed)
          const plain = method === 0 ? body : inflateRawSync(body, { maxOutputLength: size + 1 })
          if (plain.length !== size) throw damaged()
          yield plain
        } catch (error) {
          throw error instanceof UsageError ? error : damaged(error)
        }
      },
    })
  }
  if (files.length === 0) throw new UsageError(`${path} holds no file. Download it again`)
  return files
}

/** A digest of the content of files, whatever they are called and in which order they lie. */
export async function digestOf(files: readonly InputFile[]): Promise<string> {
  const digests: string[] = []
  for (const file of files) {
    const hash = createHash('sha256')
    for await (const chunk of file.chunks()) hash.update(chunk)
    digests.push(hash.digest('hex'))
  }
  return createHash('sha256').update(digests.sort().join()).digest('hex')
}

/** Up to so many bytes from the start of a file. */
export async function startOf(file: InputFile, most: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const chunk of file.chunks()) {
    parts.push(chunk)
    size += chunk.length
    if (size >= most) break
  }
  return Buffer.concat(parts).subarray(0, most)
}

/** The bytes of a text file as UTF-8: what begins as UTF-16 is turned into it. */
export async function* utf8Chunks(file: InputFile): AsyncGenerator<Buffer> {
  let decoder: InstanceType<typeof TextDecoder> | null = null
  let isFirst = true
  for await (const chunk of file.chunks()) {
    if (isFirst) {
      const encoding = encodingOf(chunk)
      if (encoding !== 'utf-8') decoder = new TextDecoder(encoding)
      isFirst = false
    }
    yield decoder === null ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }))
  }
}
