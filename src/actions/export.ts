import { databasePath, type SettingFlags } from '../config.ts'
import { UsageError } from '../errors.ts'
import { type ExportKind, exportKinds } from '../report/columns.ts'
import type { Row } from '../report/rank-rows.ts'
import { rowsOut } from '../report/rows-out.ts'
import type { RowFilter } from '../store/rows.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { Terminal } from '../terminal.ts'
import { nearest } from '../words.ts'
import { chosenFormat, dayOrInstant, operationName, refuseUnknownJob } from './choices.ts'
import { deliver } from './output.ts'
import { wholeNumber } from './wire.ts'

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
}

/** `rankline export`: results in bulk, streamed. */
export async function exportRows(flags: ExportFlags, terminal: Terminal): Promise<number> {
  const { view, columns, labels } = exportKinds[chosenKind(flags.kind)]
  const format = chosenFormat(flags.json === true ? 'json' : flags.format, ['csv', 'jsonl', 'json'])
  const filter = rowFilter(flags)
  await using store = await openStore(databasePath(flags))
  if (flags.job !== undefined) await refuseUnknownJob(store, flags.job)
  const names = labels ? await store.labelNames(filter) : []
  const rows = store.rows(view, filter)
  await deliver(
    rowsOut(names.length === 0 ? rows : withLabels(rows, names), {
      columns: [...columns, ...names.map(labelColumn)],
      format,
      raw: flags.raw === true,
    }),
    flags.out,
    terminal,
  )
  return 0
}

function labelColumn(name: string): string {
  return `label_${name}`
}

function* withLabels(rows: Iterable<Row>, names: readonly string[]): Generator<Row> {
  for (const row of rows) {
    const labels = JSON.parse(String(row.labels ?? '{}')) as Record<string, string>
    const cells = names.map((name) => [
      labelColumn(name),
      Object.hasOwn(labels, name) ? (labels[name] ?? null) : null,
    ])
    yield { ...row, ...Object.fromEntries(cells) }
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
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
