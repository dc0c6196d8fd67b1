import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { accountStop, keyExpiry } from '../collect/account.ts'
import { UsageUnavailable } from '../collect/stop.ts'
import { jobPlaces, workspaceFile } from '../jobfile/files.ts'
import { peek } from '../jobfile/peek.ts'
import {
  corrected,
  type OthersSpending,
  paceOfOthers,
  type UsageInterval,
  unexplainedIn,
  verifyLedger,
} from '../ledger/verify.ts'
import { RanklineError, UsageError } from '../model/errors.ts'
import type { JobSettings } from '../model/job.ts'
import type { Workspace } from '../model/settings.ts'
import { dayMs, sleep, systemClock } from '../model/time.ts'
import { type App, connections, outgoing } from '../run/app.ts'
import {
  type CommandOptions,
  databaseFile,
  keyHash,
  logFormat,
  metricsFile,
  namedSecret,
  queueSettings,
  serviceSettings,
  settingsOfShell,
  version,
  zoneSetting,
} from '../run/config.ts'
import { stageJobs, workspaces } from '../run/job-files.ts'
import { turns } from '../run/lock.ts'
import { accountOf } from '../run/plan-jobs.ts'
import {
  databaseCondition,
  mayWrite,
  refuseFolder,
  refuseNetworkFolder,
} from '../store/sqlite/connection/database.ts'
import { databaseLock, isHeld, keyLock, realFile } from '../store/sqlite/connection/lock.ts'
import { freeBytes } from '../store/sqlite/connection/watch.ts'
import { type CheckFinding, checks, type InstallationFacts } from './doctor.ts'
import { type LaidOutFile, newWorkspace } from './init.ts'

/** A check by its name, and what it found. */
export type Examined = CheckFinding & { readonly check: string }

/** Does every check in the working folder. Makes and changes no database; calls only what is free. */
export async function examine(options: CommandOptions): Promise<readonly Examined[]> {
  const facts = await gather(options)
  return checks.map(({ name, judge }) => ({ check: name, ...judge(facts) }))
}

async function gather(options: CommandOptions): Promise<InstallationFacts> {
  const { path, isNamed } = databaseFile.setting(options)
  const { facts: settings, keyHash } = await settingsFacts(options)
  // Before the service is asked: while the answer is stored, the database is open.
  const database = await databaseFacts(path, { isNamed })
  const locks = lockFacts(path, keyHash)
  const isQueued = 'isQueued' in settings && settings.isQueued
  const folderAndJobs = {
    folder: folderFacts('.'),
    ...(await workspaceFacts('.', { allowHttp: options.allowHttp === true })),
  }
  const isAlone = !isQueued && locks.every(({ of, owner }) => of !== 'key' || owner === null)
  const asked =
    keyHash === null
      ? { service: null, sharing: nothingKnown }
      : await serviceFacts(options, database, { isAlone })
  return {
    now: systemClock.wall(),
    program: programFacts(),
    settings,
    ...asked,
    queue: await queueFacts(),
    database,
    freeBytes: freeBytes(existingFolder(path)),
    locks,
    cron: cronFacts(),
    ...folderAndJobs,
  }
}

function programFacts(): InstallationFacts['program'] {
  const { versions, platform, arch } = process
  const zones = Intl.supportedValuesOf('timeZone')
  return {
    version,
    node: versions.node,
    platform: `${platform} ${arch}`,
    zoneData: versions.tz ?? null,
    knowsZones: zones.includes('Asia/Tokyo'),
    zone: zoneHere(zones),
  }
}

/** The zone of this machine. A formatter knows it, too, but the first one takes longer to make than most checks. */
function zoneHere(known: readonly string[]): string {
  const name = zoneSetting() ?? linkedZone() ?? ''
  if (name === 'UTC' || name === 'Etc/UTC') return 'UTC'
  // Other names of a zone, and other ways to say it, are told by the formatter.
  return known.includes(name) ? name : new Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** The zone that the system's clock is set to, where it is a link to the file of one. */
function linkedZone(): string | undefined {
  try {
    return realpathSync('/etc/localtime').split('/zoneinfo/')[1]
  } catch {
    return undefined
  }
}

/** Databases up to this size are read whole: it takes some seconds. */
const quicklyChecked = 500_000_000

/** What there is of a database; nothing is made or changed. */
async function databaseFacts(
  path: string,
  { isNamed }: { readonly isNamed: boolean },
): Promise<InstallationFacts['database']> {
  try {
    const folder = existingFolder(path)
    if (!existsSync(path)) {
      if (isNamed) refuseFolder(path)
      refuseNetworkFolder(folder)
      const makeable = isWritable(folder)
        ? null
        : `This user may not write into ${folder}: no run can make the database there. Work elsewhere, or name another with --db`
      return { state: 'missing', path, makeable }
    }
    refuseNetworkFolder(dirname(realFile(path)))
    const bytes = statSync(path).size
    const isChecked = bytes <= quicklyChecked
    const condition = await databaseCondition(path, isChecked)
    return { state: 'there', path, bytes, isWritable: mayWrite(path), ...condition, isChecked }
  } catch (error) {
    if (!(error instanceof RanklineError)) throw error
    return { state: 'unusable', path, mistake: error.message }
  }
}

/** The nearest folder above a file that is there. */
function existingFolder(file: string): string {
  let folder = dirname(resolve(file))
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder)
  return folder
}

/** @param keyHash null where there is no key */
function lockFacts(database: string, keyHash: string | null): InstallationFacts['locks'] {
  const files = [['database', databaseLock(database)] as const]
  return [...files, ...(keyHash === null ? [] : [['key', keyLock(keyHash)] as const])].map(([of, file]) => ({
    of,
    file,
    owner: isHeld(file) ? ownerText(file) : null,
    isUsable: isWritable(existsSync(file) ? file : existingFolder(file)),
  }))
}

function ownerText(file: string): string {
  const owner = turns.ownerOf(file)
  return owner.startsWith('process') ? owner : 'another process'
}

async function queueFacts(): Promise<InstallationFacts['queue']> {
  try {
    const url = queueSettings.url({})
    if (url === null) return null
    const { sharedQueue } = await import('../machines/queue.ts')
    const { queueProblems } = await import('../machines/problems.ts')
    const status = await sharedQueue.work(url, ({ operations }) => operations.status())
    const problems = queueProblems.all(status, systemClock.wall())
    const [workers, runs] = [status.workers.length, status.runs.length]
    return { version: status.schemaVersion, workers, runs, problems }
  } catch (error) {
    if (!(error instanceof RanklineError)) throw error
    const { JournalMissing } = await import('../machines/journal.ts')
    return { mistake: error.message, isMissing: error instanceof JournalMissing }
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Where cron looks for programs, on Debian and most others. */
const cronPath = ['/usr/bin', '/bin']

function cronFacts(): InstallationFacts['cron'] {
  return {
    onlyInShell: settingsOfShell(),
    findsNode: process.platform === 'win32' || cronPath.some((folder) => existsSync(`${folder}/node`)),
  }
}

/** The settings of the service, and the hash that stands for the key; null where they cannot be used. */
async function settingsFacts(options: CommandOptions): Promise<{
  readonly facts: InstallationFacts['settings']
  readonly keyHash: string | null
}> {
  try {
    logFormat(undefined)
    if (metricsFile(undefined) !== null) (await import('../unattended/after-run.ts')).metrics.file(undefined)
    const settings = serviceSettings(options)
    const { baseUrl } = settings
    const isQueued = queueSettings.url({}) !== null
    const facts = { baseUrl, proxy: connections.proxy(baseUrl)?.origin ?? null, isQueued }
    return { facts, keyHash: keyHash(settings) }
  } catch (error) {
    if (!(error instanceof RanklineError)) throw error
    return { facts: { mistake: error.message }, keyHash: null }
  }
}

const nothingKnown: InstallationFacts['sharing'] = { isKnown: false, lately: null, perMinute: null }

/**
 * What the service says, for free, and what others spend with the key. Both are read through a sound database only.
 *
 * @param isAlone whether no process that is known of spends with the key now
 */
async function serviceFacts(
  options: CommandOptions,
  database: InstallationFacts['database'],
  { isAlone }: { readonly isAlone: boolean },
): Promise<Pick<InstallationFacts, 'service' | 'sharing'>> {
  try {
    await using app = await connections.freely(options, {
      stored: isSound(database) ? 'up-to-date' : 'left-alone',
    })
    const service = await askService(app)
    const spans = await spansOf(app)
    const isUsed = 'account' in service && service.account.totalUsed !== 0
    const perMinute = isAlone && isUsed ? await paceNow(app, spans) : null
    const lately = spentByOthersLately(spans, app.clock.wall())
    return { service, sharing: { isKnown: spans.length > 0, lately, perMinute } }
  } catch (error) {
    if (!(error instanceof RanklineError)) throw error
    return { service: { about: 'service', mistake: error.message }, sharing: nothingKnown }
  }
}

function isSound(database: InstallationFacts['database']): boolean {
  if (database.state !== 'there') return false
  return database.isWritable && !database.isOlder && database.damage === null
}

async function askService(app: App): Promise<NonNullable<InstallationFacts['service']>> {
  const account = await accountOf(app)
  if (account instanceof UsageUnavailable)
    return { about: account.stop.reason === 'auth' ? 'key' : 'service', mistake: account.message }
  return {
    account,
    stop: accountStop(account, account.at)?.message ?? null,
    keyExpiresAt: keyExpiry(account),
    aheadMs: account.aheadMs,
  }
}

async function spansOf({ store, keyHash }: App): Promise<readonly UsageInterval[]> {
  const failovers = await store.queueFailovers()
  return corrected(verifyLedger(store.readings(keyHash), store.charges(keyHash), failovers).spans)
}

/** Between two readings of which the second is taken for it. */
const secondLookMs = 1_500

/** What others spend a minute now; the account is read a second time where the readings that are there do not tell. */
async function paceNow(app: App, spans: readonly UsageInterval[]): Promise<number | null> {
  const known = paceOfOthers(spans, app.clock.wall())
  if (known !== null) return known
  await sleep(app.clock, secondLookMs)
  await accountOf(app)
  return paceOfOthers(await spansOf(app), app.clock.wall())
}

const weekMs = 7 * dayMs

/** What others spent with the key in the week before now: what is older has been seen, or is past mending. */
export function spentByOthersLately(spans: readonly UsageInterval[], now: number): OthersSpending | null {
  return unexplainedIn(spans.filter(({ until }) => until > now - weekMs)).others
}

/** What there is in a folder beside its jobs. */
function folderFacts(folder: string): InstallationFacts['folder'] {
  const isOld = ({ path, text }: LaidOutFile): boolean => {
    const file = join(folder, path)
    return existsSync(file) && readFileSync(file, 'utf8') !== text
  }
  return {
    hasWorkspaceFile: existsSync(join(jobPlaces.workspaceFolder(folder), workspaceFile)),
    hasOldSchemas: newWorkspace.schemaFiles().some(isOld),
  }
}

/** The jobs of a folder and what they share, read as `plan` does. */
async function workspaceFacts(
  folder: string,
  { allowHttp }: { readonly allowHttp: boolean },
): Promise<Pick<InstallationFacts, 'jobs' | 'channels'>> {
  try {
    const workspace = await workspaces.open(folder)
    const { facts, settings } = await jobFacts(folder)
    return { jobs: facts, channels: await channelFacts(workspace, settings, allowHttp) }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return { jobs: { ...noJobs, workspaceMistake: error.message }, channels: [] }
  }
}

const noJobs: InstallationFacts['jobs'] = {
  workspaceMistake: null,
  files: 0,
  sound: 0,
  firstMistake: null,
  queries: 0,
  credits: 0,
  scheduled: 0,
  alerting: [],
}

async function jobFacts(
  folder: string,
): Promise<{ readonly facts: InstallationFacts['jobs']; readonly settings: readonly JobSettings[] }> {
  const files = peek.jobFiles(folder)
  if (files.length === 0) return { facts: noJobs, settings: [] }
  // As if they had never run: by job and key of each query, the credits of all its pages.
  const asked = new Map<string, Map<string, number>>()
  const draft: Parameters<typeof stageJobs>[1] = {
    add: async (job, queries) => {
      const own = asked.get(job) ?? new Map<string, number>()
      asked.set(job, own)
      for (const { key, pages, credits } of queries) {
        const name = key.toString('latin1')
        own.set(name, Math.max(own.get(name) ?? 0, pages * credits))
      }
    },
    leaveOut: async () => {},
  }
  const lines: string[] = []
  const events = {
    logMistake: (line: string) => lines.push(line),
    onMistakes: () => {},
    onRead: () => {},
  }
  const nothingRan = { jobFile: async () => null }
  const staged = (await stageJobs({ job: files, skipBad: true }, draft, nothingRan, events)) ?? []
  let queries = 0
  let credits = 0
  for (const { settings } of staged) {
    const own = asked.get(settings.name) ?? new Map<string, number>()
    let most = 0
    for (const one of own.values()) most += one
    queries += own.size
    credits += Math.min(most, settings.budget.maxCredits ?? Number.POSITIVE_INFINITY)
  }
  const facts: InstallationFacts['jobs'] = {
    workspaceMistake: null,
    files: files.length,
    sound: staged.length,
    firstMistake: staged.length === files.length ? null : (lines[0] ?? null),
    queries,
    credits,
    scheduled: staged.filter(({ settings }) => settings.schedule !== null).length,
    alerting: staged
      .filter(({ settings: { alerts, digest } }) => (alerts ?? []).length > 0 || digest !== null)
      .map(({ settings }) => settings.name),
  }
  return { facts, settings: staged.map(({ settings }) => settings) }
}

async function channelFacts(
  { channels, folder }: Workspace,
  jobs: readonly JobSettings[],
  allowHttp: boolean,
): Promise<InstallationFacts['channels']> {
  const named = jobs.flatMap(({ alerts, digest }) => [
    ...(alerts ?? []),
    ...(digest === null ? [] : [digest]),
  ])
  const unknown = new Set(
    named.flatMap(({ to }) => to ?? []).filter((name) => !Object.hasOwn(channels, name)),
  )
  const pinged = new Set(jobs.flatMap(({ ping }) => ping?.urlEnv ?? []))
  const silent = [...pinged].filter((variable) => namedSecret(variable) === undefined)
  const around = { ...outgoing(allowHttp), folder, now: systemClock.wall }
  const { openChannel } = await import('../unattended/channels/index.ts')
  return [
    ...Object.entries(channels).map(([name, channel]) => {
      const opened = openChannel(channel, around)
      return { name, obstacle: 'missing' in opened ? opened.missing : null }
    }),
    ...[...unknown].map((name) => ({
      name,
      obstacle: `a job sends to it, but ${workspaceFile} has no such channel`,
    })),
    ...silent.map((variable) => ({
      name: 'ping',
      obstacle: `${variable} is not set. Set it in the environment or in .env`,
    })),
  ]
}
