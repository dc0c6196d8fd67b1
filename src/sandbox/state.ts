import type { Operation, Style } from '../catalog/operation.ts'
import type { RateLimits } from '../model/call.ts'
import { type AccountOptions, openAccount, type SandboxAccount } from './account.ts'
import { type RequestTarget, type Route, requests } from './http.ts'
import { hashText, mix, unit } from './world/hash.ts'
import { createWorld, type PageShape, type Positions } from './world/world.ts'

/** Milliseconds, or a range from which every call draws. */
export type Latency = number | readonly [number, number]

/** How to start a sandbox. All options have a default. */
export interface SandboxOptions {
  /** Port on 127.0.0.1. Default 0: a free port. */
  readonly port?: number
  /** Same seed, same world. Default `rankline`. */
  readonly seed?: string
  /** The only API key that is accepted. Default `sandbox-key`. */
  readonly key?: string
  /** Path of the base URL, for instance `/service`. The POST style is always at the root of the host. */
  readonly basePath?: string
  /** The world's wall clock, epoch ms. Default `Date.now`. */
  readonly now?: () => number
  readonly account?: AccountOptions
  readonly rules?: readonly FaultRule[]
  /** Latency of every billable call. Default 0. */
  readonly latencyMs?: Latency
  /** Time from the acceptance of an asynchronous job to its end. Default 50. */
  readonly asyncMs?: number
  /** HTTP status of the answer when a failed job is polled. Default 200. */
  readonly failedJobStatus?: 200 | 500
  /** Domains that compete for every query. */
  readonly sites?: readonly string[]
  /** Queries that mean the same, a list for each meaning: they show mostly the same pages on the web. */
  readonly topics?: readonly (readonly string[])[]
  readonly pages?: PageShape
  readonly positions?: Positions
  /** How long an idle connection is kept open. */
  readonly keepAliveTimeoutMs?: number
}

/** A fault of a call. */
export type Fault =
  /** The usual answer, this many milliseconds later. Further rules apply. */
  | { readonly latency: number }
  /** An error status with the documented JSON body, or that of `body`, `html` or `empty`. Free, unless the account pays for a 404. */
  | {
      readonly status: number
      readonly body?: string
      readonly html?: true
      readonly empty?: true
      readonly headers?: Readonly<Record<string, string>>
    }
  /** 401, for too many calls or for a bad key. */
  | { readonly refuse: 'rate' | 'key' }
  /** 200, charged, with a body that is not JSON. */
  | { readonly garble: true }
  /** 200, charged; the connection is lost in the middle of the body. */
  | { readonly cut: true }
  /** The connection is lost without an answer, before or after the charge. */
  | { readonly hangUp: 'before' | 'after' }
  /** No answer, before or after the charge. */
  | { readonly stall: 'before' | 'after' }
  /** 200, charged, with a body of this many bytes. */
  | { readonly oversize: number }
  /** 302 to this address, free. */
  | { readonly redirect: string }
  /** 200, charged, with the answer to another query. Fields have the names of the echo: `{ q: 'oak desk', gl: 'de' }`. */
  | { readonly answerAs: Readonly<Record<string, string | number>> }
  /** 200, charged, with this JSON body. */
  | { readonly body: unknown }
  /** An asynchronous job is accepted and then fails, or never ends. Synchronous calls are not affected. */
  | { readonly job: 'fail' | 'stuck' }

/** A fault and the calls that it happens to. Without `operation` a rule is for all billable operations. */
export interface FaultRule {
  readonly operation?: string
  /** Part of the text of the query. */
  readonly query?: string
  /** Matching calls without the fault at the beginning. */
  readonly after?: number
  /** How often the fault happens. Default: always. */
  readonly times?: number
  /** Share of the matching calls, 0 to 1; drawn from the seed. */
  readonly probability?: number
  readonly do: Fault
}

/** A change of a running sandbox. Other fields stay as they are. */
export interface ControlChange {
  /** Stops the clock of the world at noon UTC of this date, `YYYY-MM-DD`. */
  readonly date?: string
  /** Stops the clock of the world at this instant, epoch ms; null lets it run again. */
  readonly now?: number | null
  /** What answers carry as their `Date`: any text, null for none; `now` for the time of this machine, which is the default. */
  readonly dateHeader?: string | null
  /** Moves the clock of the world, stopped or not. */
  readonly advanceDays?: number
  /** Replaces all rules. */
  readonly rules?: readonly FaultRule[]
  /** Added to the rules. */
  readonly addRules?: readonly FaultRule[]
  readonly topUp?: Parameters<SandboxAccount['topUp']>[0]
  readonly account?: Parameters<SandboxAccount['change']>[0]
  readonly latencyMs?: Latency
  readonly asyncMs?: number
  readonly pages?: PageShape
  readonly positions?: Positions
  /** The health in `/v1/stats`, by engine. */
  readonly stats?: Readonly<
    Record<
      string,
      {
        /** Percent of calls that did not fail. */
        readonly successRate?: number
        readonly avgResponseTimeMs?: number
      }
    >
  >
}

/** The state of one sandbox. */
export type SandboxState = ReturnType<typeof createState>

/** The first state of a sandbox. */
export function createState(options: SandboxOptions) {
  const seed = options.seed ?? 'rankline'
  const started = performance.now()
  const clock = () => performance.now() - started
  const time = worldClock(options.now ?? Date.now)
  const windows = slidingWindows()
  const jobs = createJobs(seed, clock)
  const account = openAccount(options.account ?? {}, time.now())
  const log = requestLog(windows, jobs.settle)
  /** They can be changed while the sandbox runs. */
  const settings: {
    latencyMs: Latency
    asyncMs: number
    pages: PageShape
    positions: Positions
    dateHeader: string | null
    stats: NonNullable<ControlChange['stats']>
  } = {
    latencyMs: options.latencyMs ?? 0,
    asyncMs: options.asyncMs ?? 50,
    pages: options.pages ?? 'even',
    positions: options.positions ?? 'restart',
    dateHeader: 'now',
    stats: {},
  }
  return {
    key: options.key ?? 'sandbox-key',
    router: requests.router(options.basePath ?? ''),
    account,
    windows,
    log,
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
    /** Charges the credits that were set aside for a call. */
    charge(entry: OpenEntry, credits: number): void {
      account.charge(credits, time.now())
      log.charge(entry, credits)
    },
  }
}

function latencies(seed: string, settings: { readonly latencyMs: Latency }): () => number {
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

/** A ledger entry while its request is served. */
interface OpenEntry {
  /** Arrival, ms since the sandbox started, by a monotonic clock. */
  at: number
  method: string
  /** Without the query string. */
  path: string
  /** Name in the catalog; null if no operation has the path. */
  operation: string | null
  style: Style | null
  /** As sent, without the key: texts of a query string, values of a JSON body. */
  params: Readonly<Record<string, unknown>>
  /** As sent, or null. */
  page: unknown
  /** Status of the answer; null if there is none (yet). */
  status: number | null
  /** Credits; those of an asynchronous job are added when it completes. */
  charged: number
  /** Whether it counts in the rate windows. */
  accepted: boolean
  /** Kind of the fault by a rule, or null. */
  fault: string | null
}

/** One request that arrived, with its answer. */
export type LedgerEntry = Readonly<OpenEntry>

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
    admit(at: number, { perSecond, perMinute }: RateLimits): boolean {
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
