import { openAccount, quotaCounter, spend } from './account.ts'
import { faultPlan } from './faults.ts'
import { createJobs } from './jobs.ts'
import { type OpenEntry, requestLog, slidingWindows } from './ledger.ts'
import type { EngineStats, Latency, PageShape, Positions, SandboxOptions } from './options.ts'
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
  stats: Readonly<Record<string, EngineStats>>
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
