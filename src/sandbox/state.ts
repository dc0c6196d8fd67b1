import type { Operation, Style } from '../catalog/operation.ts'
import { createRouter, type RequestTarget, type Route } from './http.ts'
import type {
  AccountOptions,
  AccountSettings,
  ControlChange,
  Fault,
  FaultRule,
  Latency,
  PackOptions,
  PageShape,
  Positions,
  Quotas,
  SandboxOptions,
} from './options.ts'
import { hashText, mix, unit } from './world/hash.ts'
import { createWorld } from './world/world.ts'

/** The state of one sandbox. */
export type SandboxState = ReturnType<typeof createState>

/** Settings that can be changed while the sandbox runs. */
interface SandboxSettings {
  latencyMs: Latency
  asyncMs: number
  pages: PageShape
  positions: Positions
  dateHeader: string | null
  stats: NonNullable<ControlChange['stats']>
}

/** The first state of a sandbox. */
export function createState(options: SandboxOptions) {
  const seed = options.seed ?? 'rankline'
  const started = performance.now()
  const clock = () => performance.now() - started
  const time = worldClock(options.now ?? Date.now)
  const windows = slidingWindows()
  const jobs = createJobs(seed, clock)
  const settings: SandboxSettings = {
    latencyMs: options.latencyMs ?? 0,
    asyncMs: options.asyncMs ?? 50,
    pages: options.pages ?? 'even',
    positions: options.positions ?? 'restart',
    dateHeader: 'now',
    stats: {},
  }
  return {
    key: options.key ?? 'sandbox-key',
    router: createRouter(options.basePath ?? ''),
    account: openAccount(options.account ?? {}, time.now()),
    windows,
    quotas: quotaCounter(),
    log: requestLog(windows, jobs.settle),
    jobs,
    faults: faultPlan(seed, options.rules ?? []),
    world: createWorld(seed, options.sites ?? [], options.topics ?? []),
    worldClock: time,
    /** Ms since the start, by a monotonic clock. */
    clock,
    failedJobStatus: options.failedJobStatus ?? 200,
    settings,
    /** Draws the latency of the next billable call, in ms. */
    nextLatency: latencies(seed, settings),
    ...timers(),
  }
}

/** Charges the credits that were set aside for a call. */
export function charge(state: SandboxState, entry: OpenEntry, credits: number): void {
  spend(state.account, credits)
  state.quotas.count(state.worldClock.now())
  state.log.charge(entry, credits)
}

function latencies(seed: string, settings: SandboxSettings): () => number {
  const salt = hashText(`latencies of ${seed}`)
  let calls = 0
  return () => {
    const { latencyMs } = settings
    if (typeof latencyMs === 'number') return latencyMs
    const [least, most] = latencyMs
    return least + (most - least) * unit(mix(salt, calls++))
  }
}

function timers() {
  const running = new Set<NodeJS.Timeout>()
  return {
    /** Calls `act` later, unless the sandbox is closed before. */
    later(ms: number, act: () => void): void {
      if (ms <= 0) {
        act()
        return
      }
      const timer = setTimeout(() => {
        running.delete(timer)
        act()
      }, ms)
      running.add(timer)
    },
    clearTimers(): void {
      for (const timer of running) clearTimeout(timer)
      running.clear()
    },
  }
}

/** The wall clock of the world. It runs with `now` (epoch ms) until it is stopped; it can be moved by whole days. */
function worldClock(now: () => number) {
  let stopped: number | null = null
  let ahead = 0
  return {
    now: (): number => (stopped ?? now()) + ahead,
    /** Stops at an instant, or runs again for null; both undo earlier moves. */
    stopAt(instant: number | null): void {
      stopped = instant
      ahead = 0
    },
    advance(days: number): void {
      ahead += days * 86_400_000
    },
  }
}

/** Tries rules in their order: delays add up, the first other fault decides. */
function faultPlan(seed: string, initial: readonly FaultRule[]) {
  const salt = hashText(`faults of ${seed}`)
  const begin = (rule: FaultRule) => ({ rule, matched: 0, done: 0 })
  let plan = initial.map(begin)
  return {
    replace(rules: readonly FaultRule[]): void {
      plan = rules.map(begin)
    },
    add(rules: readonly FaultRule[]): void {
      plan.push(...rules.map(begin))
    },
    /** The fault of one call; the delay is added to its latency. */
    next(
      operation: Operation,
      query: string,
    ): { delayMs: number; fault: Exclude<Fault, { latency: number }> | null } {
      let delayMs = 0
      for (const [index, item] of plan.entries()) {
        if (!isMeant(item.rule, operation, query)) continue
        const chance = unit(mix(mix(salt, index), item.matched++))
        if (!isDue(item, chance)) continue
        item.done++
        if (!('latency' in item.rule.do)) return { delayMs, fault: item.rule.do }
        delayMs += item.rule.do.latency
      }
      return { delayMs, fault: null }
    },
  }
}

function isMeant(rule: FaultRule, operation: Operation, query: string): boolean {
  if (rule.operation === undefined ? !operation.billable : rule.operation !== operation.name) return false
  return rule.query === undefined || query.includes(rule.query)
}

function isDue(
  { rule, matched, done }: { rule: FaultRule; matched: number; done: number },
  chance: number,
): boolean {
  return matched > (rule.after ?? 0) && done < (rule.times ?? Infinity) && chance < (rule.probability ?? 1)
}

/** How a job ends; `stuck` never ends. */
type SandboxJobEnd = 'complete' | 'fail' | 'stuck'

interface SandboxJob {
  readonly id: string
  /** Monotonic ms. */
  readonly endsAt: number
  readonly end: SandboxJobEnd
  readonly result: unknown
  readonly onEnd: (end: SandboxJobEnd) => void
  ended: boolean
}

/** Asynchronous jobs. They end by time, even if they are not polled. Ids follow from the seed; `clock` is monotonic ms. */
function createJobs(seed: string, clock: () => number) {
  const jobs = new Map<string, SandboxJob>()
  let waiting: SandboxJob[] = []
  const settle = (): void => {
    const now = clock()
    const due = waiting.filter((job) => job.endsAt <= now).sort((a, b) => a.endsAt - b.endsAt)
    if (due.length === 0) return
    waiting = waiting.filter((job) => job.endsAt > now)
    for (const job of due) {
      job.ended = true
      job.onEnd(job.end)
    }
  }
  return {
    /** Queues a job; `onEnd` is called once, when the job ends. */
    accept(job: Pick<SandboxJob, 'endsAt' | 'end' | 'result' | 'onEnd'>): string {
      const hash = mix(hashText(seed), jobs.size)
      const id = `job_${hash.toString(16).padStart(8, '0')}${jobs.size.toString(16).padStart(6, '0')}`
      const queued = { ...job, id, ended: false }
      jobs.set(id, queued)
      if (job.end !== 'stuck') waiting.push(queued)
      return id
    },
    /** Ends the jobs whose time has come. */
    settle,
    /** The answer to a poll; undefined for an unknown id. */
    poll(id: string) {
      settle()
      const job = jobs.get(id)
      if (job === undefined) return undefined
      if (!job.ended) return { job_id: id, status: 'processing' }
      if (job.end === 'fail') return { job_id: id, status: 'failed', error: 'Internal Error' }
      return { job_id: id, status: 'completed', result: job.result }
    },
  }
}

/** A balance of credits. */
interface Balance {
  total: number
  used: number
}

/** Balance and settings of the account; every number is in credits. */
interface SandboxAccount {
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
function spend(account: SandboxAccount, cost: number): void {
  account.reserved -= cost
  let due = cost
  for (const balance of [account.subscription, ...account.packs, account.credits]) {
    const taken = Math.min(due, left(balance))
    balance.used += taken
    due -= taken
  }
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

/** One request that arrived, with its answer. */
export interface LedgerEntry {
  /** Arrival, ms since the sandbox started, by a monotonic clock. */
  readonly at: number
  readonly method: string
  /** Without the query string. */
  readonly path: string
  /** Name in the catalog; null if no operation has the path. */
  readonly operation: string | null
  readonly style: Style | null
  /** As sent, without the key: texts of a query string, values of a JSON body. */
  readonly params: Readonly<Record<string, unknown>>
  /** As sent, or null. */
  readonly page: unknown
  /** Status of the answer; null if there is none (yet). */
  readonly status: number | null
  /** Credits; those of an asynchronous job are added when it completes. */
  readonly charged: number
  /** Whether it counts in the rate windows. */
  readonly accepted: boolean
  /** Kind of the fault by a rule, or null. */
  readonly fault: string | null
}

/** A ledger entry while its request is served. */
export type OpenEntry = { -readonly [Field in keyof LedgerEntry]: LedgerEntry[Field] }

/** Requests that are kept; totals are over all requests. */
const mostKept = 200_000

/** The log of all requests. It calls `settle` before it is read, so that it has the jobs that ended. */
function requestLog(windows: Windows, settle: () => void) {
  let entries: OpenEntry[] = []
  const totals = {
    requests: 0,
    /** Credits. */
    charged: 0,
    chargedCalls: 0,
    /** Requests refused by a rate limit or a quota. */
    refusals: 0,
  }
  const ledger = {
    get requests(): readonly LedgerEntry[] {
      settle()
      return entries
    },
    get charged(): number {
      settle()
      return totals.charged
    },
    get refusals(): number {
      return totals.refusals
    },
    requestsFor: (wanted: (entry: LedgerEntry) => boolean): readonly LedgerEntry[] =>
      ledger.requests.filter(wanted),
    /** The most accepted requests in any sliding window of this length, among those that are kept. */
    maxInWindow: (ms: number): number =>
      mostInWindow(
        entries.filter(({ accepted }) => accepted).map(({ at }) => at),
        ms,
      ),
    summary() {
      settle()
      const { perSecond, perMinute } = windows.most()
      return { ...totals, maxPerSecond: perSecond, maxPerMinute: perMinute }
    },
  }
  return {
    ledger,
    /** The entry of a request that arrived. */
    open(at: number, method: string, { path, params }: RequestTarget, route: Route | undefined): OpenEntry {
      const asked = { operation: route?.operation.name ?? null, style: route?.style ?? null, params }
      const answered = { status: null, charged: 0, accepted: false, fault: null }
      const entry = { at, method, path, ...asked, page: params.page ?? null, ...answered }
      totals.requests++
      if (entries.length >= mostKept) entries = entries.slice(mostKept / 10)
      entries.push(entry)
      return entry
    },
    charge(entry: OpenEntry, credits: number): void {
      entry.charged += credits
      totals.charged += credits
      totals.chargedCalls++
    },
    /** Notes a refusal by rate or quota. */
    refuse(entry: OpenEntry): void {
      entry.accepted = false
      totals.refusals++
    },
  }
}

type Windows = ReturnType<typeof slidingWindows>

/** Sliding windows of a second and a minute over the admitted requests. Instants are monotonic ms and never decrease. */
export function slidingWindows() {
  const second = slidingWindow(1000)
  const minute = slidingWindow(60_000)
  return {
    /** Admits a request unless a limit (null: no limit) is reached. Refused requests do not count. */
    admit(at: number, { perSecond, perMinute }: Pick<AccountSettings, 'perSecond' | 'perMinute'>): boolean {
      if (perSecond !== null && second.countAt(at) >= perSecond) return false
      if (perMinute !== null && minute.countAt(at) >= perMinute) return false
      second.add(at)
      minute.add(at)
      return true
    },
    /** Removes a request that was refused later. */
    withdraw(at: number): void {
      second.remove(at)
      minute.remove(at)
    },
    /** The most requests in any second and in any minute. */
    most: () => ({ perSecond: second.most(), perMinute: minute.most() }),
  }
}

function slidingWindow(lengthMs: number) {
  let arrivals: number[] = []
  let first = 0
  let most = 0
  const countAt = (at: number) => {
    while (first < arrivals.length && (arrivals[first] as number) <= at - lengthMs) first++
    if (first > 10_000) {
      arrivals = arrivals.slice(first)
      first = 0
    }
    return arrivals.length - first
  }
  return {
    countAt,
    add(at: number) {
      arrivals.push(at)
      most = Math.max(most, countAt(at))
    },
    remove(at: number) {
      const index = arrivals.lastIndexOf(at)
      if (index >= first) arrivals.splice(index, 1)
    },
    most: () => most,
  }
}

/** The most of these ascending instants in any half-open window of this length. */
export function mostInWindow(instants: readonly number[], lengthMs: number): number {
  let most = 0
  let first = 0
  instants.forEach((instant, index) => {
    while (instant - (instants[first] as number) >= lengthMs) first++
    most = Math.max(most, index - first + 1)
  })
  return most
}
