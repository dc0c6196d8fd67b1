import type { JobQuery } from '../model/job.ts'
import { count } from '../words.ts'
import { readCsv } from './csv.ts'
import type { ByteSource } from './csv-bytes.ts'
import { readColumns } from './csv-columns.ts'
import { type ReadRow, rowReader } from './csv-rows.ts'
import { entriesOf, readEntry } from './entries.ts'
import type { Expand } from './expand.ts'
import { besideJobFile, fileMistake, unreadable } from './files.ts'
import { inFileOrder, type Mistake, type Report } from './problem.ts'
import type { JobPlan } from './settings.ts'
import type { Source } from './tree.ts'

/** All that a reading of the queries needs. */
export interface Reading {
  /** What mistakes call the job file; CSV files that it names lie beside it. */
  readonly file: string
  /** The CSV, where the job is one. */
  readonly table: ByteSource
  /** The YAML; null for a CSV. */
  readonly source: Source | null
  readonly plan: JobPlan
  readonly expand: Expand
  readonly report: Report
}

/** What the end of a reading says of the whole. */
interface Tally {
  queries: number
  problems: number
  withTarget: number
  withoutTarget: number
}

/** Reads all queries once; `whole` says that the settings are right, so that what they ask of the queries is told, too. */
export async function* readQueries(
  { report, ...given }: Reading,
  seen: (chunk: Buffer) => void,
  whole: boolean,
): AsyncGenerator<JobQuery, void> {
  const tally: Tally = { queries: 0, problems: 0, withTarget: 0, withoutTarget: 0 }
  const reading: Reading = {
    ...given,
    report: (problem) => {
      tally.problems++
      report(problem)
    },
  }
  const batches =
    reading.source === null
      ? readTable(reading, reading.file, reading.table, seen)
      : readEntries(reading, reading.source, seen)
  for await (const batch of batches)
    for (const query of batch) {
      tally.queries++
      if (query.targets.length > 0) tally.withTarget++
      else tally.withoutTarget++
      yield query
    }
  if (whole) reportWhole(reading, tally)
}

async function* readEntries(
  reading: Reading,
  source: Source,
  seen: (chunk: Buffer) => void,
): AsyncGenerator<readonly JobQuery[]> {
  const { plan, expand, report } = reading
  const { take, release } = inFileOrder(report)
  for (const index of entriesOf(source).keys()) {
    const entry = readEntry(plan, source, index, take)
    const queries = entry !== null && 'row' in entry ? expand(entry.row, take) : []
    const good = release() === 0
    if (good && queries.length > 0) yield queries
    if (entry === null || 'row' in entry) continue
    const file = besideJobFile(reading.file, entry.file)
    const mistake = await fileMistake(file, ['.csv', '.tsv'])
    if (mistake === null) yield* readTable(reading, file, file, seen)
    else {
      const what = `${file} cannot be read: ${mistake.what}`
      report({ ...source.at(['queries', index, 'file']), what, instead: mistake.instead })
    }
  }
}

async function* readTable(
  reading: Reading,
  file: string,
  table: ByteSource,
  seen: (chunk: Buffer) => void,
): AsyncGenerator<readonly JobQuery[]> {
  let header = true
  let read: ReadRow | null = null
  const batches = readCsv(table, seen)
  for (;;) {
    // The file can vanish or break while it is read, after it was looked at.
    const next = await batches.next().catch((error: NodeJS.ErrnoException) => error)
    if (next instanceof Error) {
      if (next.code === undefined) throw next
      reading.report({ where: file, line: null, column: null, ...unreadable(next) })
      return
    }
    if (next.done) break
    const queries: JobQuery[] = []
    for (const item of next.value) {
      const place = { where: file, line: item.line, column: null }
      const tell = (mistake: Mistake) => reading.report({ ...place, ...mistake })
      if ('mistake' in item) {
        header = false
        tell(item.mistake)
      } else if (read === null) {
        const columns = readColumns(item.cells, tell)
        if (columns === null) return
        read = rowReader(columns, reading.plan, file)
      } else readRow(reading, read, item, queries)
    }
    if (queries.length > 0) yield queries
  }
  if (read !== null || !header) return
  const instead = "write a first line with a column 'query'"
  reading.report({ where: file, line: null, column: null, what: 'the file is empty', instead })
}

function readRow(
  { expand, report }: Reading,
  read: ReadRow,
  { cells, line }: { readonly cells: readonly string[]; readonly line: number },
  into: JobQuery[],
): void {
  const made = read(cells, line, report)
  if (made === null) return
  for (const query of expand(made.row, report)) if (made.good) into.push(query)
}

function reportWhole({ file, plan, report }: Reading, tally: Tally): void {
  const { settings, pagingPlace } = plan
  if (tally.queries === 0 && tally.problems === 0) {
    const what = 'there is no query'
    report({ where: file, line: null, column: null, what, instead: 'write at least one' })
  }
  const waited = settings.targets.some((target) => target.own || settings.until === 'all')
  if (settings.paging === 'all' || waited || tally.withoutTarget === 0) return
  const none = tally.withTarget === 0
  report({
    ...pagingPlace,
    what: `paging ${settings.paging} has no target to find${none ? '' : ` for ${count(tally.withoutTarget, 'query', 'queries')}`}`,
    instead: "name your site under 'targets:', or write 'paging: all'",
  })
}
