import { billableOperation } from '../../catalog/index.ts'
import { paramValue } from '../../jobfile/params.ts'
import { site } from '../../jobfile/targets.ts'
import { type InvalidValue, quoted, type ReadResult, timezone } from '../../model/values.ts'

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
export interface Question {
  readonly flags: readonly string[]
  readonly text: (answers: WorkspaceAnswers) => string
  /** The answer that an empty line stands for. */
  readonly usual: (answers: WorkspaceAnswers) => string
  readonly read: (answer: string) => ReadResult<Partial<WorkspaceAnswers>>
}

/** What is asked on a terminal, in this order. */
export const questions: readonly Question[] = [
  {
    flags: ['site'],
    text: () => 'Your site',
    usual: ({ site }) => site,
    read: readSite,
  },
  {
    flags: ['country', 'language'],
    text: () => 'Country and language to search in, as codes',
    usual: ({ country, language }) => `${country} ${language}`,
    read: readPlace,
  },
  {
    flags: ['at'],
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
