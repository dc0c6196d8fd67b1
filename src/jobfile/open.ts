import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type * as z from 'zod'
import { billableOperation } from '../catalog/index.ts'
import type { BillableOperation } from '../catalog/operation.ts'
import { queryConditions } from '../model/condition.ts'
import type { JobOptions, JobSettings, Problem, Target } from '../model/job.ts'
import type { JobQuery } from '../model/query.ts'
import { count, groupedBy, hasMarks } from '../model/text.ts'
import { type InvalidValue, queryText, quoted } from '../model/values.ts'
import { type ColumnMap, columnReaders, type ReadRow } from './columns.ts'
import type { ByteSource, TableHead } from './csv.ts'
import {
  attempted,
  fileMistake,
  type JobText,
  jobPlaces,
  tableExtensions,
  unreadable,
  yamlTexts,
} from './files.ts'
import { readMap, readValue } from './issues.ts'
import { paramReaders, queryExpander, type RowToExpand } from './params.ts'
import { operationName, readNotes, schemas } from './schema.ts'
import { type JobPlan, optionPosition, readSettings } from './settings.ts'
import {
  isMap,
  mistakeLines,
  type Notice,
  type Path,
  partAt,
  type Report,
  type Source,
  type Tree,
} from './source.ts'
import { inFile, readTargets } from './targets.ts'
import { isWorkspaceFile, noDefaults, readWorkspace } from './workspace.ts'
import { parseYaml } from './yaml.ts'

type WrittenQuery = z.output<ReturnType<typeof schemas.query.whole>>

/** The job of a file, or of a text that has none. */
type FileOrText = string | JobText

/** A job file whose settings were checked. */
export type JobFile = NonNullable<Awaited<ReturnType<typeof openJob>>>

/**
 * Opens a job file, YAML or CSV by its extension, or a text; options win over what it says, and it wins over `rankline.yaml` beside
 * it (that of the working folder for a text). Null after a mistake in file or
 * settings: then every mistake of the queries was reported, too. The other mistakes are reported while the queries are read.
 */
export async function openJob(job: FileOrText, options: JobOptions, report: Report) {
  const file = typeof job === 'string' ? job : job.where
  const mistake = jobMistake(job)
  if (mistake !== null) {
    report({ where: file, line: null, column: null, ...mistake })
    return null
  }
  const shared = readWorkspace(path.dirname(file), report)
  if (shared === null) return null
  const yaml = isYaml(job) ? bytesOf(job) : null
  const { take, release } = mistakeLines.inFileOrder(report)
  const reported = new Set<string>()
  const first: Report = (problem) => {
    reported.add(placeOf(problem))
    take(problem)
  }
  const text = yaml === null ? null : yamlTexts.of(yaml, file, first)
  const source: Source | null = text === null ? null : parseYaml(text, file, first)
  if (yaml !== null && source === null) {
    release()
    return null
  }
  const entryOperations = source === null ? [] : operationsOfEntries(source)
  const { defaults, bytes: sharedBytes } = shared
  const origin = {
    path: pathOf(job),
    where: file,
    source,
    defaults,
    channels: Object.keys(shared.workspace.channels),
    hasOtherTargets: source === null || mayHaveTargets(source),
  }
  const plan = readSettings(origin, options, entryOperations, exceptAt(reported, take))
  const settings = { ...plan.settings, notes: (await notesOf(plan, file, take)) ?? plan.settings.notes }
  const sound = release() === 0
  const expand = queryExpander(plan.shared)
  const table = typeof job === 'string' ? job : job.bytes
  let notices: Notice[] = []
  const notice = (one: Notice): number => notices.push(one)
  const reading: QueryReading = {
    file,
    table,
    source,
    plan,
    expand,
    report: exceptAt(reported, report),
    notice,
  }

  let contentHash: string | null = null
  async function* queries(): AsyncGenerator<JobQuery, void> {
    notices = []
    const hash = createHash('sha256').update(sharedBytes)
    if (yaml !== null) hash.update(unchanged(job, yaml, report))
    const notesAbout = groupedBy(
      (settings.notes ?? []).filter(({ query }) => query !== undefined),
      ({ query = '' }) => query.toLowerCase(),
    )
    const unasked = new Set(notesAbout.keys())
    for await (const query of readQueries(reading, (chunk) => hash.update(chunk), sound)) {
      if (unasked.size > 0) unasked.delete(query.text.toLowerCase())
      yield query
    }
    for (const { date, query } of [...unasked].flatMap((name) => notesAbout.get(name) ?? []))
      notice({
        text: `${file}: the note of ${date} is about ${quoted(query ?? '')}, which this job does not ask`,
        inRuns: false,
      })
    contentHash = hash.digest('hex')
  }
  if (sound)
    return {
      settings,
      /**
       * Every query in the order of the file, checked, for each operation and each combination of the matrix. A mistake
       * is reported and its row left out. Each call reads the files anew.
       */
      queries,
      /** SHA-256 (hex) of all bytes that the latest whole reading read, those of `rankline.yaml` first; null before one. The same files give the same hash. */
      contentHash: (): string | null => contentHash,
      /** The notices of the latest whole reading; none before one. */
      notices: (): readonly Notice[] => notices,
    }
  for await (const _ of queries());
  return null
}

/** The notes of a file; null where the job names none, or where it cannot be read, which is reported. */
async function notesOf({ notesFile }: JobPlan, jobFile: string, report: Report) {
  if (notesFile === null) return null
  const { name, at } = notesFile
  const file = jobPlaces.fromJobFile(jobFile, name)
  const mistake = fileMistake(file, tableExtensions)
  if (mistake === null) return await readNotes(file, report)
  report({ ...at, message: `${file} cannot be read: ${mistake.message}`, fix: mistake.fix })
  return null
}

const notAJob: InvalidValue = {
  message: 'this file holds what the jobs of its folder share, and no job',
  fix: 'name a job file beside it',
}

function jobMistake(job: FileOrText): InvalidValue | null {
  if (typeof job === 'string') return isWorkspaceFile(job) ? notAJob : fileMistake(job)
  return isYaml(job) ? yamlTexts.mistakeIn(job) : null
}

function bytesOf(job: FileOrText): Buffer {
  return typeof job === 'string' ? readFileSync(job) : job.bytes
}

// A mistake at the place of a YAML error follows from it: one report is enough.
function exceptAt(reported: ReadonlySet<string>, report: Report): Report {
  return (problem) => {
    if (problem.column === null || !reported.has(placeOf(problem))) report(problem)
  }
}

function placeOf({ where, line, column }: Problem): string {
  return `${where}:${line}:${column}`
}

function isYaml(job: FileOrText): boolean {
  const file = pathOf(job)
  if (file !== null) return /^\.ya?ml$/i.test(path.extname(file))
  return typeof job !== 'string' && yamlTexts.isMap(job.bytes)
}

/** The job file; null for a text that never had one. */
function pathOf(job: FileOrText): string | null {
  return typeof job === 'string' ? job : (job.path ?? null)
}

function unchanged(job: FileOrText, bytes: Buffer, report: Report): Buffer {
  if (typeof job !== 'string') return bytes
  const found = attempted(() => readFileSync(job))
  const now = found instanceof Error ? null : found
  if (now?.equals(bytes)) return now
  const message = 'the file changed while it was being read'
  report({ where: job, line: null, column: null, message, fix: 'run the command again' })
  return now ?? Buffer.alloc(0)
}

/** What the queries of a job are read from and with. */
interface QueryReading {
  /** Name of the job file in mistakes; paths of its CSV files are relative to it. */
  readonly file: string
  /** The CSV, where the job is one. */
  readonly table: ByteSource
  /** The YAML; null for a CSV. */
  readonly source: Source | null
  readonly plan: JobPlan
  readonly expand: ReturnType<typeof queryExpander>
  readonly report: Report
  readonly notice: (notice: Notice) => void
}

/** Reads all queries once; `whole` says that the settings are right, so that missing targets and queries can be reported, too. */
async function* readQueries(
  { report, ...given }: QueryReading,
  seen: (chunk: Buffer) => void,
  whole: boolean,
): AsyncGenerator<JobQuery, void> {
  /** What the end says of the whole. */
  const tally = { queries: 0, problems: 0, withTarget: 0, withoutTarget: 0 }
  const reading: QueryReading = {
    ...given,
    report: (problem) => {
      tally.problems++
      report(problem)
    },
  }
  const conditions = reading.plan.conditions.map(({ text, at }) => ({
    at,
    ...queryConditions.of('where', text, 'store'),
  }))
  const batches =
    reading.source === null
      ? readTable(reading, { file: reading.file, source: reading.table, map: reading.plan.columns }, seen)
      : readEntries(reading, reading.source, seen)
  for await (const batch of batches)
    for (const query of batch) {
      tally.queries++
      if (query.targets.length > 0) tally.withTarget++
      else tally.withoutTarget++
      for (const { isMet } of conditions) isMet(query)
      yield query
    }
  if (!whole) return
  // The row that has what a condition names may be one with a mistake.
  if (tally.problems === 0)
    for (const { at, unknownName } of conditions) {
      const mistake = unknownName()
      if (mistake !== null) reading.report({ ...at, ...mistake })
    }
  reportWhole(reading, tally)
}

async function* readEntries(
  reading: QueryReading,
  source: Source,
  seen: (chunk: Buffer) => void,
): AsyncGenerator<readonly JobQuery[]> {
  const { plan, expand, report } = reading
  const { take, release } = mistakeLines.inFileOrder(report)
  for (const index of entriesOf(source).keys()) {
    const entry = readEntry(plan, source, index, take)
    const queries = entry !== null && 'row' in entry ? expand(entry.row, take) : []
    const good = release() === 0
    if (good && queries.length > 0) yield queries
    if (entry === null || 'row' in entry) continue
    const file = jobPlaces.fromJobFile(reading.file, entry.file)
    const mistake = fileMistake(file, tableExtensions)
    const map = { ...entry.columns, ...plan.columns }
    if (mistake === null) yield* readTable(reading, { file, source: file, map }, seen)
    else {
      const message = `${file} cannot be read: ${mistake.message}`
      report({ ...source.at(['queries', index, 'file']), message, fix: mistake.fix })
    }
  }
}

async function* readTable(
  reading: QueryReading,
  table: {
    /** What problems call it. */
    readonly file: string
    readonly source: ByteSource
    /** What its columns are called. */
    readonly map: ColumnMap
  },
  seen: (chunk: Buffer) => void,
): AsyncGenerator<readonly JobQuery[]> {
  const { file, source, map } = table
  let isEmpty = true
  let read: ReadRow | null = null
  // What reads a job without its queries needs no parser of tables.
  const { readCsv } = await import('./csv.ts')
  const batches = readCsv(source, seen, {
    score: columnReaders.look(map),
    mayBeList: /\.txt$/i.test(file),
    textsAreMapped: map.query !== undefined,
  })
  for (;;) {
    // The file can vanish or break while it is read, after it was checked.
    const next = await batches.next().catch((error: NodeJS.ErrnoException) => error)
    if (next instanceof Error) {
      if (next.code === undefined) throw next
      reading.report({ where: file, line: null, column: null, ...unreadable(next) })
      return
    }
    if (next.done) break
    const queries: JobQuery[] = []
    for (const item of next.value) {
      isEmpty = false
      if ('mistake' in item) reading.report({ where: file, line: item.line, column: null, ...item.mistake })
      else if ('head' in item) {
        read = openRows(reading, table, item.head)
        if (read === null) return
      } else if (read !== null) readRow(reading, read, item, queries)
    }
    if (queries.length > 0) yield queries
  }
  if (!isEmpty) return
  const fix = "write a first line with a column 'query'"
  reading.report({ where: file, line: null, column: null, message: 'the file is empty', fix })
}

/** The reader of the rows below a header; null where none can be read. */
function openRows(
  { plan, source, report, notice }: QueryReading,
  { file, map }: Pick<Parameters<typeof readTable>[1], 'file' | 'map'>,
  head: TableHead,
): ReadRow | null {
  const columns = columnReaders.read(head, {
    map,
    operations: plan.operations,
    inYaml: source !== null,
    report: (mistake) => report({ where: file, line: head.line, column: null, ...mistake }),
    notice: (message, inRuns) => notice({ text: `${file}: ${message}`, inRuns }),
  })
  return columns === null ? null : columnReaders.rows(columns, plan, file)
}

function readRow(
  { expand, report }: QueryReading,
  read: ReadRow,
  { cells, line }: { readonly cells: readonly string[]; readonly line: number },
  into: JobQuery[],
): void {
  const made = read(cells, line, report)
  if (made === null) return
  for (const query of expand(made.row, report)) if (made.good) into.push(query)
}

function reportWhole(
  { file, plan, report }: QueryReading,
  tally: Readonly<Record<'queries' | 'problems' | 'withTarget' | 'withoutTarget', number>>,
): void {
  const { settings, pagingPosition } = plan
  if (tally.queries === 0 && tally.problems === 0) {
    const message = 'there is no query'
    report({ where: file, line: null, column: null, message, fix: 'write at least one' })
  }
  const waited = settings.targets.some((target) => target.own || settings.until === 'all')
  if (settings.paging === 'all' || waited || tally.withoutTarget === 0) return
  const none = tally.withTarget === 0
  report({
    ...pagingPosition,
    message: `paging ${settings.paging} has no target to find${none ? '' : ` for ${count(tally.withoutTarget, 'query', 'queries')}`}`,
    fix: "name your site under 'targets:', or write 'paging: all'",
  })
}

const noLabels: RowToExpand['labels'] = Object.freeze(Object.create(null))

/** The entries below `queries:`; empty where there is no such list. */
export function entriesOf({ tree }: Source): readonly Tree[] {
  return Array.isArray(tree.queries) ? tree.queries : []
}

/** The operations that entries name themselves; names that are wrong are left out. */
function operationsOfEntries(source: Source): readonly BillableOperation[] {
  const names = new Set<string>()
  for (const entry of entriesOf(source))
    if (isMap(entry) && entry.operation != null)
      for (const name of [entry.operation].flat()) names.add(String(name))
  return [...names].filter((name) => 'value' in operationName(name)).map(billableOperation)
}

/** Whether entries name targets of their own, or files whose rows may. */
function mayHaveTargets(source: Source): boolean {
  return entriesOf(source).some((entry) => isMap(entry) && ('target' in entry || 'file' in entry))
}

/** Reads one entry below `queries:`; null where it holds nothing to look at. Every mistake is reported. */
function readEntry(
  plan: JobPlan,
  source: Source,
  index: number,
  report: Report,
): { readonly row: RowToExpand } | { readonly file: string; readonly columns: ColumnMap } | null {
  const path: Path = ['queries', index]
  const entry = entriesOf(source)[index]
  if (!isMap(entry)) {
    const query = readValue(schemas.text(), source, path, report)
    return query === undefined ? null : { row: rowOf({ query }, plan, source, path, report) }
  }
  if ('file' in entry && !('query' in entry)) {
    const { data } = readMap(schemas.file, source, path, report)
    return data.file === undefined ? null : { file: data.file, columns: data.columns ?? {} }
  }
  const { data, failed } = readMap(schemas.query, source, path, report)
  if (data.depth !== undefined && data.pages !== undefined)
    report({ ...source.at([...path, 'pages'], 'key'), ...paramReaders.depthAndPages })
  const row = rowOf(data, plan, source, path, report)
  // Without its operation nothing can be said about its params.
  return { row: failed.has('operation') ? { ...row, operations: [] } : row }
}

function rowOf(
  data: Partial<WrittenQuery>,
  plan: JobPlan,
  source: Source,
  path: Path,
  report: Report,
): RowToExpand {
  const { where, line } = source.at(path)
  const entry = partAt(source.tree, path)
  const counted = data.depth !== undefined || data.pages !== undefined
  const operations = data.operation === undefined ? null : [...new Set([data.operation].flat())]
  return {
    text: data.query ?? '',
    operations: operations?.map(billableOperation) ?? plan.operations,
    depth: counted ? (data.depth ?? null) : plan.depth,
    pages: counted ? (data.pages ?? null) : plan.pages,
    tags: [...new Set(data.tags)].filter((tag) => tag !== ''),
    targets: targetsOf(data.target, plan, source, [...path, 'target'], report),
    priority: data.priority ?? 0,
    volume: data.volume ?? null,
    url: data.url ?? null,
    every: data.every ?? null,
    labels: noLabels,
    own: Object.entries(data.params ?? {}),
    at: (name, part) => source.at([...path, 'params', name], part),
    marksLeftOut: hasMarks(String((isMap(entry) ? entry.query : entry) ?? '')),
    source: { file: where, line: line ?? 1 },
  }
}

function targetsOf(
  written: WrittenQuery['target'],
  plan: JobPlan,
  source: Source,
  path: Path,
  report: Report,
): readonly Target[] {
  if (written === undefined) return []
  const list = [written].flat()
  const at = (index: number) => source.at(Array.isArray(written) ? [...path, index] : path)
  return readTargets([{ written: list, own: true, at, hints: inFile }], plan.match, report)
}

/** Checks a single query as if a job asked for it; null after a mistake, each of which is reported. */
export function readOneQuery(
  {
    operation,
    query,
    param = [],
    style,
  }: {
    readonly operation: string
    readonly query: string
    /** `key=value` each. */
    readonly param?: readonly string[] | undefined
    readonly style?: string | undefined
  },
  name: string,
  report: Report,
): { readonly query: JobQuery; readonly settings: JobSettings } | null {
  const options = { operation: [operation], param, ...(style === undefined ? {} : { style }) }
  let mistakes = 0
  const complain: Report = (problem) => {
    mistakes += 1
    // Operation and query are no options here.
    report({ ...problem, where: problem.where.replace(/^--/, '') })
  }
  const origin = {
    path: name,
    where: name,
    source: null,
    defaults: noDefaults,
    channels: [],
    hasOtherTargets: true,
  }
  const plan = readSettings(origin, options, [], complain)
  const text = queryText(query)
  if (!('value' in text))
    complain({ ...optionPosition(['query']), ...text, message: `the query ${text.message}` })
  if (mistakes > 0 || !('value' in text)) return null
  const source: Source = { tree: {}, at: () => ({ where: name, line: null, column: null }) }
  const row = rowOf({ query: text.value }, plan, source, [], complain)
  const [single] = queryExpander(plan.shared)(row, complain)
  return single === undefined ? null : { query: single, settings: plan.settings }
}
