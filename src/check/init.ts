import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { billableOperation } from '../catalog/index.ts'
import { readCsv } from '../jobfile/csv.ts'
import { unreadable, workspaceFile } from '../jobfile/files.ts'
import { jobFileJsonSchema, workspaceJsonSchema } from '../jobfile/json-schema.ts'
import { paramValue } from '../jobfile/params.ts'
import type { Report } from '../jobfile/source.ts'
import { site } from '../jobfile/targets.ts'
import { UsageError } from '../model/errors.ts'
import { type InvalidValue, quoted, type ReadResult, timezone } from '../model/values.ts'

/** What a new workspace is about. */
export interface WorkspaceAnswers {
  /** Host whose ranks are tracked. */
  readonly site: string
  /** Codes of the country and the language that are searched in. */
  readonly country: string
  readonly language: string
  /** Time of day at which the job runs, in that zone. */
  readonly hour: number
  readonly minute: number
  readonly timezone: string
}

/** A site that the sandbox lets compete for every query. */
const sandboxSite = 'northdesk.example'

/** The answers of a person who is not asked, on a machine in that time zone. */
export function usualAnswers(zone: string): WorkspaceAnswers {
  return {
    site: sandboxSite,
    country: 'us',
    language: 'en',
    hour: 6,
    minute: 0,
    timezone: 'value' in timezone(zone) ? zone : 'UTC',
  }
}

/** One question: how it is put, and what an answer to it changes. */
interface Question {
  readonly options: readonly string[]
  readonly text: (answers: WorkspaceAnswers) => string
  /** The answer that an empty line stands for. */
  readonly usual: (answers: WorkspaceAnswers) => string
  readonly read: (answer: string) => ReadResult<Partial<WorkspaceAnswers>>
}

/** What is asked on a terminal, in this order. */
export const questions: readonly Question[] = [
  {
    options: ['site'],
    text: () => 'Your site',
    usual: ({ site }) => site,
    read: readSite,
  },
  {
    options: ['country', 'language'],
    text: () => 'Country and language to search in, as codes',
    usual: ({ country, language }) => `${country} ${language}`,
    read: readPlace,
  },
  {
    options: ['at'],
    text: ({ timezone }) => `Time of day to collect at (${timezone})`,
    usual: ({ hour, minute }) => clockTime(hour, minute),
    read: readTime,
  },
]

/** Reads a site as people paste it: an address counts as its host, without `www.`. */
export function readSite(text: string): ReadResult<{ readonly site: string }> {
  const read = site(text.trim())
  if (!('value' in read)) return { ...read, fix: 'write a site such as acme.com' }
  const host = read.value.replace(/^https?:\/\//i, '').replace(/[/?:].*$/s, '')
  return { value: { site: host.toLowerCase().replace(/^www\.(?=.*\.)/, '') } }
}

/** Reads a country and a language; without a language, the one that most people of the country speak. */
export function readPlace(text: string): ReadResult<{ readonly country: string; readonly language: string }> {
  const [country = '', given, ...more] = text.trim().split(/[\s,/]+/)
  if (more.length > 0) return { message: `cannot be ${quoted(text)}`, fix: 'write two codes such as us en' }
  const read = codeOf('gl', country)
  if (!('value' in read)) return read
  const spoken = new Intl.Locale('und', { region: country }).maximize().language
  const language = codeOf('hl', given ?? spoken)
  if ('value' in language) return { value: { country: read.value, language: language.value } }
  return given === undefined ? { value: { country: read.value, language: 'en' } } : language
}

function codeOf(name: 'gl' | 'hl', text: string): ReadResult<string> {
  const param = billableOperation('alpha.search').params[name]
  if (param === undefined) throw new Error(`alpha.search has no ${name}`)
  const read = paramValue(param, name, text.toLowerCase())
  if ('value' in read) return { value: String(read.value) }
  return { message: read.message.replace(/^\w+ /, ''), fix: read.fix }
}

/** Reads a time such as `6:30`, `06:30` or `6`. */
export function readTime(text: string): ReadResult<{ readonly hour: number; readonly minute: number }> {
  const [, hours, minutes = '0'] = text.trim().match(/^(\d{1,2})(?::(\d{2}))?$/) ?? []
  const mistake: InvalidValue = {
    message: `cannot be ${quoted(text)}`,
    fix: 'write a time of day such as 06:30',
  }
  if (hours === undefined || Number(hours) > 23 || Number(minutes) > 59) return mistake
  return { value: { hour: Number(hours), minute: Number(minutes) } }
}

/** A time of day as clocks show it. */
function clockTime(hour: number, minute: number): string {
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
}

/** A client of an agency, and what its job is about. */
interface Client extends WorkspaceAnswers {
  /** As reports say it. */
  readonly client: string
  /** Its job: the name in small letters, with hyphens. */
  readonly job: string
}

const columns = ['name', 'site', 'country', 'language', 'at'] as const
type ClientColumn = (typeof columns)[number]

/** Reads a table of clients; what a row leaves out is as usual. Every mistake is reported, and its row left out. */
export async function readClients(
  path: string,
  usual: WorkspaceAnswers,
  report: Report,
): Promise<readonly Client[]> {
  const clients: Client[] = []
  let places: Readonly<Partial<Record<ClientColumn, number>>> | null = null
  const at = (line: number | null) => ({ where: path, line, column: null })
  const readRow = (cells: readonly string[], line: number): void => {
    const cell = (column: ClientColumn): string => cells[places?.[column] ?? -1]?.trim() ?? ''
    const client = cell('name')
    const job = jobOf(client)
    const read = {
      site: readSite(cell('site')),
      place: readPlace(`${cell('country') || usual.country} ${cell('language')}`.trim()),
      at: cell('at') === '' ? { value: { hour: usual.hour, minute: usual.minute } } : readTime(cell('at')),
    }
    for (const [what, result] of Object.entries(read))
      if ('message' in result)
        report({
          ...at(line),
          message: `${what === 'place' ? 'country or language' : what} ${result.message}`,
          fix: result.fix,
        })
    if (job === '')
      report({
        ...at(line),
        message: `name cannot be ${quoted(client)}`,
        fix: 'write the name of the client',
      })
    const twin = clients.find((one) => one.job === job)
    if (job !== '' && twin !== undefined)
      report({
        ...at(line),
        message: `${quoted(client)} has the same job as ${quoted(twin.client)}: ${job}`,
        fix: 'give one of them another name',
      })
    if (!('value' in read.site && 'value' in read.place && 'value' in read.at) || job === '') return
    const { timezone } = usual
    clients.push({ client, job, timezone, ...read.site.value, ...read.place.value, ...read.at.value })
  }
  try {
    for await (const items of readCsv(path, () => {}, {
      score: scoreOf,
      mayBeList: false,
      textsAreMapped: false,
    }))
      for (const item of items) {
        if ('mistake' in item) report({ ...at(item.line), ...item.mistake })
        else if (!('head' in item)) readRow(item.cells, item.line)
        else {
          places = placesOf(item.head.cells)
          if (places.name === undefined || places.site === undefined) {
            report({
              ...at(item.head.line || 1),
              message: 'the columns name and site are missing',
              fix: 'begin with: name,site,country,language,at',
            })
            return []
          }
        }
      }
  } catch (error) {
    report({ ...at(null), ...unreadable(error as NodeJS.ErrnoException) })
  }
  return clients
}

function placesOf(cells: readonly string[]): Readonly<Partial<Record<ClientColumn, number>>> {
  const names = cells.map((cell) => cell.trim().toLowerCase())
  return Object.fromEntries(
    columns.flatMap((column) => (names.includes(column) ? [[column, names.indexOf(column)]] : [])),
  )
}

function scoreOf(cells: readonly string[]) {
  const { name, site, ...others } = placesOf(cells)
  const isHeader = name !== undefined && site !== undefined
  return { isHeader, weight: isHeader ? 2 + Object.keys(others).length : 0 }
}

function jobOf(client: string): string {
  return client
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
}

/** One file of a new workspace. */
export interface LaidOutFile {
  /** Below the folder of the workspace. */
  readonly path: string
  readonly text: string
  /** Only its owner may read it. */
  readonly isSecret?: true
}

/** The job of a new workspace. */
export const jobFile = 'ranks.yaml'
export const jobOfFile = 'ranks'

const schemas = '.rankline'

/** The files of a workspace with a job for each of these clients. */
export function clientFiles(clients: readonly Client[], usual: WorkspaceAnswers): readonly LaidOutFile[] {
  return [
    ...clients.flatMap((client) => [
      { path: `${client.job}.yaml`, text: job(client, client) },
      { path: `${client.job}.csv`, text: `query,tags,volume\n${cellOf(client.client)},brand,\n` },
    ]),
    ...sharedFiles(usual),
  ]
}

function cellOf(text: string): string {
  return /[",;\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The files of a new workspace, in the order in which they are told. */
export function workspaceFiles(answers: WorkspaceAnswers): readonly LaidOutFile[] {
  return [
    { path: jobFile, text: job(answers) },
    { path: 'keywords.csv', text: keywords },
    { path: 'README.md', text: readme(answers) },
    ...sharedFiles(answers),
  ]
}

function sharedFiles(answers: WorkspaceAnswers): readonly LaidOutFile[] {
  return [
    { path: workspaceFile, text: shared(answers) },
    { path: '.env', text: env, isSecret: true },
    { path: '.env.example', text: envExample },
    { path: '.gitignore', text: gitignore },
    ...schemaFiles(),
  ]
}

/** The JSON Schemas that the first lines of YAML files name. This version of rankline makes them, no person does. */
export function schemaFiles(): readonly LaidOutFile[] {
  return [
    { path: `${schemas}/job.schema.json`, text: json(jobFileJsonSchema()) },
    { path: `${schemas}/workspace.schema.json`, text: json(workspaceJsonSchema()) },
  ]
}

/** The sandbox in which the site of the job is found. */
export function sandboxCommand({ site }: WorkspaceAnswers): string {
  return site === sandboxSite ? 'rankline sandbox' : `rankline sandbox --site ${site}`
}

function job(
  { site, country, language, hour, minute }: WorkspaceAnswers,
  of: { readonly job: string; readonly client: string } | null = null,
): string {
  const name = of?.job ?? jobOfFile
  const file = of === null ? jobFile : `${name}.yaml`
  const list = of === null ? 'keywords.csv' : `${name}.csv`
  const location = new Intl.DisplayNames(['en'], { type: 'region' }).of(country.toUpperCase())
  const competitors =
    site === sandboxSite
      ? 'competitors: [risewell.example, sitless.example]'
      : '# competitors: [rival.com]      # sites of others, to compare with'
  return `# yaml-language-server: $schema=./${schemas}/job.schema.json
# What is searched for, how deep, how often, and whose ranks are tracked.
# What it would cost, for free: rankline plan ${file}

operation: alpha.search          # rankline operations lists all, with prices and parameters
params: { gl: ${country}, hl: ${language}, location: "${location}" }
depth: 20                        # the first 20 results of each query: two pages, two credits

schedule: "${minute} ${hour} * * *"            # every day at ${clockTime(hour, minute)}: minute, hour, day, month, weekday

targets: [${site}]
${competitors}

budget: { max_credits: 100 }     # a run stops there, and can be continued

alerts:                          # sent to the channels of rankline.yaml, once when they begin and once when they are over
  - { when: drop, by: 5, confirm: 2 }
  - { when: run-failed }

# How a report looks that you send: rankline report ${name} --for client --out ${name}.html
${of === null ? '# report: { title: Our ranks, client: Acme Inc., agency: North, accent: "#0b6b5c", language: en }' : `report: { client: ${JSON.stringify(of.client)} }`}

queries:
  - file: ${list}           # a row for each query: its tags, its searches per month
${of === null ? '  - { query: buy standing desk, tags: [money], priority: 10, volume: 1300 }\n' : ''}`
}

const keywords = `query,tags,volume
standing desk,head,110000
best standing desk,head;review,40500
electric standing desk,head,27100
small standing desk,feature,9900
corner standing desk,feature,8100
standing desk with drawers,feature,12100
standing desk converter,accessory,22200
standing desk mat,accessory,14800
standing desk height,advice,3600
`

function shared({ timezone }: WorkspaceAnswers): string {
  return `# yaml-language-server: $schema=./${schemas}/workspace.schema.json
# What the jobs of this folder share. A job that says otherwise wins.

defaults:
  timezone: ${timezone}

# Credits that all jobs together may cost, and those of one tag.
# budget: { per_day: 500, per_month: 10000, by_tag: { acme: { per_month: 4000 } } }

# Where messages go: rankline alerts test sends a sample. Addresses and passwords stand in .env, under the names given here.
channels:
  log: { type: file, path: alerts.jsonl }
  # chat: { type: slack, url_env: SLACK_URL }
  # mail: { type: email, to: [you@example.com] }

# How long answers and results are kept; ranks stay.
# keep: { answers: 90d, results: 2y }
`
}

const env = `# For trying: the service is the sandbox on this machine (rankline sandbox).
# With a real account, write its address and key here, and delete data/, which holds made-up results.
RANKLINE_BASE_URL=http://127.0.0.1:8787
RANKLINE_API_KEY=sandbox-key
`

const envExample = `# Copy this to .env and fill it in. .env is never committed.

# Address of the service: the part before /v1.
RANKLINE_BASE_URL=https://service.example
RANKLINE_API_KEY=

# For channels in rankline.yaml:
# SLACK_URL=https://hooks.slack.com/services/…
# SMTP_URL=smtps://user:password@smtp.example.com
# SMTP_FROM=rankline@example.com
`

const gitignore = `.env
data/
alerts.jsonl
`

function readme(answers: WorkspaceAnswers): string {
  return `# Ranks of ${answers.site}

- \`${jobFile}\`: what is searched for, how deep and how often. \`keywords.csv\`: its keywords.
- \`rankline.yaml\`: what all jobs of this folder share. \`.env\`: address and key of the service, never committed.
- Without an account: \`${sandboxCommand(answers)}\` in another terminal answers in the place of the service.
- \`rankline plan ${jobFile}\`: what a run would cost. \`rankline run ${jobFile}\`: collects. \`rankline report ${jobOfFile}\`: the ranks.
- \`rankline report ${jobOfFile} --out ${jobOfFile}.html\`: a page to look at; also \`.pdf\`, \`.eml\` and \`.xlsx\`. \`report:\` in the job says how it looks.
- With an account: write its address and key into \`.env\`, delete \`data/\` (made-up results), and run \`rankline doctor\`.
- Every day by itself: \`rankline schedule\` stays up; \`rankline schedule --print systemd\` or \`crontab\` sets it up for good.
- How all jobs are: \`rankline status\`.
`
}

function json(schema: object): string {
  return `${JSON.stringify(schema, null, 2)}\n`
}

/** What became of the files of a new workspace. */
export interface LaidOut {
  readonly written: readonly string[]
  /** Files that were there already: they stay as they are. */
  readonly kept: readonly string[]
}

/** Writes the files below a folder, which is made where it is missing. A file that exists is not touched, unless `replace` says so. */
export async function layOut(
  folder: string,
  files: readonly LaidOutFile[],
  { replace }: { readonly replace: boolean },
): Promise<LaidOut> {
  const written: string[] = []
  const kept: string[] = []
  for (const file of files) {
    const isWritten = await writeOne(folder, file, replace)
    ;(isWritten ? written : kept).push(file.path)
  }
  return { written, kept }
}

async function writeOne(
  folder: string,
  { path, text, isSecret }: LaidOutFile,
  replace: boolean,
): Promise<boolean> {
  const file = join(folder, path)
  const flag = replace ? 'w' : 'wx'
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text, { flag, ...(isSecret === true ? { mode: 0o600 } : {}) })
    return true
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await isThere(file))) return false
    throw new UsageError(`${file} cannot be written: ${reasons[code] ?? code}`, { cause: error })
  }
}

/** A folder of the path may be a file: then it is that which exists. */
async function isThere(file: string): Promise<boolean> {
  return await lstat(file).then(
    () => true,
    () => false,
  )
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'you may not write there. Name another folder',
  EPERM: 'you may not write there. Name another folder',
  EROFS: 'the disk is read-only. Name another folder',
  EEXIST: 'a file stands where the folder would be. Name another folder',
  ENOTDIR: 'a file stands where the folder would be. Name another folder',
  ENOSPC: 'the disk is full. Free some space first',
}
