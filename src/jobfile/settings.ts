import path from 'node:path'
import { billableOperation } from '../catalog/index.ts'
import type { BillableOperation, ParamValue } from '../catalog/operation.ts'
import {
  type Continues,
  fieldsOf,
  type JobOptions,
  type JobSettings,
  jobSettings,
  noFile,
  type SettingsData,
  settingsWithOption,
} from '../model/job.ts'
import { kindCodes } from '../model/result.ts'
import type { ReportSettings, SavedView } from '../model/settings.ts'
import { grouped } from '../model/text.ts'
import { jobName, propertyOf, quoted } from '../model/values.ts'
import { alertReaders } from './alerts.ts'
import type { ColumnMap } from './columns.ts'
import { readMap, type SchemaResult } from './issues.ts'
import { type JobParams, paramReaders } from './params.ts'
import { columnNames, schemas } from './schema.ts'
import type { FilePosition, Path, Report, Source, Tree } from './source.ts'
import { inFile, readTargets } from './targets.ts'
import { everywhere, type JobDefaults, withDefaults } from './workspace.ts'

/** What settings are read from. */
interface Origin {
  /** The job file; null where the job came without one. */
  readonly path: string | null
  /** What mistakes call it. */
  readonly where: string
  /** The YAML; null for a CSV. */
  readonly source: Source | null
  /** What its folder says. */
  readonly defaults: JobDefaults
  /** Names of the channels of its folder. */
  readonly channels: readonly string[]
  /** Whether single queries may have targets of their own. */
  readonly hasOtherTargets: boolean
}

/** A job without its queries. */
export type JobPlan = ReturnType<typeof readSettings>

/**
 * The settings of a job, options over file over its folder over defaults. Every mistake is reported; after one the plan serves
 * only to look for mistakes in the queries.
 */
export function readSettings(
  file: Origin,
  options: JobOptions,
  entryOperations: readonly BillableOperation[],
  report: Report,
) {
  const raw = readBoth(file, options, report)
  const data = merged(raw)
  const { name, match, operation = 'alpha.search' } = data
  const operations = [...new Set([operation].flat())].map(billableOperation)
  reportDepthAndPages(raw, report)
  const lists = [targetList(raw, 'targets', true), targetList(raw, 'competitors', false)]
  const fields = fieldsOf(jobSettings, data)
  const { notes } = fields
  const settings: JobSettings = {
    ...fields,
    notes: notes === null || 'file' in notes ? null : notes,
    name: name ?? defaultName(file, report),
    file: file.path === null ? noFile : path.resolve(file.path),
    targets: readTargets(lists, match, report),
    report: withLogoPath(data.report, file.path),
    continues: readContinues(data.continues, raw.at, report),
    budget: fieldsOf(jobSettings.budget.value, { ...raw.file.data.budget, ...raw.options.data.budget }),
  }
  const known = namesIn(file, raw, settings)
  alertReaders.reportUnknownNames(settings, known, raw.at, report)
  const targetsOfViews = raw.isDefault(['views']) ? null : known.targets
  reportUnknownInViews(settings.views ?? [], targetsOfViews, raw.at, report)
  const ownColumns: ColumnMap = raw.options.data.columns ?? {}
  // The paging of a folder is right for other jobs: what does not fit is this one.
  const pagingPosition: FilePosition = raw.isDefault(['paging'])
    ? { where: file.where, line: null, column: null }
    : raw.at(['paging'])
  return {
    settings,
    /** Conditions of the job file, which name what its queries have. */
    conditions: conditionsIn(settings, raw),
    /** The file of notes, as the job file names it; null where there is none. */
    notesFile:
      notes === null || !('file' in notes) ? null : { name: notes.file, at: raw.at(['notes', 'file']) },
    operations,
    shared: readSharedParams(raw, operations, entryOperations, report),
    depth: data.depth ?? null,
    pages: data.pages ?? null,
    /** What the options call the columns of tables. */
    columns: ownColumns,
    /** For targets that name no match themselves. */
    match,
    /** Where the paging policy stands. */
    pagingPosition,
  }
}

/** The conditions of the file's own views and alerts; those of a folder are for jobs with other queries, too. */
function conditionsIn({ views, alerts }: JobSettings, raw: RawSettings) {
  const written = [
    ...(views ?? []).map(({ where }, place) => ({ where, path: ['views', place, 'where'] })),
    ...(alerts ?? []).map(({ for: { where } }, place) => ({
      where,
      path: ['alerts', place, 'for', 'where'],
    })),
  ]
  return written.flatMap(({ where, path }) =>
    where === undefined || raw.isDefault([path[0] as string]) ? [] : [{ text: where, at: raw.at(path) }],
  )
}

/** The values of parameters as queries have them. What a folder says was checked there. */
function readContinues(written: Continues | undefined, at: Source['at'], report: Report): Continues | null {
  if (written === undefined) return null
  const params: Record<string, ParamValue | null> = {}
  for (const [name, text] of Object.entries(written.params)) {
    const path = ['continues', 'params', name]
    const mistake = paramReaders.names.has(name)
      ? text === null
        ? null
        : everywhere.mistake(name, String(text))
      : everywhere.unknown(name)
    if (mistake !== null) report({ ...at(path, paramReaders.names.has(name) ? 'value' : 'key'), ...mistake })
    else params[name] = text === null ? null : (everywhere.value(name, String(text)) ?? null)
  }
  return { ...written, params }
}

/** The logo stands beside the job file. */
function withLogoPath(settings: ReportSettings | undefined, file: string | null): ReportSettings | null {
  if (settings === undefined) return null
  const { logo } = settings
  return {
    ...settings,
    logo: logo === null ? null : path.resolve(file === null ? '' : path.dirname(file), logo),
  }
}

function namesIn(
  { channels, hasOtherTargets }: Origin,
  { isDefault }: RawSettings,
  { targets }: JobSettings,
) {
  // The rules of a folder name targets of all its jobs.
  const mayBeOthers = hasOtherTargets || isDefault(['alerts'])
  return { channels, targets: mayBeOthers ? null : targets.flatMap(({ site, label }) => [site, label]) }
}

type RawSettings = ReturnType<typeof readBoth>

/** File and options, each read for itself. */
function readBoth({ source, defaults }: Origin, options: JobOptions, report: Report) {
  const given = optionsSource(options, report)
  const readFile: SchemaResult<SettingsData> =
    source === null ? { data: {}, failed: new Set() } : readMap(schemas.looseJob, source, [], report)
  const readOptions = readMap(schemas.options, given, [], report)
  const file = withDefaults(defaults, readFile, source?.tree, readOptions.data)
  const isOption = (path: Path): boolean => {
    const [key, name] = path
    const part = readOptions.data[key as keyof SettingsData]
    if (key === 'params' || key === 'budget') return Object.hasOwn(Object(part ?? {}), name ?? '')
    return part !== undefined
  }
  const isDefault = (path: Path): boolean => !isOption(path) && file.isDefault(path)
  return {
    /** With what the folder says where the file is silent. */
    file: file.result,
    options: readOptions,
    /** Where a part stands: at the option where one gives it. */
    at: (path: Path, part?: 'key' | 'value') =>
      (isDefault(path) ? defaults : source === null || isOption(path) ? given : source).at(path, part),
    /** Whether neither the file nor an option gives a part. */
    isDefault,
  }
}

/** The options as a job file would say them. */
function optionsSource(options: JobOptions, report: Report): Source {
  const tree: Record<string, Tree> = {}
  const budget: Record<string, Tree> = {}
  for (const { path, name } of settingsWithOption) {
    const typed = options[propertyOf(name) as keyof JobOptions]
    if (typed === undefined) continue
    const [key = '', below] = path
    const part = typeof typed === 'boolean' ? String(typed) : typed
    if (below !== undefined) budget[below] = part
    else if (key === 'continues') tree[key] = { params: splitPairs(key, [part].flat(), report) }
    else tree[key] = isPairs(key) ? splitPairs(key, [part].flat(), report) : part
  }
  return { tree: { ...tree, budget }, at: optionPosition }
}

/** Where a mistake in a setting stands that an option gives. */
export function optionPosition(path: Path): FilePosition {
  const given = settingsWithOption.find((setting) =>
    setting.path.every((step, index) => path[index] === step),
  )
  const where =
    given?.option.alias === undefined ? `--${given?.name ?? String(path[0])}` : `-${given.option.alias}`
  return { where, line: null, column: null }
}

/** What holds of a file and options together, where whole values replace each other. */
function merged({ file, options }: RawSettings): SettingsData {
  const { depth, pages, ...rest } = file.data
  const counted = options.data.depth !== undefined || options.data.pages !== undefined
  return { ...(counted ? rest : { ...rest, depth, pages }), ...options.data }
}

function targetList(raw: RawSettings, key: 'targets' | 'competitors', own: boolean) {
  const given = raw.options.data[key] !== undefined
  return {
    written: (given ? raw.options : raw.file).data[key] ?? [],
    own,
    at: (index: number) => raw.at([key, index]),
    hints: given ? byOption : inFile,
  }
}

const byOption = { beyond: 'add --match prefix or --match url', page: 'add --match url' }

function reportDepthAndPages({ file, options, at, isDefault }: RawSettings, report: Report): void {
  // Those of the folder were checked there.
  if (isDefault(['pages'])) return
  for (const { data } of [file, options])
    if (data.depth !== undefined && data.pages !== undefined)
      report({ ...(data === options.data ? optionPosition : at)(['pages']), ...paramReaders.depthAndPages })
}

function defaultName({ path: file, where, source }: Origin, report: Report): string {
  const place = { where, line: null, column: null }
  if (file === null) {
    const fix = source === null ? 'give it one with --name' : "give it one with 'name:' or --name"
    report({ ...place, message: 'the job has no name', fix })
    return where
  }
  const name = path.basename(file, path.extname(file))
  const read = jobName(name)
  if ('value' in read) return read.value
  report({ ...place, message: `the file's name ${read.message}`, fix: 'give the job a name' })
  return name
}

const pairs = {
  continues: {
    fix: 'write what a parameter was, such as gl=us, or location= where there was none',
    between: null,
  },
  params: { fix: 'write key=value such as gl=us', between: null },
  columns: {
    fix: 'write name=header such as query="Top queries"',
    // A header may have commas: the next name tells where it ends.
    between: new RegExp(`,(?=\\s*(?:${[...columnNames].join('|')})\\s*=)`),
  },
} as const

function isPairs(key: string): key is keyof typeof pairs {
  return Object.hasOwn(pairs, key)
}

function splitPairs(key: keyof typeof pairs, typed: readonly string[], report: Report): Tree {
  const { fix, between } = pairs[key]
  const tree: Record<string, Tree> = Object.create(null)
  for (const pair of between === null ? typed : typed.flatMap((text) => text.split(between))) {
    const [, name = '', value = ''] = pair.match(/^\s*([^=\s]+)\s*=(.*)$/s) ?? []
    if (name === '' || name === '__proto__')
      report({ ...optionPosition([key]), message: `cannot be ${quoted(pair)}`, fix })
    else if (name in tree)
      report({ ...optionPosition([key]), message: `${quoted(name)} is given twice`, fix: 'give it once' })
    else tree[name] = value
  }
  return tree
}

// Each query is expanded by the matrix at once; more combinations than this are a slip, not a wish.
const maxCombinations = 10_000

/** Style, params and matrix of a job, checked against the operations of the job and of its entries. */
function readSharedParams(
  raw: RawSettings,
  operations: readonly BillableOperation[],
  entryOperations: readonly BillableOperation[],
  report: Report,
): JobParams {
  const { file, options } = raw
  const style = options.data.style ?? file.data.style ?? 'get'
  const all = [...new Set([...operations, ...entryOperations])]
  // Params cannot be checked against a wrong operation or style.
  const wrong = ['operation', 'style'].some((key) => file.failed.has(key) || options.failed.has(key))
  if (wrong) return { style, params: new Map(), matrix: new Map() }
  if (
    style === 'post' &&
    !raw.isDefault(['style']) &&
    !all.some((operation) => operation.styles.includes('post'))
  )
    report({
      ...raw.at(['style']),
      message: `${all.map(({ name }) => name).join(' and ')} cannot be called in the post style`,
      fix: "write 'style: get' or leave it out",
    })
  const checking = { raw, all, style, report }
  const params = new Map<string, ParamValue>()
  for (const [name, text] of Object.entries({ ...file.data.params, ...options.data.params })) {
    const value = fits(checking, ['params', name]) ? checked(checking, ['params', name], text) : undefined
    if (value !== undefined) params.set(name, value)
  }
  const matrix = readMatrix(checking)
  const shared = { style, params, matrix }
  reportConflicts(shared, operations, raw, report)
  return shared
}

interface Checking {
  readonly raw: RawSettings
  readonly all: readonly BillableOperation[]
  readonly style: 'get' | 'post'
  readonly report: Report
}

function fits({ raw, all, style, report }: Checking, at: readonly [string, string]): boolean {
  // What a folder says is for the operations that have it.
  if (raw.isDefault(at)) return true
  const mistake = paramReaders.unknown(at[1], all, style)
  if (mistake !== null) report({ ...raw.at(at, 'key'), ...mistake })
  return mistake === null
}

function checked(
  { raw, all, style, report }: Checking,
  at: readonly [string, string, number?],
  text: string,
): ParamValue | undefined {
  let value: ParamValue | undefined
  const params = all.flatMap((operation) => paramReaders.of(operation, at[1], style) ?? [])
  // What a folder says may be for operations that only rows of a CSV name.
  if (params.length === 0) return everywhere.value(at[1], text)
  for (const param of params) {
    const read = paramReaders.value(param, at[1], text)
    if (!('value' in read)) {
      report({ ...raw.at(at as Path), ...read })
      return undefined
    }
    value ??= read.value
  }
  return value
}

function readMatrix(checking: Checking): Map<string, readonly ParamValue[]> {
  const { raw, report } = checking
  const { file, options } = raw
  const matrix = new Map<string, readonly ParamValue[]>()
  let combinations = 1
  for (const [name, texts] of Object.entries(file.data.matrix ?? {})) {
    // A value from the command line stands in for the list.
    if (Object.hasOwn(options.data.params ?? {}, name) || !fits(checking, ['matrix', name])) continue
    const values = new Set<ParamValue>()
    for (const [index, text] of (typeof texts === 'string' ? [texts] : texts).entries()) {
      const value = checked(checking, ['matrix', name, index], text)
      if (value !== undefined) values.add(value)
    }
    if (values.size > 0) matrix.set(name, [...values])
    combinations *= Math.max(values.size, 1)
  }
  if (combinations <= maxCombinations) return matrix
  report({
    ...raw.at(['matrix'], 'key'),
    message: `matrix turns each query into ${grouped(combinations)}`,
    fix: `write fewer values: up to ${grouped(maxCombinations)} combinations`,
  })
  return new Map()
}

function reportConflicts(
  shared: JobParams,
  operations: readonly BillableOperation[],
  raw: RawSettings,
  report: Report,
): void {
  for (const operation of operations) {
    const { conflict } = paramReaders.combine(shared, operation, [])
    if (conflict === null) continue
    const { name, message, fix } = conflict
    report({ ...raw.at([shared.params.has(name) ? 'params' : 'matrix', name]), message, fix })
  }
}

/**
 * Reports targets and kinds of results that views name and the job cannot have, and names that two views share: the second tab
 * could not be told from the first.
 *
 * @param targets sites and labels of the job's targets; null where queries may have others
 */
function reportUnknownInViews(
  views: readonly SavedView[],
  targets: readonly string[] | null,
  at: Source['at'],
  report: Report,
): void {
  for (const [place, view] of views.entries()) {
    const path = ['views', place]
    const first = views.findIndex(({ name }) => name === view.name)
    if (first < place) {
      const message = `the name ${quoted(view.name)} is that of view ${first + 1}, too`
      report({ ...at([...path, 'name']), message, fix: 'give each view a name of its own' })
    }
    const check = (key: 'targets' | 'kinds', noun: string, known: readonly string[], where: string): void => {
      for (const [index, name] of view[key].entries()) {
        const mistake = alertReaders.unknownName(noun, name, known, where)
        if (mistake !== null) report({ ...at([...path, key, index]), ...mistake })
      }
    }
    if (targets !== null) check('targets', 'target', targets, 'in this job')
    check('kinds', 'kind', Object.keys(kindCodes), 'of results')
  }
}
