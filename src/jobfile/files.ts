import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import path from 'node:path'
import type { InvalidValue } from '../model/values.ts'
import type { Report } from './source.ts'

const maxYaml = 8 * 1024 * 1024
const yamlTooLarge: InvalidValue = {
  message: 'the file is larger than 8 MB',
  fix: "put the queries in a CSV and name it with '- file:'",
}

/** A job as text: what mistakes call it, and its bytes. */
export interface JobText {
  readonly where: string
  readonly bytes: Buffer
  /** The job file that had this text before; missing where it never had a file. */
  readonly path?: string
}

/** Whether a text without a name is YAML: its first line that says something is a key, or opens a map. All else is CSV. */
export function isYamlMap(bytes: Buffer): boolean {
  const start = bytes.toString('utf8', 0, 64 * 1024).replace(/^\ufeff/, '')
  const first = start.split(/\r\n|\r|\n/).find((line) => !/^\s*(#.*)?$|^(---|%)/.test(line)) ?? ''
  return /^\s*(\{|\? |("[^"]*"|'[^']*'|[^\s"',;{[-][^:,;\t]*?)\s*:(\s|$))/.test(first)
}

/** Why a text cannot be read as YAML; null where it can. */
export function yamlTextMistake({ bytes }: JobText): InvalidValue | null {
  return bytes.length > maxYaml ? yamlTooLarge : null
}

/** Why a file cannot be read as a job file or as the CSV file of one; null where it can. */
export async function fileMistake(
  file: string,
  extensions = ['.yaml', '.yml', '.csv', '.tsv'],
): Promise<InvalidValue | null> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error)
  if (found instanceof Error) return unreadable(found)
  if (found.isDirectory()) return { message: 'this is a directory', fix: 'name the job file in it' }
  if (!found.isFile()) return { message: 'this is not a regular file', fix: 'save it as a file first' }
  const extension = path.extname(file).toLowerCase()
  if (!extensions.includes(extension))
    return {
      message: extension === '' ? 'the file has no extension' : `a file ${extension} cannot be read`,
      fix: `write a file that ends in ${extensions.join(', ')}`,
    }
  if (/^\.ya?ml$/.test(extension) && found.size > maxYaml) return yamlTooLarge
  return await access(file, constants.R_OK).then(() => null, unreadable)
}

/** The path of a CSV file that a job file names: relative to the job file, or absolute. */
export function fromJobFile(jobFile: string, named: string): string {
  return path.isAbsolute(named) ? named : path.join(path.dirname(jobFile), named)
}

/** The error of the operating system, for people. */
export function unreadable({ code, message }: NodeJS.ErrnoException): InvalidValue {
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return { message: 'there is no such file', fix: 'check the path' }
  if (code === 'EACCES' || code === 'EPERM')
    return { message: 'you are not allowed to read the file', fix: 'change its permissions' }
  return { message: `the file cannot be read (${code ?? message})`, fix: 'check the path' }
}

/** The text of a YAML file; null where it is not UTF-8, which is reported with its line. */
export function yamlText(bytes: Buffer, where: string, report: Report): string | null {
  const wrong = notText(bytes)
  if (wrong !== null) report({ where, line: null, column: null, ...wrong })
  else if (isUtf8(bytes)) return bytes.toString('utf8')
  else
    report({
      where,
      line: brokenLine(bytes),
      column: null,
      message: 'the line is not UTF-8',
      fix: 'save the file as UTF-8',
    })
  return null
}

function brokenLine(bytes: Buffer): number {
  let line = 1
  let start = 0
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
    if (!isUtf8(bytes.subarray(start, end))) return line
    line++
    start = end + 1
  }
  return line
}

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

const signatures: readonly { readonly bytes: readonly number[]; readonly mistake: InvalidValue }[] = [
  { bytes: [0xff, 0xfe], mistake: { message: 'the file is UTF-16', fix: 'save it as UTF-8' } },
  { bytes: [0xfe, 0xff], mistake: { message: 'the file is UTF-16', fix: 'save it as UTF-8' } },
  {
    bytes: [0x50, 0x4b, 3, 4],
    mistake: { message: 'the file is a workbook or an archive', fix: 'save the table as CSV in UTF-8' },
  },
  { bytes: [0x1f, 0x8b], mistake: { message: 'the file is compressed', fix: 'unpack it first' } },
]

/** Why a file that begins with these bytes is not UTF-8 text; null where it may be. */
export function notText(start: Buffer): InvalidValue | null {
  const found = signatures.find(({ bytes }) => bytes.every((byte, index) => start[index] === byte))
  if (found !== undefined) return found.mistake
  if (start.subarray(0, 1000).includes(0))
    return { message: 'the file is UTF-16 or not text', fix: 'save it as UTF-8' }
  return null
}

/** The sign that separates the cells of a header line: the one of `,` `;` and tab that it holds most often outside quotes. */
export function delimiterOf(header: string): ',' | ';' | '\t' {
  const bare = header.replace(/"(?:[^"]|"")*"?/g, '')
  const counted = ([',', ';', '\t'] as const).map((sign) => ({ sign, times: bare.split(sign).length }))
  return counted.reduce((best, other) => (other.times > best.times ? other : best)).sign
}
