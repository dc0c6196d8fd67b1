import { accountStop, keyExpiry } from '../../collect/account.ts'
import { UsageUnavailable } from '../../collect/stop.ts'
import { type OthersSpending, paceOfOthers, unexplainedIn } from '../../ledger/others.ts'
import { settled, type UsageInterval, verifyLedger } from '../../ledger/verify.ts'
import { RanklineError } from '../../model/errors.ts'
import { dayMs, sleep } from '../../model/time.ts'
import { keyHash, queueUrl, type ServiceFlags, serviceSettings } from '../../run/config.ts'
import type { App } from '../../run/connect/app.ts'
import { connectFreely } from '../../run/connect/create-app.ts'
import { chosenProxy } from '../../run/connect/service.ts'
import { accountOf } from '../../run/planning/plan-jobs.ts'
import type { DatabaseCondition, ServiceFacts, SettingsFacts, SharingFacts } from './facts.ts'

/** The settings of the service, and the hash that stands for the key; null where they cannot be used. */
export function settingsFacts(flags: ServiceFlags): {
  readonly facts: SettingsFacts
  readonly keyHash: string | null
} {
  try {
    const settings = serviceSettings(flags)
    const { baseUrl } = settings
    const isQueued = queueUrl({}) !== null
    const facts = { baseUrl, proxy: chosenProxy(baseUrl)?.origin ?? null, isQueued }
    return { facts, keyHash: keyHash(settings) }
  } catch (error) {
    if (!(error instanceof RanklineError)) throw error
    return { facts: { mistake: error.message }, keyHash: null }
  }
}

export const nothingKnown: SharingFacts = { isKnown: false, lately: null, perMinute: null }

/**
 * What the service says, for free, and what others spend with the key. Both are read through a sound database only.
 *
 * @param isAlone whether no process that is known of spends with the key now
 */
export async function serviceFacts(
  flags: ServiceFlags,
  database: DatabaseCondition,
  { isAlone }: { readonly isAlone: boolean },
): Promise<{ readonly service: ServiceFacts; readonly sharing: SharingFacts }> {
  try {
    await using app = await connectFreely(flags, { stored: isSound(database) ? 'read' : 'left-alone' })
    const service = await askService(app)
    const sharing = await sharingFacts(app)
    const isUsed = 'account' in service && service.account.totalUsed !== 0
    const perMinute = isAlone && isUsed ? await paceNow(app) : null
    return { service, sharing: { ...sharing, perMinute } }
  } catch (error) {
    if (!(error instanceof RanklineError)) throw error
    return { service: { about: 'service', mistake: error.message }, sharing: nothingKnown }
  }
}

function isSound(database: DatabaseCondition): boolean {
  if (database.state !== 'there') return false
  return database.isWritable && !database.isOlder && database.damage === null
}

async function askService(app: App): Promise<ServiceFacts> {
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
  return settled(verifyLedger(store.readings(keyHash), store.charges(keyHash), failovers).spans)
}

async function sharingFacts(app: App): Promise<Pick<SharingFacts, 'isKnown' | 'lately'>> {
  const spans = await spansOf(app)
  return { isKnown: spans.length > 0, lately: spentByOthersLately(spans, app.clock.wall()) }
}

/** Between two readings of which the second is taken for it. */
const secondLookMs = 1_500

/** What others spend a minute now; the account is read a second time where the readings that are there do not tell. */
async function paceNow(app: App): Promise<number | null> {
  const known = paceOfOthers(await spansOf(app), app.clock.wall())
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
