import { existsSync, readFileSync } from 'node:fs'
import { databasePath, type SettingFlags } from '../config.ts'
import { UsageError } from '../errors.ts'
import { systemClock } from '../model/clock.ts'
import { type Column, type ExportKind, exportKinds } from '../report/columns.ts'
import { cursorText, readCursor } from '../report/cursor.ts'
import { type ExportFormat, exportFormats, exportOut, isBinary } from '../report/export-out.ts'
import type { Cells } from '../report/rows-out.ts'
import { writablePath, writeWhole } from '../report/whole-file.ts'
import type { RowFilter, Snapshot } from '../store/rows.ts'
import { openReader } from '../store/sqlite/open.ts'
import { isScreen, note, type Terminal } from '../terminal.ts'
import { nearest } from '../words.ts'
import { chosenFormat, dayOrInstant, operationName, refuseUnknownJob } from './choices.ts'
import { deliver, refuseOntoJobFiles } from './output.ts'
import { exportProgress } from './progress.ts'
import { wholeNumber } from './whole-number.ts'

export interface ExportFlags extends SettingFlags {
  readonly kind: string
  readonly format?: string
  readonly json?: boolean
  readonly out?: string
  readonly raw?: boolean
  readonly job?: string
  readonly run?: string
  readonly query?: string
  readonly operation?: string
  readonly from?: string
  readonly until?: string
  readonly since?: string
  readonly 'cursor-file'?: string
}

/** `rankline export`: results in bulk, streamed; all of them, or what came after a cursor. */
export async function exportRows(flags: ExportFlags, terminal: Terminal): Promise<number> {
  const kind = chosenKind(flags.kind)
  const format = chosenFormat(flags, exportFormats)
  refuseUnfit(flags, format, terminal)
  const filter = rowFilter(flags)
  const since = cursorOf(flags)
  await using store = await openReader(databasePath(flags))
  await refuseOntoJobFiles(store, flags)
  if (flags.job !== undefined) await refuseUnknownJob(store, flags.job)
  if (filter.run !== undefined && (await store.run(filter.run)) === null)
    throw new UsageError(`There is no run ${filter.run}. List them with: rankline runs`)
  using snapshot = store.snapshot()
  const { view } = exportKinds[kind]
  const numbers = {
    newest: snapshot.newest(view),
    markOf: (number: number) => snapshot.markOf(view, number),
  }
  const after = since === null ? 0 : readCursor(since, kind, numbers)
  const { rows, columns } = labelled(snapshot, kind, { ...filter, after })
  const progress = exportProgress(terminal, systemClock, flags.out)
  const raw = flags.raw === true
  await deliver(exportOut(progress.count(rows), { kind, columns, format, raw }), flags.out, terminal)
  progress.end()
  const cursor = cursorText(kind, numbers)
  await keepCursor(flags, cursor)
  note(terminal, `Next cursor: ${cursor}`)
  return 0
}

function refuseUnfit(flags: ExportFlags, format: ExportFormat, terminal: Terminal): void {
  const { out, since, 'cursor-file': file } = flags
  if (isBinary(format) && out === undefined && isScreen(terminal))
    throw new UsageError(`A terminal cannot show ${format}. Name a file with --out, or write into a pipe`)
  if (file === undefined) return
  if (since !== undefined)
    throw new UsageError('--since and --cursor-file both say where to begin. Leave one of them out')
  // Nobody can tell whether what goes into a pipe arrived.
  if (out === undefined) throw new UsageError('--cursor-file needs a file for the rows. Name it with --out')
  if (writablePath(file, '--cursor-file') === writablePath(out, '--out'))
    throw new UsageError('--cursor-file and --out name the same file. Give each one of its own')
}

/** Where to begin, as it was given or as the last export left it; null at the beginning. */
function cursorOf({ since, 'cursor-file': file }: ExportFlags): string | null {
  if (file === undefined || !existsSync(file)) return since ?? null
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`The cursor file ${file} cannot be read. Check its permissions`, { cause: error })
  }
}

/** Notes how far the rows go that are written by now; an export that dies before begins where this one did. */
async function keepCursor({ 'cursor-file': file }: ExportFlags, cursor: string): Promise<void> {
  if (file === undefined) return
  async function* line() {
    yield `${cursor}\n`
  }
  await writeWhole(file, line(), '--cursor-file')
}

/** Rows, and the labels of their queries as columns of their own. */
function labelled(
  snapshot: Snapshot,
  kind: ExportKind,
  filter: RowFilter & { readonly after: number },
): { readonly rows: Iterable<Cells>; readonly columns: readonly Column[] } {
  const { view, columns, labels } = exportKinds[kind]
  const names = columns.map(({ name }) => name)
  const labelNames = labels ? snapshot.labelNames(filter) : []
  if (labelNames.length === 0) return { rows: snapshot.rows(view, names, filter), columns }
  return {
    rows: withLabels(snapshot.rows(view, [...names, 'labels'], filter), labelNames),
    columns: [...columns, ...labelNames.map((name) => ({ name: `label_${name}`, type: 'text' }) as const)],
  }
}

/** The last cell holds all labels of a query as JSON; it makes room for one of each name. */
function* withLabels(rows: Iterable<Cells>, names: readonly string[]): Generator<Cells> {
  let text: Cells[number] | undefined
  let cells: Cells = []
  for (const row of rows) {
    // All results of a task have the same.
    if (row.at(-1) !== text) {
      text = row.at(-1)
      const labels = JSON.parse(String(text ?? '{}')) as Record<string, string>
      cells = names.map((name) => (Object.hasOwn(labels, name) ? (labels[name] ?? null) : null))
    }
    yield [...row.slice(0, -1), ...cells]
  }
}

function chosenKind(kind: string): ExportKind {
  if (Object.hasOwn(exportKinds, kind)) return kind as ExportKind
  const known = Object.keys(exportKinds)
  const near = nearest(kind, known)
  throw new UsageError(
    `There is nothing called '${kind}' to export. ${near === null ? `Write one of ${known.join(', ')}` : `Write ${near}`}`,
  )
}

function rowFilter(flags: ExportFlags): RowFilter {
  const { job, query, from, until } = flags
  const run = wholeNumber('--run', flags.run, { min: 1 })
  const given = {
    job,
    run,
    query,
    operation: operationName(flags.operation),
    from: dayOrInstant('--from', from),
    until: dayOrInstant('--until', until),
  }
  if (given.from !== undefined && given.until !== undefined && given.from >= given.until)
    throw new UsageError(
      `--until ${until} is not after --from ${from}, so nothing lies between; make it later`,
    )
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
