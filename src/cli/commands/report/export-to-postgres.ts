import { cursorText, labelled, numbersOf, readCursor } from '../../../export/export.ts'
import { type ExportKind, exportKinds, tableKey } from '../../../export/kinds.ts'
import { exportTarget } from '../../../export/target.ts'
import { exportInto, type Position } from '../../../machines/postgres/export.ts'
import { UsageError } from '../../../model/errors.ts'
import { count } from '../../../model/text.ts'
import { systemClock } from '../../../model/time.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { withPassword } from '../../../run/config.ts'
import type { ReportStore, RowFilter, Snapshot } from '../../../store/reports.ts'
import { exportProgress } from '../../progress.ts'

interface TableExport {
  readonly store: Pick<ReportStore, 'snapshot'>
  readonly kind: ExportKind
  readonly filter: RowFilter
  /** A cursor to begin at where the table is further; null goes on where it is. */
  readonly since: string | null
  /** What `--to` says. */
  readonly to: string
}

/** Brings a table in Postgres up to date: all rows, or what came after the last export with these filters. */
export async function exportToPostgres(
  { store, kind, filter, since, to }: TableExport,
  terminal: Terminal,
): Promise<void> {
  const target = exportTarget(to)
  const { schema } = target
  const url = withPassword(target.url, '--to')
  const progress = exportProgress(terminal, systemClock, to)
  const filterText = JSON.stringify(Object.fromEntries(Object.entries(filter).sort()))
  const onWait = () => note(terminal, `Waiting for another export into ${sanitize(schema)} to end.`)
  const { key, columns: keyColumns } = tableKey(kind)
  const done = await exportInto({ url, schema, onWait }, async (tables) => {
    using snapshot = store.snapshot()
    const positions = await tables.positions()
    refuseOtherDatabase(positions, snapshot, schema)
    const numbers = numbersOf(snapshot, kind)
    const last = positions.find((one) => one.kind === kind && one.filter === filterText)
    const begins = [last?.cursor, since ?? undefined].flatMap((cursor) =>
      cursor === undefined ? [] : readCursor(cursor, kind, numbers),
    )
    const taken = { ...filter, after: begins.length === 0 ? 0 : Math.min(...begins) }
    const { rows, columns } = labelled(snapshot, kind, taken, keyColumns)
    const table = { name: kind, meaning: exportKinds[kind].meaning, columns, key }
    await tables.prepare(table)
    // Pages come as a whole: of those that have fewer results than before, none may stay.
    if (kind !== 'calls') await tables.clear(table, snapshot.taskIds(taken))
    const written = await tables.write(table, progress.count(rows))
    const cursor = cursorText(kind, numbers)
    await tables.keep({ kind, filter: filterText, cursor })
    return { written, cursor }
  })
  progress.end()
  note(terminal, `Written: ${sanitize(schema)}.${kind}, ${count(done.written, 'row')}`)
  note(terminal, `Next cursor: ${done.cursor}`)
}

/** Rows of two databases would be mixed up: both count runs, tasks and calls from 1. */
function refuseOtherDatabase(positions: readonly Position[], snapshot: Snapshot, schema: string): void {
  for (const { kind, cursor } of positions)
    if (Object.hasOwn(exportKinds, kind))
      try {
        readCursor(cursor, kind, numbersOf(snapshot, kind as ExportKind))
      } catch (error) {
        throw new UsageError(
          `The schema ${sanitize(schema)} has the rows of another database, or of this one before a backup was restored. Name another schema at the end of --to, or drop this one and export everything again`,
          { cause: error },
        )
      }
}
