import { type Account, draw, openAccount } from './account.ts'
import { type WorldClock, worldClock } from './clock.ts'
import { type FaultPlan, faultPlan } from './faults.ts'
import { createJobs, type Jobs } from './jobs.ts'
import { type Books, type OpenEntry, openBooks } from './ledger.ts'
import type { EngineStats, Latency, PageShape, Positions, SandboxOptions } from './options.ts'
import { type QuotaCounter, quotaCounter } from './quotas.ts'
import { createRouter, type Router } from './routes.ts'
import { slidingWindows, type Windows } from './windows.ts'
import { hashText, mix, unit } from './world/hash.ts'
import { createWorld, type World } from './world/world.ts'

/** Everything that one sandbox remembers. */
export interface Box {
  readonly key: string
  readonly router: Router
  readonly account: Account
  readonly windows: Windows
  readonly quotas: QuotaCounter
  readonly books: Books
  readonly jobs: Jobs
  readonly faults: FaultPlan
  readonly world: World
  readonly worldClock: WorldClock
  /** Ms since the start, by a clock that never jumps. */
  readonly clock: () => number
  readonly failedJobStatus: 200 | 500
  readonly settings: BoxSettings
  /** Ms that the next billable call takes. */
  nextLatency(): number
  /** Does something later, unless the sandbox is closed before. */
  later(ms: number, act: () => void): void
  clearTimers(): void
}

/** What can be changed while the sandbox runs. */
export interface BoxSettings {
  latencyMs: Latency
  asyncMs: number
  pages: PageShape
  positions: Positions
  stats: Readonly<Record<string, EngineStats>>
}

/** A box as the options describe it. */
export function createBox(options: SandboxOptions): Box {
  const seed = options.seed ?? 'rankline'
  const started = performance.now()
  const clock = () => performance.now() - started
  const time = worldClock(options.now ?? Date.now)
  const windows = slidingWindows()
  const jobs = createJobs(seed, clock)
  const settings: BoxSettings = {
    latencyMs: options.latencyMs ?? 0,
    asyncMs: options.asyncMs ?? 50,
    pages: options.pages ?? 'even',
    positions: options.positions ?? 'restart',
    stats: {},
  }
  return {
    key: options.key ?? 'sandbox-key',
    router: createRouter(options.basePath ?? ''),
    account: openAccount(options.account ?? {}, time.now()),
    windows,
    quotas: quotaCounter(),
    books: openBooks(windows, jobs.settle),
    jobs,
    faults: faultPlan(seed, options.rules ?? []),
    world: createWorld(seed, options.sites ?? []),
    worldClock: time,
    clock,
    failedJobStatus: options.failedJobStatus ?? 200,
    settings,
    nextLatency: latencies(seed, settings),
    ...timers(),
  }
}

/** Charges what was set aside for a call, once. */
export function charge(box: Box, entry: OpenEntry, credits: number): void {
  draw(box.account, credits)
  box.quotas.count(box.worldClock.now())
  box.books.charge(entry, credits)
}

function latencies(seed: string, settings: BoxSettings): () => number {
  const salt = hashText(`latencies of ${seed}`)
  let calls = 0
  return () => {
    const { latencyMs } = settings
    if (typeof latencyMs === 'number') return latencyMs
    const [least, most] = latencyMs
    return least + (most - least) * unit(mix(salt, calls++))
  }
}

function timers(): Pick<Box, 'later' | 'clearTimers'> {
  const running = new Set<NodeJS.Timeout>()
  return {
    later(ms, act) {
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
    clearTimers() {
      for (const timer of running) clearTimeout(timer)
      running.clear()
    },
  }
}
