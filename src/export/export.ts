import { crc32 } from 'node:zlib'
import { UsageError } from '../model/errors.ts'
import type { Cells } from '../output/formats/format.ts'
import { sanitize } from '../output/terminal.ts'
import type { ExportFilter, Snapshot } from '../store/reports.ts'
import { type ExportColumn, type ExportKind, exportKinds } from './kinds.ts'

/** The numbers of exported records in a database. */
export interface ExportedNumbers {
  readonly newest: number
  /** A text that names the record of a number in this database only; null if the record no longer exists. */
  readonly markOf: (number: number) => string | null
}

/** The numbers of what a kind exports. */
export function numbersOf(snapshot: Snapshot, kind: ExportKind): ExportedNumbers {
  const { view } = exportKinds[kind]
  return { newest: snapshot.newest(view), markOf: (number) => snapshot.markOf(view, number) }
}

/** The position of an export as an opaque text, for the next export. */
export function cursorText(kind: string, { newest, markOf }: ExportedNumbers): string {
  const mark = digest(markOf(newest))
  return `${kind}-${newest}${mark === null ? '' : `-${mark}`}`
}

/**
 * The number in a cursor of this kind. Throws one sentence for a cursor of another kind or of another database, whose number is
 * beyond the newest or names another record here. The same holds for a cursor from after a backup that was restored.
 */
export function readCursor(text: string, kind: string, numbers: ExportedNumbers): number {
  const shown = sanitize(text.trim()).slice(0, 40)
  const [, ofKind, digits, mark] = text.trim().match(/^([a-z]+)-(\d{1,15})(?:-([0-9a-f]{8}))?$/) ?? []
  if (ofKind === undefined)
    throw new UsageError(
      `'${shown}' is not a cursor. Write the one that the last export ended with, such as ${kind}-12345-0a1b2c3d`,
    )
  if (ofKind !== kind)
    throw new UsageError(`${shown} is a cursor of the export '${ofKind}'. Each kind has its own`)
  const number = Number(digits)
  const here = digest(numbers.markOf(number))
  if (number > numbers.newest || (mark !== undefined && here !== null && here !== mark))
    throw new UsageError(
      `${shown} is the cursor of another database: the newest of this one is ${cursorText(kind, numbers)}. Export everything once without a cursor`,
    )
  return number
}

function digest(mark: string | null): string | null {
  return mark === null ? null : crc32(mark).toString(16).padStart(8, '0')
}

/**
 * The rows of an export, with the labels of their queries as columns.
 *
 * @param first columns of the view that the kind does not have; they come before the others
 */
export function labelled(
  snapshot: Snapshot,
  kind: ExportKind,
  filter: ExportFilter,
  first: readonly ExportColumn[] = [],
): { readonly rows: Iterable<Cells>; readonly columns: readonly ExportColumn[] } {
  const { view, labels } = exportKinds[kind]
  const columns = [...first, ...exportKinds[kind].columns]
  const names = columns.map(({ name }) => name)
  const labelNames = labels ? snapshot.labelNames(filter) : []
  if (labelNames.length === 0) return { rows: snapshot.rows(view, names, filter), columns }
  return {
    rows: withLabels(snapshot.rows(view, [...names, 'labels'], filter), labelNames),
    columns: [...columns, ...labelNames.map(labelColumn)],
  }
}

function labelColumn(name: string): ExportColumn {
  return { name: `label_${name}`, type: 'text', meaning: `Label ${name} of the query` }
}

/** Replaces the last cell, which has all labels of a query as JSON, by one cell for each name. */
function* withLabels(rows: Iterable<Cells>, names: readonly string[]): Generator<Cells> {
  let text: Cells[number] | undefined
  let cells: Cells = []
  for (const row of rows) {
    // All results of a task have the same labels.
    if (row.at(-1) !== text) {
      text = row.at(-1)
      const labels = JSON.parse(String(text ?? '{}')) as Record<string, string>
      cells = names.map((name) => (Object.hasOwn(labels, name) ? (labels[name] ?? null) : null))
    }
    yield [...row.slice(0, -1), ...cells]
  }
}
