import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../model/errors.ts'
import {
  type ImportResult,
  type ImportSink,
  storeImport,
  tryImport,
} from '../../store/sqlite/imports/imports.ts'
import type { ForeignFormat, ImportOptions } from './format.ts'
import { formatNamed, formatOf } from './registry.ts'
import { type ForeignFile, openForeignFile } from './source.ts'

/** What is imported, and into which database. */
export interface ImportCall {
  /** A file, or a folder of which each file is read that is of a known format. */
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
}

/** What an import came to, and of which files. */
export interface Imported extends ImportResult {
  readonly files: readonly { readonly path: string; readonly format: string; readonly title: string }[]
  /** Files of the folder that are of no known format. */
  readonly strangers: readonly string[]
}

/** Imports a file or a folder, or shows what that would come to. */
export async function importFiles(call: ImportCall): Promise<Imported> {
  const format = call.as === null ? null : formatNamed(call.as)
  const read: { path: string; format: string; title: string }[] = []
  const strangers: string[] = []
  const readAll = async (sink: ImportSink): Promise<void> => {
    const paths = filesAt(call.path)
    const isFolder = paths[0] !== call.path
    for (const path of paths) {
      const opened = await openForeignFile(path).catch((error: unknown) => {
        if (isFolder && error instanceof UsageError) return null
        throw error
      })
      if (opened === null) {
        strangers.push(path)
        continue
      }
      using file = opened
      const found = format ?? formatFor(file, call)
      if (found === null) {
        if (!isFolder) throw unrecognised(file)
        strangers.push(path)
        continue
      }
      call.reading(path)
      sink.file({ format: found.name, tool: found.tool, path, sameDay: found.sameDay })
      await found.read(file, sink, call.options)
      read.push({ path, format: found.name, title: found.title })
    }
    if (read.length === 0)
      throw new UsageError(`${call.path} has no file of a format that is known. Name one with --as`)
  }
  const request = { job: call.job, now: call.now }
  const result =
    call.dryRun || call.database === null
      ? await tryImport(call.database, request, readAll)
      : await storeImport(call.database, request, readAll)
  return { ...result, files: read, strangers }
}

/** Where columns are named, it is a table, whatever else it may look like. */
function formatFor(file: ForeignFile, { options }: ImportCall): ForeignFormat | null {
  return options.columns.size > 0 && file.tables === null ? formatNamed('table') : formatOf(file)
}

function filesAt(path: string): readonly string[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined)
    throw new UsageError(`There is no file ${path}. Name the file or folder that the other tool exported`)
  if (!found.isDirectory()) return [path]
  return readdirSync(path, { withFileTypes: true })
    .filter((one) => one.isFile() && !one.name.startsWith('.') && !/-(wal|shm|journal)$/.test(one.name))
    .map(({ name }) => join(path, name))
    .sort()
}

function unrecognised(file: ForeignFile): UsageError {
  const has =
    file.tables === null
      ? `its first line has ${(file.headRows[0] ?? []).slice(0, 12).join(', ')}`
      : `its tables are ${[...file.tables.keys()].slice(0, 12).join(', ')}`
  const how =
    file.tables === null
      ? 'Name its columns with --column query=NAME --column date=NAME --column rank=NAME, or its format with --as'
      : 'Name its format with --as'
  return new UsageError(`${file.path} is of no format that is known: ${has}. ${how}`)
}
