import type { Operation } from '../catalog/operation.ts'
import { openAccount, quotaCounter, spend } from './account.ts'
import { type OpenEntry, requestLog, slidingWindows } from './ledger.ts'
import type {
  ControlChange,
  Fault,
  FaultRule,
  Latency,
  PageShape,
  Positions,
  SandboxOptions,
} from './options.ts'
import { createRouter } from './routes.ts'
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
    world: createWorld(seed, options.sites ?? []),
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
