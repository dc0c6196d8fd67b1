import { existsSync, statSync } from 'node:fs'
import { extname } from 'node:path'
import { findOperation } from '../catalog/index.ts'
import { UsageError } from '../errors.ts'
import type { JobSettings } from '../model/job.ts'
import type { Store } from '../store/store.ts'
import type { Terminal } from '../terminal.ts'
import { nearest } from '../words.ts'

export interface FormatFlags {
  readonly format?: string | undefined
  readonly json?: boolean | undefined
  readonly out?: string | undefined
}

/** Formats by the extension of a file. */
const formatOf: Readonly<Record<string, string>> = {
  '.csv': 'csv',
  '.json': 'json',
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.md': 'md',
  '.markdown': 'md',
  '.xlsx': 'xlsx',
  '.html': 'html',
  '.htm': 'html',
  '.parquet': 'parquet',
}

/**
 * The format that was asked for, else that of the extension of `--out`, else, without an extension, the first one; throws one sentence
 * for others, and for two at once.
 */
export function chosenFormat<T extends string>(
  { format: named, json = false, out = '' }: FormatFlags,
  known: readonly T[],
): T {
  if (json && named !== undefined && named !== 'json')
    throw new UsageError(`--json and --format ${named} ask for two formats. Leave one of them out`)
  const extension = extname(out).toLowerCase()
  const promised = formatOf[extension]
  if (named === undefined && !json && promised === undefined && !endsAs(extension, known[0]))
    throw new UsageError(
      `--out ${out} ends in ${extension}, which says no format that this command writes; name a file that ends in ${extensionsOf(known)}, or say the format with ${known.length > 2 ? '--format' : '--json'}`,
    )
  const format = (json ? 'json' : named) ?? promised ?? known[0]
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
export function isJsonAsked({ json, out }: Pick<FormatFlags, 'json' | 'out'>): boolean {
  return chosenFormat({ json, out }, ['text', 'json']) === 'json'
}

/** A job that was named on the command line, by its file or by its name. */
export interface NamedJob {
  readonly name: string
  /** What its file says now; null where it was named without one. */
  readonly settings: JobSettings | null
}

/** The job that a file or a name stands for; null after mistakes in the file, which were told. */
export async function namedJob(
  store: Store,
  { job, verbose }: { readonly job: string; readonly verbose?: boolean | undefined },
  terminal: Terminal,
): Promise<NamedJob | null> {
  if (existsSync(job) && statSync(job).isFile()) {
    // Loaded only here: a name needs nothing that reads files.
    const { openJob } = await import('../jobfile/open.ts')
    const { mistakePrinter } = await import('../jobfile/problem.ts')
    const { report, end } = mistakePrinter(terminal.say, verbose === true)
    const file = await openJob(job, {}, report)
    end()
    return file === null ? null : { name: file.settings.name, settings: file.settings }
  }
  await refuseUnknownJob(store, job)
  return { name: job, settings: null }
}

/** Throws a sentence where the database knows no job of that name. */
export async function refuseUnknownJob(store: Store, job: string): Promise<void> {
  if ((await store.jobFile(job)) !== null || (await store.latestRun(job)) !== null) return
  const near = nearest(job, await store.jobNames())
  throw new UsageError(
    `There is no job '${job}', neither a file nor a name in the database. ${near === null ? 'List runs with: rankline runs' : `Did you mean ${near}?`}`,
  )
}

/** A day or an instant (UTC) as text that sorts as stored instants do; undefined where the flag is not given. */
export function dayOrInstant(flag: string, text: string | undefined): string | undefined {
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

/** The 30th of February is none. */
function isDay(text: string): boolean {
  const instant = Date.parse(text)
  return !Number.isNaN(instant) && new Date(instant).toISOString().startsWith(text)
}

/** An operation of the catalog; undefined where the flag is not given. */
export function operationName(text: string | undefined): string | undefined {
  if (text !== undefined && findOperation(text) === undefined)
    throw new UsageError(`There is no operation '${text}'. List them with: rankline operations`)
  return text
}
