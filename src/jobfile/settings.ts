import path from 'node:path'
import { billableOperation } from '../catalog/index.ts'
import type { BillableOperation } from '../catalog/operation.ts'
import { defaultDeepEveryMs, type JobSettings, noFile } from '../model/job.ts'
import type { Match } from '../model/target.ts'
import type { JobWide } from './combine.ts'
import { flagMatch, flagPlace, flagsSource, type JobFlags } from './flags.ts'
import { readMap } from './issues.ts'
import type { Mistake, Place, Report } from './problem.ts'
import { looseJobSchema, settingsSchema, type WrittenSettings } from './schema.ts'
import type { MatchHints } from './sites.ts'
import { inFile, readTargets, type TargetList } from './targets.ts'
import type { Path, Source } from './tree.ts'
import { jobName } from './values.ts'
import { readWide, type Written } from './wide.ts'

/** The mistake of asking for depth and pages at once. */
export const twice: Mistake = { what: 'depth and pages cannot both be set', instead: 'keep one of them' }

/** What settings are read from. */
export interface Origin {
  /** The job file; null where the job came without one. */
  readonly path: string | null
  /** What mistakes call it. */
  readonly where: string
  /** The YAML; null for a CSV. */
  readonly source: Source | null
}

/** A job without its queries. */
export interface JobPlan {
  readonly settings: JobSettings
  readonly operations: readonly BillableOperation[]
  readonly wide: JobWide
  readonly depth: number | null
  readonly pages: number | null
  /** For targets that name no match themselves. */
  readonly match: Match | undefined
  /** Where the paging policy stands. */
  readonly pagingPlace: Place
}

/**
 * The settings of a job, flags over file over defaults. Every mistake is reported; after one the plan serves
 * only to look for mistakes in the queries.
 */
export function readSettings(
  file: Origin,
  flags: JobFlags,
  entryOperations: readonly BillableOperation[],
  report: Report,
): JobPlan {
  const written = readBoth(file, flags, report)
  const { name, depth, pages } = merged(written)
  const match = flagMatch(flags, report)
  const operations = operationsOf(written)
  bothDepthAndPages(written, report)
  return {
    settings: settingsOf(written, name ?? defaultName(file, report), match, file.path, report),
    operations,
    wide: readWide(written, operations, entryOperations, report),
    depth: depth ?? null,
    pages: pages ?? null,
    match,
    pagingPlace: written.at(['paging']),
  }
}

function readBoth(file: Origin, flags: JobFlags, report: Report): Written {
  const { source } = file
  const flagged = flagsSource(flags, report)
  const readFile = source === null ? null : readMap(looseJobSchema, source, [], report)
  const readFlags = readMap(settingsSchema, flagged, [], report)
  const isFlag = (path: Path): boolean => {
    const [key, name] = path
    const part = readFlags.data[key as keyof WrittenSettings]
    if (key === 'params' || key === 'budget') return Object.hasOwn(Object(part ?? {}), name ?? '')
    return part !== undefined
  }
  return {
    file: readFile ?? { data: {}, failed: new Set() },
    flags: readFlags,
    at: (path, part) => (source === null || isFlag(path) ? flagged : source).at(path, part),
  }
}

/** What holds of a file and flags together, where whole values replace each other. */
function merged({ file, flags }: Written): Partial<WrittenSettings> {
  const { depth, pages, ...rest } = file.data
  const counted = flags.data.depth !== undefined || flags.data.pages !== undefined
  return { ...(counted ? rest : { ...rest, depth, pages }), ...flags.data }
}

function operationsOf(written: Written): readonly BillableOperation[] {
  const { operation = 'alpha.search' } = merged(written)
  return [...new Set(typeof operation === 'string' ? [operation] : operation)].map(billableOperation)
}

function settingsOf(
  written: Written,
  name: string,
  match: Match | undefined,
  file: string | null,
  report: Report,
): JobSettings {
  const { style, async, paging, until, deep_every, freshness, strict_echo, timezone, schedule } =
    merged(written)
  const budget = { ...written.file.data.budget, ...written.flags.data.budget }
  const lists = [targetList(written, 'targets', true), targetList(written, 'competitors', false)]
  return {
    name,
    file: file === null ? noFile : path.resolve(file),
    style: style ?? 'get',
    async: async ?? 'auto',
    paging: paging ?? 'all',
    until: until ?? 'own',
    deepEveryMs: deep_every ?? defaultDeepEveryMs,
    freshnessMs: freshness ?? null,
    strictEcho: strict_echo ?? false,
    timezone: timezone ?? 'UTC',
    schedule: schedule ?? null,
    targets: readTargets(lists, match, report),
    budget: { maxCredits: budget.max_credits ?? null, keep: budget.keep ?? null },
  }
}

function targetList(written: Written, key: 'targets' | 'competitors', own: boolean): TargetList {
  const flagged = written.flags.data[key] !== undefined
  return {
    written: (flagged ? written.flags : written.file).data[key] ?? [],
    own,
    at: (index) => written.at([key, index]),
    hints: flagged ? byFlag : inFile,
  }
}

const byFlag: MatchHints = { beyond: 'add --match prefix or --match url', page: 'add --match url' }

function bothDepthAndPages({ file, flags, at }: Written, report: Report): void {
  for (const { data } of [file, flags])
    if (data.depth !== undefined && data.pages !== undefined)
      report({ ...(data === flags.data ? flagPlace('pages') : at(['pages'])), ...twice })
}

function defaultName({ path: file, where, source }: Origin, report: Report): string {
  const place = { where, line: null, column: null }
  if (file === null) {
    const instead = source === null ? 'give it one with --name' : "give it one with 'name:' or --name"
    report({ ...place, what: 'the job has no name', instead })
    return where
  }
  const name = path.basename(file, path.extname(file))
  const read = jobName(name)
  if ('value' in read) return read.value
  report({ ...place, what: `the file's name ${read.what}`, instead: 'give the job a name' })
  return name
}
