import { readAccount } from '../api/account.ts'
import { openWire } from '../api/exchange.ts'
import { type Gate, openGate } from '../api/gate.ts'
import { latestMs } from '../api/lateness.ts'
import { databasePath, keyHash, type ServiceSettings, type SettingFlags, serviceSettings } from '../config.ts'
import { UsageError } from '../errors.ts'
import { type Clock, systemClock } from '../model/clock.ts'
import { openService, type Service } from '../run/service.ts'
import { openStore } from '../store/sqlite/open.ts'
import type { Store } from '../store/store.ts'
import { version } from '../version.ts'

/** Calls in the air at once, at most: as many connections are made ready. */
export const mostConnections = 256
const defaultTimeoutSeconds = 120
/** An hour; timers of more than 24 days would fire at once. */
const longestTimeoutSeconds = 3_600

export interface WireFlags extends SettingFlags {
  readonly timeout?: string | undefined
}

/** Store and service, joined; both are closed with it. */
export interface Connection extends AsyncDisposable {
  readonly store: Store
  readonly service: Service
  readonly keyHash: string
  readonly clock: Clock
}

/** Opens the database and gets ready to call the service; sends nothing. */
export async function connect(flags: WireFlags, clock: Clock = systemClock): Promise<Connection> {
  refuseWrongClock(clock)
  const settings = serviceSettings(flags)
  const timeoutMs =
    wholeNumber('--timeout', flags.timeout, { min: 1, max: longestTimeoutSeconds }) ?? defaultTimeoutSeconds
  const store = await openStore(databasePath(flags))
  return join(store, settings, timeoutMs * 1000, clock)
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
  store: Store,
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
  const service = openService({
    baseUrl: settings.baseUrl,
    wire,
    gate: remembering,
    store,
    clock,
    keyHash: hash,
  })
  return {
    store,
    service,
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
    const calls = await store.callsSince(now - 60_000 - latestMs)
    // They left when their row was on disk, at an instant that nobody noted: the latest possible one counts.
    const left = calls.map(({ sentAt, endedAt }) => Math.min(endedAt ?? now, sentAt + latestMs))
    gate.seed(left.map((instant) => Math.max(0, now - instant)))
  }
}

/** A flag's text as a whole number; undefined where it is not given. Throws a sentence where it is none. */
export function wholeNumber(
  flag: string,
  text: string | undefined,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { readonly min?: number; readonly max?: number } = {},
): number | undefined {
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (number >= min && number <= max) return number
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`
  throw new UsageError(`${flag} cannot be '${text}'; write a whole number ${range}`)
}
