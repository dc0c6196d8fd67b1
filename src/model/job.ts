import type { AlertRule, Audience, ReportNote, ReportSettings, SavedView } from './settings.ts'
import * as values from './values.ts'
import { listOption, type OptionSpec, type OptionsOf, switchOption, textOption } from './values.ts'

/** How a target's site is compared with a result's link. */
export type Match = 'domain' | 'host' | 'prefix' | 'url'

export const matches: readonly Match[] = ['domain', 'host', 'prefix', 'url']

/** Another form in which a site serves the same pages. */
export type Variant = 'amp' | 'mobile'

/** The order of `Target.also`. */
export const variants: readonly Variant[] = ['amp', 'mobile']

/** A site whose rank is tracked. */
export interface Target {
  /** As the user wrote it, for instance `acme.com/shop`. */
  readonly site: string
  readonly match: Match
  /** Variants that count as the site itself, each once, in the order of `variants`. */
  readonly also: readonly Variant[]
  /** Name in reports; the site where the user gave none. */
  readonly label: string
  /** False for a competitor. */
  readonly own: boolean
}

export type PagingPolicy = PlainSettings['paging']
/** Everything that holds for a whole job; plain data, kept with each run of it. */
export interface JobSettings extends PlainSettings {
  readonly name: string
  /** Absolute path of the job file, or `noFile`. */
  readonly file: string
  /** Own targets and competitors, in the order of the file. */
  readonly targets: readonly Target[]
  /** Limits in credits; null is no limit. */
  readonly budget: Budget
  /** Those of a file, too. */
  readonly notes: readonly ReportNote[] | null
}

/** Stands for the file of a job that came through standard input. It is no absolute path, so it is the name of no file. */
export const noFile = '-'

/** The job of runs whose own job was removed. Only their calls and credits are left. */
export const removedJob = '(removed)'

/** A mistake in a job file or in an option: shown as `file:line:column: message; fix`. */
export interface Problem {
  /** File as the user named it, or the option. */
  readonly where: string
  readonly line: number | null
  readonly column: number | null
  readonly message: string
  readonly fix: string
}

/** How a single value is read, and what JSON Schema says of it: editors see a number where a file is text to us. */
export interface Scalar<T> {
  readonly read: values.AnswerReader<T>
  readonly json: Readonly<Record<string, unknown>>
}

/** A target as it was written; the match is missing where the user gave none. */
export interface WrittenTarget {
  readonly site: string
  readonly match?: Match | undefined
  readonly also?: readonly Variant[] | undefined
  readonly label?: string | undefined
}

/** How queries were asked before an edit, where it differs: their history goes on with the edited query. */
export interface Continues {
  /** What a parameter was; null where it was not set. */
  readonly params: Readonly<Record<string, string | number | null>>
  /** The operation before; null where it is the same. */
  readonly operation: string | null
  /** What a text was, by what it is now. */
  readonly texts: Readonly<Record<string, string>>
}

/** Types of settings whose value is more than one text, or whose check needs more than the model: the schema of job files reads them. */
interface Structures {
  /** How old the newest good run may be, in milliseconds; null is any age. */
  readonly freshnessOfRuns: { readonly warnAfterMs: number | null; readonly errorAfterMs: number | null }
  readonly schedule: string
  readonly every: string
  readonly cadence: Readonly<Record<string, string>>
  readonly operations: string | readonly string[]
  readonly params: Readonly<Record<string, string>>
  readonly matrix: Readonly<Record<string, string | readonly string[]>>
  readonly targets: readonly (string | WrittenTarget)[]
  readonly alerts: readonly AlertRule[]
  readonly ping: {
    /** The variable that holds the address. */
    readonly urlEnv: string
  }
  readonly digest: {
    /** When, as a cron pattern in the time zone of the job. */
    readonly cron: string
    /** Names of channels; null is all of the workspace. */
    readonly to: readonly string[] | null
    /** A client is told nothing of runs, credits and alerts. Missing in runs stored before this setting existed; treated as team. */
    readonly for?: Audience
  }
  readonly report: ReportSettings
  readonly views: readonly SavedView[]
  readonly notes: readonly ReportNote[] | { readonly file: string }
  readonly columns: Readonly<Record<string, string>>
  readonly continues: Continues
}

/** All that rankline knows of one setting of a job: from here follow the job file, its JSON Schema, the command line and the docs. */
export interface Setting {
  readonly value: Scalar<unknown> | keyof Structures | SettingTable
  /** As a file would write it. */
  readonly default?: string
  /** Its name in `JobSettings`; missing where queries have the value, or where it is read together with others. */
  readonly field?: string
  /** For the JSON Schema and the docs; missing where only an option sets it. */
  readonly help?: string
  readonly option?: Readonly<Record<string, OptionSpec>>
}

export type SettingTable = Readonly<Record<string, Setting>>

const anyScalar = { type: ['string', 'number', 'boolean', 'null'] }
export const timeSpan = { read: values.timeSpan, json: { type: 'string', pattern: '^[0-9]+[mhdw]$' } }
export const text = { read: values.plainText, json: anyScalar }
export const queryText = { read: values.queryText, json: anyScalar }
export const positive = { read: values.wholeNumber(1), json: { type: 'integer', minimum: 1 } }
const upTo = (most: number) => ({
  read: values.wholeNumber(1, most),
  json: { type: 'integer', minimum: 1, maximum: most },
})
/** More than an engine shows for any query is a slip, not a wish. */
export const depth = upTo(10_000)
export const pages = upTo(1_000)
export const natural = { read: values.wholeNumber(0), json: { type: 'integer', minimum: 0 } }
export const yesNo = { read: values.yesNo, json: { type: 'boolean' } }
export function oneOf<const T extends string>(list: readonly T[]) {
  return { read: values.choice(list), json: { enum: list } }
}

/** Every setting of a job, in the order of the docs. */
export const jobSettings = {
  name: {
    value: { read: values.jobName, json: anyScalar },
    help: "Name of the job; the file's name if not given",
    option: { name: textOption("Name of the job; default: the file's") },
  },
  operation: {
    value: 'operations',
    default: 'alpha.search',
    help: 'Operation of the queries, or a list of them',
    option: { operation: listOption('Operation of all queries, for instance alpha.search') },
  },
  params: {
    value: 'params',
    help: 'Parameters of every query, for the operations that have them',
    option: { param: { ...listOption('Parameter of all queries, for instance -p gl=us'), alias: 'p' } },
  },
  matrix: { value: 'matrix', help: 'Parameters with lists of values: every combination is asked' },
  continues: {
    value: 'continues',
    field: 'continues',
    help: 'How queries were asked before an edit, so that their history goes on: { params: { location: null } } where a location was added',
    option: {
      continues: listOption(
        'What a parameter was before, so that the history goes on: --continues location= where a location was added',
      ),
    },
  },
  depth: {
    value: depth,
    help: 'Look at this many results; one page if not given',
    option: { depth: textOption('Results to look at, per query') },
  },
  pages: {
    value: pages,
    help: 'Look at this many pages, in place of depth',
    option: { pages: textOption('Pages to look at, per query') },
  },
  paging: {
    value: oneOf(['all', 'until-found', 'smart']),
    default: 'all',
    field: 'paging',
    help: 'Which pages are bought',
    option: { paging: textOption('all, until-found or smart') },
  },
  until: {
    value: oneOf(['own', 'all']),
    default: 'own',
    field: 'until',
    help: 'Targets that until-found waits for: own, or all (competitors too)',
    option: { until: textOption('Targets that until-found waits for: own or all') },
  },
  deep_every: {
    value: timeSpan,
    default: '7d',
    field: 'deepEveryMs',
    help: 'How often, at least, smart looks in depth for targets that are not found',
    option: {
      'deep-every': textOption('How often, at least, smart looks in depth for sites that are not found [7d]'),
    },
  },
  style: {
    value: oneOf(['get', 'post']),
    default: 'get',
    field: 'style',
    help: 'Style of the calls where the service has both',
    option: { style: textOption('get or post') },
  },
  async: {
    value: oneOf(['auto', 'always', 'never']),
    default: 'auto',
    field: 'async',
    help: 'Whether alpha.images is asked for asynchronously',
    option: { async: textOption('auto, always or never, for alpha.images') },
  },
  freshness: {
    value: timeSpan,
    field: 'freshnessMs',
    help: 'Use a stored answer to the same call if it is younger, for instance 12h; never if not given',
    option: { freshness: textOption('Use stored answers younger than this, for instance 12h') },
  },
  strict_echo: {
    value: yesNo,
    default: 'false',
    field: 'strictEcho',
    help: 'Whether an answer that repeats a different query than asked leaves ranks unknown, in place of suspect',
    option: {
      'strict-echo': switchOption('Leave ranks unknown where an answer repeats a different query than asked'),
    },
  },
  timezone: {
    value: { read: values.timezone, json: { type: 'string' } },
    default: 'UTC',
    field: 'timezone',
    help: "IANA time zone of the job's days",
    option: { timezone: textOption('Time zone of the days, for instance Europe/Paris') },
  },
  schedule: {
    value: 'schedule',
    field: 'schedule',
    help: 'Cron expression, five or six fields, of which day of month and day of week are either-or and 7 is Sunday: when schedule and run --due look at the job',
  },
  every: {
    value: 'every',
    field: 'every',
    help: 'How often its queries are due for run --due: 12h, 1d, 7d, mon,thu or month',
    option: { every: textOption('How often queries are due: 12h, 1d, 7d, mon,thu or month') },
  },
  cadence: {
    value: 'cadence',
    field: 'cadence',
    help: 'The same for queries with a tag, for instance { money: 1d, long-tail: 7d }; the shortest wins',
  },
  freshness_of_runs: {
    value: 'freshnessOfRuns',
    field: 'freshnessOfRuns',
    help: 'How old the last good run may be: status warns after warn_after and reports an error after error_after',
  },
  targets: {
    value: 'targets',
    help: 'Your sites whose rank is tracked',
    option: { target: listOption('Site to track') },
  },
  competitors: {
    value: 'targets',
    help: 'Sites of others whose rank is tracked',
    option: { competitor: listOption('Site to track that is not yours') },
  },
  match: {
    value: oneOf(matches),
    option: { match: textOption('How sites are matched: domain, host, prefix or url') },
  },
  columns: {
    value: 'columns',
    option: {
      column: listOption('What a column of the list is called, for instance --column query="Top queries"'),
    },
  },
  alerts: { value: 'alerts', field: 'alerts', help: 'What is told after a run, and to which channels' },
  ping: {
    value: 'ping',
    field: 'ping',
    help: 'Where each run is reported to, for instance { url_env: PING_URL }: its start, its success or its failure',
  },
  digest: {
    value: 'digest',
    field: 'digest',
    help: 'The figures of the week as a message; by mail the whole report, for instance { every: "mon 08:00", to: [mail], for: client }',
  },
  report: {
    value: 'report',
    field: 'report',
    help: 'How reports look and what they are of: title, client, agency, logo, accent, footer, period, compare, language',
  },
  views: {
    value: 'views',
    field: 'views',
    help: 'Tabs of the HTML report, for instance [{ name: Money, tags: [money] }]',
  },
  ctr: {
    value: text,
    field: 'ctr',
    help: 'Which click curve estimates clicks: default, own (fitted from clicks of Search Console) or a file with rank,ctr',
  },
  notes: {
    value: 'notes',
    field: 'notes',
    help: 'What happened on a day, marked in charts: [{ date: 2026-10-01, text: New site, query: standing desk }], or { file: notes.csv }',
  },
  budget: {
    help: 'Limits in credits',
    value: {
      max_credits: {
        value: natural,
        field: 'maxCredits',
        help: 'A run may cost this much over all its continuations',
        option: { 'max-credits': textOption('Credits that a run may cost') },
      },
      per_day: {
        value: natural,
        field: 'perDay',
        help: "All runs of the job may cost this much on a day of the job's time zone",
        option: { 'per-day': textOption('Credits that the job may cost on a day') },
      },
      per_month: {
        value: natural,
        field: 'perMonth',
        help: 'All runs of the job may cost this much in a calendar month',
        option: { 'per-month': textOption('Credits that the job may cost in a calendar month') },
      },
      confirm_over: {
        value: natural,
        field: 'confirmOver',
        help: 'A run that may cost more than this asks first, or needs --yes',
        option: {
          'confirm-over': textOption('Ask first, or need --yes, where a run may cost more than this'),
        },
      },
      keep: {
        value: natural,
        field: 'keep',
        help: 'This much of the balance stays untouched',
        option: { keep: textOption('Credits of the balance that stay untouched') },
      },
    },
  },
} as const satisfies SettingTable

type Table = typeof jobSettings
type BudgetTable = Table['budget']['value']

type ValueOf<S extends Setting> =
  S['value'] extends Scalar<infer T>
    ? T
    : S['value'] extends keyof Structures
      ? Structures[S['value']]
      : S['value'] extends SettingTable
        ? TableData<S['value']>
        : never

export type TableData<T extends SettingTable> = { readonly [Key in keyof T]?: ValueOf<T[Key]> | undefined }

/** Settings as a file or options give them, each value read. */
export type SettingsData = TableData<Table>

type FieldOf<S extends Setting> = S extends { readonly field: infer Field extends string } ? Field : never
type SettingFields<T extends SettingTable> = {
  readonly [Key in keyof T as FieldOf<T[Key]>]: T[Key] extends { readonly default: string }
    ? ValueOf<T[Key]>
    : ValueOf<T[Key]> | null
}

/** The settings that a job keeps as they were read; null is not given. */
export type PlainSettings = SettingFields<Table>
export type Budget = SettingFields<BudgetTable>

type OptionsIn<T extends SettingTable> = {
  [Key in keyof T]: T[Key] extends { readonly option: infer F } ? F : never
}[keyof T]
type AllOptions = OptionsIn<Table> | OptionsIn<BudgetTable>
type AnyOptionName = AllOptions extends infer F ? (F extends unknown ? keyof F : never) : never

type JobOptionTable = {
  readonly [Name in AnyOptionName]: Extract<AllOptions, Record<Name, OptionSpec>>[Name]
}

/** Settings given on the command line, each as the user typed it; they win over the file's. */
export type JobOptions = OptionsOf<JobOptionTable>

/** The settings of a table that are kept as they were read, with their defaults. */
export function fieldsOf<T extends SettingTable>(table: T, data: TableData<T>): SettingFields<T> {
  const fields: Record<string, unknown> = {}
  for (const [key, setting] of Object.entries<Setting>(table))
    if (setting.field !== undefined) fields[setting.field] = data[key as keyof T] ?? defaultOf(setting)
  return fields as SettingFields<T>
}

function defaultOf({ value, default: text }: Setting): unknown {
  if (text === undefined || typeof value === 'string' || !isScalar(value)) return null
  const read = value.read(text)
  return 'value' in read ? read.value : null
}

export function isScalar(value: Scalar<unknown> | SettingTable): value is Scalar<unknown> {
  return 'read' in value
}

/** The settings that an option sets, and where a job file would have each. */
export const settingsWithOption = withOptionIn(jobSettings, [])

function withOptionIn(
  table: SettingTable,
  parents: readonly string[],
): readonly {
  readonly path: readonly string[]
  readonly name: string
  readonly option: OptionSpec
}[] {
  return Object.entries(table).flatMap(([key, { value, option = {} }]) => {
    const path = [...parents, key]
    if (typeof value !== 'string' && !isScalar(value)) return withOptionIn(value, path)
    return Object.entries(option).map(([name, one]) => ({ path, name, option: withValues(one, value) }))
  })
}

/** A setting that is one of a list says so in its option, too. */
function withValues(option: OptionSpec, value: Setting['value']): OptionSpec {
  const list = typeof value !== 'string' && isScalar(value) ? value.json.enum : undefined
  return Array.isArray(list) ? { ...option, values: list } : option
}

/** The options of all these settings. */
export const jobOptions = Object.fromEntries(
  settingsWithOption.map(({ name, option }) => [name, option]),
) as unknown as JobOptionTable
