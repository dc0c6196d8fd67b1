import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../../model/errors.ts'
import { closestMatch, shellWord } from '../../model/text.ts'
import { openForeign } from '../../store/sqlite/connection/database.ts'
import { type ImportSink, storeImport, tryImport } from '../../store/sqlite/imports/imports.ts'
import { layoutOf } from '../clicks/rows.ts'
import { firstRows, separatorOf } from '../csv.ts'
import { type InputFile, inputFiles, textOfStart } from '../input-files.ts'
import {
  brokenDatabase,
  type ForeignFile,
  type ForeignFormat,
  type ImportOptions,
  readCell,
} from './format.ts'
import { bisibilityFormat } from './formats/bisibility.ts'
import { databaseFormats } from './formats/databases.ts'
import { exportFormats } from './formats/exports.ts'
import { serposcopeFormats } from './formats/serposcope.ts'
import { namedTable, tableFormat } from './table.ts'

/** Throws a sentence where a path is nothing that can be imported, before a database is made for it. */
export async function refuseUnknown({
  path,
  as,
  options,
}: Pick<Parameters<typeof importFiles>[0], 'path' | 'as' | 'options'>): Promise<void> {
  const format = as === null ? null : formatNamed(as)
  const [input] = await inputFiles(path)
  if (input?.name !== path) return
  using file = await openForeignFile(input)
  knownFormat(format, file, options)
}

/** The format of a file that was named. Throws a sentence where it is of none, or not of that one. */
function knownFormat(named: ForeignFormat | null, file: ForeignFile, options: ImportOptions): ForeignFormat {
  const found = formatOf(named, file, options)
  if (found !== null) return found
  throw named === null ? unrecognised(file) : ofOtherFormat(file, named)
}

/** Imports a file, a folder or an archive, or shows what that would come to. */
export async function importFiles(call: {
  /** A file, or a folder or an archive of which each file is read that is of a known format. */
  readonly path: string
  /** The format; null where it is recognised. */
  readonly as: string | null
  readonly options: ImportOptions
  readonly job: string | null
  readonly now: number
  /** The database; null where there is none yet. */
  readonly database: string | null
  readonly dryRun: boolean
  /** Told of each file as its reading begins. */
  readonly reading: (path: string) => void
}) {
  const format = call.as === null ? null : formatNamed(call.as)
  const read: { path: string; format: string; title: string }[] = []
  const strangers: string[] = []
  let elsewhere: string | null = null
  const readAll = async (sink: ImportSink): Promise<void> => {
    const inputs = await inputFiles(call.path)
    const isOne = inputs[0]?.name === call.path
    for (const input of inputs) {
      const { name } = input
      const opened = await openForeignFile(input).catch((error: unknown) => {
        if (!isOne && error instanceof UsageError) return null
        throw error
      })
      if (opened === null) {
        strangers.push(name)
        continue
      }
      using file = opened
      const found = isOne ? knownFormat(format, file, call.options) : formatOf(format, file, call.options)
      if (found === null) {
        strangers.push(name)
        elsewhere ??= otherCommand(file, call.path)
        continue
      }
      call.reading(name)
      sink.file({ format: found.name, tool: found.tool, path: name, sameDay: found.sameDay })
      await found.read(file, sink, call.options)
      read.push({ path: name, format: found.name, title: found.title })
    }
    if (read.length === 0)
      throw new UsageError(
        elsewhere === null
          ? `${call.path} has no file of a format that is known. Name one with --as`
          : `${call.path} has no ranks of a tracker. It has ${elsewhere}`,
      )
  }
  const request = { job: call.job, now: call.now }
  const result =
    call.dryRun || call.database === null
      ? await tryImport(call.database, request, readAll)
      : await storeImport(call.database, request, readAll)
  const { queries, known, dropped, answers } = result.summary
  if (queries + known + answers + Object.keys(dropped).length === 0)
    throw new UsageError(`${call.path} has no row with a keyword. Export it again; nothing was stored`)
  return { ...result, files: read, strangers }
}

/** The format of a file that is of the named one, or of any; null where it is not. */
function formatOf(
  named: ForeignFormat | null,
  file: ForeignFile,
  options: ImportOptions,
): ForeignFormat | null {
  if (named === null) return formatFor(file, options)
  return canRead(named, file) ? named : null
}

/** The format of a file, by what is in it; null where none knows it. Where columns are named, it is a table, whatever else it may look like. */
function formatFor(file: ForeignFile, { columns }: ImportOptions): ForeignFormat | null {
  return columns.size > 0 && file.tables === null
    ? tableFormat
    : (formats.find((format) => format.recognise(file)) ?? null)
}

/** Those that can read more than they recognise. */
const lenient = new Set(['serposcope', 'bisibility', 'table'])

function canRead({ name, recognise }: ForeignFormat, file: ForeignFile): boolean {
  return lenient.has(name) || recognise(file)
}

function ofOtherFormat({ name }: ForeignFile, { name: format, title }: ForeignFormat): UsageError {
  return new UsageError(
    `${name} is not of the format ${format} (${title}). Leave --as out: the file is recognised, or its first line is shown`,
  )
}

/** Which command takes a file that is no history of ranks; null where none is known. */
function otherCommand(file: ForeignFile, path: string): string | null {
  if (/^\ufeff?"?Keyword Stats\b/.test(file.head))
    return `search volumes: rankline volumes add ${shellWord(path)}`
  if (file.headRows.every(({ cells }) => layoutOf(cells) === null)) return null
  const clicks = `clicks, and positions that are averages: rankline clicks add ${shellWord(path)}`
  return namedTable(file) === null
    ? clicks
    : `${clicks}. If they are ranks nevertheless: rankline import ${shellWord(path)} --as table`
}

function unrecognised(file: ForeignFile): UsageError {
  const other = otherCommand(file, file.name)
  if (other !== null) return new UsageError(`${file.name} has no ranks of a tracker. It has ${other}`)
  const days = (file.headRows[0]?.cells ?? []).filter((cell) => readCell.day(cell.trim(), null) !== null)
  if (days.length > 1)
    return new UsageError(
      `${file.name} has a column for each day (${days.slice(0, 2).join(', ')}${days.length > 2 ? ', …' : ''}), which is not read. Write it with a row for each keyword and day, in columns keyword, date and rank`,
    )
  const has =
    file.tables === null
      ? `its first line has ${(file.headRows[0]?.cells ?? []).slice(0, 12).join(', ')}`
      : `its tables are ${[...file.tables.keys()].slice(0, 12).join(', ')}`
  const how =
    file.tables === null
      ? 'Name its columns with --column query=NAME --column date=NAME --column rank=NAME, or its format with --as'
      : 'Name its format with --as'
  return new UsageError(`${file.name} is of no format that is known: ${has}. ${how}`)
}

/** Every format; the first one that recognises a file reads it. */
export const formats: readonly ForeignFormat[] = [
  ...databaseFormats,
  ...serposcopeFormats,
  bisibilityFormat,
  ...exportFormats,
  // Takes every table with names that it knows: after all others.
  tableFormat,
]

/** The format of that name. */
function formatNamed(name: string): ForeignFormat {
  const found = formats.find((format) => format.name === name)
  if (found !== undefined) return found
  const names = formats.map((format) => format.name)
  const near = closestMatch(name, names)
  throw new UsageError(
    `There is no format '${name}'. ${near === null ? `Write one of ${names.join(', ')}` : `Did you mean ${near}?`}`,
  )
}

const headBytes = 128 * 1024

/** Opens a file to read it. Throws one sentence where it cannot be read, or is neither text nor an SQLite database. */
async function openForeignFile(file: InputFile): Promise<ForeignFile> {
  const start = await file.start(headBytes)
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
