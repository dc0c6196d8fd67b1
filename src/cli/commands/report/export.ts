import { existsSync, readFileSync } from 'node:fs'
import { billableOperation } from '../../../catalog/index.ts'
import {
  cursorIn,
  type DeliveredKind,
  type ExportKind,
  exportKinds,
  importedKinds,
  labelled,
  tableKey,
  withClusters,
} from '../../../export/export.ts'
import type { Position } from '../../../machines/postgres/export.ts'
import { UsageError } from '../../../model/errors.ts'
import { closestMatch, count, grouped, normalText, textInLowerCase } from '../../../model/text.ts'
import { type Clock, systemClock } from '../../../model/time.ts'
import {
  numberOption,
  type OptionSpecs,
  propertyOf,
  switchOption,
  textOption,
} from '../../../model/values.ts'
import { writablePath, writeFileAtomically } from '../../../output/file.ts'
import type { WriteRows } from '../../../output/formats/format.ts'
import { rowFormats } from '../../../output/formats/index.ts'
import { isScreen, note, sanitize, statusLine, type Terminal } from '../../../output/terminal.ts'
import { databaseFile, queueSettings } from '../../../run/config.ts'
import { openReader, type Store } from '../../../store/sqlite/open.ts'
import type { RowFilter, Snapshot } from '../../../store/sqlite/rankings/rows.ts'
import {
  dayArguments,
  formatArguments,
  operationName,
  refuseUnknownJob,
  syncFirst,
  syncFirstFlags,
} from '../../arguments.ts'
import { type Command, sharedFlags, type TypedOptions } from '../../flags.ts'
import { outFile } from '../../output.ts'

const flags = {
  ...sharedFlags.output(Object.keys(rowFormats)),
  job: textOption('Of this job only'),
  run: textOption('Of this run only'),
  query: textOption('Of this query only'),
  operation: textOption('Of this operation only'),
  from: textOption('From this day or instant on (UTC)'),
  until: textOption('Before this day or instant (UTC)'),
  since: textOption(
    'Only what was stored or changed after this cursor; every export prints the next one at its end',
  ),
  'cursor-file': textOption(
    'File that holds the cursor: read where it exists, replaced when --out is written',
  ),
  match: textOption('Only results with these words in title, snippet or link; needs rankline db index'),
  clusters: switchOption('Also the cluster of each query as the last column, as rankline cluster has it'),
  to: textOption(
    'Bring a table in Postgres up to date, postgres://user@host/database/schema; schema: rankline_export if none is named',
  ),
  ...syncFirstFlags,
} satisfies OptionSpecs

type ExportFlags = TypedOptions<typeof flags> & { readonly kind: string }

export const exportCommand = {
  flags,
  words: [...Object.keys(exportKinds), ...Object.keys(importedKinds)],
  docs: 'docs/exports.md',
  examples: [
    [
      'export organic --job acme --out acme.xlsx',
      'all results of a job, to open in Excel; also .csv, .jsonl, .parquet',
    ],
    ['export organic --out new.parquet --cursor-file organic.cursor', 'what is new since the last time'],
    ['export clicks --job acme --out clicks.csv', 'clicks that Search Console counted, by query and day'],
    ['export imported-rankings --out before.xlsx', 'ranks that were imported from another tool'],
    [
      "export organic --match 'oak desk' --clusters",
      'results with these words, with the cluster of each query',
    ],
    [
      'export organic --to postgres://bi@db.example/warehouse?sslmode=verify-full',
      'the same as a table, for BI',
    ],
  ],
  run: exportRows,
} satisfies Command

/** `rankline export`: results in bulk, streamed; all of them, or what came after a cursor. */
async function exportRows(flags: ExportFlags, terminal: Terminal): Promise<number> {
  if (Object.hasOwn(importedKinds, flags.kind))
    return await exportImported(flags.kind as keyof typeof importedKinds, flags, terminal)
  return flags.to === undefined
    ? await exportToFile(flags, terminal)
    : await exportToTable({ ...flags, to: flags.to }, terminal)
}

async function exportToTable(
  flags: ExportFlags & { readonly to: string },
  terminal: Terminal,
): Promise<number> {
  const kind = chosenKind(flags.kind)
  if (kind === 'clicks')
    throw new UsageError('--to has no table for clicks. Write them into a file with --out')
  refuseUnfitForTable(flags)
  const filter = rowFilter(flags)
  const { to, since = null } = flags
  await syncFirst(flags, terminal)
  await using store = await openReader(databaseFile.path(flags))
  await refuseUnknown(store, filter)
  await exportToPostgres({ store, kind, filter, since, to }, terminal)
  return 0
}

/** Brings a table in Postgres up to date: all rows, or what came after the last export with these filters. */
export async function exportToPostgres(
  {
    store,
    kind,
    filter,
    since,
    to,
  }: {
    readonly store: Pick<Store, 'snapshot'>
    readonly kind: DeliveredKind
    readonly filter: RowFilter
    /** A cursor to begin at where the table is further; null goes on where it is. */
    readonly since: string | null
    readonly to: string
  },
  terminal: Terminal,
): Promise<void> {
  // Loaded only here: files need no Postgres.
  const { exportInto } = await import('../../../machines/postgres/export.ts')
  const target = exportTarget(to)
  const { schema } = target
  const url = queueSettings.withPassword(target.url, '--to')
  const progress = exportProgress(terminal, systemClock, to)
  const filterText = JSON.stringify(Object.fromEntries(Object.entries(filter).sort()))
  const onWait = () => note(terminal, `Waiting for another export into ${sanitize(schema)} to end.`)
  const { key, columns: keyColumns } = tableKey(kind)
  const done = await exportInto({ url, schema, onWait }, async (tables) => {
    using snapshot = store.snapshot()
    const positions = await tables.positions()
    refuseOtherDatabase(positions, snapshot, schema)
    const position = cursorIn(snapshot, kind)
    const last = positions.find((one) => one.kind === kind && one.filter === filterText)
    const begins = [last?.cursor, since ?? undefined].flatMap((cursor) =>
      cursor === undefined ? [] : position.read(cursor),
    )
    const taken = { ...filter, after: begins.length === 0 ? 0 : Math.min(...begins) }
    const { rows, columns } = labelled(snapshot, kind, taken, keyColumns)
    const table = { name: kind, meaning: exportKinds[kind].meaning, columns, key }
    await tables.prepare(table)
    // Pages come as a whole: of those that have fewer results than before, none may stay.
    if (kind !== 'calls') await tables.clear(table, snapshot.taskIds(taken))
    const written = await tables.write(table, progress.count(rows))
    const cursor = position.text()
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
        cursorIn(snapshot, kind as DeliveredKind).read(cursor)
      } catch (error) {
        throw new UsageError(
          `The schema ${sanitize(schema)} has the rows of another database, or of this one before a backup was restored. Name another schema at the end of --to, or drop this one and export everything again`,
          { cause: error },
        )
      }
}

async function exportToFile(flags: ExportFlags, terminal: Terminal): Promise<number> {
  const kind = chosenKind(flags.kind)
  const name = formatArguments.chosen(flags, Object.keys(rowFormats) as RowFormatName[])
  refuseUnfit(flags, name, terminal)
  const csv = formatArguments.csvStyle(flags)
  const filter = rowFilter(flags)
  const since = cursorOf(flags)
  await syncFirst(flags, terminal)
  await using store = await openReader(databaseFile.path(flags))
  await outFile.refuseOntoJobFiles(store, flags)
  await refuseUnknown(store, filter)
  const write: WriteRows = await rowFormats[name].load()
  const progress = exportProgress(terminal, systemClock, flags.out)
  if (kind === 'clicks') {
    const ofClicks = await clicksFilter(store, filter)
    using snapshot = store.snapshot()
    const { rows, columns } = labelled(snapshot, kind, { ...ofClicks, after: 0 })
    await outFile.write(write(progress.count(rows), { name: kind, columns, csv }), flags.out, terminal)
    progress.end()
    return 0
  }
  using snapshot = store.snapshot()
  const position = cursorIn(snapshot, kind)
  const after = since === null ? 0 : position.read(since)
  const items = await itemsToExport(store, flags, terminal)
  const found = labelled(snapshot, kind, items === null ? { ...filter, after } : { ...filter, after, items })
  const { rows, columns } =
    flags.clusters === true ? withClusters(found, await clustersToExport(store, flags.job)) : found
  await outFile.write(write(progress.count(rows), { name: kind, columns, csv }), flags.out, terminal)
  progress.end()
  const cursor = position.text()
  await keepCursor(flags, cursor)
  note(terminal, `Next cursor: ${cursor}`)
  return 0
}

/** The filter of clicks: those of a job are those of the sites of its own targets, and days are days of Search Console. */
async function clicksFilter(store: Store, { job, query, from, until }: RowFilter): Promise<RowFilter> {
  const { siteOfProperty } = await import('../../../arrive/clicks/rows.ts')
  const targets = job === undefined ? [] : ((await store.latestRun(job))?.settings.targets ?? [])
  const sites = targets.flatMap(({ own, site }) => (own ? (siteOfProperty(site) ?? []) : []))
  return {
    ...(job === undefined ? {} : { sites: JSON.stringify(sites) }),
    ...(query === undefined ? {} : { query: textInLowerCase(query) }),
    ...(from === undefined ? {} : { from: from.slice(0, 'yyyy-mm-dd'.length) }),
    ...(until === undefined ? {} : { until: until.slice(0, 'yyyy-mm-dd'.length) }),
  }
}

/** Writes what was imported. */
async function exportImported(
  kind: keyof typeof importedKinds,
  flags: ExportFlags,
  terminal: Terminal,
): Promise<number> {
  const stray = (
    ['to', 'since', 'cursor-file', 'match', 'clusters', 'run', 'operation', 'sync'] as const
  ).find((one) => flags[propertyOf(one)] !== undefined && flags[propertyOf(one)] !== false)
  if (stray !== undefined)
    throw new UsageError(
      `--${stray} has no meaning for ${kind}: what was imported is no run, and is written into a file as a whole. Leave it out`,
    )
  const name = formatArguments.chosen(flags, Object.keys(rowFormats) as RowFormatName[])
  refuseUnfit(flags, name, terminal)
  const csv = formatArguments.csvStyle(flags)
  const filter = rowFilter(flags)
  await using store = await openReader(databaseFile.path(flags))
  await outFile.refuseOntoJobFiles(store, flags)
  await refuseUnknown(store, filter)
  using _ = store.snapshot()
  const { view, columns } = importedKinds[kind]
  const rows = store.importedRows(
    view,
    columns.map(({ name }) => name),
    filter,
  )
  const progress = exportProgress(terminal, systemClock, flags.out)
  const write: WriteRows = await rowFormats[name].load()
  await outFile.write(write(progress.count(rows), { name: kind, columns, csv }), flags.out, terminal)
  progress.end()
  return 0
}

/** The results that have the words of `--match`; null without it. */
async function itemsToExport(
  store: Store,
  { match }: ExportFlags,
  terminal: Terminal,
): Promise<ReadonlySet<number> | null> {
  if (match === undefined) return null
  const { refuseUnindexed, soughtText, wantedWords } = await import('./find.ts')
  const wanted = wantedWords(soughtText(match, ['titles', 'snippets', 'links']))
  refuseUnindexed(store, terminal.log)
  return store.itemsWith(wanted)
}

async function clustersToExport(store: Store, job: string | undefined) {
  const [{ clusterNames }, { usualShare }] = await Promise.all([
    import('../../../arrive/clusters/clusters.ts'),
    import('../../../rank/grouping.ts'),
  ])
  const jobs = job === undefined ? await store.jobNames() : [job]
  const isWeb = (operation: string): boolean => billableOperation(operation).kind === 'organic'
  return await clusterNames(store, jobs, { least: usualShare, now: systemClock.wall(), isWeb })
}

/** Throws one sentence where the database has no such job or run. */
async function refuseUnknown(store: Store, { job, run }: RowFilter): Promise<void> {
  if (job !== undefined) await refuseUnknownJob(store, job)
  if (run !== undefined && (await store.run(run)) === null)
    throw new UsageError(`There is no run ${run}. List them with: rankline runs`)
}

function refuseUnfitForTable(flags: ExportFlags): void {
  const ofFiles = (
    ['out', 'format', 'json', 'raw', 'excel', 'cursor-file', 'match', 'clusters'] as const
  ).find((name) => flags[propertyOf(name)] !== undefined && flags[propertyOf(name)] !== false)
  if (ofFiles === 'cursor-file')
    throw new UsageError('--to keeps the cursor beside the table. Leave out --cursor-file')
  if (ofFiles !== undefined)
    throw new UsageError(`--to writes a table, and --${ofFiles} is for files. Leave one of them out`)
}

function refuseUnfit(flags: ExportFlags, name: RowFormatName, terminal: Terminal): void {
  const { out, since, cursorFile: file } = flags
  const ofResults = (['match', 'clusters'] as const).find((one) => flags[one] !== undefined)
  const ofCalls = (['run', 'operation', 'since', 'cursor-file'] as const).find(
    (one) => flags[propertyOf(one)] !== undefined,
  )
  if (flags.kind === 'clicks' && (ofResults ?? ofCalls) !== undefined)
    throw new UsageError(
      `--${ofResults ?? ofCalls} has no meaning for clicks, which no call brought. Leave it out`,
    )
  if (flags.kind === 'calls' && ofResults !== undefined)
    throw new UsageError(`--${ofResults} has no meaning for calls, which are no results. Leave it out`)
  if ('binary' in rowFormats[name] && out === undefined && isScreen(terminal))
    throw new UsageError(`A terminal cannot show ${name}. Name a file with --out, or write into a pipe`)
  if (flags.excel === true && name !== 'csv')
    throw new UsageError(
      `--excel has no meaning for ${name}, which is no CSV. Leave it out, or use --format csv`,
    )
  if (file === undefined) return
  if (since !== undefined)
    throw new UsageError('--since and --cursor-file both say where to begin. Leave one of them out')
  // It is not known whether what goes into a pipe arrived.
  if (out === undefined) throw new UsageError('--cursor-file needs a file for the rows. Name it with --out')
  if (writablePath(file, '--cursor-file') === writablePath(out, '--out'))
    throw new UsageError('--cursor-file and --out name the same file. Give each one of its own')
}

/** Where to begin, as it was given or as the last export left it; null at the beginning. */
function cursorOf({ since, cursorFile: file }: ExportFlags): string | null {
  if (file === undefined || !existsSync(file)) return since ?? null
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`The cursor file ${file} cannot be read. Check its permissions`, { cause: error })
  }
}

/** Notes how far the rows go that are written by now; an export that dies before begins where this one did. */
async function keepCursor({ cursorFile: file }: ExportFlags, cursor: string): Promise<void> {
  if (file === undefined) return
  async function* line() {
    yield `${cursor}\n`
  }
  await writeFileAtomically(file, line(), '--cursor-file')
}

function chosenKind(kind: string): ExportKind {
  if (Object.hasOwn(exportKinds, kind)) return kind as ExportKind
  const known = [...Object.keys(exportKinds), ...Object.keys(importedKinds)]
  const near = closestMatch(kind, known)
  throw new UsageError(
    `There is nothing called '${kind}' to export. ${near === null ? `Write one of ${known.join(', ')}` : `Write ${near}`}`,
  )
}

function rowFilter(flags: ExportFlags): RowFilter {
  const { job, query, from, until } = flags
  const run = numberOption('--run', flags.run, { min: 1 })
  const given = {
    job,
    run,
    query: query === undefined ? undefined : normalText(query),
    operation: operationName(flags.operation),
    from: dayArguments.dayOrInstant('--from', from),
    until: dayArguments.dayOrInstant('--until', until),
  }
  if (given.from !== undefined && given.until !== undefined && given.from >= given.until)
    throw new UsageError(
      `--until ${until} is not after --from ${from}, so nothing lies between; make it later`,
    )
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

type RowFormatName = keyof typeof rowFormats

const quietMs = 1000

/**
 * Counts rows as they are taken, and shows how many they are: on a terminal, where the work is long, and where the rows
 * themselves do not go there.
 */
export function exportProgress(terminal: Terminal, clock: Pick<Clock, 'monotonic'>, out: string | undefined) {
  const began = clock.monotonic()
  const shows = terminal.status !== null && (out !== undefined || !isScreen(terminal))
  const line = statusLine<number>(terminal, clock, (rows) => exportLine(rows, clock.monotonic() - began))
  return {
    *count<T>(rows: Iterable<T>): Generator<T> {
      let taken = 0
      for (const row of rows) {
        yield row
        taken += 1
        // The clock is not asked for every row.
        if (shows && taken % 1000 === 0 && clock.monotonic() - began >= quietMs) line.show(taken)
      }
    },
    end: line.end,
  }
}

/** One line: rows so far, and rows a second. */
export function exportLine(rows: number, ms: number): string {
  const perSecond = Math.round(rows / (ms / 1000))
  return `${count(rows, 'row')} · ${grouped(perSecond)}/s`
}

const defaultSchema = 'rankline_export'

/** Schemas with tables of others: the queue's and those of Postgres. */
const taken = /^(rankline|information_schema|pg_.*)$/

/** Bytes of a name in Postgres at most. */
const longestName = 63

const form = 'postgres://user@host/database/schema'

/**
 * Reads `postgres://user@host/database/schema`, also without the schema. Throws one sentence, which does not repeat the address: it may
 * hold a password.
 */
export function exportTarget(text: string): {
  /** Address of the database. */
  readonly url: string
  readonly schema: string
} {
  const url = /^postgres(ql)?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : null
  const [database = '', name = '', ...more] =
    url?.pathname.replace(/^\//, '').replace(/\/$/, '').split('/') ?? []
  if (url === null || database === '' || more.length > 0)
    throw new UsageError(`--to is not the address of a Postgres schema. Write it like ${form}`)
  url.pathname = `/${database}`
  return { url: url.href, schema: schemaOf(name) }
}

function schemaOf(text: string): string {
  const name = text === '' ? defaultSchema : decoded(text)
  if (name === null || name.includes('\0') || Buffer.byteLength(name) > longestName)
    throw new UsageError(`--to ends in what cannot be the name of a schema. Write it like ${form}`)
  if (taken.test(name))
    throw new UsageError(
      `--to names the schema ${name}, whose tables are not those of exports. Name another one, for instance ${defaultSchema}`,
    )
  return name
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
