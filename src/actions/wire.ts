import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readAccount } from '../api/account.ts'
import { openWire } from '../api/exchange.ts'
import { type Gate, openGate } from '../api/gate.ts'
import { latestMs } from '../api/lateness.ts'
import { type HttpProxy, proxyFor } from '../api/proxy.ts'
import {
  databasePath,
  makeDefaultFolder,
  proxyVariables,
  type ServiceSettings,
  type SettingFlags,
  serviceSettings,
} from '../config.ts'
import { UsageError } from '../errors.ts'
import { type Clock, systemClock } from '../model/clock.ts'
import { openService, type Patience, type Service } from '../run/service.ts'
import type { CallStore } from '../store/calls.ts'
import { mayWrite, needsMigration } from '../store/sqlite/inspect.ts'
import { databaseLock } from '../store/sqlite/lock.ts'
import { openCopy, openStore } from '../store/sqlite/open.ts'
import type { Store } from '../store/store.ts'
import { version } from '../version.ts'
import { tryTurn } from './turns.ts'
import { wholeNumber } from './whole-number.ts'

/** Calls in the air at once, at most: as many connections are made ready. */
export const mostConnections = 256
const defaultTimeoutSeconds = 120
/** An hour; timers of more than 24 days would fire at once. */
const longestTimeoutSeconds = 3_600

/** How long free lookups of a command wait where the service asks to be left alone. */
export const lookupPatience: Patience = { throttledMs: 90_000, unavailableMs: 10_000 }

export interface WireFlags extends SettingFlags {
  readonly timeout?: string | undefined
}

/** Store and service, joined; both are closed with it. */
export interface Connection extends AsyncDisposable {
  readonly store: Store
  /** Path of the file that the store is in. */
  readonly database: string
  readonly service: Service
  /** The same service whose calls are written into another store on the same database. */
  readonly serviceOn: (store: CallStore, patience?: Patience) => Service
  readonly keyHash: string
  readonly clock: Clock
}

/** Opens the database for collecting, and gets ready to call the service; sends nothing. It is made or migrated in this process's turn only. */
export async function connect(
  flags: WireFlags,
  turn: { acquire(): Promise<void> },
  clock: Clock = systemClock,
): Promise<Connection> {
  const { settings, timeoutMs } = readWireFlags(flags, clock)
  const database = databasePath(flags)
  makeDefaultFolder(database)
  if (needsMigration(database)) await turn.acquire()
  const store = await openStore(database)
  return join({ store, database }, settings, timeoutMs, clock)
}

/**
 * Gets ready for free calls, which wait for no turn. They are written into the ledger, as all calls are, but where it may not be
 * written or belongs to a process with an older rankline: then they are made all the same.
 *
 * @param stored whether what is stored is read, too; a database that is missing is then not made either
 */
export async function connectFreely(
  flags: WireFlags,
  { stored }: { readonly stored: 'read' | 'not-read' },
  clock: Clock = systemClock,
): Promise<Connection> {
  const { settings, timeoutMs } = readWireFlags(flags, clock)
  const database = databasePath(flags)
  if (stored === 'not-read') makeDefaultFolder(database)
  const store = await openFreely(database, stored === 'read')
  return join({ store, database }, settings, timeoutMs, clock)
}

async function openFreely(database: string, isRead: boolean): Promise<Store> {
  const isMissing = !existsSync(database)
  if (isMissing && isRead) return await openStore(':memory:')
  if (isMissing || mayWrite(database)) {
    if (!needsMigration(database)) return await openStore(database)
    using turn = tryTurn(databaseLock(database))
    if (turn !== null) return await openStore(database)
  }
  return isRead ? await openCopy(database) : await openStore(':memory:')
}

function readWireFlags(
  flags: WireFlags,
  clock: Clock,
): { readonly settings: ServiceSettings; readonly timeoutMs: number } {
  refuseWrongClock(clock)
  const settings = serviceSettings(flags)
  const seconds =
    wholeNumber('--timeout', flags.timeout, { min: 1, max: longestTimeoutSeconds }) ?? defaultTimeoutSeconds
  return { settings, timeoutMs: seconds * 1000 }
}

/** Nothing of this program is older. */
const earliest = Date.UTC(2024, 0, 1)

/** Machines without a battery begin in 1970: every day and every period would be wrong. */
function refuseWrongClock(clock: Clock): void {
  if (clock.wall() >= earliest) return
  const date = new Date(clock.wall()).toISOString().slice(0, 10)
  throw new UsageError(`The clock of this machine says ${date}, which cannot be. Set it first`)
}

/** Joins an open store with the service at an address. */
export async function join(
  { store, database }: Pick<Connection, 'store' | 'database'>,
  settings: ServiceSettings,
  timeoutMs: number,
  clock: Clock,
): Promise<Connection> {
  const wire = openWire({
    origin: new URL(settings.baseUrl).origin,
    apiKey: settings.apiKey,
    connections: mostConnections,
    timeoutMs,
    userAgent: `rankline/${version}`,
    proxy: chosenProxy(settings.baseUrl),
  })
  const gate = openGate({ clock })
  const hash = keyHash(settings)
  let remembered: Promise<void> | null = null
  const remembering: Gate = {
    ...gate,
    // Not before the first request: others may send while this process waits for its turn.
    acquire: async (asking) => {
      remembered ??= rememberLimits()
      await remembered
      return await gate.acquire(asking)
    },
  }
  const { baseUrl } = settings
  const serviceOn = (calls: CallStore, patience = lookupPatience): Service =>
    openService({ baseUrl, wire, gate: remembering, store: calls, clock, keyHash: hash, patience })
  return {
    store,
    database,
    service: serviceOn(store),
    serviceOn,
    keyHash: hash,
    clock,
    [Symbol.asyncDispose]: async () => {
      await wire.close()
      await store[Symbol.asyncDispose]()
    },
  }

  /** Another process may have used up part of the last minute: its calls and the limits it met are in the ledger. */
  async function rememberLimits(): Promise<void> {
    const now = clock.wall()
    const last = await store.lastUsage(hash)
    const limits = last === null ? undefined : readAccount(Buffer.from(last.record))?.limits
    if (limits !== undefined) gate.setLimits(limits)
    const calls = await store.callsSince(now - 60_000 - latestMs, now)
    // They left when their row was on disk, at an instant that nobody noted: the latest possible one counts.
    const left = calls.map(({ sentAt, endedAt }) => Math.min(endedAt ?? now, sentAt + latestMs))
    gate.seed(left.map((instant) => Math.max(0, now - instant)))
  }
}

/** The proxy that the environment names for an address; null where requests go straight there. */
function chosenProxy(baseUrl: string): HttpProxy | null {
  const proxy = proxyFor(baseUrl, proxyVariables())
  // What it says may hold a password.
  if (proxy === 'unreadable')
    throw new UsageError(
      'The proxy in HTTPS_PROXY (or HTTP_PROXY) is not an address. Write it like http://proxy.example:3128, or add the host of the service to NO_PROXY',
    )
  return proxy === 'direct' ? null : proxy
}

/** Names a key at an address without giving it away. */
export function keyHash({ baseUrl, apiKey }: ServiceSettings): string {
  return createHash('sha256').update(`${baseUrl}\n${apiKey}`).digest('hex').slice(0, 32)
}
