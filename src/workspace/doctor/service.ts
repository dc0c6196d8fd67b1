import { keyHash, type ServiceFlags, serviceSettings } from '../../app/config.ts'
import type { App } from '../../app/connect/app.ts'
import { connectFreely } from '../../app/connect/open-app.ts'
import { chosenProxy } from '../../app/connect/service.ts'
import { accountOf } from '../../app/planning/plan-jobs.ts'
import { accountStop, keyExpiry } from '../../collect/account.ts'
import { UsageUnavailable } from '../../collect/stop.ts'
import { type UsageInterval, verifyLedger } from '../../ledger/verify.ts'
import { RanklineError } from '../../model/errors.ts'
import { dayMs } from '../../model/time.ts'
import type { DatabaseFacts, ServiceFacts, SettingsFacts, SharingFacts } from './facts.ts'

/** The settings of the service, and the hash that stands for the key; null where they cannot be used. */
export function settingsFacts(flags: ServiceFlags): {
  readonly facts: SettingsFacts
  readonly keyHash: string | null
} {
  try {
    const settings = serviceSettings(flags)
    const { baseUrl } = settings
    const facts = { baseUrl, proxy: chosenProxy(baseUrl)?.origin ?? null }
    return { facts, keyHash: keyHash(settings) }
  } catch (error) {
    if (!(error instanceof RanklineError)) throw error
    return { facts: { mistake: error.message }, keyHash: null }
  }
}

/** What the service says, for free, and what others spent with the key. Both are read through a sound database only. */
export async function serviceFacts(
  flags: ServiceFlags,
  database: DatabaseFacts,
): Promise<{ readonly service: ServiceFacts; readonly sharing: SharingFacts | null }> {
  try {
    await using app = await connectFreely(flags, { stored: isSound(database) ? 'read' : 'left-alone' })
    return { service: await askService(app), sharing: sharingFacts(app) }
  } catch (error) {
    if (!(error instanceof RanklineError)) throw error
    return { service: { about: 'service', mistake: error.message }, sharing: null }
  }
}

function isSound(database: DatabaseFacts): boolean {
  if (database.state !== 'there') return false
  return database.isWritable && !database.isOlder && database.damage === null
}

async function askService(app: App): Promise<ServiceFacts> {
  const before = app.clock.wall()
  const account = await accountOf(app)
  const after = app.clock.wall()
  if (account instanceof UsageUnavailable)
    return { about: account.stop.reason === 'auth' ? 'key' : 'service', mistake: account.message }
  return {
    account,
    stop: accountStop(account, account.at)?.message ?? null,
    keyExpiresAt: keyExpiry(account),
    aheadMs: clockDifference(account.at, { before, after }),
  }
}

/**
 * How far the clock of the service is ahead of ours. The Date header names whole seconds, and an instant between question and
 * answer: what this can explain is no difference.
 */
export function clockDifference(
  theirs: number,
  { before, after }: { readonly before: number; readonly after: number },
): number {
  if (theirs > after) return theirs - after
  const latest = theirs + 999
  return latest < before ? latest - before : 0
}

function sharingFacts({ store, keyHash, clock }: App): SharingFacts | null {
  const { spans } = verifyLedger(store.readings(keyHash), store.charges(keyHash))
  return spans.length === 0 ? null : spentByOthersLately(spans, clock.wall())
}

const weekMs = 7 * dayMs

/** What others spent with the key in the week before now: what is older has been seen, or is past mending. */
export function spentByOthersLately(
  spans: readonly Pick<UsageInterval, 'from' | 'until' | 'spentByOthers'>[],
  now: number,
): SharingFacts {
  const others = spans.filter(({ until, spentByOthers }) => until > now - weekMs && spentByOthers > 0)
  const last = others.at(-1)
  return {
    credits: others.reduce((sum, { spentByOthers }) => sum + spentByOthers, 0),
    from: last?.from ?? null,
    until: last?.until ?? null,
  }
}
