import { billableOperation } from '../catalog/index.ts'
import { readCsv } from '../jobfile/csv.ts'
import { unreadable } from '../jobfile/files.ts'
import { paramValue } from '../jobfile/params.ts'
import type { Report } from '../jobfile/source.ts'
import { site } from '../jobfile/targets.ts'
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
export const sandboxSite = 'northdesk.example'

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
export function clockTime(hour: number, minute: number): string {
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
}

/** A client of an agency, and what its job is about. */
export interface Client extends WorkspaceAnswers {
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
