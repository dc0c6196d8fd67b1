import type { AccountOptions, AccountSettings, ControlChange, PackOptions, Quotas } from './options.ts'

/** A balance of credits, of which `used` are gone. */
export interface Balance {
  total: number
  used: number
}

/** A one-time pack. */
export interface Pack extends Balance {
  readonly id: string
  readonly title: string
  /** Epoch ms. */
  readonly purchasedAt: number
}

/** Balance and settings of the one account; every number is in credits. */
export interface Account {
  readonly subscription: Balance
  /** In the order of purchase. */
  readonly packs: Pack[]
  readonly credits: Balance
  /** Promised to calls and jobs that are not charged yet. */
  held: number
  settings: AccountSettings
}

const noQuotas: Quotas = { total: null, daily: null, weekly: null, monthly: null }

/** An account as the options describe it, opened at `now` (epoch ms). */
export function openAccount(options: AccountOptions, now: number): Account {
  const { subscription, packs = [], credits, quotas, ...settings } = options
  const account: Account = {
    subscription: { total: subscription?.total ?? 100_000, used: subscription?.used ?? 0 },
    packs: [],
    credits: { total: credits?.given ?? 0, used: credits?.consumed ?? 0 },
    held: 0,
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
export function topUp(account: Account, change: NonNullable<ControlChange['topUp']>, now: number): void {
  account.subscription.total += change.subscription ?? 0
  account.credits.total += change.credits ?? 0
  if (change.pack !== undefined) addPack(account, change.pack, now)
}

function addPack({ packs }: Account, { title, total, used = 0 }: PackOptions, now: number): void {
  const number = packs.length + 1
  packs.push({ id: `pack-${number}`, title: title ?? `Pack ${number}`, total, used, purchasedAt: now })
}

/** What is left of a balance. */
export function left({ total, used }: Balance): number {
  return total - used
}

/** What is left in all balances. */
export function remaining({ subscription, packs, credits }: Account): number {
  return [subscription, ...packs, credits].reduce((sum, balance) => sum + left(balance), 0)
}

/** Sets credits aside for a call; false where what is left and not promised does not cover it. */
export function hold(account: Account, cost: number): boolean {
  if (remaining(account) - account.held < cost) return false
  account.held += cost
  return true
}

/** Gives back what was set aside for a call that is not charged. */
export function release(account: Account, cost: number): void {
  account.held -= cost
}

/** Takes what was set aside: from the subscription, then the packs in order, then the credits. */
export function draw(account: Account, cost: number): void {
  account.held -= cost
  let due = cost
  for (const balance of [account.subscription, ...account.packs, account.credits]) {
    const taken = Math.min(due, left(balance))
    balance.used += taken
    due -= taken
  }
}
