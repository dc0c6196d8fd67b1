import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import pkg from '../../package.json' with { type: 'json' }
import { jobPlaces, workspaceFile } from '../jobfile/files.ts'
import { UsageError } from '../model/errors.ts'
import { editDistance, encodingOf, parseDuration } from '../model/text.ts'
import { isLoopback, parseUrl } from '../model/url.ts'
import type { BrowserPlaces } from '../report/report.ts'
import { postgresAddresses } from './postgres-address.ts'

/** Where and how a command is to work, as far as it was told; environment and `.env` say the rest. */
export interface CommandOptions {
  readonly db?: string | undefined
  readonly baseUrl?: string | undefined
  readonly apiKeyFile?: string | undefined
  readonly allowHttp?: boolean | undefined
  /** Seconds to wait for the answer to a call. */
  readonly timeout?: string | undefined
  /** Whether the clock of this machine is gone by, however far off the service finds it. */
  readonly trustClock?: boolean | undefined
  /** How long to wait while another process collects. */
  readonly wait?: string | undefined
  readonly queue?: string | undefined
  readonly lease?: string | undefined
}

/** Where the service is and with which key it is asked. */
export interface ServiceSettings {
  /** Without a trailing slash; may carry a path. */
  readonly baseUrl: string
  readonly apiKey: string
  /** Whether addresses may be asked in the clear that are not this machine; not if missing. */
  readonly allowHttp?: boolean
}

const defaultDatabase = 'data/rankline.db'

/** Path of the database: option, environment, `.env`, that of the workspace. */
function databasePath(options: CommandOptions): string {
  return databaseSetting(options).path
}

/** Path of the database, and whether the user named it. */
function databaseSetting(options: CommandOptions): {
  readonly path: string
  readonly isNamed: boolean
} {
  if (options.db?.trim() === '')
    throw new UsageError('--db is empty. Name a database file, for instance data/rankline.db')
  const named = options.db ?? pathSetting('RANKLINE_DB')
  if (named !== undefined && /^(:memory:$|file:)/i.test(named.trim()))
    throw new UsageError(
      `The database cannot be '${named}': paid answers must be kept in a file. Name one with --db, for instance data/rankline.db`,
    )
  if (named !== undefined) return { path: named, isNamed: true }
  usual ??= usualDatabase()
  if (usual.note !== null) place.note(usual.note)
  usual = { ...usual, note: null }
  return { path: usual.path, isNamed: false }
}

/** Creates the folder of the default database. The folder of a database that was named must exist. */
function makeDefaultFolder(database: string): void {
  if (database === usual?.path) makeDataFolder(dirname(database))
}

/** Makes the folder of default databases, that in the working folder if no other is named; throws one sentence where it cannot be made. */
function makeDataFolder(folder = dirname(defaultDatabase)): void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOTDIR')
      throw new UsageError(
        `${resolve(folder)} is not a folder, so no database can be created in it. Rename it, or name a database elsewhere with --db`,
        { cause: error },
      )
    throw new UsageError(
      `The folder ${resolve(folder)} cannot be created for the database. Work in a folder where you may write, or name a database elsewhere with --db`,
      { cause: error },
    )
  }
}

/** Address and key of the service. Throws one sentence with what to type where one is missing or cannot be used. */
export function serviceSettings(options: CommandOptions): ServiceSettings {
  const baseUrl = options.baseUrl ?? setting('RANKLINE_BASE_URL')
  if (baseUrl === undefined)
    throw new UsageError(
      `The address of the service is not set. Put RANKLINE_BASE_URL=https://… into ${settingsPlaces()}, or try it without an account: rankline demo`,
    )
  return {
    baseUrl: checkedBaseUrl(baseUrl, options.allowHttp === true),
    apiKey: checkedKey(readKey(options)),
    allowHttp: options.allowHttp === true,
  }
}

/** Proxies that the environment names, in either case of letters; the lower one counts first. */
export function proxyVariables() {
  const either = (name: string): string | null => setting(name) ?? setting(name.toUpperCase()) ?? null
  return { httpProxy: either('http_proxy'), httpsProxy: either('https_proxy'), noProxy: either('no_proxy') }
}

/** Long enough for a database that starts anew, short enough that a dead process is not missed for long. */
const usualLeaseMs = 20_000
const shortestLeaseMs = 1_000

/** How long what a process holds in the queue stays its own when nothing is heard of it. */
function leaseOf({ lease }: CommandOptions): number {
  const ms = lease === undefined ? usualLeaseMs : parseDuration(lease, 'smhd')
  if (ms !== null && ms >= shortestLeaseMs) return ms
  throw new UsageError(`--lease cannot be '${lease}'; write a time of at least 1s, for instance 60s`)
}

/**
 * The shared journal of many machines, with its password: option, environment, `.env`, the password file of Postgres; null where this
 * machine works alone.
 */
function queueUrl(options: CommandOptions): string | null {
  const typed = options.queue ?? setting('RANKLINE_QUEUE')
  if (typed === undefined) return null
  const by = options.queue === undefined ? 'RANKLINE_QUEUE' : '--queue'
  return withPassword(typed, by)
}

/** The address of a Postgres database that an option or variable holds, with the password that the environment, `.env` or a password file has for it. */
function withPassword(address: string, by: string): string {
  const environment = { PGPASSWORD: dotEnv().PGPASSWORD, ...process.env }
  const url = postgresAddresses.of(address, by, environment)
  const line = postgresAddresses.unencryptedNote(url, by, environment)
  if (line !== null && !saidUnencrypted.has(line)) place.note(line)
  if (line !== null) saidUnencrypted.add(line)
  return url
}

/** Lines that were said: commands ask for an address several times. */
const saidUnencrypted = new Set<string>()

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

/** A Prometheus file that is written after each run. */
export type MetricsFile = NonNullable<ReturnType<typeof metricsFile>>

/** Where metrics go, and by which option or variable: option, environment, `.env`; null where none are wanted. */
export function metricsFile(named: string | undefined) {
  if (named !== undefined) return { path: named, by: '--metrics-file' }
  const path = pathSetting('RANKLINE_METRICS')
  return path === undefined ? null : { path, by: 'RANKLINE_METRICS' }
}

/** How messages on standard error are written. */
export type LogFormat = 'text' | 'json'

/** The format of the log: option, environment, `.env`, text. */
export function logFormat(named: string | undefined): LogFormat {
  const format = named ?? setting('RANKLINE_LOG_FORMAT') ?? 'text'
  if (format === 'text' || format === 'json') return format
  const by = named === undefined ? 'RANKLINE_LOG_FORMAT' : '--log-format'
  throw new UsageError(`${by} cannot be '${format}'; write text or json`)
}

/** Where a browser that prints may be. */
export function browserPlaces(): BrowserPlaces {
  const { PATH = '', ProgramFiles, LOCALAPPDATA } = process.env
  const programs = [ProgramFiles, process.env['ProgramFiles(x86)'], LOCALAPPDATA]
  return {
    named: setting('CHROME_PATH') ?? null,
    platform: process.platform,
    path: PATH.split(delimiter).filter((folder) => folder !== ''),
    programs: programs.filter((folder) => folder !== undefined),
    home: homedir(),
    environment: commandEnvironment(),
  }
}

/** What a variable holds that a workspace or job file names: environment, then `.env`; undefined where it is not set. */
export function namedSecret(name: string): string | undefined {
  return setting(name)
}

/** The environment of commands that the user has rankline start: without the API key, which is for the service alone. */
export function commandEnvironment(): Readonly<Record<string, string | undefined>> {
  const { RANKLINE_API_KEY: _, ...others } = process.env
  return others
}

function setting(name: string): string | undefined {
  const value = [process.env[name], dotEnv()[name]].map((one) => one?.trim()).find((one) => one)
  if (value === undefined && name.startsWith('RANKLINE_')) refuseSlip(name)
  return value
}

/** A setting that is missing, and another one that is nearly called so, are a slip of the pen. */
function refuseSlip(name: string): void {
  const places = [
    ['the environment', process.env],
    ['.env', dotEnv()],
  ] as const
  for (const [place, variables] of places) {
    const set = Object.keys(variables).filter((one) => variables[one]?.trim())
    const slip = nearlyNamed(name, set)
    if (slip !== null)
      throw new UsageError(`${slip} in ${place} is not a setting of rankline. Did you mean ${name}?`)
  }
}

const otherNames: Readonly<Record<string, readonly string[]>> = {
  RANKLINE_BASE_URL: ['RANKLINE_URL', 'RANKLINE_API_URL', 'RANKLINE_HOST'],
  RANKLINE_API_KEY: ['RANKLINE_KEY', 'RANKLINE_TOKEN', 'RANKLINE_API_TOKEN'],
  RANKLINE_QUEUE: ['RANKLINE_QUEUE_URL', 'RANKLINE_POSTGRES'],
  RANKLINE_DB: ['RANKLINE_DATABASE', 'RANKLINE_DB_PATH', 'RANKLINE_DB_FILE'],
}

/** The first of these variables whose name a user may have written for this one; null where there is none. */
export function nearlyNamed(name: string, variables: readonly string[]): string | null {
  const slips = name.length > 11 ? 2 : 1
  const isMeant = (variable: string): boolean =>
    otherNames[name]?.includes(variable.toUpperCase()) === true ||
    (Math.abs(variable.length - name.length) <= slips &&
      editDistance(variable.toUpperCase().replaceAll('-', '_'), name) <= slips)
  return variables.find((variable) => variable !== name && isMeant(variable)) ?? null
}

let dotEnvRead: Readonly<Record<string, string | undefined>> | null = null

function dotEnv(): Readonly<Record<string, string | undefined>> {
  dotEnvRead ??= parseEnv(envFileText() ?? '')
  return dotEnvRead
}

/** The place that a command belongs to. */
let place: {
  /** Folders of the job files that were named; the working folder where none was. */
  readonly folders: readonly string[]
  /** Prints a line of information. */
  readonly note: (line: string) => void
} = { folders: ['.'], note: () => {} }
/** The database where none is named, as long as the place is the same. */
let usual: { readonly path: string; readonly note: string | null } | null = null

/** Settings are sought from the folders of these job files, or of these folders, upward; without any, from the working folder. */
export function workAt(jobFiles: readonly string[], note: (line: string) => void): void {
  const folders = jobFiles.map((file) => (jobPlaces.isFolder(file) ? file : dirname(file)))
  place = { folders: folders.length === 0 ? ['.'] : [...new Set(folders)], note }
  usual = null
  dotEnvRead = null
}

/** The database of the workspace, or an older one of the working folder. Throws a sentence where job files belong to several. */
function usualDatabase(): { readonly path: string; readonly note: string | null } {
  const roots = [...new Set(place.folders.map(rootOf))]
  const current = realPath('.')
  const fileIn = (folder: string): string => jobPlaces.shown(join(folder, defaultDatabase))
  const hasDatabase = (folder: string): boolean => existsSync(join(folder, defaultDatabase))
  const [root = current, other] = roots
  if (other !== undefined) {
    const [own] = roots.filter(hasDatabase)
    if (own === undefined) return { path: fileIn(current), note: null }
    throw new UsageError(
      `These job files belong to several workspaces (${roots.map(jobPlaces.shown).join(', ')}), and ${fileIn(own)} is the database of one of them. Name the jobs of one workspace at a time, or the database with --db`,
    )
  }
  if (root === current || hasDatabase(root) || !hasDatabase(current))
    return { path: fileIn(root), note: null }
  return {
    path: fileIn(current),
    note: `The workspace ${jobPlaces.shown(root)} has no database, so that of the current folder is used: ${fileIn(current)}. To keep it, move it to ${fileIn(root)}, or name it with --db.`,
  }
}

/**
 * The workspace that a folder belongs to: that of `rankline.yaml`. Without that file it is the nearest folder above that has a database,
 * or is the current one; else the folder itself.
 */
function rootOf(folder: string): string {
  const real = realPath(folder)
  const marked = jobPlaces.folderOf(workspaceFile, real)
  if (marked !== null) return marked
  const current = realPath('.')
  return jobPlaces.upwardFrom(real, (at) => at === current || existsSync(join(at, defaultDatabase))) ?? real
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return resolve(folder)
  }
}

/** The folder of `.env`: sought upward from the job files, else from the working folder, where it is put if there is none. */
function envFolder(): string {
  const [one, other] = envFolders()
  return (other === undefined ? one : null) ?? jobPlaces.folderOf(envFile, '.') ?? '.'
}

/** The folders of the job files' own `.env`. */
function envFolders(): readonly (string | null)[] {
  return [...new Set(place.folders.map((folder) => jobPlaces.folderOf(envFile, folder)))]
}

const envFile = '.env'

/** A path that a variable holds. One of `.env` is seen from the folder of that file. */
function pathSetting(name: string): string | undefined {
  const value = setting(name)
  const isOfFile = !process.env[name]?.trim() && value !== undefined
  return isOfFile && !isAbsolute(value) && !/^(:memory:$|file:)/i.test(value)
    ? jobPlaces.shown(join(envFolder(), value))
    : value
}

/** Reads `.env` anew where it is needed next: the user may have put another key into it. */
function forgetEnvFile(): void {
  dotEnvRead = null
}

/** The text of `.env`; null where there is none. */
function envFileText(): string | null {
  return settingsText(jobPlaces.shown(join(envFolder(), envFile)))
}

/** Settings of rankline that only this shell has: what the system starts would be without them. */
export function settingsOfShell(): readonly string[] {
  const { env } = process
  return Object.keys(env).filter(
    (name) => name.startsWith('RANKLINE_') && env[name]?.trim() && !dotEnv()[name]?.trim(),
  )
}

/** The time zone that the environment gives this process; undefined where it has that of the system. */
export function zoneSetting(): string | undefined {
  return process.env.TZ
}

function settingsPlaces(): string {
  const path = jobPlaces.shown(join(envFolder(), envFile))
  if (envFolders().length > 1 && !existsSync(path))
    return 'the environment (job files of several workspaces share no .env)'
  return jobPlaces.isFolder(path)
    ? `the environment (${path} is a folder here)`
    : `the environment or into ${path}`
}

/** The text of `.env`; null where there is no such file. Some keep a folder of that name for another program. */
function settingsText(path: string): string | null {
  try {
    return decodedText(readFileSync(path), path)
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    if (code === 'ENOENT' || code === 'EISDIR') return null
    if (error instanceof UsageError) throw error
    throw new UsageError(`The settings file ${path} cannot be read. Check who may read it`, {
      cause: error,
    })
  }
}

/** Text in UTF-8 or UTF-16, as its first bytes say; Windows writes both. */
export function decodedText(bytes: Buffer, path: string): string {
  try {
    const text = new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // The error below says it.
  }
  throw new UsageError(`${path} is not text in UTF-8. Save it as UTF-8`)
}

function readKey(options: CommandOptions): string {
  const file = options.apiKeyFile
  if (file === undefined) {
    const key = setting('RANKLINE_API_KEY')
    if (key !== undefined) return key
    throw new UsageError(
      `The API key is not set. Put RANKLINE_API_KEY=… into ${settingsPlaces()}, or name a file that holds it with --api-key-file`,
    )
  }
  try {
    return decodedText(readFileSync(file), file).trim()
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`The key file ${file} cannot be read. Check the path given to --api-key-file`, {
      cause: error,
    })
  }
}

/** A shorter key is cut off. It may also stand in a word of an answer, where the key is struck out. */
export const shortestKey = 8

function checkedKey(key: string): string {
  if (key === '')
    throw new UsageError(
      'The API key is empty. Set RANKLINE_API_KEY, or put the key into the file given to --api-key-file',
    )
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new UsageError(
      'The API key holds spaces, line breaks or other characters that keys never contain. Copy it again from the dashboard',
    )
  if (key.length < shortestKey)
    throw new UsageError(
      `The API key has fewer than ${shortestKey} characters, so a part of it is missing. Copy it again from the dashboard`,
    )
  return key
}

function checkedBaseUrl(text: string, allowHttp: boolean): string {
  const url = parseUrl(text)
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw new UsageError(
      `The base URL '${text.replace(/\/\/.*@/, '//')}' is not a web address. Write it like https://host or https://host/path`,
    )
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new UsageError(
      'The base URL may carry a host and a path, nothing else. Leave out user names, ? and #',
    )
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname))
    throw new UsageError(
      `The base URL ${text} would send the key in the clear. Write https://, or add --allow-http if that is meant`,
    )
  const address = url.href.replace(/\/+$/, '')
  const version = address.match(/(?:\/api)?\/v1$/i)?.[0]
  if (version !== undefined)
    throw new UsageError(
      `The base URL ${address} ends in ${version}, which rankline adds itself: leave out ${version} and write ${address.slice(0, -version.length)}`,
    )
  return address
}

/** Version of this program. */
export const version: string = pkg.version

/** Names a key at an address without giving it away. */
export function keyHash({ baseUrl, apiKey }: ServiceSettings): string {
  // Imported above it would be loaded by every start.
  const { createHash } = process.getBuiltinModule('node:crypto')
  return createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex').slice(0, 32)
}

/** The key of this host, as the queue names it; null where none is set, or none that can be used. */
export function ownKeyHash(options: CommandOptions): string | null {
  try {
    return keyHash(serviceSettings(options))
  } catch (error) {
    if (error instanceof UsageError) return null
    throw error
  }
}

/** How the service manager that started this process is told of it; null where none wants to be. */
export function notifySettings() {
  const { NOTIFY_SOCKET, PATH = '', WATCHDOG_USEC, WATCHDOG_PID } = process.env
  if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '') return null
  const isMeant = WATCHDOG_PID === undefined || WATCHDOG_PID === String(process.pid)
  const watchdogMs = isMeant ? Number(WATCHDOG_USEC) / 1000 : Number.NaN
  return {
    // What its own program needs of the environment, and no more: the key is not among it.
    env: { NOTIFY_SOCKET, PATH },
    /** It ends a service that was silent for so long; null where it does not. */
    watchdogMs: watchdogMs > 0 ? watchdogMs : null,
  }
}

/** Settings of the queue that machines share. */
export const queueSettings = {
  url: queueUrl,
  lease: leaseOf,
  withPassword,
}

/** Where the database of a command is. */
export const databaseFile = {
  path: databasePath,
  setting: databaseSetting,
  makeDefaultFolder,
  makeDataFolder,
}

/** The file .env of the working folder. */
export const dotEnvFile = {
  text: envFileText,
  forget: forgetEnvFile,
}
