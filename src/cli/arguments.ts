import { existsSync, statSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { readDay } from '../arrive/csv.ts'
import { findOperation } from '../catalog/index.ts'
import { jobPlaces } from '../jobfile/files.ts'
import { UsageError } from '../model/errors.ts'
import type { JobSettings } from '../model/job.ts'
import { closestMatch, parseDuration } from '../model/text.ts'
import { latestDay } from '../model/time.ts'
import { type OptionSpecs, type OptionsOf, type ReadResult, switchOption } from '../model/values.ts'
import type { CsvStyle } from '../output/formats/format.ts'
import { rowFormats } from '../output/formats/index.ts'
import { note, type Terminal } from '../output/terminal.ts'
import type { ReportFormatEntry } from '../report/report.ts'
import { type CommandOptions, databaseFile, ownKeyHash } from '../run/config.ts'
import { turns } from '../run/lock.ts'
import { databaseLock } from '../store/sqlite/connection/lock.ts'
import type { Store } from '../store/sqlite/open.ts'
import { sharedFlags } from './flags.ts'

type FormatFlags = OptionsOf<ReturnType<typeof sharedFlags.output> & typeof sharedFlags.global>

/** Every format of a report by its name in `--format`; the first one is the default. A new format is a file, and a line here. */
const reportFormats = {
  table: { extensions: [], load: async () => (await import('../report/formats/table.ts')).tableFormat },
  csv: { extensions: ['.csv'], load: async () => (await import('../report/formats/rows.ts')).csvFormat },
  json: { extensions: ['.json'], load: async () => (await import('../report/formats/rows.ts')).jsonFormat },
  jsonl: {
    extensions: ['.jsonl', '.ndjson'],
    load: async () => (await import('../report/formats/rows.ts')).jsonLinesFormat,
  },
  md: {
    extensions: ['.md', '.markdown'],
    load: async () => (await import('../report/formats/markdown/document.ts')).markdownFormat,
  },
  xlsx: {
    extensions: ['.xlsx'],
    load: async () => (await import('../report/formats/workbook.ts')).workbookFormat,
  },
  html: {
    extensions: ['.html', '.htm'],
    load: async () => {
      // With the window of the first screen: what is loaded once V8 has the settings for documents, it compiles anew.
      const [{ pageFormat }] = await Promise.all([
        import('../page/html.ts'),
        import('../page/page-window.ts'),
      ])
      return pageFormat
    },
  },
  pdf: { extensions: ['.pdf'], load: async () => (await import('../page/paper.ts')).pdfFormat },
  email: {
    extensions: ['.eml'],
    load: async () => (await import('../report/formats/email/email.ts')).emailFormat,
  },
} as const satisfies Record<string, ReportFormatEntry>

export type ReportFormatName = keyof typeof reportFormats

/** Formats by the extension of a file. */
const formatOf: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({ ...rowFormats, ...reportFormats }).flatMap(([name, { extensions }]) =>
    extensions.map((extension) => [extension, name]),
  ),
)

/**
 * The format that was asked for, else that of the extension of `--out`, else, without an extension, CSV for Excel or the first one; throws
 * one sentence for others, and for two at once.
 */
function chosenFormat<T extends string>(
  { format: named, json = false, excel = false, out = '' }: FormatFlags,
  known: readonly T[],
): T {
  if (json && named !== undefined && named !== 'json')
    throw new UsageError(`--json and --format ${named} ask for two formats. Leave one of them out`)
  const extension = extname(out).toLowerCase()
  const promised = formatOf[extension]
  if (named === undefined && !json && promised === undefined && !endsAs(extension, known[0]))
    throw new UsageError(
      `--out ${out} ends in ${extension}, which is not a format that this command writes; name a file that ends in ${extensionsOf(known)}, or name the format with ${known.length > 2 ? '--format' : '--json'}`,
    )
  const usual = known.find((one) => excel && one === 'csv') ?? known[0]
  const format = (json ? 'json' : named) ?? promised ?? usual
  const chosen = known.find((one) => one === format)
  const asked = json ? '--json' : named === undefined ? `--out ${out}` : `--format ${named}`
  if (chosen === undefined)
    throw new UsageError(
      named === undefined && !json
        ? `${asked} asks for ${format}, which this command does not write; name a file that ends in ${extensionsOf(known)}`
        : `--format cannot be '${format}'; write one of ${known.join(', ')}`,
    )
  if (promised !== undefined && promised !== chosen)
    throw new UsageError(
      `${asked} and --out ${out} ask for two formats. Leave out ${asked.split(' ')[0]}, or name a file that ends in .${chosen}`,
    )
  return chosen
}

/** How CSV is to be written. Throws a sentence for two forms at once. */
function csvStyle({ raw = false, excel = false }: FormatFlags): CsvStyle {
  if (raw && excel)
    throw new UsageError('--raw is for programs, and --excel for people. Leave one of them out')
  return raw ? 'raw' : excel ? 'excel' : 'guarded'
}

/** Whether a file of that extension, which no format has, can be of the format that is written where none is named. */
function endsAs(extension: string, usual: string | undefined): boolean {
  // A number at the end, as of a date, is a part of the name.
  if (/^\.?\d*$/.test(extension)) return true
  return extension === '.txt' && (usual === 'table' || usual === 'text')
}

function extensionsOf(formats: readonly string[]): string {
  return formats
    .map((format) => (Object.values(formatOf).includes(format) ? `.${format}` : '.txt'))
    .join(', ')
}

/** Whether what is text otherwise is to be JSON. */
function isJsonAsked({ json, out }: Pick<FormatFlags, 'json' | 'out'>): boolean {
  return chosenFormat({ json, out }, ['text', 'json']) === 'json'
}

/** The job that a file or a name stands for; null after mistakes in the file, which were logged. */
export async function findJob(
  store: Store,
  { job, verbose }: { readonly job: string; readonly verbose?: boolean | undefined },
  terminal: Terminal,
): Promise<{
  readonly name: string
  /** What its file says now; null where it was named without one. */
  readonly settings: JobSettings | null
} | null> {
  const isKnown = async (): Promise<boolean> =>
    (await store.jobFile(job)) !== null || (await store.latestRun(job)) !== null
  const path = existsSync(job) || !(await isKnown()) ? jobPlaces.named(job) : null
  if (path !== null && statSync(path).isFile()) {
    // Loaded only here: a name needs nothing that reads files.
    const { openJob } = await import('../jobfile/open.ts')
    const { mistakeLines } = await import('../jobfile/source.ts')
    const { report, end } = mistakeLines.printer(
      (line) => terminal.log(line, { level: 'error', code: 2 }),
      verbose === true,
    )
    const file = await openJob(path, {}, report)
    end()
    return file === null ? null : { name: file.settings.name, settings: file.settings }
  }
  // The file of that name may lie in another folder.
  const ofFile = (await isKnown()) ? [] : (await store.jobFiles()).filter(({ file }) => stemOf(file) === job)
  const [only, other] = ofFile
  if (only !== undefined && other === undefined) return { name: only.name, settings: null }
  await refuseUnknownJob(store, job)
  return { name: job, settings: null }
}

function stemOf(file: string): string {
  return basename(file, extname(file))
}

/** Throws a sentence where the database knows no job of that name. */
export async function refuseUnknownJob(store: Store, job: string): Promise<void> {
  if ((await store.jobFile(job)) !== null || (await store.latestRun(job)) !== null) return
  if (store.isImportedJob(job)) return
  const stems = (await store.jobFiles()).map(({ file }) => stemOf(file))
  const near = closestMatch(job, [...(await store.jobNames()), ...stems])
  throw new UsageError(
    `There is no job '${job}': no such file, and no job of that name in the database. ${near === null ? 'List runs with: rankline runs' : `Did you mean ${near}?`}`,
  )
}

/** A day or an instant (UTC) as text that sorts as stored instants do; undefined where the flag is not given. */
function dayOrInstant(flag: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text)) return text
  if (/^\d{4}-\d{2}-\d{2}T/.test(text)) {
    // Without an offset it would be taken for the time of this machine.
    const instant = Date.parse(/(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`)
    if (!Number.isNaN(instant)) return new Date(instant).toISOString()
  }
  throw new UsageError(
    `${flag} cannot be '${text}'; write a day such as 2026-01-31 or an ISO 8601 instant (UTC)`,
  )
}

/** A local day as text; undefined where the flag is not given. */
export function day(flag: string, text: string | undefined): string | undefined {
  if (text === undefined || (/^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text))) return text
  throw new UsageError(`${flag} cannot be '${text}'; write a day such as 2026-01-31`)
}

/** Whether YYYY-MM-DD is a day: the 30th of February is none. */
function isDay(text: string): boolean {
  const instant = Date.parse(text)
  return !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(text)
}

/** The day of a flag as a number. Throws a sentence for what is none, and for one that is still to come at `now`. */
export function pastDay(flag: string, text: string, now: number): number {
  const number = text.length === 10 ? readDay(text) : -1
  if (number === -1) throw new UsageError(`${flag} cannot be '${text}'; write a day such as 2026-08-01`)
  if (number > latestDay(now))
    throw new UsageError(`${flag} ${text} is in the future; write a day up to today`)
  return number
}

/** An operation of the catalog; undefined where the flag is not given. */
export function operationName(text: string | undefined): string | undefined {
  if (text !== undefined && findOperation(text) === undefined)
    throw new UsageError(`There is no operation '${text}'. List them with: rankline operations`)
  return text
}

const defaultTolerance = 3
/** A century: dates stay dates. */
const mostDays = 36_525

/** The text of a flag as what it stands for; undefined where it is not given. Throws a sentence where it cannot be read. */
function valueFlag<T>(
  flag: string,
  text: string | undefined,
  read: (text: string) => ReadResult<T>,
): T | undefined {
  if (text === undefined) return undefined
  const result = read(text)
  if ('value' in result) return result.value
  throw new UsageError(`${flag} ${result.message}; ${result.fix}`)
}

/** A number of days; undefined where the flag is not given. */
function daysFlag(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const days = daysOf(text)
  if (days !== null) return days
  throw new UsageError(`${flag} cannot be '${text}'; write days such as 0d, 3d or 1w`)
}

/** Reads the flags that say what to compare with; null where there are none. Throws a sentence where they are wrong. */
function comparisonOf({ compare, tolerance }: OptionsOf<typeof sharedFlags.compare>) {
  const days = daysFlag('--tolerance', tolerance) ?? defaultTolerance
  if (compare === undefined) {
    if (tolerance === undefined) return null
    throw new UsageError('--tolerance has no meaning without --compare')
  }
  const back = daysOf(compare)
  if (back !== null && back > 0) return { day: back, tolerance: days }
  try {
    return { day: day('--compare', compare) as string, tolerance: days }
  } catch (error) {
    throw new UsageError(
      `--compare cannot be '${compare}'; write a day such as 2026-01-31, or how long ago, such as 7d or 4w`,
      { cause: error },
    )
  }
}

function daysOf(text: string): number | null {
  const ms = parseDuration(text, 'dw')
  const days = ms === null ? Number.NaN : ms / 86_400_000
  return days <= mostDays ? days : null
}

export const syncFirstFlags = {
  ...sharedFlags.queue,
  sync: switchOption('First bring what machines did into this database, as rankline sync does'),
} satisfies OptionSpecs

/** Brings the shared journal into the database that a command is about to read, where its flags say so. */
export async function syncFirst(
  flags: CommandOptions & { readonly sync?: boolean | undefined },
  terminal: Terminal,
): Promise<void> {
  if (flags.sync !== true) return
  const { keptAnswers, sharedQueue } = await import('../machines/queue.ts')
  const url = sharedQueue.needed(flags)
  const database = databaseFile.path(flags)
  databaseFile.makeDefaultFolder(database)
  const notice = (line: string): void => note(terminal, line)
  using lock = turns.wait([databaseLock(database)], undefined, notice)
  await lock.acquire()
  await sharedQueue.sync({ url, database, ownKey: ownKeyHash(flags), ...keptAnswers, notice })
}

/** Formats as they are typed, and what follows from them. */
export const formatArguments = {
  chosen: chosenFormat,
  csvStyle,
  isJsonAsked,
  valueFlag,
  ofReports: reportFormats,
}

/** Days and spans as they are typed. */
export const dayArguments = {
  dayOrInstant,
  isDay,
  comparison: comparisonOf,
  days: daysFlag,
}
