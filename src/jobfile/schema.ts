import * as z from 'zod'
import { billableOperations, findOperation } from '../catalog/index.ts'
import * as settings from '../model/job.ts'
import { matches, variants } from '../model/job.ts'
import {
  audiences,
  comparison,
  isDay,
  languages,
  period,
  type ReportNote,
  type ReportSettings,
  type SavedView,
} from '../model/settings.ts'
import { closestMatch, normalText } from '../model/text.ts'
import { parseUrl } from '../model/url.ts'
import {
  type InvalidValue,
  plainText,
  quoted,
  type ReadResult,
  readVolume,
  wholeNumber,
} from '../model/values.ts'
import { every, schedule, weekly } from '../schedule/slots.ts'
import { alertReaders } from './alerts.ts'
import { type KeySchemas, later, mapSchema, readValue, scalar, strict, variable } from './issues.ts'
import { paramReaders } from './params.ts'
import type { Report } from './source.ts'
import { site } from './targets.ts'

/** A title or a note stands in one place of a page. */
const mostLetters = 1000

const file = later(() => scalar({ read: plainText, json: { type: 'string' } }))
const words = later(() => scalar({ read: shortText, json: { type: 'string' } }))
const list = later(() => z.array(words()).min(1).optional())

/** Reads words that a page shows. */
function shortText(text: string): ReadResult<string> {
  const read = plainText(text)
  if (!('value' in read) || read.value.length <= mostLetters) return read
  return { message: `${quoted(text)} is too long`, fix: `write at most ${mostLetters} characters` }
}

/** Reads a colour of a report. */
function colour(text: string): ReadResult<string> {
  if (/^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(text)) return { value: text.toLowerCase() }
  return { message: `cannot be ${quoted(text)}`, fix: 'write a colour such as "#0a5" or "#00aa55"' }
}

function date(text: string): ReadResult<string> {
  if (isDay(text)) return { value: text }
  return { message: `cannot be ${quoted(text)}`, fix: 'write a day such as 2026-01-31' }
}

/** `report:` of a job file. */
const reportSchema = later(() =>
  strict({
    title: words().optional().describe('Title; the name of the job if not given'),
    client: words().optional().describe('For whom the report is'),
    agency: words().optional().describe('Who sends it'),
    logo: file().optional().describe('PNG or SVG file, relative to the job file'),
    accent: scalar({ read: colour, json: { type: 'string' } })
      .optional()
      .describe('Colour of links, selected rows and the line at the top, for instance "#0a5"'),
    footer: words().optional().describe('Last line of the report'),
    period: scalar({ read: period, json: { type: 'string' } })
      .optional()
      .describe('28d, 7d, month, last-month, quarter, all or two days such as 2026-10-01..2026-10-31'),
    compare: scalar({ read: comparison, json: { type: 'string' } })
      .optional()
      .describe(
        'previous-period, year, a day, or how long ago; the day before the period began if not given',
      ),
    language: scalar(settings.oneOf(languages)).optional().describe('Language; en if not given'),
  }).transform(
    (given): ReportSettings => ({
      title: given.title ?? null,
      client: given.client ?? null,
      agency: given.agency ?? null,
      logo: given.logo ?? null,
      accent: given.accent ?? null,
      footer: given.footer ?? null,
      period: given.period ?? null,
      compare: given.compare ?? null,
      language: given.language ?? null,
    }),
  ),
)

/** `views:` of a job file. */
const viewsSchema = later(() =>
  z.array(
    strict({
      name: words().describe('Name of the tab'),
      tags: list().describe('Only keywords with one of these tags'),
      targets: list().describe('Only these targets, by site or label'),
      kinds: list().describe('Only these kinds of results, such as organic or news'),
      where: alertReaders
        .condition()
        .describe('Only keywords of which this is true, such as "volume>1000 and tag=money"'),
    }).transform(
      ({ name, tags = [], targets = [], kinds = [], where }): SavedView => ({
        name,
        tags,
        targets,
        kinds,
        ...(where === undefined ? {} : { where }),
      }),
    ),
  ),
)

const note = later(() =>
  strict({
    date: scalar({ read: date, json: { type: 'string' } }).describe('The day, such as 2026-10-01'),
    text: words().describe('What happened'),
    url: scalar({ read: pageUrl, json: { type: 'string' } })
      .optional()
      .describe('Where to read more'),
    query: scalar(settings.queryText).optional().describe('The keyword that it is about; all if not given'),
  }).transform(
    ({ date, text, url = null, query }): ReportNote =>
      query === undefined ? { date, text, url } : { date, text, url, query },
  ),
)

/** `notes:` of a job file. */
const notesSchema = later(() =>
  z.union(
    [
      z.array(note()),
      strict({
        file: file().describe(
          'CSV file with the columns date, text, url and query, relative to the job file',
        ),
      }),
    ],
    { error: 'a list of notes or a map with file' },
  ),
)

/** Columns of a file of notes. */
const noteColumns = ['date', 'text', 'url', 'query'] as const

/** Reads a file of notes; every mistake is reported, and its row is left out. */
export async function readNotes(file: string, report: Report): Promise<readonly ReportNote[]> {
  const notes: ReportNote[] = []
  let columns: readonly string[] | null = null
  const { readCsv } = await import('./csv.ts')
  const batches = readCsv(file, () => {}, {
    score: (cells) => {
      const known = cells.filter((cell) => isNoteColumn(nameOf(cell))).length
      return { isHeader: ['date', 'text'].every((name) => cells.map(nameOf).includes(name)), weight: known }
    },
    mayBeList: false,
    textsAreMapped: false,
  })
  for await (const batch of batches)
    for (const item of batch) {
      const at = { where: file, line: 'head' in item ? item.head.line : item.line, column: null }
      if ('mistake' in item) report({ ...at, ...item.mistake })
      else if ('head' in item) {
        columns = item.head.cells.map(nameOf)
        const mistakes = headMistakes(columns)
        for (const mistake of mistakes) report({ ...at, ...mistake })
        if (mistakes.length > 0) return []
      } else if (columns !== null && item.cells.some((cell) => cell.trim() !== '')) {
        const cells = columns.map((name, place) => [name, item.cells[place]?.trim() ?? ''] as const)
        const given = cells.filter(([name, cell]) => cell !== '' || name === 'date' || name === 'text')
        if (item.cells.slice(columns.length).some((cell) => cell.trim() !== ''))
          report({ ...at, message: 'the row has more cells than the first line', fix: tooWide })
        const one = readValue(note(), { tree: Object.fromEntries(given), at: () => at }, [], report)
        if (one !== undefined) notes.push(one)
      }
    }
  if (columns === null)
    report({
      where: file,
      line: null,
      column: null,
      message: 'the file is empty',
      fix: "write a first line with the columns 'date' and 'text'",
    })
  return notes
}

const tooWide = 'put a text with commas in quotes'

function nameOf(cell: string): string {
  return cell.trim().toLowerCase()
}

function isNoteColumn(name: string): boolean {
  return noteColumns.some((one) => one === name)
}

function headMistakes(names: readonly string[]): readonly InvalidValue[] {
  const unknown = names.filter((name) => name !== '' && !isNoteColumn(name))
  const twice = noteColumns.find((name) => names.filter((one) => one === name).length > 1)
  return [
    ...unknown.map((name) => {
      const near = closestMatch(
        name,
        noteColumns.filter((one) => !names.includes(one)),
      )
      const fix =
        near === null ? `name it ${noteColumns.join(', ')}, or take it out` : `write ${quoted(near)}`
      return { message: `a file of notes has no column ${quoted(name)}`, fix }
    }),
    ...(['date', 'text'] as const).flatMap((name) =>
      names.includes(name) || unknown.some((one) => closestMatch(one, noteColumns) === name)
        ? []
        : {
            message: `the column ${quoted(name)} is missing`,
            fix: 'write a first line such as date,text,url,query',
          },
    ),
    ...(twice === undefined
      ? []
      : [{ message: `the column ${quoted(twice)} is there twice`, fix: 'take one out' }]),
  ]
}

/** Columns of a table with a meaning of their own; a parameter is a column, too. */
export const ownColumns = [
  'query',
  'operation',
  'depth',
  'tags',
  'target',
  'priority',
  'volume',
  'url',
  'every',
] as const

/** The names of columns that say more than a label. */
export const columnNames: ReadonlySet<string> = new Set([...ownColumns, ...paramReaders.names])

const text = later(() => scalar(settings.text))
const tag = later(() =>
  scalar({
    ...settings.text,
    read: (written) => (written === '' ? { value: '' } : plainText(written)),
  }),
)

/** Reads the name of a billable operation. */
export function operationName(name: string): ReadResult<string> {
  const operation = findOperation(name)
  if (operation?.billable) return { value: name }
  const names = billableOperations.map((candidate) => candidate.name)
  const near = closestMatch(name, names)
  const fix = near === null ? `write one of ${names.join(', ')}` : `write '${near}'`
  if (operation === undefined) return { message: `cannot be ${quoted(name)}`, fix }
  return {
    message: `cannot be ${quoted(name)}, a free lookup with its own command`,
    fix: `write one of ${names.join(', ')}`,
  }
}

const operation = later(() =>
  scalar({
    read: operationName,
    json: { enum: billableOperations.map(({ name }) => name) },
  }),
)
const operations = later(() =>
  z.union([operation(), z.array(operation()).min(1)], {
    error: 'an operation or a list of operations',
  }),
)

const siteText = later(() => scalar({ read: site, json: { type: 'string' } }))
const writtenTarget = later(() =>
  z.union(
    [
      siteText(),
      strict({
        site: siteText().describe('Host or address whose rank is tracked'),
        match: scalar(settings.oneOf(matches))
          .optional()
          .describe('How the site is compared with links; domain if not given'),
        also: z
          .array(scalar(settings.oneOf(variants)))
          .optional()
          .describe('Variants that count as the site, too: amp, mobile; none if not given'),
        label: text().optional().describe('Name in reports; the site if not given'),
      }),
    ],
    { error: 'a site or a map with site, match and label' },
  ),
)

const names = { propertyNames: { enum: [...paramReaders.names] } }
const params = later(() => z.record(z.string(), text()).meta(names))
const matrix = later(() =>
  z.record(z.string(), z.union([text(), z.array(text()).min(1)], { error: 'a list of values' })).meta(names),
)

/** Names of ours, each with the header that stands for it in a table. */
const columns = later(() =>
  z
    .record(z.string(), text())
    .superRefine((map, context) => {
      for (const name of Object.keys(map))
        if (!columnNames.has(name))
          context.addIssue({ ...unknownColumn(name), path: [name], input: map[name] })
    })
    .meta({ propertyNames: { enum: [...columnNames] } }),
)

function unknownColumn(name: string) {
  const near = closestMatch(name, columnNames)
  return {
    code: 'custom' as const,
    message: 'is no name of a column that is read',
    params: { fix: near === null ? `write one of ${[...columnNames].join(', ')}` : `write '${near}'` },
  }
}

const freshnessOfRuns = later(() =>
  strict({
    warn_after: scalar(settings.timeSpan)
      .optional()
      .describe('A last good run older than this is a warning, for instance 26h'),
    error_after: scalar(settings.timeSpan)
      .optional()
      .describe('A last good run older than this is an error, for instance 50h'),
  }).transform(({ warn_after = null, error_after = null }, context) => {
    if (warn_after !== null && error_after !== null && warn_after >= error_after)
      context.issues.push({
        code: 'custom',
        input: warn_after,
        path: ['warn_after'],
        message: 'is not shorter than error_after',
        params: { fix: 'write a shorter time, such as warn_after: 26h and error_after: 50h' },
      })
    return { warnAfterMs: warn_after, errorAfterMs: error_after }
  }),
)

const everyText = { read: every, json: { type: 'string' } }

const ping = later(() =>
  strict({
    url_env: variable().describe(
      'Environment variable that holds the address; /start and /fail are added to it',
    ),
  }).transform(({ url_env }) => ({ urlEnv: url_env })),
)

const digest = later(() =>
  strict({
    every: scalar({ read: weekly, json: { type: 'string' } }).describe(
      'Weekdays, or day, and a time in the zone of the job, such as "mon 08:00"',
    ),
    to: z.array(text()).min(1).optional().describe('Channels of rankline.yaml; all of them if not given'),
    for: scalar(settings.oneOf(audiences))
      .optional()
      .describe('Who reads it; a client is told nothing of runs, credits and alerts. team if not given'),
  }).transform(({ every, to, for: reader }) => ({
    cron: every,
    to: to ?? null,
    for: reader ?? 'team',
  })),
)

/** Nothing stands for a parameter that was not set. */
const former = later(() =>
  scalar({
    read: (written): ReadResult<string | null> =>
      ['', '~', 'null'].includes(written) ? { value: null } : plainText(written),
    json: { type: ['string', 'number', 'null'] },
  }),
)
const continues = later(() =>
  strict({
    params: z
      .record(z.string(), former())
      .meta(names)
      .optional()
      .describe('What parameters were; null where one was not set'),
    operation: operation().optional().describe('What the operation was'),
    texts: z
      .record(z.string(), scalar(settings.queryText))
      .optional()
      .describe('What texts were, by what they are now'),
  }).transform(
    ({ params = {}, operation = null, texts = {} }): settings.Continues => ({
      params,
      operation,
      texts: Object.fromEntries(Object.entries(texts).map(([now, before]) => [normalText(now), before])),
    }),
  ),
)

const structures = {
  continues,
  freshnessOfRuns,
  operations,
  params,
  matrix,
  schedule: () => scalar({ read: schedule, json: { type: 'string' } }),
  every: () => scalar(everyText),
  cadence: () => z.record(z.string(), scalar(everyText)),
  targets: () => z.array(writtenTarget()),
  alerts: alertReaders.schema,
  ping,
  digest,
  report: reportSchema,
  views: viewsSchema,
  notes: notesSchema,
  columns,
}

type Shape<T> = { [Key in keyof T]-?: z.ZodType<T[Key]> }

/** The schema of each setting. */
function partsOf<T extends settings.SettingTable>(table: T) {
  return Object.fromEntries(
    Object.entries(table).map(([key, { value, help = '', default: usual }]) => [
      key,
      later(() =>
        valueSchema(value)
          .optional()
          .describe(usual === undefined ? help : `${help}; ${usual} if not given`),
      ),
    ]),
  ) as unknown as KeySchemas<Shape<settings.TableData<T>>>
}

function valueSchema(value: settings.Setting['value']): z.ZodType {
  if (typeof value === 'string') return structures[value]()
  return settings.isScalar(value) ? scalar(value) : mapSchema(partsOf(value)).whole()
}

/** The settings of a job, as options give them. */
const optionsSchema = mapSchema(partsOf(settings.jobSettings))

const { match: _match, columns: _columns, ...fileParts } = optionsSchema.parts
const { name: _name, ...sharedParts } = fileParts

/** The settings that all jobs of a folder can share. */
const defaultsSchema = mapSchema(sharedParts)

/** Values of one query that are a single text, in a YAML entry and in a cell of a CSV. */
export const querySettings = {
  depth: { value: settings.depth, help: 'Look at this many results for this query' },
  pages: { value: settings.pages, help: 'Look at this many pages for this query' },
  priority: {
    value: { read: wholeNumber(Number.MIN_SAFE_INTEGER), json: { type: 'integer' } },
    default: '0',
    help: 'Higher is bought first',
  },
  volume: {
    value: { read: (text) => readVolume(text, '.'), json: settings.natural.json },
    help: 'Searches per month',
  },
  url: { value: { read: pageUrl, json: { type: 'string' } }, help: 'The page that is meant to rank' },
  every: { value: everyText, help: 'How often this query is due for run --due' },
} satisfies settings.SettingTable

const { depth, pages, ...otherValues } = partsOf(querySettings)

/** One query that is more than its text. */
const querySchema = mapSchema(
  {
    query: later(() => scalar(settings.queryText).describe('Text to search for')),
    operation: later(() =>
      operations().optional().describe('Operation of this query alone, or a list of them'),
    ),
    depth,
    pages,
    tags: later(() => z.array(tag()).optional().describe('Words to group and filter queries by')),
    target: later(() =>
      z
        .union([siteText(), ...writtenTarget().options.slice(1), z.array(writtenTarget())], {
          error: 'a site, a map with site, match and label, or a list of them',
        })
        .optional()
        .describe('Sites whose rank is tracked for this query alone'),
    ),
    ...otherValues,
    params: later(() => params().optional().describe('Parameters of this query alone')),
  },
  ['query'],
)

/** A CSV file whose rows stand in the place of this entry. */
const fileSchema = mapSchema(
  {
    file: later(() => file().describe('CSV file, relative to the job file')),
    columns: later(() =>
      columns()
        .optional()
        .describe('Names of its columns that are called otherwise, for instance { query: Top queries }'),
    ),
  },
  ['file'],
)

/** A query that is nothing but its text. */
const textSchema = later(() => scalar(settings.queryText))

/** The settings, with entries that are read one by one. */
const looseJobSchema = mapSchema({ ...fileParts, queries: () => z.array(z.unknown()).min(1) }, ['queries'])

/** Reads the absolute address of a page. */
function pageUrl(text: string): ReadResult<string> {
  const read = plainText(text)
  if (!('value' in read)) return read
  const url = parseUrl(read.value)
  if (url !== null && /^https?:\/\//i.test(read.value) && !/\s/.test(read.value)) return read
  return {
    message: `cannot be ${quoted(text)}`,
    fix: 'write a full address such as https://acme.com/desks',
  }
}

/** The schemas of job files and their parts. */
export const schemas = {
  options: optionsSchema,
  defaults: defaultsSchema,
  query: querySchema,
  file: fileSchema,
  text: textSchema,
  looseJob: looseJobSchema,
}
