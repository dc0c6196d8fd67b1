import type { AccountOptions, AccountSettings, ControlChange, PackOptions, Quotas } from './options.ts'

/** A balance of credits. */
interface Balance {
  total: number
  used: number
}

/** Balance and settings of the account; every number is in credits. */
export interface SandboxAccount {
  readonly subscription: Balance
  /** One-time packs, in the order of purchase. */
  readonly packs: (Balance & {
    readonly id: string
    readonly title: string
    /** Epoch ms. */
    readonly purchasedAt: number
  })[]
  readonly credits: Balance
  /** Set aside for calls and jobs that are not charged yet. */
  reserved: number
  settings: AccountSettings
}

const noQuotas: Quotas = { total: null, daily: null, weekly: null, monthly: null }

/** Opens the account of the options at `now` (epoch ms). */
export function openAccount(options: AccountOptions, now: number): SandboxAccount {
  const { subscription, packs = [], credits, quotas, ...settings } = options
  const account: SandboxAccount = {
    subscription: { total: subscription?.total ?? 100_000, used: subscription?.used ?? 0 },
    packs: [],
    credits: { total: credits?.given ?? 0, used: credits?.consumed ?? 0 },
    reserved: 0,
    settings: {
      perSecond: null,
      perMinute: null,
      usageShape: 'newer',
      keyActive: true,
      keyExpires: null,
      statsEnabled: true,
      chargeFor404: false,
      ...settings,
      quotas: { ...noQuotas, ...quotas },
    },
  }
  for (const pack of packs) addPack(account, pack, now)
  return account
}

/** Adds bought credits to the balances. */
export function topUp(
  account: SandboxAccount,
  change: NonNullable<ControlChange['topUp']>,
  now: number,
): void {
  account.subscription.total += change.subscription ?? 0
  account.credits.total += change.credits ?? 0
  if (change.pack !== undefined) addPack(account, change.pack, now)
}

function addPack({ packs }: SandboxAccount, { title, total, used = 0 }: PackOptions, now: number): void {
  const number = packs.length + 1
  packs.push({ id: `pack-${number}`, title: title ?? `Pack ${number}`, total, used, purchasedAt: now })
}

function left({ total, used }: Balance): number {
  return total - used
}

function remaining({ subscription, packs, credits }: SandboxAccount): number {
  return [subscription, ...packs, credits].reduce((sum, balance) => sum + left(balance), 0)
}

/** Sets credits aside for a call; false if the rest of the balances does not cover it. */
export function reserve(account: SandboxAccount, cost: number): boolean {
  if (remaining(account) - account.reserved < cost) return false
  account.reserved += cost
  return true
}

/** Frees the credits of a call that is not charged. */
export function release(account: SandboxAccount, cost: number): void {
  account.reserved -= cost
}

/** Spends credits that were set aside: from the subscription, then the packs in order, then the credits. */
export function spend(account: SandboxAccount, cost: number): void {
  account.reserved -= cost
  let due = cost
  for (const balance of [account.subscription, ...account.packs, account.credits]) {
    const taken = Math.min(due, left(balance))
    balance.used += taken
    due -= taken
  }
}

/** Counts the charged calls of the key by day, week and month (UTC; weeks begin on Monday). */
export function quotaCounter() {
  const counts = new Map<string, number>()
  return {
    count(now: number): void {
      for (const name of Object.values(spansAt(now))) counts.set(name, (counts.get(name) ?? 0) + 1)
    },
    /** Whether one of the limits is reached at `now` (epoch ms). */
    isReached(quotas: Quotas, now: number): boolean {
      const spans = spansAt(now)
      return (Object.keys(spans) as (keyof Quotas)[]).some((span) => {
        const limit = quotas[span]
        return limit !== null && (counts.get(spans[span]) ?? 0) >= limit
      })
    },
  }
}

function spansAt(now: number): Record<keyof Quotas, string> {
  const day = Math.floor(now / 86_400_000)
  // 1970-01-01 was a Thursday.
  const week = Math.floor((day + 3) / 7)
  const month = new Date(now).toISOString().slice(0, 7)
  return { total: 'total', daily: `day ${day}`, weekly: `week ${week}`, monthly: `month ${month}` }
}

/** The answer of `/v1/usage` at `now` (epoch ms); the older shape has no `packs`. */
export function usageRecord(account: SandboxAccount, now: number) {
  const { subscription, packs, credits, settings } = account
  const combined = sum([subscription, ...packs])
  const period = periodAt(now)
  return {
    remaining: remaining(account),
    total_used: combined.used + credits.used,
    renewal_date: period.end,
    period,
    subscription: { ...shown(combined), percent_used: percent(combined) },
    credits: {
      given: credits.total,
      consumed: credits.used,
      remaining: left(credits),
      percent_used: percent(credits),
    },
    rate_limit: { per_minute: settings.perMinute, per_second: settings.perSecond },
    account: { name: 'Sandbox', slug: 'sandbox' },
    api_key: {
      alias: 'sandbox',
      active: settings.keyActive,
      category: 'development',
      expires: settings.keyExpires,
      quotas: { ...settings.quotas },
    },
    ...(settings.usageShape === 'newer' ? { packs: packsRecord(packs) } : {}),
  }
}

function packsRecord(packs: SandboxAccount['packs']) {
  if (packs.length === 0) return null
  const total = sum(packs)
  const items = packs.map((pack) => ({
    id: pack.id,
    title: pack.title,
    purchased_at: isoDate(pack.purchasedAt),
    ...shown(pack),
    percent_used: percent(pack),
    exhausted: left(pack) === 0,
  }))
  const exhausted = items.filter((item) => item.exhausted).length
  const current = items.findIndex((item) => !item.exhausted)
  return {
    count: items.length - exhausted,
    exhausted_count: exhausted,
    all_exhausted: exhausted === items.length,
    ...shown(total),
    percent_used: percent(total),
    current_index: current,
    current: items[current] ?? null,
    items,
  }
}

/** The calendar month (UTC) of an instant, as the ISO dates of its first day and of the first day after it. */
function periodAt(now: number): { start: string; end: string } {
  const date = new Date(now)
  const monthStart = (offset: number) => Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + offset, 1)
  return { start: isoDate(monthStart(0)), end: isoDate(monthStart(1)) }
}

function sum(balances: readonly Balance[]): Balance {
  return {
    total: balances.reduce((all, { total }) => all + total, 0),
    used: balances.reduce((all, { used }) => all + used, 0),
  }
}

function shown(balance: Balance) {
  return { used: balance.used, total: balance.total, remaining: left(balance) }
}

function percent({ used, total }: Balance): number {
  return total === 0 ? 0 : Math.round((used / total) * 10_000) / 100
}

function isoDate(instant: number): string {
  return new Date(instant).toISOString().slice(0, 10)
}
