import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import * as z from 'zod'
import { billableOperations } from '../catalog/index.ts'
import type { ParamValue } from '../catalog/operation.ts'
import type { Problem, SettingsData } from '../model/job.ts'
import * as settings from '../model/job.ts'
import type { Channel, Workspace } from '../model/settings.ts'
import { closestMatch, parseDuration } from '../model/text.ts'
import { type InvalidValue, plainText, quoted, type ReadResult } from '../model/values.ts'
import { fileMistake, jobPlaces, workspaceFile, yamlTexts } from './files.ts'
import { later, mapSchema, readMap, type SchemaResult, scalar, strict, variable } from './issues.ts'
import { paramReaders } from './params.ts'
import { schemas } from './schema.ts'
import { mistakeLines, type Path, partAt, type Report, type Source, type Tree } from './source.ts'
import { inFile, readTargets, siteKey } from './targets.ts'
import { parseYaml } from './yaml.ts'

/** Whether a path names the file of a workspace, which is no job. */
export function isWorkspaceFile(file: string): boolean {
  return path.basename(file) === workspaceFile
}

/** Whether a mistake stands in the file of a workspace, or is the other extension of its name. */
export function isWorkspaceMistake({ where }: Pick<Problem, 'where'>): boolean {
  return isWorkspaceFile(where.replace(/\.yml$/, '.yaml'))
}

/**
 * Reads `rankline.yaml` of a folder, or of the nearest one above it that has it. Null after a mistake in it, each of which is
 * reported; without that file the workspace is empty.
 */
export function readWorkspace(
  from: string,
  report: Report,
): {
  readonly workspace: Workspace
  /** What job files of the folder need not say. */
  readonly defaults: JobDefaults
  /** As it stands on disk; empty where there is none. */
  readonly bytes: Buffer
} | null {
  const folder = jobPlaces.workspaceFolder(from)
  const file = path.join(folder, workspaceFile)
  const { take, release } = mistakeLines.inFileOrder(report)
  const bytes = bytesOf(file, take)
  if (bytes === null) return release() > 0 ? null : emptyWorkspace(folder)
  const text = yamlTexts.of(bytes, file, take)
  const source = text === null ? null : parseYaml(text, file, take, words)
  if (source === null) {
    release()
    return null
  }
  const { data } = readMap(workspaceSchema, source, [], take)
  const shared = data.defaults === undefined ? {} : readMap(schemas.defaults, source, ['defaults'], take).data
  const defaults = defaultsIn(source, shared)
  checkDefaults(defaults, take)
  return release() > 0 ? null : { workspace: workspaceFrom(folder, data), defaults, bytes }
}

const words = {
  empty: null,
  notMap: "write settings such as 'defaults:', 'channels:' or 'budget:'",
  second: 'write one map, without a line ---',
}

/** The bytes of the file; null where there is none, and after a mistake. */
function bytesOf(file: string, report: Report): Buffer | null {
  const place = { line: null, column: null }
  if (existsSync(file)) {
    const mistake = fileMistake(file)
    if (mistake === null) return readFileSync(file)
    report({ where: file, ...place, ...mistake })
    return null
  }
  // The other extension of YAML: its budgets would be lost without a word.
  const slip = file.replace(/\.yaml$/, '.yml')
  if (existsSync(slip))
    report({ where: slip, ...place, message: 'the file is not read', fix: `call it ${workspaceFile}` })
  return null
}

function emptyWorkspace(folder: string) {
  return { workspace: workspaceFrom(folder, {}), defaults: noDefaults, bytes: Buffer.alloc(0) }
}

function mailAddress(text: string): ReadResult<string> {
  const read = plainText(text)
  if (!('value' in read) || /^[^\s@<>,;]+@[^\s@<>,;]+$/.test(read.value)) return read
  return { message: `cannot be ${quoted(text)}`, fix: 'write one address such as seo@acme.com' }
}

function keptFor(text: string): ReadResult<number> {
  const value = parseDuration(text, 'dwy')
  if (value !== null && value > 0) return { value }
  return {
    message: `cannot be ${quoted(text)}`,
    fix: 'write an age in days, weeks or years such as 90d or 2y',
  }
}

const age = later(() => scalar({ read: keptFor, json: { type: 'string', pattern: '^[0-9]+[dwy]$' } }))
const url = later(() => variable().describe('Environment variable that holds the address to send to'))

function periodBudget() {
  const limit = scalar(settings.natural)
  return {
    per_day: limit.optional().describe('Credits for a local day'),
    per_month: limit.optional().describe('Credits for a calendar month'),
  }
}

const channelTypes = ['webhook', 'slack', 'discord', 'teams', 'email', 'file', 'exec'] as const

function chat<const T extends string>(type: T) {
  return strict({ type: z.literal(type), url_env: url() })
}

const channel = later(() =>
  z.discriminatedUnion(
    'type',
    [
      strict({
        type: z.literal('webhook'),
        url_env: url(),
        secret_env: variable()
          .optional()
          .describe('Environment variable that holds the secret which messages are signed with'),
      }),
      chat('slack'),
      chat('discord'),
      chat('teams'),
      strict({
        type: z.literal('email'),
        to: z
          .array(scalar({ read: mailAddress, json: { type: 'string' } }))
          .min(1)
          .describe('Addresses; SMTP_URL and SMTP_FROM stand in the environment'),
      }),
      strict({
        type: z.literal('file'),
        path: scalar({ read: plainText, json: { type: 'string' } }).describe(
          'File that each message is appended to as a line of JSON; relative to this file',
        ),
      }),
      strict({
        type: z.literal('exec'),
        command: z
          .array(scalar(settings.text))
          .min(1)
          .describe('Program and arguments; the message comes through standard input, no shell is used'),
      }),
    ],
    { error: ({ input }) => knownTypes((input as { readonly type?: unknown } | null)?.type) },
  ),
)

function knownTypes(type: unknown): string {
  const near = typeof type === 'string' ? closestMatch(type, channelTypes) : null
  return near === null ? `one of ${channelTypes.join(', ')}` : `'${near}'`
}

/** Names stand in lines of logs. */
function checkNames(channels: Readonly<Record<string, unknown>>, context: z.core.$RefinementCtx): void {
  for (const name of Object.keys(channels)) {
    const read = plainText(name)
    if (!('value' in read))
      context.addIssue({
        code: 'custom',
        input: name,
        path: [],
        message: `cannot have the name ${quoted(name)}`,
        params: { fix: 'write one such as ops' },
      })
  }
}

/** `rankline.yaml`, with defaults that are read one by one. */
export const workspaceSchema = mapSchema({
  defaults: () => z.record(z.string(), z.unknown()).optional(),
  budget: () =>
    strict({
      ...periodBudget(),
      by_tag: z
        .record(z.string(), strict(periodBudget()))
        .optional()
        .describe('Limits for the queries of a tag, such as a client'),
    })
      .optional()
      .describe('Limits in credits over all jobs of the folder'),
  channels: () =>
    z
      .record(z.string(), channel())
      .superRefine(checkNames)
      .optional()
      .describe('Where messages go; each has a name, which to: in a job repeats'),
  keep: () =>
    strict({
      answers: age().optional().describe('How long stored answers are kept; for ever if not given'),
      results: age().optional().describe('How long results are kept; for ever if not given'),
    })
      .optional()
      .describe('What is removed after some time; ranks stay'),
})

type WorkspaceData = Partial<z.output<ReturnType<typeof workspaceSchema.whole>>>

function workspaceFrom(folder: string, { budget, channels = {}, keep }: WorkspaceData): Workspace {
  return {
    folder: path.resolve(folder),
    channels: mapped(channels, channelFrom),
    budget: { ...budgetFrom(budget ?? {}), byTag: mapped(budget?.by_tag ?? {}, budgetFrom) },
    keep: { answersMs: keep?.answers ?? null, resultsMs: keep?.results ?? null },
  }
}

type WrittenChannel = z.output<ReturnType<typeof channel>>

function channelFrom(written: WrittenChannel): Channel {
  if (written.type === 'webhook')
    return { type: 'webhook', urlEnv: written.url_env, secretEnv: written.secret_env ?? null }
  return 'url_env' in written ? { type: written.type, urlEnv: written.url_env } : written
}

function budgetFrom({
  per_day,
  per_month,
}: { readonly [Key in keyof ReturnType<typeof periodBudget>]?: number | undefined }) {
  return { perDay: per_day ?? null, perMonth: per_month ?? null }
}

function mapped<T, U>(record: Readonly<Record<string, T>>, of: (value: T) => U): Readonly<Record<string, U>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, of(value)]))
}

/** What the jobs of a folder need not say: `defaults:` of `rankline.yaml`. */
export type JobDefaults = ReturnType<typeof defaultsIn>

/** Of a folder whose jobs share nothing. */
export const noDefaults: JobDefaults = {
  data: {},
  at: () => ({ where: 'rankline.yaml', line: null, column: null }),
}

/** `defaults:` of a file, with the places of its parts. */
function defaultsIn(source: Source, data: SettingsData) {
  const at: Source['at'] = (path, part) => source.at(['defaults', ...path], part)
  return { data, at }
}

/**
 * What a job file says, and for the rest what its folder says: whole values replace each other, maps are joined by key. A default
 * that contradicts what the job or an option says is left out.
 *
 * @param tree the job file as it was written; undefined for a CSV
 */
export function withDefaults(
  { data: defaults }: JobDefaults,
  job: SchemaResult<SettingsData>,
  tree: Tree | undefined,
  options: SettingsData,
): {
  readonly result: SchemaResult<SettingsData>
  /** Whether a setting, or one key of a map, comes from the folder. */
  readonly isDefault: (path: Path) => boolean
} {
  const own = { ...job.data, ...options, params: { ...job.data.params, ...options.params } }
  const data: Record<string, unknown> = { ...job.data }
  const taken = new Set<string>()
  for (const [key, value] of Object.entries(compatible(defaults, own))) {
    const part = data[key]
    if (value === undefined || job.failed.has(key)) continue
    if (part !== undefined && !(isRecord(value) && isRecord(part))) continue
    data[key] = isRecord(value) ? { ...value, ...givenIn(part) } : value
    taken.add(key)
  }
  return {
    result: { data, failed: job.failed },
    isDefault: ([key, name]) =>
      taken.has(String(key)) &&
      partAt(tree ?? null, name === undefined ? [key as PropertyKey] : [key as PropertyKey, name]) ===
        undefined,
  }
}

/** The keys of a map that a file gives: some readers make null of those that it does not. */
function givenIn(part: unknown): Readonly<Record<string, unknown>> {
  return isRecord(part) ? Object.fromEntries(Object.entries(part).filter(([, value]) => value != null)) : {}
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The defaults without those that a job contradicts. */
function compatible(defaults: SettingsData, own: SettingsData): SettingsData {
  const { depth, pages, params, matrix, targets, competitors, ...rest } = defaults
  const counted = own.depth !== undefined || own.pages !== undefined
  const asked = Object.keys({ ...own.params, ...own.matrix })
  return {
    ...rest,
    ...(counted ? {} : { depth, pages }),
    params: withoutRivals(params, asked),
    matrix: withoutRivals(matrix, asked),
    targets: withoutSites(targets, own.competitors),
    competitors: withoutSites(competitors, own.targets),
  }
}

/** Parameters that the job neither sets itself nor excludes by others, as `uule` does `location`. */
function withoutRivals<T>(
  params: Readonly<Record<string, T>> | undefined,
  asked: readonly string[],
): Readonly<Record<string, T>> | undefined {
  if (params === undefined) return undefined
  const groups = billableOperations.flatMap(({ exclusive = [] }) => exclusive)
  const excluded = (name: string): boolean =>
    asked.includes(name) ||
    groups.some((group) => group.includes(name) && group.some((other) => asked.includes(other)))
  return Object.fromEntries(Object.entries(params).filter(([name]) => !excluded(name)))
}

type Targets = SettingsData['targets']

function withoutSites(targets: Targets, others: Targets): Targets {
  const sites = new Set(others?.map(siteOf))
  return targets?.filter((target) => !sites.has(siteOf(target)))
}

function siteOf(target: NonNullable<Targets>[number]): string {
  return siteKey(typeof target === 'string' ? target : target.site)
}

/** Reports what is wrong with defaults whatever a job says; what depends on its operations is reported with the job. */
function checkDefaults({ data, at }: JobDefaults, report: Report): void {
  if (data.depth !== undefined && data.pages !== undefined)
    report({ ...at(['pages'], 'key'), ...paramReaders.depthAndPages })
  for (const key of ['params', 'matrix'] as const)
    for (const [name, texts] of Object.entries(data[key] ?? {})) {
      if (!paramReaders.names.has(name)) report({ ...at([key, name], 'key'), ...unknownEverywhere(name) })
      else
        for (const [index, text] of [texts].flat().entries()) {
          const mistake = mistakeEverywhere(name, text)
          const place = Array.isArray(texts) ? [key, name, index] : [key, name]
          if (mistake !== null) report({ ...at(place), ...mistake })
        }
    }
  const list = (key: 'targets' | 'competitors') => ({
    written: data[key] ?? [],
    own: key === 'targets',
    at: (index: number) => at([key, index]),
    hints: inFile,
  })
  readTargets([list('targets'), list('competitors')], undefined, report)
}

/** What is wrong with a parameter that no operation has. */
function unknownEverywhere(name: string): InvalidValue {
  const near = closestMatch(name, [...paramReaders.names])
  return {
    message: `no operation has a parameter ${quoted(name)}`,
    fix: near === null ? 'list them with: rankline operations' : `write '${near}'`,
  }
}

/** What is wrong with the text of a parameter for every operation that has it; null where one takes it. */
function mistakeEverywhere(name: string, text: string): InvalidValue | null {
  const read = readings(name, text)
  const mistakes = read.flatMap((one) => ('value' in one ? [] : [one]))
  return mistakes.length < read.length ? null : (mistakes[0] ?? null)
}

/** The value of a parameter for the first operation that takes its text; undefined where none does. */
function valueAnywhere(name: string, text: string): ParamValue | undefined {
  return readings(name, text).flatMap((one) => ('value' in one ? [one.value] : []))[0]
}

function readings(name: string, text: string): readonly ReadResult<ParamValue>[] {
  return billableOperations.flatMap(({ params }) =>
    params[name] === undefined ? [] : [paramReaders.value(params[name], name, text)],
  )
}

/** What can be said of a parameter whatever the operation is. */
export const everywhere = {
  unknown: unknownEverywhere,
  mistake: mistakeEverywhere,
  value: valueAnywhere,
}
