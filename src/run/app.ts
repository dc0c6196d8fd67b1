import { existsSync } from 'node:fs'
import { type ApiClient, apiClient, type FinishedCall, type ServiceDelays } from '../api/client.ts'
import { addressMistake, type HttpClient, type HttpProxy, type Post, poster, proxyFor } from '../api/http.ts'
import { type RateLimiter, rateLimiter } from '../api/rate-limiter.ts'
import { usage } from '../catalog/index.ts'
import { aheadOf, parseUsage, wrongAddress } from '../collect/account.ts'
import type { CollectOptions, CollectResult } from '../collect/collect.ts'
import { StopRequested } from '../collect/stop.ts'
import { RanklineError, UsageError, WrongClock } from '../model/errors.ts'
import type { Run } from '../model/run.ts'
import { agreeingMs, type Clock, clockOff, hourMs, refusedMs, systemClock, utcMinute } from '../model/time.ts'
import { numberOption } from '../model/values.ts'
import { databaseLock } from '../store/sqlite/connection/lock.ts'
import type { Store } from '../store/sqlite/open.ts'
import {
  type CommandOptions,
  commandEnvironment,
  databaseFile,
  keyHash,
  namedSecret,
  proxyVariables,
  type ServiceSettings,
  serviceSettings,
  version,
} from './config.ts'
import { turns } from './lock.ts'

/** Store and service, joined; both are closed with it. */
export interface App extends AsyncDisposable {
  readonly store: Store
  /** Path of the file that the store is in. */
  readonly database: string
  readonly service: ApiClient
  /** The same service, waited for as long as that. */
  readonly serviceWith: (serviceDelays: ServiceDelays) => ApiClient
  readonly keyHash: string
  readonly clock: Clock
  /** Says whether the address and that clock can be worked with; asked before runs are made, slots taken and messages sent. */
  readonly clockCheck: ReturnType<typeof clockCheck>
  /** What messages and pings leave through. */
  readonly outgoing: Outgoing
  /** The machines that share the work; null where this one works alone. */
  readonly machines: Machines | null
}

/** The machines that share a queue, for the process that plans and follows. */
export interface Machines {
  /**
   * Takes the right to coordinate these jobs, waits where another process has it, and brings what others did. Each of them is that of this
   * key from then on, also in the database.
   */
  begin(jobs: readonly string[]): Promise<void>
  /** Rejected with one sentence where one of these runs was begun with another key. */
  refuseOtherKeys(runs: readonly Run[]): Promise<void>
  collect(options: CollectOptions, runs: readonly Run[]): Promise<CollectResult>
  /** Tells all machines how runs ended. */
  finished(runs: readonly Run[]): Promise<void>
  /** Whether every call of all machines since an instant has ended and is known here; false where that cannot be found out. */
  knowsAllCalls(since: number): Promise<boolean>
}

/** How long after its row in the ledger was begun a request may leave, while a commit waits for the disk. */
const latestDepartureMs = 500

/**
 * Gets ready for free calls, which wait for no turn. They are written into the ledger, as all calls are, but where it may not be
 * written or belongs to a process with an older rankline: then they are made all the same.
 *
 * @param stored whether what is stored is read, too; a database that is missing is then not made either. `left-alone` opens none:
 * the calls are in no ledger; of one that is `up-to-date` that has just been seen
 */
async function connectFreely(
  options: CommandOptions,
  { stored }: { readonly stored: StoredUse },
  clock: Clock = systemClock,
): Promise<App> {
  const { settings, timeoutMs } = readServiceOptions(options, clock)
  const database = databaseFile.path(options)
  if (stored === 'not-read') databaseFile.makeDefaultFolder(database)
  const store = await openFreely(database, stored)
  return createApp({ store, database }, settings, timeoutMs, clock)
}

/** How far the service's clock is ahead of ours, asked for free and written nowhere; null where that cannot be found out. */
async function serviceAhead(options: CommandOptions, signal?: AbortSignal): Promise<number | null> {
  try {
    await using app = await connectFreely(options, { stored: 'left-alone' })
    return aheadOf(await app.service.lookup(usage, {}, { signal }))
  } catch (error) {
    // The run that follows says what is wrong with the settings.
    if (error instanceof RanklineError || error instanceof StopRequested) return null
    throw error
  }
}

/** Whether what is stored is read, is only written into, or stays untouched. */
type StoredUse = 'read' | 'up-to-date' | 'not-read' | 'left-alone'

async function openFreely(database: string, stored: StoredUse): Promise<Store> {
  const { mayWrite, needsMigration } = await import('../store/sqlite/connection/database.ts')
  const { openCopy, openStore } = await import('../store/sqlite/open.ts')
  const isMissing = !existsSync(database)
  const isRead = stored === 'read' || stored === 'up-to-date'
  if (stored === 'left-alone' || (isMissing && isRead)) return await openStore(':memory:')
  if (isMissing || mayWrite(database)) {
    if (stored === 'up-to-date' || !needsMigration(database)) return await openStore(database)
    using turn = turns.tryCollector(databaseLock(database))
    if (turn !== null) return await openStore(database)
  }
  return isRead ? await openCopy(database) : await openStore(':memory:')
}

/**
 * Joins an open store with the service at an address.
 *
 * @param checked what was said of the clock; null where it is not compared with the service's
 */
async function createApp(
  { store, database }: Pick<App, 'store' | 'database'>,
  settings: ServiceSettings,
  timeoutMs: number,
  clock: Clock,
  checked: CommandOptions | null = null,
): Promise<App> {
  const http = await openHttp(settings, timeoutMs)
  const hash = keyHash(settings)
  // Not before the first request: others may send while this process waits for its turn.
  const limiter = rateLimiter({ clock, coldRequests: 64, before: countEarlierCalls })
  const { baseUrl } = settings
  const serviceWith = (serviceDelays: ServiceDelays): ApiClient =>
    apiClient({ baseUrl, http, rateLimiter: limiter, store, clock, keyHash: hash, serviceDelays })
  const service = serviceWith(lookupDelays)
  return {
    store,
    database,
    service,
    serviceWith,
    keyHash: hash,
    clock,
    clockCheck: checked === null ? unchecked : clockCheck({ service, store, clock, options: checked }),
    outgoing: outgoing(settings.allowHttp === true),
    machines: null,
    [Symbol.asyncDispose]: async () => {
      await http.close()
      await store[Symbol.asyncDispose]()
    },
  }

  /** Another process may have used up part of the last minute: its calls and the limits it met are in the ledger. */
  async function countEarlierCalls(limiter: RateLimiter): Promise<void> {
    const now = clock.wall()
    const last = await store.lastUsage(hash)
    const limits = last === null ? undefined : parseUsage(Buffer.from(last.record))?.limits
    if (limits !== undefined) limiter.setLimits(limits)
    const calls = await store.callsSince(now - 60_000 - latestDepartureMs, now)
    // They left when their row was on disk, at an instant that is not stored: the latest possible one counts.
    const left = calls.map(({ sentAt, endedAt }) => Math.min(endedAt ?? now, sentAt + latestDepartureMs))
    limiter.countEarlierCalls(left.map((instant) => Math.max(0, now - instant)))
  }
}

/** Calls in flight at most; as many connections are opened. */
const mostConnections = 256
const defaultTimeoutSeconds = 120
/** An hour; timers of more than 24 days would fire at once. */
const longestTimeoutSeconds = 3_600

/** How long free lookups of a command wait where the service asks to be left alone. */
const lookupDelays: ServiceDelays = { throttledMs: 90_000, unavailableMs: 10_000 }

/** Checks what says where the service is, and how long a call may take. */
function readServiceOptions(
  options: CommandOptions,
  clock: Clock,
): { readonly settings: ServiceSettings; readonly timeoutMs: number } {
  refuseWrongClock(clock)
  const settings = serviceSettings(options)
  const seconds =
    numberOption('--timeout', options.timeout, { min: 1, max: longestTimeoutSeconds }) ??
    defaultTimeoutSeconds
  return { settings, timeoutMs: seconds * 1000 }
}

/** Nothing of this program is older. */
const earliest = Date.UTC(2024, 0, 1)

/** Machines without a battery begin in 1970: every day and every period would be wrong. */
function refuseWrongClock(clock: Clock): void {
  if (clock.wall() >= earliest) return
  const date = new Date(clock.wall()).toISOString().slice(0, 10)
  throw new UsageError(`The clock of this machine shows ${date}, which cannot be right. Set it first`)
}

/** Opens connections to the service; none is made before the first call. */
async function openHttp(settings: ServiceSettings, timeoutMs: number): Promise<HttpClient> {
  const { openHttpClient } = await import('../api/http.ts')
  return openHttpClient({
    origin: new URL(settings.baseUrl).origin,
    apiKey: settings.apiKey,
    connections: mostConnections,
    timeoutMs,
    userAgent: `rankline/${version}`,
    proxy: chosenProxy(settings.baseUrl),
  })
}

/** Connections to the service for a process that has no database. */
async function connectionsFor(
  options: CommandOptions,
): Promise<{ readonly http: HttpClient; readonly service: ServiceSettings }> {
  const { settings, timeoutMs } = readServiceOptions(options, systemClock)
  return { http: await openHttp(settings, timeoutMs), service: settings }
}

/** The proxy that the environment names for an address; null where requests go straight there. Throws a sentence where it is no address. */
function chosenProxy(baseUrl: string): HttpProxy | null {
  const proxy = proxyFor(baseUrl, proxyVariables())
  // What it says may hold a password.
  if (proxy === 'unreadable')
    throw new UsageError(
      'The proxy in HTTPS_PROXY (or HTTP_PROXY) is not an address. Write it like http://proxy.example:3128, or add the host of the service to NO_PROXY',
    )
  return proxy === 'direct' ? null : proxy
}

/** An older reading says too little of the balance. */
const longestMs = 5_000

/** Asks the service before anything is planned: whether it is one, and what its clock says. */
function clockCheck({
  service,
  store,
  clock,
  options,
}: {
  readonly service: ApiClient
  readonly store: Pick<Store, 'callOfRun'>
  readonly clock: Clock
  readonly options: CommandOptions
}) {
  let answer: { readonly call: FinishedCall; readonly at: number } | null = null
  let isChecked = false
  return {
    /**
     * Asks once and for free. What the service does not say, or cannot mean, stops nothing. Rejected with one sentence where only another
     * address helps, and where the clock is off by more than a day and not trusted; where it is off by minutes, that is logged.
     */
    check: async (log: (line: string) => void, signal?: AbortSignal): Promise<void> => {
      if (isChecked) return
      const call = await service.lookup(usage, {}, { signal })
      const mistake = wrongAddress(call, service.baseUrl)
      if (mistake !== null) throw new UsageError(mistake)
      answer = { call, at: clock.monotonic() }
      judgeClock(aheadOf(call), { now: clock.wall(), options, log })
      isChecked = true
    },
    /** What was answered, once, as the first reading of the account of a run; null where nothing was asked a moment ago. */
    opening: async (runId: number | null): Promise<FinishedCall | null> => {
      const asked = answer
      answer = null
      if (asked === null) return null
      const { outcome } = asked.call.settlement
      // A key that was refused is not tried again, however long planning took.
      if (outcome !== 'refused' && clock.monotonic() - asked.at > longestMs) return null
      if (runId !== null) await store.callOfRun(asked.call.callId, runId)
      return asked.call
    },
  }
}

/** A check of a clock that is no machine's. */
const unchecked: App['clockCheck'] = { check: async () => {}, opening: async () => null }

/** Logs or throws what is to be said of a clock; of one that agrees, or with which nothing could be compared, nothing. */
function judgeClock(
  aheadMs: number | null,
  {
    now,
    options,
    log,
  }: { readonly now: number; readonly options: CommandOptions; readonly log: (line: string) => void },
): void {
  if (aheadMs === null || Math.abs(aheadMs) <= agreeingMs) return
  const isTrusted = Math.abs(aheadMs) <= refusedMs || options.trustClock === true
  if (isTrusted) log(`${clockOff(aheadMs)}: days, slots and ages go by it. Set it, best by NTP.`)
  else
    throw new WrongClock(
      `${clockOff(aheadMs)}: it shows ${utcMinute(now)} UTC, the service ${utcMinute(now + aheadMs)}. Nothing was run, told or removed, for days, slots and ages would be wrong. Set the clock, best by NTP; if it is right, add --trust-clock`,
    )
}

const askAgainMs = { wrong: 300_000, unknown: hourMs, agrees: Number.POSITIVE_INFINITY }

function clockGate({
  ask,
  clock,
  options,
  log,
}: {
  /** How far the service's clock is ahead of ours; null where that cannot be found out. */
  readonly ask: () => Promise<number | null>
  readonly clock: Pick<Clock, 'wall' | 'monotonic'>
  readonly options: CommandOptions
  readonly log: (line: string) => void
}): {
  /**
   * Whether it can be worked with. The service is asked at first, whenever the clock was set or the machine slept, every five minutes
   * while the clock is wrong, and every hour while nothing is known. What is wrong is logged once.
   */
  mayWork(): Promise<boolean>
  /** Whether the service agreed, or the user said that it is right. */
  isConfirmed(): boolean
} {
  let state: keyof typeof askAgainMs = 'unknown'
  let asked: { readonly wall: number; readonly monotonic: number } | null = null
  const askAgain = async (): Promise<void> => {
    const before = state
    const said: string[] = []
    try {
      const aheadMs = await ask()
      state = aheadMs === null ? 'unknown' : 'agrees'
      judgeClock(aheadMs, { now: clock.wall(), options, log: (line) => said.push(line) })
    } catch (error) {
      if (!(error instanceof WrongClock)) throw error
      state = 'wrong'
      if (before !== 'wrong') log(error.message)
    }
    if (before === 'wrong' && state !== 'wrong') log('The clock of this machine can be worked with again.')
    for (const line of said) log(line)
  }
  return {
    mayWork: async () => {
      const now = { wall: clock.wall(), monotonic: clock.monotonic() }
      const passed = asked === null ? Number.POSITIVE_INFINITY : now.monotonic - asked.monotonic
      const wasSet = asked !== null && Math.abs(now.wall - asked.wall - passed) > agreeingMs
      if (wasSet || passed >= askAgainMs[state]) {
        await askAgain()
        asked = { wall: clock.wall(), monotonic: clock.monotonic() }
      }
      return state !== 'wrong'
    },
    isConfirmed: () => state === 'agrees' || options.trustClock === true,
  }
}

/** What messages and pings need of this machine. */
export type Outgoing = ReturnType<typeof outgoing>

/** @param allowHttp whether addresses may be asked in the clear that are not this machine, and passwords sent there */
export function outgoing(allowHttp: boolean) {
  return {
    /** The value of a variable that the workspace file names; undefined where it is not set. */
    secret: namedSecret,
    /** The environment of commands, without the API key. */
    commandEnvironment,
    post: lazyPost(allowHttp),
    /** Why nothing is sent to an address, as a predicate; null where it may be used. */
    addressMistake: (url: string) => addressMistake(url, { allowHttp }),
    allowHttp,
  }
}

/** Most runs post nothing. */
function lazyPost(allowHttp: boolean): Post {
  let post: Post | null = null
  return (request) => {
    post ??= poster({ proxies: proxyVariables(), userAgent: `rankline/${version}`, allowHttp })
    return post(request)
  }
}

/** Whether the clock of this machine can be gone by. */
export const clocks = {
  check: clockCheck,
  unchecked,
  judge: judgeClock,
  gate: clockGate,
  serviceAhead,
}

/** How a process gets to the service. */
export const connections = {
  freely: connectFreely,
  join: createApp,
  http: openHttp,
  readOptions: readServiceOptions,
  ofWorker: connectionsFor,
  most: mostConnections,
  proxy: chosenProxy,
  lookupDelays,
}
