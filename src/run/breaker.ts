import type { Clock } from '../model/clock.ts'

/** Whether an engine may be asked, and which of its tasks finds out when it may not. */
export interface Breaker {
  /** Notes that a call of a task was answered (in whatever way), or failed on the service's side. */
  note(engine: string, taskId: number, end: 'up' | 'down'): void
  /** Stops new work for an engine, whatever its calls said; its first probe follows after a pause. */
  trip(engine: string): void
  isOpen(engine: string): boolean
  /** Whether the task is one that finds out. */
  isProbe(taskId: number): boolean
  /** Whether the engine was ever seen to work. */
  everUp(engine: string): boolean
  /** Enough tasks failed to wonder whether the engine is down. */
  isSuspect(engine: string): boolean
  /** Engines that get no new work now. */
  paused(): readonly string[]
  /** An engine that one task may be sent to, to find out. */
  due(): string | null
  /** None of its tasks can be sent now: the probe waits for longer. */
  postpone(engine: string): void
  /** That task was let through. */
  probing(engine: string, taskId: number): void
  /** The task is no longer in work; where it was a probe that found nothing out, another one follows. */
  gone(taskId: number): void
  /** Milliseconds until a probe is due; null while none will be. */
  nextProbeIn(): number | null
  /** Engines that were down for longer than is waited for. */
  givenUp(): readonly string[]
}

export interface BreakerOptions {
  readonly clock: Pick<Clock, 'monotonic'>
  /** How long an engine that is down is waited for. */
  readonly maxOutageMs: number
  /** Engines that worked before, as far as is known. */
  readonly up: Iterable<string>
  /** Told when an engine goes down and when it is back. */
  readonly onChange: (engine: string, change: 'down' | 'up') => void
}

/** Tasks looked back at, each with its last call. */
const recentTasks = 20
const fewestTasks = 6
const suspectTasks = 3
const firstPauseMs = 1_000
const longestPauseMs = 15_000

interface Outage {
  readonly since: number
  pauseMs: number
  until: number
  /** The task that finds out; null while none is under way. */
  probe: number | null
  /** It has lasted for longer than is waited for, and the last probe failed, too. */
  over: boolean
}

/**
 * A circuit breaker for each engine. It opens when most of the tasks that were tried last failed with an error of
 * the service; tasks are counted, not calls, so that a few queries that the service cannot stand do not stop the
 * others. While it is open one task alone probes, with growing pauses, and the rest follows when that is answered.
 */
export function openBreaker({ clock, maxOutageMs, up, onChange }: BreakerOptions): Breaker {
  const worked = new Set(up)
  /** Engine -> task -> whether its last call failed; the task tried last stands last. */
  const recent = new Map<string, Map<number, boolean>>()
  const outages = new Map<string, Outage>()

  const failuresOf = (tasks: ReadonlyMap<number, boolean>): number =>
    [...tasks.values()].filter((failed) => failed).length
  const waiting = (): readonly (readonly [string, Outage])[] =>
    [...outages].filter(([, { probe, over }]) => probe === null && !over)

  /** The last probe comes when the time is up, not before. */
  const pause = (outage: Outage): void => {
    outage.until = Math.min(clock.monotonic() + outage.pauseMs, outage.since + maxOutageMs)
  }

  const trip = (engine: string): void => {
    if (outages.has(engine)) return
    const now = clock.monotonic()
    const outage = { since: now, pauseMs: firstPauseMs, until: now, probe: null, over: false }
    pause(outage)
    outages.set(engine, outage)
    onChange(engine, 'down')
  }

  const remember = (engine: string, taskId: number, failed: boolean): void => {
    const tasks = recent.get(engine) ?? new Map<number, boolean>()
    recent.set(engine, tasks)
    tasks.delete(taskId)
    tasks.set(taskId, failed)
    for (const oldest of tasks.keys()) {
      if (tasks.size <= recentTasks) break
      tasks.delete(oldest)
    }
    if (failed && tasks.size >= fewestTasks && failuresOf(tasks) > tasks.size / 2) trip(engine)
  }

  const lengthen = (outage: Outage): void => {
    outage.over = clock.monotonic() - outage.since >= maxOutageMs
    outage.pauseMs = Math.min(outage.pauseMs * 2, longestPauseMs)
    pause(outage)
  }

  const judge = (engine: string, outage: Outage, end: 'up' | 'down'): void => {
    outage.probe = null
    if (end === 'up') {
      outages.delete(engine)
      recent.delete(engine)
      onChange(engine, 'up')
      return
    }
    lengthen(outage)
  }

  return {
    note: (engine, taskId, end) => {
      if (end === 'up') worked.add(engine)
      const outage = outages.get(engine)
      if (outage === undefined) remember(engine, taskId, end === 'down')
      // Calls that were under way before say nothing about now.
      else if (outage.probe === taskId) judge(engine, outage, end)
    },
    trip,
    isOpen: (engine) => outages.has(engine),
    isProbe: (taskId) => [...outages.values()].some(({ probe }) => probe === taskId),
    everUp: (engine) => worked.has(engine),
    isSuspect: (engine) => failuresOf(recent.get(engine) ?? new Map()) >= suspectTasks,
    paused: () => [...outages.keys()],
    due: () => {
      const now = clock.monotonic()
      return waiting().find(([, { until }]) => until <= now)?.[0] ?? null
    },
    postpone: (engine) => {
      const outage = outages.get(engine)
      if (outage !== undefined) lengthen(outage)
    },
    probing: (engine, taskId) => {
      const outage = outages.get(engine)
      if (outage !== undefined) outage.probe = taskId
    },
    gone: (taskId) => {
      for (const outage of outages.values()) if (outage.probe === taskId) outage.probe = null
    },
    nextProbeIn: () => {
      const next = Math.min(...waiting().map(([, { until }]) => until))
      return Number.isFinite(next) ? Math.max(0, next - clock.monotonic()) : null
    },
    givenUp: () => [...outages].filter(([, { over }]) => over).map(([engine]) => engine),
  }
}
