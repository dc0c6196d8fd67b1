import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../../model/errors.ts'
import { parseLink } from '../../model/url.ts'
import { openForeign } from '../../store/sqlite/connection/database.ts'
import type { ImportSink } from '../../store/sqlite/imports/imports.ts'
import { firstRows, separatorOf, type TextRow } from '../csv.ts'
import { type InputFile, startOf, textOfStart } from '../input-files.ts'
import { type DayBeforeMonth, siteOf } from './values.ts'

/** How one tool writes what it knows: it stands in a file of `formats`, and in the list of that file. */
export interface ForeignFormat {
  /** What `--as` takes. */
  readonly name: string
  /** Formats of one tool share what they follow. */
  readonly tool: string
  readonly title: string
  /** Of several observations of one day, which one counts. */
  readonly sameDay: 'last' | 'best'
  /** Whether a file is of this format, by what is in it. */
  readonly recognise: (file: ForeignFile) => boolean
  /** Tells all that a file of this format says. */
  readonly read: (file: ForeignFile, into: ImportSink, wanted: ImportOptions) => Promise<void>
}

/** What a person says of a file that does not say it itself. */
export interface ImportOptions {
  /** The site whose ranks it has. */
  readonly target: string | null
  /** The day of a file without days, as a number. */
  readonly day: number | null
  readonly order: DayBeforeMonth | null
  /** Names of columns by what they hold. */
  readonly columns: ReadonlyMap<string, string>
}

/**
 * The site of a file that does not name it: the one that was typed, else the one in the name of the file, else the host of the page that
 * ranks, else that of the row before.
 */
export function siteGuess({ name }: ForeignFile, { target }: ImportOptions, ofName: string | null = null) {
  const named = target ?? ofName
  let last = named === null ? null : siteOf(named)
  return (link: string | null): string => {
    if (named === null && link !== null) last = hostIn(link) ?? last
    if (last !== null) return last
    throw new UsageError(`${name} does not say whose ranks it has. Name the site with --target acme.com`)
  }
}

function hostIn(link: string): string | null {
  const parsed = parseLink(/^https?:/i.test(link) ? link : `https://${link}`)
  return parsed === null ? null : siteOf(parsed.host)
}

/** A file of another tool, opened as far as is needed to see what it is. */
export interface ForeignFile extends InputFile, Disposable {
  /** The columns of each table by its name; null where the file is no database. */
  readonly tables: ReadonlyMap<string, readonly string[]> | null
  /** The database; throws where the file is none. */
  readonly db: () => ReturnType<typeof openForeign>['db']
  /** How its text begins; empty for a database. */
  readonly head: string
  /** The first rows of its text, and what parts their cells. */
  readonly headRows: readonly TextRow[]
  readonly separator: number
}

const headBytes = 128 * 1024

/** Opens a file to read it. Throws one sentence where it cannot be read, or is neither text nor an SQLite database. */
export async function openForeignFile(file: InputFile): Promise<ForeignFile> {
  const start = await startOf(file, headBytes)
  if (start.length === 0) throw new UsageError(`${file.name} is empty. Export it again`)
  if (start.toString('latin1', 0, 15) === 'SQLite format 3') return await openTables(file)
  const head = textOfStart(start)
  if (head.includes('\u0000')) throw new UsageError(`${file.name} is neither a text nor an SQLite database`)
  return {
    ...file,
    tables: null,
    db: () => {
      throw new Error(`${file.name} is no database`)
    },
    head,
    headRows: firstRows(head),
    separator: separatorOf(head),
    [Symbol.dispose]: () => {},
  }
}

async function openTables(file: InputFile): Promise<ForeignFile> {
  const folder = file.path === null ? mkdtempSync(join(tmpdir(), 'rankline-unpacked-')) : null
  const forget = () => folder !== null && rmSync(folder, { recursive: true })
  let close = () => {}
  try {
    const opened = openForeign(file.path ?? (await unpackInto(join(folder as string, file.base), file)))
    close = opened.close
    const { db } = opened
    const names = db
      .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
      .pluck()
      .all()
    const columnsOf = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck()
    return {
      ...file,
      tables: new Map(names.map((table) => [table, columnsOf.all(table)])),
      db: () => db,
      head: '',
      headRows: [],
      separator: 0,
      [Symbol.dispose]: () => {
        close()
        forget()
      },
    }
  } catch (error) {
    close()
    forget()
    throw brokenDatabase(file.name, error)
  }
}

async function unpackInto(path: string, { chunks }: InputFile): Promise<string> {
  await using copy = await open(path, 'wx', 0o600)
  for await (const chunk of chunks()) await copy.writeFile(chunk)
  return path
}

/** What SQLite says of a file that is damaged or cut off, as one sentence; other errors as they are. */
export function brokenDatabase(name: string, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const missing = /no such (?:column|table): (\S+)/.exec(error instanceof Error ? error.message : '')?.[1]
  if (missing !== undefined)
    return new UsageError(
      `${name} is of a version of its program that rankline does not know: ${missing} is missing. Export its ranks as CSV, and import that`,
      { cause: error },
    )
  return /^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(code)
    ? new UsageError(`${name} is damaged or cut off. Copy it again while its program is stopped`, {
        cause: error,
      })
    : error
}
