import { type Account, type Balance, left, type Pack, remaining } from './account.ts'

/** What `/v1/usage` answers; the older shape has no `packs`. */
export type UsageRecord = ReturnType<typeof usageRecord>

/** The usage record as the service sends it at `now` (epoch ms). */
export function usageRecord(account: Account, now: number) {
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

function packsRecord(packs: readonly Pack[]) {
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

/** The calendar month (UTC) of an instant, as the ISO dates of its first day and of the next month's. */
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
