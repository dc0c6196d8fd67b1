import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename } from 'node:path'
import { createGunzip } from 'node:zlib'
import { UsageError } from '../../model/errors.ts'
import { encodingOf } from '../../model/text.ts'
import { openForeign } from '../../store/sqlite/connection/database.ts'
import { parserOf } from './delimited.ts'

/** A file of another tool, opened as far as is needed to see what it is. */
export interface ForeignFile extends Disposable {
  readonly path: string
  readonly name: string
  /** The columns of each table by its name; null where the file is no database. */
  readonly tables: ReadonlyMap<string, readonly string[]> | null
  /** The database; throws where the file is none. */
  readonly db: () => ReturnType<typeof openForeign>['db']
  /** How its text begins; empty for a database. */
  readonly head: string
  /** The first lines of its text, as cells. */
  readonly headRows: readonly (readonly string[])[]
  /** The text, piece by piece. */
  readonly text: () => AsyncGenerator<string>
}

const headBytes = 128 * 1024
const headLines = 20

/** Opens a file to read it. Throws one sentence where it cannot be read, or is neither text nor an SQLite database. */
export async function openForeignFile(path: string): Promise<ForeignFile> {
  const first = await readStart(path)
  const name = basename(path)
  if (first.length === 0) throw new UsageError(`${path} is empty. Export it again`)
  if (first.toString('latin1', 0, 15) === 'SQLite format 3') return openTables(path, name)
  if (first.toString('latin1', 0, 4) === 'PK\u0003\u0004')
    throw new UsageError(`${path} is a zip. Unpack it, then name the folder: rankline import <folder>`)
  const isPacked = first[0] === 0x1f && first[1] === 0x8b
  const text = () => decoded(path, isPacked)
  let head = ''
  for await (const piece of text()) {
    head += piece
    if (head.length >= headBytes) break
  }
  if (head.includes('\u0000')) throw new UsageError(`${path} is neither a text nor an SQLite database`)
  return {
    path,
    name,
    tables: null,
    db: () => {
      throw new Error(`${path} is no database`)
    },
    head,
    headRows: rowsOf(head),
    text,
    [Symbol.dispose]: () => {},
  }
}

async function readStart(path: string): Promise<Buffer> {
  try {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    throw new UsageError(
      `${path} cannot be read (${(error as NodeJS.ErrnoException).code}). Name a file or a folder`,
      {
        cause: error,
      },
    )
  }
}

function openTables(path: string, name: string): ForeignFile {
  const { db, close } = openForeign(path)
  try {
    const names = db
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .pluck()
      .all()
    const columnsOf = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck()
    const tables = new Map(names.map((table) => [table, columnsOf.all(table)]))
    return {
      path,
      name,
      tables,
      db: () => db,
      head: '',
      headRows: [],
      text: async function* () {},
      [Symbol.dispose]: close,
    }
  } catch (error) {
    close()
    throw brokenDatabase(path, error)
  }
}

/** What SQLite says of a file that is damaged or cut off, as one sentence; other errors as they are. */
export function brokenDatabase(path: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(code)
    ? new UsageError(`${path} is damaged or cut off. Copy it again while its program is stopped`, {
        cause: error,
      })
    : error
}

/** The text of a file, unpacked where it is gzip. */
async function* decoded(path: string, isPacked: boolean): AsyncGenerator<string> {
  const file = createReadStream(path, { highWaterMark: 256 * 1024 })
  const bytes = isPacked ? file.pipe(createGunzip()) : file
  // An error of the file does not reach what it is piped into.
  if (isPacked) file.once('error', (error) => bytes.destroy(error))
  let decoder: InstanceType<typeof TextDecoder> | null = null
  let lines = 1
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      decoder ??= new TextDecoder(encodingOf(chunk), { fatal: true })
      const text = decoder.decode(chunk, { stream: true })
      yield text
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1
    }
    yield decoder?.decode() ?? ''
  } catch (error) {
    throw unreadable(path, lines, error)
  } finally {
    file.destroy()
  }
}

function unreadable(path: string, line: number, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return new UsageError(
      `${path} is not UTF-8 at or behind line ${line}. Save it as UTF-8, then import it again`,
      {
        cause: error,
      },
    )
  if (/^Z_/.test(code))
    return new UsageError(`${path} is damaged or cut off behind line ${line}. Export it again`, {
      cause: error,
    })
  return error
}

function rowsOf(head: string): readonly (readonly string[])[] {
  const parse = parserOf('', separatorOf(head))
  try {
    return parse
      .push(head)
      .slice(0, headLines)
      .map(({ cells }) => cells)
  } catch {
    return []
  }
}

/** What parts the cells of a table: the sign that its first lines have most often. */
export function separatorOf(head: string): string {
  const lines = head
    .split('\n', headLines)
    .join('\n')
    .replace(/"(?:[^"]|"")*"/g, '')
  const times = [',', '\t', ';'].map((sign) => ({ sign, times: lines.split(sign).length }))
  return times.reduce((best, one) => (one.times > best.times ? one : best)).sign
}
