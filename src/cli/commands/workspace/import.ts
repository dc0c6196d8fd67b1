import { existsSync } from 'node:fs'
import type { DayBeforeMonth, ImportOptions } from '../../../arrive/import/format.ts'
import { formats, importFiles, refuseUnknown } from '../../../arrive/import/import.ts'
import { columnKinds } from '../../../arrive/import/table.ts'
import { proposedJob } from '../../../arrive/job-file.ts'
import { site } from '../../../jobfile/targets.ts'
import { UsageError } from '../../../model/errors.ts'
import { closestMatch, count, grouped, shellWord } from '../../../model/text.ts'
import { dayMs, systemClock, utcMinute } from '../../../model/time.ts'
import {
  jobName,
  listOption,
  type OptionSpecs,
  propertyOf,
  switchOption,
  textOption,
} from '../../../model/values.ts'
import { changedLines, writeFileAtomically } from '../../../output/file.ts'
import { formatTable, wrapLines } from '../../../output/table.ts'
import { note, sanitize, type Terminal } from '../../../output/terminal.ts'
import { databaseFile } from '../../../run/config.ts'
import { turns } from '../../../run/lock.ts'
import { storedData } from '../../../run/open-stored.ts'
import { requireDatabase } from '../../../store/sqlite/connection/database.ts'
import { databaseLock } from '../../../store/sqlite/connection/lock.ts'
import { type ImportedRow, undoImport } from '../../../store/sqlite/imports/imports.ts'
import type { ImportSummary } from '../../../store/sqlite/imports/schema.ts'
import { day } from '../../arguments.ts'
import { type Command, sharedFlags, type TypedOptions } from '../../flags.ts'

const ofFiles = ['job', 'as', 'column', 'target', 'day', 'days', 'yes', 'dry-run'] as const

const flags = {
  job: textOption(
    'The job that this is history of, whose file gets what it lacks; default: any job that asks the same of the same site',
  ),
  as: {
    ...textOption('The format, where it is not recognised'),
    values: formats.map(({ name }) => name),
  },
  column: listOption(`A table's column, for instance date=Day; ${columnKinds.join(', ')}`),
  target: textOption('The site whose ranks a file has, where it does not say so'),
  day: textOption('The day of a file that has none, such as 2026-03-01'),
  days: { ...textOption('dmy or mdy: how to read a day such as 05/01/2026'), values: ['dmy', 'mdy'] },
  yes: switchOption('Write the job file of --job without asking'),
  'dry-run': switchOption('Show what would be stored, and store nothing'),
  ...sharedFlags.wait,
} satisfies OptionSpecs

type ImportFlags = TypedOptions<typeof flags> & { readonly what: string; readonly id?: string }

export const importCommand = {
  flags,
  words: ['list', 'undo'],
  exits: [0, 1, 2, 6, 7],
  docs: 'docs/import.md',
  examples: [
    ['import serpbear.sqlite --dry-run', 'what it is, and what would be stored'],
    ['import export.csv --column query=Word --column rank=Pos', 'any table'],
    ['import serpbear.sqlite --job acme', 'as the history of a job, whose file gets what it lacks'],
    ['import list', 'what was imported'],
    ['import undo 3', 'removes import 3 as a whole'],
  ],
  run: importHistory,
} satisfies Command

/** `rankline import`: history of another tracker, marked as imported. */
export async function importHistory(flags: ImportFlags, terminal: Terminal): Promise<number> {
  if (flags.what !== 'list' && flags.what !== 'undo') return await importOne(flags, terminal)
  const stray = ofFiles.find((name) => flags[propertyOf(name)] !== undefined)
  if (stray !== undefined)
    throw new UsageError(
      `rankline import ${flags.what} takes no --${stray}. It belongs to: rankline import <file>`,
    )
  return flags.what === 'list' ? await list(flags, terminal) : await undo(flags, terminal)
}

async function importOne(flags: ImportFlags, terminal: Terminal): Promise<number> {
  if (flags.id !== undefined)
    throw new UsageError(`rankline import takes one file or folder, and '${flags.id}' is a second one`)
  const options = optionsOf(flags)
  const database = databaseFile.path(flags)
  const dryRun = flags.dryRun === true
  const read = flags.job === undefined ? null : jobName(flags.job)
  if (read !== null && 'message' in read) throw new UsageError(`--job ${read.message}; ${read.fix}`)
  const wanted = { path: flags.what, as: flags.as ?? null, options }
  if (!dryRun && !existsSync(database)) await refuseUnknown(wanted)
  if (!dryRun) databaseFile.makeDefaultFolder(database)
  using turn = turns.wait([databaseLock(database)], flags.wait, (line) => note(terminal, line))
  if (!dryRun) await turn.acquire()
  const imported = await importFiles({
    ...wanted,
    job: read?.value ?? null,
    now: systemClock.wall(),
    database: dryRun && !existsSync(database) ? null : database,
    dryRun,
    reading: (path) => terminal.status?.(`Reading ${sanitize(path)}`),
  })
  terminal.status?.('')
  if (flags.json === true) {
    await terminal.write(`${JSON.stringify(documentOf(imported, dryRun), null, 2)}\n`)
    return 0
  }
  const text = [headLine(imported, dryRun), ...summaryLines(imported.summary)].join('\n')
  await terminal.write(wrapLines(`${text}\n`, terminal.columns))
  if (dryRun) await terminal.write(rowsTable(imported.rows, terminal.columns))
  for (const path of imported.strangers) note(terminal, `Not read, of no known format: ${sanitize(path)}`)
  if (read !== null) await offerJob(read.value, imported, flags, terminal)
  else if (imported.notes.length > 0)
    note(
      terminal,
      `${count(imported.notes.length, 'event')} of the file can become notes of a job: name it with --job NAME`,
    )
  return 0
}

/** Shows what the job lacks of what was followed elsewhere, as a change of its files, and writes it where that is agreed to. */
async function offerJob(
  name: string,
  imported: Imported,
  flags: ImportFlags,
  terminal: Terminal,
): Promise<void> {
  const yaml = `${name}.yaml`
  const job = await proposedJob(name, imported)
  if (job === null)
    return note(
      terminal,
      `${sanitize(yaml)} has mistakes, and stays as it is. They are named by: rankline plan ${shellWord(yaml)}`,
    )
  for (const sentence of job.notAvailable) terminal.log(sanitize(sentence))
  if (job.files.length === 0)
    return note(terminal, `${sanitize(yaml)} has all that was followed: nothing is to be added.`)
  const lines = job.files.flatMap(({ path, before, text }) => changedLines(path, before, text))
  await terminal.write(`\n${lines.map(sanitize).join('\n')}\n`)
  const news = [
    count(job.queries, 'query', 'queries'),
    count(job.targets.length, 'target'),
    ...(job.notes === 0 ? [] : [count(job.notes, 'note')]),
  ]
  const what = `${job.files.map(({ path }) => sanitize(path)).join(' and ')}, with ${news.join(', ')} that are new`
  if (flags.dryRun === true) return
  const isAgreed = flags.yes === true || ((await terminal.ask?.(`Write ${what}?`)) ?? false)
  if (!isAgreed) return note(terminal, `Not written: ${what}. The same command with --yes writes them.`)
  // The list before the file that names it.
  for (const { path, text } of job.files.toReversed()) await writeFileAtomically(path, [text], '--job')
  note(terminal, `Written: ${what}. What a run costs: rankline plan ${shellWord(yaml)}`)
}

function optionsOf(flags: ImportFlags): ImportOptions {
  const columns = new Map<string, string>()
  for (const given of flags.column ?? []) {
    const [, kind = '', name = ''] = given.match(/^([^=]+)=(.+)$/s) ?? []
    if (!(columnKinds as readonly string[]).includes(kind)) {
      const near = closestMatch(kind, columnKinds)
      throw new UsageError(
        `--column cannot be '${given}'; write what it holds and its name, such as date=Day${near === null ? `. It can hold ${columnKinds.join(', ')}` : `. Did you mean ${near}=?`}`,
      )
    }
    columns.set(kind, name)
  }
  if (flags.days !== undefined && flags.days !== 'dmy' && flags.days !== 'mdy')
    throw new UsageError(`--days cannot be '${flags.days}'; write dmy or mdy`)
  const named = day('--day', flags.day)
  const target = flags.target === undefined ? null : site(flags.target)
  if (target !== null && 'message' in target)
    throw new UsageError(`--target ${target.message}; ${target.fix}`)
  return {
    target: target?.value ?? null,
    day: named === undefined ? null : Date.parse(named) / dayMs,
    order: (flags.days as DayBeforeMonth | undefined) ?? null,
    columns,
  }
}

function documentOf({ id, summary, rows, files, strangers }: Imported, dryRun: boolean): object {
  return {
    import: dryRun ? null : id,
    dry_run: dryRun,
    files,
    not_read: strangers,
    ...summaryDocument(summary),
    rows: someOf(rows),
  }
}

function summaryDocument(summary: ImportSummary): object {
  return {
    keywords: summary.queries,
    histories: summary.series,
    days: summary.days,
    first_day: summary.firstDay,
    last_day: summary.lastDay,
    ranked: summary.ranked,
    absent: summary.absent,
    unknown: summary.unknown,
    answers: summary.answers,
    unknown_because: summary.reasons,
    dropped: summary.dropped,
    imported_before: summary.known,
    repeats_possible: summary.repeats,
  }
}

function headLine({ id, files }: Imported, dryRun: boolean): string {
  const titles = [...new Set(files.map(({ title }) => title))].join(', ')
  const what = `${titles}, ${count(files.length, 'file')}`
  if (id === null) return `${what}: nothing new, so nothing ${dryRun ? 'would be' : 'is'} stored.`
  return dryRun
    ? `${what}. Nothing is stored yet; without --dry-run it would be:`
    : `${what}. Stored as import ${id}; take it back with: rankline import undo ${id}`
}

function summaryLines(summary: ImportSummary): readonly string[] {
  const { queries, series, days, firstDay, lastDay, ranked, absent, unknown, answers, known, repeats } =
    summary
  const between =
    firstDay === null ? '' : firstDay === lastDay ? `, ${firstDay}` : `, ${firstDay} to ${lastDay}`
  const counted = (texts: Readonly<Record<string, number>>, title: string) =>
    Object.entries(texts).map(([text, n]) => `  ${title}: ${grouped(n)}, ${sanitize(text)}`)
  return [
    `  ${count(queries, 'keyword')}, ${count(series, 'history', 'histories')} of sites, ${count(days, 'day')}${between}`,
    `  ${grouped(ranked)} ranked, ${grouped(absent)} absent, ${grouped(unknown)} unknown`,
    ...(answers === 0 ? [] : [`  ${count(answers, 'whole result page')}`]),
    ...counted(summary.reasons, 'unknown'),
    ...counted(summary.dropped, 'left out'),
    ...(known === 0 ? [] : [`  imported before: ${grouped(known)}`]),
    ...(repeats === 0
      ? []
      : [
          `  repeats possible in ${count(repeats, 'history', 'histories')}: the tool repeats the rank before where a check fails`,
        ]),
  ]
}

const shownRows = 10

/** Ten rows, of each state some. */
function someOf(rows: readonly ImportedRow[]): readonly ImportedRow[] {
  const others = rows.filter(({ state }) => state !== 'ranked')
  const few = [
    ...others.filter(({ state }) => state === 'absent').slice(0, 2),
    ...others.filter(({ state }) => state === 'unknown').slice(0, 2),
  ]
  const first = rows.filter(({ state }) => state === 'ranked').slice(0, shownRows - few.length)
  const rest = others.filter((row) => !few.includes(row)).slice(0, shownRows - few.length - first.length)
  return [...first, ...few, ...rest]
}

const rowColumns = [
  { title: 'day' },
  { title: 'keyword', shrinks: true },
  { title: 'market', dropped: true },
  { title: 'site', shrinks: true },
  { title: 'state' },
  { title: 'rank', align: 'right' },
  { title: 'counted', dropped: true },
  { title: 'page or reason', shrinks: true },
] as const

function rowsTable(rows: readonly ImportedRow[], width: number): string {
  if (rows.length === 0) return ''
  const cells = someOf(rows).map((row) =>
    [
      row.date,
      row.query,
      [row.gl, row.hl, row.location, row.device, row.engine].filter((part) => part !== null).join(' ') || '-',
      row.target,
      row.state,
      row.rank === null ? (row.depth === null ? '-' : `>${row.depth}`) : String(row.rank),
      row.rank_kind,
      row.url ?? row.reason ?? '-',
    ].map(sanitize),
  )
  return formatTable(rowColumns, cells, width)
}

/** `rankline import list`: the newest first. */
async function list(flags: ImportFlags, terminal: Terminal): Promise<number> {
  if (flags.id !== undefined)
    throw new UsageError(`rankline import list takes no '${flags.id}'. Leave it out`)
  await using store = await storedData.read(flags)
  const imports = await store.imports()
  if (flags.json === true) {
    const rows = imports.map(({ id, job, importedAt, summary, files }) => ({
      import: id,
      job,
      imported_at: new Date(importedAt).toISOString(),
      files: files.map(({ path, format }) => ({ path, format })),
      ...summaryDocument(summary),
    }))
    await terminal.write(`${JSON.stringify(rows, null, 2)}\n`)
  } else if (imports.length === 0)
    terminal.log('Nothing was imported. Begin with: rankline import <file> --dry-run')
  else
    await terminal.write(
      formatTable(
        listColumns,
        imports.map(({ id, job, importedAt, summary, files }) => [
          String(id),
          utcMinute(importedAt),
          [...new Set(files.map(({ format }) => format))].join(', '),
          grouped(summary.queries),
          grouped(summary.days),
          grouped(summary.ranked),
          grouped(summary.unknown),
          sanitize(job ?? 'any'),
          sanitize(
            files.length === 1 ? (files[0]?.path ?? '') : `${files[0]?.path} and ${files.length - 1} more`,
          ),
        ]),
        terminal.columns,
      ),
    )
  return 0
}

const listColumns = [
  { title: 'import', align: 'right' },
  { title: 'imported (UTC)', dropped: true },
  { title: 'format', shrinks: true },
  { title: 'keywords', align: 'right' },
  { title: 'days', align: 'right' },
  { title: 'ranked', align: 'right' },
  { title: 'unknown', align: 'right', dropped: true },
  { title: 'job', shrinks: true },
  { title: 'file', shrinks: true, keepsEnd: true },
] as const

/** `rankline import undo`: the database is as if it had never been. */
async function undo(flags: ImportFlags, terminal: Terminal): Promise<number> {
  const id = /^\d+$/.test(flags.id ?? '') ? Number(flags.id) : null
  if (id === null)
    throw new UsageError(
      'Name the import by its number: rankline import undo 3. List them with: rankline import list',
    )
  const database = databaseFile.path(flags)
  requireDatabase(database)
  using turn = turns.wait([databaseLock(database)], flags.wait, (line) => note(terminal, line))
  await turn.acquire()
  if (!(await undoImport(database, id)))
    throw new UsageError(`There is no import ${id}. List them with: rankline import list`)
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ import: id, undone: true }, null, 2)}\n`
      : `Import ${id} is removed as a whole.\n`,
  )
  return 0
}

/** What an import came to, of which files, and which of the folder or the archive are of no known format. */
type Imported = Awaited<ReturnType<typeof importFiles>>
