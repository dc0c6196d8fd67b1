import { lstat, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { billableOperation } from '../../../catalog/index.ts'
import type { LaidOutFile } from '../../../check/init.ts'
import { type Client, newWorkspace, type WorkspaceAnswers } from '../../../check/init.ts'
import { readCsv } from '../../../jobfile/csv.ts'
import { unreadable } from '../../../jobfile/files.ts'
import { paramReaders } from '../../../jobfile/params.ts'
import { mistakeLines, type Report } from '../../../jobfile/source.ts'
import { site } from '../../../jobfile/targets.ts'
import { RanklineError, UsageError } from '../../../model/errors.ts'
import { count } from '../../../model/text.ts'
import {
  type InvalidValue,
  type OptionSpecs,
  quoted,
  type ReadResult,
  switchOption,
  textOption,
  timezone,
} from '../../../model/values.ts'
import { wrapLines } from '../../../output/table.ts'
import { note, type Terminal } from '../../../output/terminal.ts'
import type { Command, TypedOptions } from '../../flags.ts'

/** The answers of a person who is not asked, on a machine in that time zone. */
function usualAnswers(zone: string): WorkspaceAnswers {
  return {
    site: newWorkspace.sandboxSite,
    country: 'us',
    language: 'en',
    hour: 6,
    minute: 0,
    timezone: 'value' in timezone(zone) ? zone : 'UTC',
  }
}

/** What is asked on a terminal, in this order. */
const questions: readonly {
  readonly options: readonly string[]
  readonly text: (answers: WorkspaceAnswers) => string
  /** The answer that an empty line stands for. */
  readonly usual: (answers: WorkspaceAnswers) => string
  readonly read: (answer: string) => ReadResult<Partial<WorkspaceAnswers>>
}[] = [
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
    usual: ({ hour, minute }) => newWorkspace.clockTime(hour, minute),
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
  const read = paramReaders.value(param, name, text.toLowerCase())
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

const columns = ['name', 'site', 'country', 'language', 'at'] as const

type ClientColumn = (typeof columns)[number]

/** Reads a table of clients; what a row leaves out is as usual. Every mistake is reported, and its row left out. */
async function readClients(
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

const flags = {
  yes: switchOption('Ask nothing, and take the defaults where no flag says otherwise'),
  site: textOption('Site whose ranks are tracked [northdesk.example, which the sandbox knows]'),
  country: textOption('Code of the country to search in [us]'),
  language: textOption('Code of the language to search in [that of the country]'),
  schemas: switchOption('Write the JSON Schemas for editors again, after an upgrade, and nothing else'),
  jobs: textOption('Table of clients: a job for each row; columns name, site, country, language, at'),
  at: textOption('Time of day to collect at, in the time zone of this machine [06:00]'),
} satisfies OptionSpecs

type InitFlags = TypedOptions<typeof flags> & { readonly dir?: string }

export const initCommand = {
  flags,
  exits: [0, 1, 2],
  docs: 'docs/workspace.md',
  examples: [
    ['init ranks', 'a new folder, after three questions'],
    ['init --jobs clients.csv', 'a job for each client of the table, in this folder'],
    ['init --yes --site acme.com --country de', 'this folder, without a question'],
  ],
  run: init,
} satisfies Command

/** `rankline init`: lays out a workspace that runs against the sandbox as it is. */
export async function init(flags: InitFlags, terminal: Terminal): Promise<number> {
  const folder = flags.dir ?? '.'
  if (flags.schemas === true) return await renewSchemas(folder, flags, terminal)
  if (flags.jobs !== undefined) return await layOutClients(folder, flags.jobs, flags, terminal)
  const answers = await ask(flags, terminal)
  const laidOut = await layOut(folder, newWorkspace.workspaceFiles(answers), { replace: false })
  if (laidOut.kept.length > 0)
    note(terminal, `Already there, and left as they are: ${laidOut.kept.join(', ')}.`)
  if (laidOut.kept.includes('.gitignore')) note(terminal, 'See that .gitignore names .env and data/.')
  if (laidOut.written.length === 0)
    throw new UsageError(`Nothing was written: every file of a workspace is in ${resolve(folder)} already`)
  const next = nextCommands(folder)
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ folder: resolve(folder), ...laidOut, sandbox: newWorkspace.sandboxCommand(answers), next }, null, 2)}\n`
      : wrapLines(summary(folder, laidOut, newWorkspace.sandboxCommand(answers), next), terminal.columns),
  )
  return 0
}

/** A job for each client of a table; those that are there stay as they are, so that the table may grow. */
async function layOutClients(
  folder: string,
  table: string,
  flags: InitFlags,
  terminal: Terminal,
): Promise<number> {
  if (flags.site !== undefined)
    throw new UsageError('--site is of one job, and --jobs names the site of each. Leave one of them out')
  const usual = { ...usualAnswers(systemZone()), ...flagged(flags) }
  const { report, end } = mistakeLines.printer(
    (line) => terminal.log(line, { level: 'error', code: 2 }),
    true,
  )
  const clients = await readClients(table, usual, report)
  if (end() > 0) return 2
  if (clients.length === 0)
    throw new UsageError(`${table} has no client; write a row for each below the header`)
  const laidOut = await layOut(folder, newWorkspace.clientFiles(clients, usual), { replace: false })
  if (laidOut.kept.length > 0)
    note(terminal, `Already there, and left as they are: ${laidOut.kept.join(', ')}.`)
  const jobs = clients.map(({ job }) => job)
  const first = jobs.find((job) => laidOut.written.includes(`${job}.yaml`)) ?? jobs[0]
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ folder: resolve(folder), ...laidOut, jobs }, null, 2)}\n`
      : `${count(clients.length, 'client')}; written into ${resolve(folder)}: ${laidOut.written.join(', ') || 'nothing new'}\n
Write the keywords of each client into its .csv, and address and key of the service into ${join(folder, '.env')}. Then:

  rankline plan ${first}.yaml
  rankline status\n`,
  )
  return 0
}

async function renewSchemas(folder: string, flags: InitFlags, terminal: Terminal): Promise<number> {
  const laidOut = await layOut(folder, newWorkspace.schemaFiles(), { replace: true })
  await terminal.write(
    flags.json === true
      ? `${JSON.stringify({ folder: resolve(folder), ...laidOut }, null, 2)}\n`
      : `Written into ${resolve(folder)}: ${laidOut.written.join(', ')}\n`,
  )
  return 0
}

/** The answers of flags, of the person at the terminal, and the usual ones. */
async function ask(flags: InitFlags, { askText = null, log }: Terminal): Promise<WorkspaceAnswers> {
  let answers: WorkspaceAnswers = { ...usualAnswers(systemZone()), ...flagged(flags) }
  if (flags.yes === true || askText === null) return answers
  const open = questions.filter(({ options: given }) =>
    given.every((flag) => flags[flag as keyof InitFlags] === undefined),
  )
  if (open.length > 0) log('Enter takes the answer in brackets.')
  for (const { text, usual, read } of open) {
    for (;;) {
      const usually = usual(answers)
      const answer = await askText(`${text(answers)} [${usually}]:`)
      if (answer === null) throw new RanklineError('Nothing was written.', 130)
      const result = read(answer === '' ? usually : answer)
      if ('value' in result) {
        answers = { ...answers, ...result.value }
        break
      }
      log(`That ${result.message}; ${result.fix}.`)
    }
  }
  return answers
}

function flagged({ site, country, language, at }: InitFlags): Partial<WorkspaceAnswers> {
  const place =
    country === undefined && language === undefined
      ? {}
      : flagValue(
          country === undefined ? '--language' : '--country',
          readPlace(`${country ?? 'us'} ${language ?? ''}`.trim()),
        )
  return {
    ...(site === undefined ? {} : flagValue('--site', readSite(site))),
    ...place,
    ...(at === undefined ? {} : flagValue('--at', readTime(at))),
  }
}

function flagValue<T>(flag: string, read: ReadResult<T>): T {
  if ('value' in read) return read.value
  throw new UsageError(`${flag} ${read.message}; ${read.fix}`)
}

function systemZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}

function nextCommands(folder: string): readonly string[] {
  const commands = [
    `rankline plan ${newWorkspace.jobFile}`,
    `rankline run ${newWorkspace.jobFile}`,
    `rankline report ${newWorkspace.jobOfFile}`,
  ]
  const way = relative('', folder)
  return way === '' ? commands : [`cd ${quotedPath(way)}`, ...commands]
}

function quotedPath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

function summary(
  folder: string,
  { written }: { readonly written: readonly string[] },
  sandbox: string,
  next: readonly string[],
): string {
  const width = Math.max(...next.map((command) => command.length)) + 3
  const lines = next.map((command) => `  ${command.padEnd(width)}${explanationOf(command)}`.trimEnd())
  return `Written into ${resolve(folder)}: ${written.join(', ')}

In another terminal, start the service on this machine:

  ${sandbox}

Then:

${lines.join('\n')}

With an account, write its address and key into ${join(folder, '.env')}; rankline doctor checks them.
`
}

function explanationOf(command: string): string {
  const [, name = ''] = command.split(' ')
  return explanations[name] ?? ''
}

const explanations: Readonly<Record<string, string>> = {
  plan: 'what it would cost; spends nothing',
  run: 'collects',
  report: 'shows the ranks',
}

/**
 * Writes the files below a folder, which is made where it is missing. A file that exists is kept as it is, unless `replace` says so.
 * Answers which ones were written and which were kept.
 */
async function layOut(
  folder: string,
  files: readonly LaidOutFile[],
  { replace }: { readonly replace: boolean },
) {
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
