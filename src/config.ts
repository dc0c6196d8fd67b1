import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { UsageError } from './errors.ts'

/** Flags that every command takes, as typed. */
export interface SettingFlags {
  readonly db?: string | undefined
  readonly 'base-url'?: string | undefined
  readonly 'api-key-file'?: string | undefined
  readonly 'allow-http'?: boolean | undefined
  readonly verbose?: boolean | undefined
}

/** Where the service is and with which key it is asked. */
export interface ServiceSettings {
  /** Without a trailing slash; may carry a path. */
  readonly baseUrl: string
  readonly apiKey: string
}

const defaultDatabase = 'data/rankline.db'

/** Path of the database: flag, environment, `.env`, default. */
export function databasePath(flags: SettingFlags): string {
  if (flags.db?.trim() === '')
    throw new UsageError('--db is empty. Name a database file, for instance data/rankline.db')
  return flags.db ?? setting('RANKLINE_DB') ?? defaultDatabase
}

/** Address and key of the service. Throws one sentence with what to type where one is missing or cannot be used. */
export function serviceSettings(flags: SettingFlags): ServiceSettings {
  const baseUrl = flags['base-url'] ?? setting('RANKLINE_BASE_URL')
  if (baseUrl === undefined)
    throw new UsageError(
      'The address of the service is not set. Put RANKLINE_BASE_URL=https://… into the environment or into .env, or try it without an account: rankline demo',
    )
  return {
    baseUrl: checkedBaseUrl(baseUrl, flags['allow-http'] === true),
    apiKey: checkedKey(readKey(flags)),
  }
}

/** How output is to look, from the environment's own conventions. */
export function outputSettings() {
  const { NO_COLOR, FORCE_COLOR, CI, TERM, LC_ALL, LC_CTYPE, LANG } = process.env
  const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '')
  const plain = (NO_COLOR !== undefined && NO_COLOR !== '') || TERM === 'dumb'
  return {
    color: FORCE_COLOR !== undefined ? FORCE_COLOR !== '0' : !plain && process.stdout.isTTY === true,
    live: process.stderr.isTTY === true && (CI === undefined || CI === '') && TERM !== 'dumb',
    // Where nothing is said of the locale, nearly every machine has UTF-8.
    ascii: TERM === 'dumb' || (locale !== undefined && !/utf-?8/i.test(locale)),
  }
}

function setting(name: string): string | undefined {
  return [process.env[name], dotEnv()[name]].map((value) => value?.trim()).find((value) => value)
}

let dotEnvRead: Readonly<Record<string, string | undefined>> | null = null

function dotEnv(): Readonly<Record<string, string | undefined>> {
  dotEnvRead ??= existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {}
  return dotEnvRead
}

function readKey(flags: SettingFlags): string {
  const file = flags['api-key-file']
  if (file === undefined) {
    const key = setting('RANKLINE_API_KEY')
    if (key !== undefined) return key
    throw new UsageError(
      'The API key is not set. Put RANKLINE_API_KEY=… into the environment or into .env, or name a file that holds it with --api-key-file',
    )
  }
  try {
    return readFileSync(file, 'utf8')
      .replace(/^\ufeff/, '')
      .trim()
  } catch (error) {
    throw new UsageError(`The key file ${file} cannot be read. Check the path given to --api-key-file`, {
      cause: error,
    })
  }
}

function checkedKey(key: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new UsageError(
    key === ''
      ? 'The API key is empty. Set RANKLINE_API_KEY, or put the key into the file given to --api-key-file'
      : 'The API key holds spaces, line breaks or other characters that no key has. Copy it anew from the dashboard',
  )
}

function checkedBaseUrl(text: string, allowHttp: boolean): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(
      `The base URL '${text}' is no web address. Write it like https://host or https://host/path`,
    )
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError(
      'The base URL may carry a host and a path, nothing else. Leave out user names, ? and #',
    )
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname))
    throw new UsageError(
      `The base URL ${text} would send the key in the clear. Write https://, or add --allow-http if that is meant`,
    )
  return url.href.replace(/\/+$/, '')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
}
