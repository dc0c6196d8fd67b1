import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { JobOptions, JobSettings, Problem } from '../model/job.ts'
import { groupedBy } from '../model/maps.ts'
import type { JobQuery } from '../model/query.ts'
import { type InvalidValue, quoted } from '../model/values.ts'
import {
  fileMistake,
  fromJobFile,
  isYamlMap,
  type JobText,
  tableExtensions,
  yamlText,
  yamlTextMistake,
} from './files.ts'
import { queryExpander } from './params.ts'
import { readNotes } from './presentation.ts'
import { mayHaveTargets, operationsOfEntries, type QueryReading, readQueries } from './queries.ts'
import { type JobPlan, readSettings } from './settings.ts'
import { inFileOrder, type Notice, type Report, type Source } from './source.ts'
import { isWorkspaceFile, readWorkspace } from './workspace.ts'
import { parseYaml } from './yaml.ts'

/** A job file whose settings were checked. */
export interface JobFile {
  readonly settings: JobSettings
  /**
   * Every query in the order of the file, checked, for each operation and each combination of the matrix. A mistake
   * is reported and its row left out. Each call reads the files anew.
   */
  readonly queries: () => AsyncGenerator<JobQuery, void>
  /** SHA-256 (hex) of all bytes that the latest whole reading read, those of `rankline.yaml` first; null before one. The same files give the same hash. */
  readonly contentHash: () => string | null
  /** The notices of the latest whole reading; none before one. */
  readonly notices: () => readonly Notice[]
}

/** The job of a file, or of a text that has none. */
type FileOrText = string | JobText

/**
 * Opens a job file, YAML or CSV by its extension, or a text; options win over what it says, and it wins over `rankline.yaml` beside
 * it (that of the working folder for a text). Null after a mistake in file or
 * settings: then every mistake of the queries was reported, too. The other mistakes are reported while the queries are read.
 */
export async function openJob(job: FileOrText, options: JobOptions, report: Report): Promise<JobFile | null> {
  const file = typeof job === 'string' ? job : job.where
  const mistake = await jobMistake(job)
  if (mistake !== null) {
    report({ where: file, line: null, column: null, ...mistake })
    return null
  }
  const shared = await readWorkspace(path.dirname(file), report)
  if (shared === null) return null
  const yaml = isYaml(job) ? await bytesOf(job) : null
  const { take, release } = inFileOrder(report)
  const reported = new Set<string>()
  const first: Report = (problem) => {
    reported.add(placeOf(problem))
    take(problem)
  }
  const text = yaml === null ? null : yamlText(yaml, file, first)
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
    if (yaml !== null) hash.update(await unchanged(job, yaml, report))
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
  if (sound) return { settings, queries, contentHash: () => contentHash, notices: () => notices }
  for await (const _ of queries());
  return null
}

/** The notes of a file; null where the job names none, or where it cannot be read, which is reported. */
async function notesOf({ notesFile }: JobPlan, jobFile: string, report: Report) {
  if (notesFile === null) return null
  const { name, at } = notesFile
  const file = fromJobFile(jobFile, name)
  const mistake = await fileMistake(file, tableExtensions)
  if (mistake === null) return await readNotes(file, report)
  report({ ...at, message: `${file} cannot be read: ${mistake.message}`, fix: mistake.fix })
  return null
}

const notAJob: InvalidValue = {
  message: 'this file holds what the jobs of its folder share, and no job',
  fix: 'name a job file beside it',
}

async function jobMistake(job: FileOrText): Promise<InvalidValue | null> {
  if (typeof job === 'string') return isWorkspaceFile(job) ? notAJob : await fileMistake(job)
  return isYaml(job) ? yamlTextMistake(job) : null
}

async function bytesOf(job: FileOrText): Promise<Buffer> {
  return typeof job === 'string' ? await readFile(job) : job.bytes
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
  return typeof job !== 'string' && isYamlMap(job.bytes)
}

/** The job file; null for a text that never had one. */
function pathOf(job: FileOrText): string | null {
  return typeof job === 'string' ? job : (job.path ?? null)
}

async function unchanged(job: FileOrText, bytes: Buffer, report: Report): Promise<Buffer> {
  if (typeof job !== 'string') return bytes
  const now = await readFile(job).catch(() => null)
  if (now?.equals(bytes)) return now
  const message = 'the file changed while it was being read'
  report({ where: job, line: null, column: null, message, fix: 'run the command again' })
  return now ?? Buffer.alloc(0)
}
