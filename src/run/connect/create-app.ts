import { existsSync } from 'node:fs'
import { type ApiClient, apiClient, type ServicePatience } from '../../api/client.ts'
import { type RateLimiter, rateLimiter } from '../../api/rate-limiter.ts'
import { usage } from '../../catalog/operations/lookups.ts'
import { aheadOf, parseUsage } from '../../collect/account.ts'
import { StopRequested } from '../../collect/stop.ts'
import { RanklineError } from '../../model/errors.ts'
import { type Clock, systemClock } from '../../model/time.ts'
import { databaseLock } from '../../store/sqlite/connection/lock.ts'
import type { Store } from '../../store/store.ts'
import {
  databasePath,
  keyHash,
  makeDefaultFolder,
  type ServiceFlags,
  type ServiceSettings,
} from '../config.ts'
import { tryCollectorLock } from '../lock.ts'
import type { App } from './app.ts'
import { type ClockFlags, clockCheck, unchecked } from './clock-check.ts'
import { outgoing } from './outgoing.ts'
import { lookupPatience, openHttp, readServiceFlags } from './service.ts'

/** How long after its row in the ledger was begun a request may leave, while a commit waits for the disk. */
const latestDepartureMs = 500

/**
 * Gets ready for free calls, which wait for no turn. They are written into the ledger, as all calls are, but where it may not be
 * written or belongs to a process with an older rankline: then they are made all the same.
 *
 * @param stored whether what is stored is read, too; a database that is missing is then not made either. `left-alone` opens none:
 * the calls are in no ledger
 */
export async function connectFreely(
  flags: ServiceFlags,
  { stored }: { readonly stored: StoredUse },
  clock: Clock = systemClock,
): Promise<App> {
  const { settings, timeoutMs } = readServiceFlags(flags, clock)
  const database = databasePath(flags)
  if (stored === 'not-read') makeDefaultFolder(database)
  const store = await openFreely(database, stored)
  return createApp({ store, database }, settings, timeoutMs, clock)
}

/** How far the service's clock is ahead of ours, asked for free and written nowhere; null where that cannot be found out. */
export async function serviceAhead(flags: ServiceFlags, signal?: AbortSignal): Promise<number | null> {
  try {
    await using app = await connectFreely(flags, { stored: 'left-alone' })
    return aheadOf(await app.service.lookup(usage, {}, { signal }))
  } catch (error) {
    // The run that follows says what is wrong with the settings.
    if (error instanceof RanklineError || error instanceof StopRequested) return null
    throw error
  }
}

/** Whether what is stored is read, is only written into, or stays untouched. */
type StoredUse = 'read' | 'not-read' | 'left-alone'

async function openFreely(database: string, stored: StoredUse): Promise<Store> {
  const { mayWrite, needsMigration } = await import('../../store/sqlite/connection/inspect.ts')
  const { openCopy, openStore } = await import('../../store/sqlite/open.ts')
  const isMissing = !existsSync(database)
  const isRead = stored === 'read'
  if (stored === 'left-alone' || (isMissing && isRead)) return await openStore(':memory:')
  if (isMissing || mayWrite(database)) {
    if (!needsMigration(database)) return await openStore(database)
    using turn = tryCollectorLock(databaseLock(database))
    if (turn !== null) return await openStore(database)
  }
  return isRead ? await openCopy(database) : await openStore(':memory:')
}

/**
 * Joins an open store with the service at an address.
 *
 * @param checked what was said of the clock; null where it is not compared with the service's
 */
export async function createApp(
  { store, database }: Pick<App, 'store' | 'database'>,
  settings: ServiceSettings,
  timeoutMs: number,
  clock: Clock,
  checked: ClockFlags | null = null,
): Promise<App> {
  const http = await openHttp(settings, timeoutMs)
  const hash = keyHash(settings)
  // Not before the first request: others may send while this process waits for its turn.
  const limiter = rateLimiter({ clock, coldRequests: 64, before: countEarlierCalls })
  const { baseUrl } = settings
  const serviceWith = (patience: ServicePatience): ApiClient =>
    apiClient({ baseUrl, http, rateLimiter: limiter, store, clock, keyHash: hash, patience })
  const service = serviceWith(lookupPatience)
  return {
    store,
    database,
    service,
    serviceWith,
    keyHash: hash,
    clock,
    clockCheck: checked === null ? unchecked : clockCheck({ service, store, clock, flags: checked }),
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
