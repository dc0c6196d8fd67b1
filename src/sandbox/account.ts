import type { Account } from '../model/call.ts'

/** Limits of the key in charged calls; null means no limit. */
type Quotas = Account['quotas']

/** Settings of an account that can be changed while the sandbox runs. */
interface AccountSettings {
  readonly perSecond: number | null
  readonly perMinute: number | null
  readonly quotas: Quotas
  /** `older` records have no `packs` field. */
  readonly usageShape: 'newer' | 'older'
  readonly keyActive: boolean
  /** Instant at which the key expires; null for never. */
  readonly keyExpires: string | null
  readonly statsEnabled: boolean
  readonly chargeFor404: boolean
}

/** The account of the key: balance and settings. Default: a subscription of 100,000 and no limits. */
export interface AccountOptions extends Partial<Omit<AccountSettings, 'quotas'>> {
  readonly quotas?: Partial<Quotas>
  readonly subscription?: { readonly total: number; readonly used?: number }
  /** One-time packs as they were bought, in the order of purchase. */
  readonly packs?: readonly { readonly title?: string; readonly total: number; readonly used?: number }[]
  readonly credits?: { readonly given: number; readonly consumed?: number }
}

type PackOptions = NonNullable<AccountOptions['packs']>[number]

/** A balance of credits. */
interface Balance {
  total: number
  used: number
}

type Pack = Balance & {
  readonly id: string
  readonly title: string
  /** Epoch ms. */
  readonly purchasedAt: number
}

const noQuotas: Quotas = { total: null, daily: null, weekly: null, monthly: null }

/** The account of the key: balance and settings; every number is in credits. */
export type SandboxAccount = ReturnType<typeof openAccount>

/** Opens the account of the options at `now` (epoch ms). */
export function openAccount(
  { subscription: given, packs: bought = [], credits: granted, quotas, ...rest }: AccountOptions,
  now: number,
) {
  const subscription: Balance = { total: given?.total ?? 100_000, used: given?.used ?? 0 }
  /** One-time packs, in the order of purchase. */
  const packs: Pack[] = []
  const credits: Balance = { total: granted?.given ?? 0, used: granted?.consumed ?? 0 }
  const calls = quotaCounter()
  /** Set aside for calls and jobs that are not charged yet. */
  let reserved = 0
  let settings: AccountSettings = {
    perSecond: null,
    perMinute: null,
    usageShape: 'newer',
    keyActive: true,
    keyExpires: null,
    statsEnabled: true,
    chargeFor404: false,
    ...rest,
    quotas: { ...noQuotas, ...quotas },
  }
  const addPack = ({ title, total, used = 0 }: PackOptions, at: number): void => {
    const number = packs.length + 1
    packs.push({ id: `pack-${number}`, title: title ?? `Pack ${number}`, total, used, purchasedAt: at })
  }
  const remaining = (): number =>
    [subscription, ...packs, credits].reduce((all, balance) => all + left(balance), 0)
  for (const pack of bought) addPack(pack, now)
  return {
    subscription,
    get settings(): AccountSettings {
      return settings
    },
    /** Changes settings; those that are not named stay as they are. */
    change(change: Partial<Omit<AccountSettings, 'quotas'>> & { readonly quotas?: Partial<Quotas> }): void {
      settings = { ...settings, ...change, quotas: { ...settings.quotas, ...change.quotas } }
    },
    /** Adds bought credits to the balances. */
    topUp(
      more: { readonly subscription?: number; readonly pack?: PackOptions; readonly credits?: number },
      at: number,
    ): void {
      subscription.total += more.subscription ?? 0
      credits.total += more.credits ?? 0
      if (more.pack !== undefined) addPack(more.pack, at)
    },
    /** Sets credits aside for a call; false if the rest of the balances does not cover it. */
    reserve(cost: number): boolean {
      if (remaining() - reserved < cost) return false
      reserved += cost
      return true
    },
    /** Frees the credits of a call that is not charged. */
    release(cost: number): void {
      reserved -= cost
    },
    /** Spends credits that were set aside: from the subscription, then the packs in order, then the credits. Counts the call. */
    charge(cost: number, at: number): void {
      reserved -= cost
      let due = cost
      for (const balance of [subscription, ...packs, credits]) {
        const taken = Math.min(due, left(balance))
        balance.used += taken
        due -= taken
      }
      calls.count(at)
    },
    /** Whether one of the limits of the key is reached at `at` (epoch ms). */
    isOverQuota: (at: number): boolean => calls.isReached(settings.quotas, at),
    /** The answer of `/v1/usage` at `at` (epoch ms); the older shape has no `packs`. */
    usage(at: number) {
      const combined = sum([subscription, ...packs])
      const period = periodAt(at)
      return {
        remaining: remaining(),
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
    },
  }
}

function left({ total, used }: Balance): number {
  return total - used
}

/** Counts the charged calls of the key by day, week and month (UTC; weeks begin on Monday). */
function quotaCounter() {
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
